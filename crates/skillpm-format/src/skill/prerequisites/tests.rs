use proptest::prelude::*;

use super::*;

/// Each prerequisite of this frontmatter: its key, its names, its versions and its place.
fn told(frontmatter: &str) -> Vec<String> {
    let text = format!("---\nname: x\ndescription: X.\n{frontmatter}\n---\n");
    shown(&declared(&Document::parse(text), "SKILL.md"))
}

fn shown(found: &[Prerequisite]) -> Vec<String> {
    let one = |one: &Prerequisite| {
        let Prerequisite { key, version, at, .. } = one;
        let version = version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let optional = if one.optional { "?" } else { "" };
        format!("{key} {}{version}{optional} {}:{}", one.described(), at.line, at.column)
    };
    found.iter().map(one).collect()
}

/// Each shape of which real skills were counted.
#[test]
fn every_shape_in_the_wild() {
    for (frontmatter, expected) in [
        ("requires:\n  mcp: [rube]", &["requires.mcp the MCP server `rube` 5:9"][..]),
        ("compatibility: Requires an account", &["compatibility `Requires an account` 4:16"]),
        (
            "dependencies: [\"torch>=2,<3\", litgpt, 'x[a, b] ; python_version < \"3.9\"', 'a b']",
            &[
                "dependencies the Python package `torch` >=2,<3 4:16",
                "dependencies the Python package `litgpt` 4:31",
                "dependencies the Python package `x`? 4:39",
            ],
        ),
        (
            "metadata:\n  cliTools:\n  - tool: [sf, sfdx]\n    semver: '>=2.0.0'\n  - tool: git",
            &["metadata.cliTools `sf` or `sfdx` >=2.0.0 6:5", "metadata.cliTools `git` 8:5"],
        ),
        (
            "metadata:\n  openclaw:\n    os: [darwin, linux]\n    requires:\n      bins: [gws, ../x, /bin/sh]\n      anyBins: [rg, grep]\n      env:\n      - A_KEY\n      - 1=2\n      config: [browser.enabled]",
            &[
                "metadata.openclaw.requires.bins `gws` 8:14",
                "metadata.openclaw.requires.anyBins `rg` or `grep` 9:16",
                "metadata.openclaw.requires.env `A_KEY` 11:9",
                "metadata.openclaw.requires.config the setting `browser.enabled` 13:16",
                "metadata.openclaw.os the system `darwin` or `linux` 6:9",
            ],
        ),
        (
            "metadata: {\"clawdbot\":{\"requires\":{\"bins\":[\"curl\",\"jq\"]}}}",
            &["metadata.clawdbot.requires.bins `curl` 4:44", "metadata.clawdbot.requires.bins `jq` 4:51"],
        ),
        (
            "metadata:\n  clawdis: {always: true, requires: {bins: a}}\n  openclaw:\n  moltbot: {requires: {bins: b}}",
            &[],
        ),
        (
            "metadata:\n  clawdhub: {always: true, requires: {bins: a}}",
            &["metadata.clawdhub.requires.bins `a`? 5:45"],
        ),
        (
            "metadata: |\n  // JSON5\n  {openclaw: {requires: {bins: ['jq',],},},}",
            &["metadata.openclaw.requires.bins `jq` 5:3"],
        ),
        (
            "metadata:\n  mcpTools:\n    sf-mcp: {tools: [a], semver: ^1.2}\n    other: []",
            &[
                "metadata.mcpTools the MCP server `sf-mcp` ^1.2 6:5",
                "metadata.mcpTools the MCP server `other` 7:5",
            ],
        ),
        (
            "metadata:\n  compatibility: holoscan-cli>=4.5.0",
            &["metadata.compatibility `holoscan-cli>=4.5.0` 5:18"],
        ),
        (
            "metadata:\n  requires: {bins: [gh], env: [GITHUB_TOKEN]}",
            &["metadata.requires.bins `gh` 5:21", "metadata.requires.env `GITHUB_TOKEN` 5:32"],
        ),
        (
            "required_environment_variables:\n- A\n- name: B\n  prompt: key\n- prompt: none\nrequired_credential_files: [~/.x, {path: y}]\nplatforms: [macos]",
            &[
                "required_environment_variables `A` 5:3",
                "required_environment_variables `B` 6:3",
                "required_credential_files the file `~/.x` 9:29",
                "required_credential_files the file `y` 9:35",
                "platforms the system `macos` 10:12",
            ],
        ),
        (
            "metadata:\n  hermes:\n    config:\n    - key: wiki.path",
            &["metadata.hermes.config the setting `wiki.path` 7:7"],
        ),
        ("requires: jq\ncliTools: {}\ndependencies: {a: b}\nplatforms:\nmetadata: [a]", &[]),
    ] {
        assert_eq!(told(frontmatter), expected, "{frontmatter}");
    }
}

#[test]
fn tools_for_codex() {
    let text = "dependencies:\n  tools:\n  - {type: mcp, value: github, url: 'https://x'}\n  - type: env_var\n    value: KEY\n  - type: cli\n    value: gh\n  - type: mcp\n";
    let expected = [
        "dependencies.tools the MCP server `github` 3:24",
        "dependencies.tools `KEY` 5:12",
        "dependencies.tools `gh` 7:12",
    ];
    let found = declared_for_openai(text, "agents/openai.yaml");
    assert_eq!(shown(&found), expected);
    assert_eq!(found[2].kind, PrerequisiteKind::Text);
    assert_eq!(declared_for_openai("a: [", ""), []);
}

#[test]
fn inline_metadata() {
    let text = "#!/usr/bin/env -S uv run\n# /// script\n# requires-python = \">=3.11\"\n# dependencies = [\n#   \"pyyaml\",\n#   'rich>13',\n# ]\n# ///\nimport yaml\n";
    let expected = [
        "script.requires-python `python3` or `python` >=3.11 3:22",
        "script.dependencies the Python package `pyyaml` 5:6",
        "script.dependencies the Python package `rich` >13 6:6",
    ];
    assert_eq!(shown(&python::inline(text, "a.py").expect("metadata")), expected);
    for none in ["", "# /// script\n", "# /// script\n# a = \n# ///\n", "# /// script\nx = 1\n# ///\n"] {
        assert_eq!(python::inline(none, "a.py"), None, "{none}");
    }
}

/// The programs that bring packages along run outside of the sandbox, so nothing but names and versions gets there.
#[test]
fn packages_have_names_and_no_addresses() {
    let unnamed = |text: &str| {
        python::Inline { dependencies: vec!["six".into(), text.into()], ..python::Inline::default() }
            .unnamed()
            .is_some()
    };
    for named in ["rich", "rich>=13,<14", "httpx[http2] ~= 0.28", "tomli>=2; python_version < '3.11'"] {
        assert!(!unnamed(named), "{named}");
    }
    for other in [
        "x @ https://example.com/x.whl",
        "x[y]@git+ssh://host/x",
        "./x",
        "/x",
        "-e.",
        "--index-url=x",
        "x\n-e .",
        "",
        "x y",
    ] {
        assert!(unnamed(other), "{other}");
    }
    let versions = |text: &str| {
        python::Inline { requires_python: Some(text.into()), ..python::Inline::default() }
            .versions()
            .is_some()
    };
    assert!(versions(">=3.11, <4") && versions("==3.12.*") && versions(">=3.14.0rc1"));
    for other in ["", "/tmp/python", "python3", "3.11", ">=3/../x", ">=3\\x", "--help", ">=3:x"] {
        assert!(!versions(other), "{other}");
    }
    assert_eq!(
        python::Inline::of("# /// script\n# dependencies = ['six']\n# ///\n").expect("read").dependencies,
        ["six"]
    );
}

#[test]
fn imports_of_javascript() {
    let text = "import a from 'a/lib'\nimport {\n  b,\n} from \"@x/b\";\nconst c = require('c'), f = fs.require('no');\n\
        // require('no')\n * import x from 'no'\nimport './own.js'; import fs from 'fs'\nimport { x } from \"node:x\"\n\
        export * from 'd'\nconst t = `\nrequire('no')\n`\ntry {\n  e = require('e')\n} catch {}\nawait import('g')\nlet s = \"require('no')\"\nimport 'h'\n";
    let found: Vec<_> = javascript::imports(text).iter().map(|one| (one.package, one.optional)).collect();
    let expected =
        [("a", false), ("@x/b", false), ("c", false), ("d", false), ("e", true), ("g", true), ("h", false)];
    assert_eq!(found, expected);
}

#[test]
fn what_comes_with_python_is_no_package() {
    for module in ["abc", "json", "zoneinfo", "_thread", "distutils"] {
        assert!(python::is_standard(module), "{module}");
    }
    assert!(!python::is_standard("yaml") && !python::is_standard("abc aifc"));
}

proptest! {
    #[test]
    fn any_text_is_read(
        text in "(requires|metadata|openclaw|bins|env|dependencies|cliTools|tool|semver|os|: |\n|\n  |- |\\[|\\]|\\{|\\}|\"|'|,|é|a){0,60}",
        script in "(import |from |require\\(|export |'|\"|`|\n|  |try \\{|\\}|# /// script\n|# ///|# |dependencies = \\[|\\]|@|/|é|a|;){0,60}",
    ) {
        let found = declared(&Document::parse(format!("---\n{text}\n---\n")), "SKILL.md");
        prop_assert!(found.iter().all(|one| !one.any_of.is_empty() && one.any_of.iter().all(|name| !name.is_empty())));
        declared_for_openai(&text, "x");
        python::inline(&script, "x");
        for one in javascript::imports(&script) {
            prop_assert!(script.is_char_boundary(one.at) && one.at < script.len());
        }
    }

    #[test]
    fn no_file_states_more_than_it_may(count in 200_usize..600) {
        let list = vec!["a"; count].join(", ");
        let text = format!("---\nrequires: {{bins: [{list}], anyBins: [{list}]}}\n---\n");
        prop_assert!(declared(&Document::parse(text), "x").len() <= MAX);
        prop_assert!(javascript::imports(&"require('a')\n".repeat(count)).len() <= MAX);
    }
}
