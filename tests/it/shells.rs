//! Completion in real shells, and pages of the manual.

#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::support::{Sandbox, program};

fn installed() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["brand-guide", "pdf-forms"] {
        sandbox.write(
            &format!("src/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does what {name} does. Use it in tests.\n---\n"),
        );
    }
    sandbox.write("src/pdf-forms/scripts/fill.sh", "echo filled\n");
    assert_eq!(sandbox.run(&["install", "./src", "--skill", "*"]).code, Some(0));
    sandbox
}

/// What `shell` prints that runs `script`, with skillpm where it looks for programs.
fn run(sandbox: &Sandbox, shell: &str, script: &str) -> Option<String> {
    let program = program(shell)?;
    let skillpm = sandbox.command(&[]);
    let dir = std::path::Path::new(skillpm.get_program()).parent().expect("a directory").to_owned();
    let mut command = Command::new(program);
    command
        .args(if shell == "bash" { &["--norc", "--noprofile", "-c"][..] } else { &["-c"][..] })
        .arg(script);
    command.current_dir(sandbox.project()).env_clear();
    command.envs(skillpm.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", format!("{}:/usr/bin:/bin", dir.display()));
    let output = command.stdin(Stdio::null()).output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{shell}");
    Some(String::from_utf8(output.stdout).expect("a text"))
}

/// What bash offers for the last of `words`.
fn bash(sandbox: &Sandbox, words: &[&str]) -> Option<Vec<String>> {
    let last = words.len() - 1;
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "eval \"$(skillpm completions bash)\"\n\
         spec=$(complete -p skillpm); function=${{spec##*-F }}; function=${{function%% *}}\n\
         COMP_WORDS=({}) COMP_CWORD={last} COMP_TYPE=9\n\
         compopt() {{ :; }}\n\
         $function skillpm '{}' '{}'\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words[last],
        words[last - 1],
    );
    Some(run(sandbox, "bash", &script)?.lines().map(ToOwned::to_owned).collect())
}

#[test]
fn bash_completes_commands_options_and_what_is_installed() {
    let sandbox = installed();
    let Some(verbs) = bash(&sandbox, &["skillpm", "ins"]) else { return };
    assert_eq!(verbs, ["install"]);
    let of = |words: &[&str]| bash(&sandbox, words).expect("bash");
    assert!(of(&["skillpm", "list", "--js"]).contains(&"--json".to_owned()));
    assert_eq!(of(&["skillpm", "remove", "pdf"]), ["pdf-forms"]);
    assert_eq!(of(&["skillpm", "-q", "why", ""])[..2], ["brand-guide", "pdf-forms"]);
    assert_eq!(of(&["skillpm", "run", "pdf-forms", "fi"]), ["fill.sh"]);
    assert_eq!(of(&["skillpm", "mcp", "--skill", "pdf"]), ["pdf-forms"]);
    // Other options take other names.
    for words in [&["search", "x", "--registry", ""][..], &["create", "--author", ""]] {
        let offered = of(&[&["skillpm"], words].concat());
        assert!(!offered.contains(&"pdf-forms".to_owned()), "{words:?}: {offered:?}");
    }
    assert_eq!(of(&["skillpm", "link", "--agent", "claude"]), ["claude-code"]);
    assert_eq!(of(&["skillpm", "explain", "name-len"]), ["name-length"]);
    assert_eq!(of(&["skillpm", "completions", "z"]), ["zsh"]);
    assert_eq!(of(&["skillpm", "cache", "pr"]), ["prune"]);
}

/// Shells put what they are offered into the line: only names that every skill may have get there.
#[test]
fn a_name_that_a_shell_would_run_is_not_offered() {
    let sandbox = installed();
    sandbox.write(".agents/skills/x/SKILL.md", "---\nname: p$(touch hit)\ndescription: Bad.\n---\n");
    if let Some(names) = bash(&sandbox, &["skillpm", "show", "p"]) {
        assert_eq!(names, ["pdf-forms"]);
    }
    assert!(!sandbox.project().join("hit").exists());
}

#[test]
fn fish_completes() {
    let sandbox = installed();
    let script = "skillpm completions fish | source; complete -C 'skillpm remove pdf'";
    if let Some(offered) = run(&sandbox, "fish", script) {
        assert!(offered.starts_with("pdf-forms"), "{offered}");
    }
}

/// The whole of zsh's completion needs a terminal; that it reads the script and gets candidates does not.
#[test]
fn zsh_reads_the_script() {
    let sandbox = installed();
    let script = "autoload -U compinit && compinit -D -u && eval \"$(skillpm completions zsh)\" && print $_comps[skillpm]";
    if let Some(name) = run(&sandbox, "zsh", script) {
        assert!(name.contains("skillpm"), "{name}");
    }
}

#[test]
fn every_shell_gets_a_script() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = sandbox.run(&["completions", shell]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.contains("SKILLPM_COMPLETE") && output.stdout.contains("skillpm"), "{output}");
    }
    let zsh = sandbox.run(&["completions", "zsh"]).stdout;
    let inner = "_clap_dynamic_completer_skillpm";
    assert!(
        zsh.contains(&format!("function {inner}()")) && zsh.contains(&format!("{inner} \"$@\"")),
        "{zsh}"
    );
    let output = sandbox.run(&["completions"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("a shell, `bash`, "), "{output}");
    assert_eq!(sandbox.run(&["completions", "tcsh"]).code, Some(2));
}

#[test]
fn pages_of_the_manual() {
    let sandbox = Sandbox::new();
    let page = sandbox.run(&["man", "ls"]).stdout;
    assert!(page.contains(".TH SKILLPM-LIST 1"), "{page}");
    assert!(page.contains(".SH NAME") && page.contains("\\-\\-json"), "{page}");
    assert_eq!(sandbox.run(&["man", "--out", "pages"]).code, Some(0));
    for name in ["skillpm", "skillpm-install", "skillpm-cache-prune"] {
        let text = sandbox.read(&format!("pages/{name}.1"));
        assert!(text.contains(&format!(".TH {} 1", name.to_uppercase())), "{name}");
        let file = sandbox.project().join(format!("pages/{name}.1"));
        let Some(groff) = program("groff") else { continue };
        let output = Command::new(groff).args(["-man", "-Tutf8", "-ww"]).arg(&file).output().expect("starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{name}: {told}");
    }
    let output = sandbox.run(&["man", "lst"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("did you mean `skillpm man list`?"), "{output}");
}
