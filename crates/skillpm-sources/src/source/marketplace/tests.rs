use super::*;
use crate::source::discover::tests::tree;

fn from(origin: &str, file: &str) -> Result<Marketplace> {
    let tree = tree(&[(".claude-plugin/marketplace.json", file)]);
    let spec = SourceSpec { origin: origin.parse().unwrap(), path: None, reference: None, skill: None };
    read(&tree, &spec).map(|found| found.expect("is there"))
}

fn sources(origin: &str, sources: &str) -> Result<Vec<PluginSource>> {
    let plugins: Vec<_> = sources
        .lines()
        .enumerate()
        .map(|(at, source)| format!("\n{{\"name\": \"p{at}\", \"source\": {source}}}"))
        .collect();
    let file = format!("{{\"name\": \"m\", \"plugins\": [{}]}}", plugins.join(","));
    Ok(from(origin, &file)?.plugins.into_iter().map(|plugin| plugin.source).collect())
}

fn cause(error: &Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[test]
fn every_kind_of_source() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let found = sources(
        "github:a/b",
        &format!(
            "\"./plugins/x\"\n\"x\"\n\"./\"\n{{\"source\":\"local\",\"path\":\"./y\"}}\n\
             {{\"source\":\"github\",\"repo\":\"o/r\",\"ref\":\"v1\"}}\n\
             {{\"source\":\"github\",\"repo\":\"o/r\",\"ref\":\"v1\",\"sha\":\"{}\"}}\n\
             {{\"source\":\"url\",\"url\":\"https://github.com/o/r.git\"}}\n\
             {{\"source\":\"url\",\"url\":\"https://git.example/o/r.git\",\"ref\":\"main\"}}\n\
             {{\"source\":\"git-subdir\",\"url\":\"git@git.example:o/r.git\",\"path\":\"./a/b\",\"sha\":\"{commit}\"}}\n\
             {{\"source\":\"git-subdir\",\"url\":\"o/r\",\"path\":\"a\"}}",
            commit.to_uppercase()
        ),
    )
    .unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|source| match source {
            PluginSource::Inside(path) => format!("in {path:?}"),
            PluginSource::Elsewhere(spec) => spec.to_string(),
            PluginSource::Unusable { message, .. } => message.clone(),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "in \"plugins/x\"",
            "in \"x\"",
            "in \"\"",
            "in \"y\"",
            "github:o/r#v1",
            &format!("github:o/r#{commit}"),
            "github:o/r",
            "git+https://git.example/o/r.git#main",
            &format!("git+git@git.example:o/r.git//a/b#{commit}"),
            "github:o/r/a",
        ]
    );
    assert!(
        matches!(&found[5], PluginSource::Elsewhere(spec) if matches!(spec.reference, Some(Reference::Rev(_))))
    );
}

#[test]
fn npm_and_unknown_kinds_only_matter_when_they_are_chosen() {
    let found =
        sources("github:a/b", "{\"source\":\"npm\",\"package\":\"@s/p\"}\n{\"source\":\"oci\"}").unwrap();
    match &found[0] {
        PluginSource::Unusable { hint, .. } => {
            assert_eq!(*hint, "install it with `npm install @s/p`, then `install npm:@s/p`");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(&found[1], PluginSource::Unusable { .. }));
}

/// A marketplace that points outside of its repository, and every wrong type.
#[test]
fn what_is_wrong_is_told_with_its_place() {
    let file = ".claude-plugin/marketplace.json";
    let cases = [
        ("\"../x\"", "2:26: `../x` leads out of the repository"),
        ("\"./a/../../x\"", "2:26: `./a/../../x` leads out of the repository"),
        ("\"/etc\"", "2:26: `/etc` leads out of the repository"),
        ("\"a\\\\b\"", "2:26: `a\\b` leads out of the repository"),
        ("\"https://h/r.git\"", "2:26: the source `https://h/r.git` is not a path"),
        ("7", "2:26: `source` must be an object"),
        ("{}", "2:26: there is no `source`"),
        ("{\"source\":\"github\"}", "2:26: there is no `repo`"),
        (
            "{\"source\":\"github\",\"repo\":\"x\"}",
            "2:52: `x` is not an address that skillpm can install from",
        ),
        (
            "{\"source\":\"github\",\"repo\":\"../x\"}",
            "2:52: `..` cannot be the owner of a repository on GitHub",
        ),
        (
            "{\"source\":\"github\",\"repo\":\"o/r\",\"sha\":\"abc\"}",
            "2:64: `sha` must be a full commit: 40 hexadecimal digits",
        ),
        (
            "{\"source\":\"github\",\"repo\":\"o/r\",\"ref\":\"--x\"}",
            "2:64: `--x` is not the name of a tag, branch or commit",
        ),
        (
            "{\"source\":\"url\",\"url\":\"ext::sh -c x\"}",
            "2:48: `ext::sh -c x` is not an address that skillpm can install from",
        ),
        (
            "{\"source\":\"url\",\"url\":\"https://u:p@h/r\"}",
            "2:48: addresses with a user name or password are not allowed",
        ),
        (
            "{\"source\":\"url\",\"url\":\"file:///etc\"}",
            "2:48: `file:///etc` is a path on this machine, which a marketplace must not name",
        ),
        (
            "{\"source\":\"url\",\"url\":\"/etc\"}",
            "2:48: `/etc` is a path on this machine, which a marketplace must not name",
        ),
        ("{\"source\":\"git-subdir\",\"url\":\"https://h/r\"}", "2:26: there is no `path`"),
        (
            "{\"source\":\"git-subdir\",\"url\":\"https://h/r\",\"path\":\"../x\"}",
            "2:76: `../x` leads out of the repository",
        ),
        ("\"x\", \"strict\": \"no\"", "2:41: `strict` must be `true` or `false`"),
        ("\"x\", \"skills\": {}", "2:41: `skills` must be a list"),
        ("\"x\", \"skills\": [\"./a\", 1]", "2:49: `skills` must be a string"),
        ("\"x\", \"skills\": \"../a\"", "2:41: `../a` leads out of the plugin"),
        ("\"x\", \"description\": []", "2:46: `description` must be a string"),
    ];
    for (source, message) in cases {
        let error = sources("github:a/b", source).expect_err(source);
        assert_eq!(cause(&error), format!("{file}:{message}"));
        assert_eq!(error.to_string(), "the marketplace `github:a/b` is refused");
    }
    let cases = [
        ("[]", "1:1: `marketplace` must be an object"),
        ("{", "1:1: EOF while parsing an object"),
        ("{\"plugins\": []}", "1:1: there is no `name`"),
        (
            "{\"name\": \"a b\", \"plugins\": []}",
            "1:10: `a b` is not the name of a marketplace: use letters, digits, `-`, `_` and `.`",
        ),
        ("{\"name\": \"m\"}", "1:1: there is no `plugins`"),
        ("{\"name\": \"m\", \"plugins\": {}}", "1:26: `plugins` must be a list"),
        ("{\"name\": \"m\", \"owner\": 1, \"plugins\": []}", "1:24: `owner` must be an object"),
        ("{\"name\": \"m\", \"plugins\": [\"x\"]}", "1:27: `plugin` must be an object"),
        (
            "{\"name\": \"m\", \"plugins\": [{\"name\": \"../x\", \"source\": \"x\"}]}",
            "1:36: `../x` is not the name of a plugin: use letters, digits, `-`, `_` and `.`",
        ),
        (
            "{\"name\": \"m\", \"metadata\": {\"pluginRoot\": \"../\"}, \"plugins\": []}",
            "1:42: `../` leads out of the repository",
        ),
        (
            "{\"name\": \"m\", \"plugins\": [{\"name\": \"x\", \"source\": \"x\"},\n{\"name\": \"X\", \"source\": \"y\"}]}",
            "2:10: the plugin `X` appears twice, the first time at .claude-plugin/marketplace.json:1:36",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(cause(&from("github:a/b", text).expect_err(text)), format!("{file}:{message}"));
    }
    let huge = format!("{{\"name\": \"{}\"}}", "x".repeat(1 << 20));
    assert_eq!(cause(&from("github:a/b", &huge).expect_err("huge")), format!("`{file}` cannot be read"));
}

#[test]
fn reserved_names_are_for_their_owner() {
    let file = "{\"name\": \"Claude-Plugins-Official\", \"plugins\": []}";
    let error = cause(&from("github:a/b", file).expect_err("not theirs"));
    assert!(error.ends_with(
        "1:10: the name `Claude-Plugins-Official` is reserved for marketplaces of `anthropics` on GitHub"
    ));
    assert!(from("github:ghe.example.com/anthropics/b", file).is_err());
    assert!(from("github:Anthropics/b", file).is_ok());
}

#[test]
fn only_a_marketplace_on_this_machine_names_repositories_here() {
    let source = "{\"source\":\"url\",\"url\":\"file:///srv/r.git\"}";
    assert!(sources("path:./m", source).is_ok());
    assert!(sources("git:file:///srv/m.git", source).is_ok());
    assert!(sources("git:https://h/m.git", source).is_err());
}

#[test]
fn the_root_of_plugins_and_the_twin_of_codex() {
    let text = "{\"name\":\"m\",\"metadata\":{\"pluginRoot\":\"./plugins\"},\"plugins\":[{\"name\":\"x\",\"source\":\"x\"}]}";
    let tree = tree(&[("sub/.agents/plugins/marketplace.json", text)]);
    let spec = |path: Option<&str>| SourceSpec {
        origin: "github:a/b".parse().unwrap(),
        path: path.map(ToOwned::to_owned),
        reference: None,
        skill: None,
    };
    assert!(read(&tree, &spec(None)).unwrap().is_none());
    let found = read(&tree, &spec(Some("sub"))).unwrap().expect("is there");
    assert_eq!(found.plugins[0].source, PluginSource::Inside("sub/plugins/x".to_owned()));
}
