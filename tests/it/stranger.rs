//! Somebody who has only the guide hosts a registry on a directory, publishes, and colleagues install from it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use skillpm_format::digest::Digest;
use skillpm_testing::issuer::{Issuer, REQUEST_TOKEN};
use skillpm_testing::server::free_port;
use skillpm_testing::tools::script;

use crate::samples::blocks;
use crate::support::{Sandbox, npm::node, program};

/// The address of the server, and directories, as the guide calls them.
const URL: &str = "https://skills.example.com";
const PLACES: [&str; 2] = ["/srv/", "/backup/"];
/// The token that the guide revokes.
const ID: &str = "0123456789ab";

/// A machine on which a server runs once it is told to.
struct Host {
    machine: Sandbox,
    url: String,
    server: Option<Child>,
    /// The token that was created last.
    token: String,
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Host {
    /// A machine with nothing on it, whose server will listen at a free port and trust `issuers`.
    fn new(issuers: &str) -> Self {
        let address = format!("127.0.0.1:{}", free_port());
        let url = format!("http://{address}");
        let mut machine = Sandbox::new();
        machine.env("SKILLPM_REGISTRY_LISTEN", &address).env("SKILLPM_REGISTRY_PUBLIC_URL", &url);
        if !issuers.is_empty() {
            machine.env("SKILLPM_REGISTRY_TRUSTED_ISSUERS", issuers);
        }
        Self { machine, url, server: None, token: String::new() }
    }

    /// Types a line of the guide. It has to succeed.
    fn types(&mut self, line: &str) -> String {
        let root = self.machine.root().display().to_string();
        let mut real = line.replace(URL, &self.url);
        for place in PLACES {
            real = real.replace(&format!(" {place}"), &format!(" {root}{place}"));
        }
        if line.contains(" serve ") {
            self.serves(&real);
            return String::new();
        }
        if line.contains(" login ") {
            self.logs_in(&real);
            return String::new();
        }
        if line.contains(ID) {
            real = real.replace(ID, &self.id());
        }
        let output = self.machine.output(&mut self.machine.shell(&real));
        assert_eq!(output.code, Some(0), "{line}: {output}");
        if line.contains(" token create ") {
            output.stdout.trim().clone_into(&mut self.token);
        }
        output.stdout
    }

    /// Starts the server and waits until it has read the registry.
    fn serves(&mut self, line: &str) {
        let mut shell = self.machine.shell(&format!("exec {line}"));
        let mut server = shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        let told = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        let told: Vec<_> = told.take(2).map(|line| line.expect("is read")).collect();
        self.server = Some(server);
        assert!(told.len() == 2 && told[0].contains(&self.url), "{told:?}");
    }

    /// Keeps the token that was created last.
    fn logs_in(&self, line: &str) {
        // A terminal would be asked.
        let mut shell = self.machine.shell(&format!("{line} --with-token"));
        let mut login = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        login.stdin.take().expect("a pipe").write_all(self.token.as_bytes()).expect("is read");
        assert!(login.wait().expect("ends").success(), "{line}");
    }

    /// The id of a token that nobody needs.
    fn id(&self) -> String {
        let registry = self.machine.root().join("srv/skills");
        let line = format!("skillpm-registry token create {} --account lost --json", registry.display());
        let output = self.machine.output(&mut self.machine.shell(&line));
        let token: Value = serde_json::from_str(&output.stdout).expect("JSON");
        token["id"].as_str().expect("an id").to_owned()
    }

    /// Writes the skill `pdf` in this version, in the project of `machine`.
    fn writes(machine: &Sandbox, version: &str) {
        let text = format!(
            "---\nname: pdf\ndescription: Reads PDF files. Use it when a file ends in pdf.\nlicense: MIT\n\
             metadata:\n  version: '{version}'\n---\n\n# PDF {version}\n"
        );
        machine.write("skills/pdf/SKILL.md", text);
    }
}

/// The guide, without the section about buckets.
fn guide() -> String {
    let path = skillpm_testing::root().join("docs/guide/registry-server.md");
    let text = std::fs::read_to_string(path).expect("a page");
    let (before, rest) = text.split_once("\n## On a bucket\n").expect("a section");
    let (_, after) = rest.split_once("\n## ").expect("a section after it");
    format!("{before}\n## {after}")
}

#[test]
fn every_command_of_the_guide_for_a_directory_works() {
    let text = guide();
    let mut host = Host::new("");
    for dir in PLACES {
        std::fs::create_dir(host.machine.root().join(dir.trim_matches('/'))).expect("a directory");
    }
    Host::writes(&host.machine, "1.2.0");
    // The project names the registry before its skills are installed.
    let settings = blocks(&text, "toml").find(|block| block.contains("[registries]")).expect("a block");
    host.machine.write("skillpm.toml", settings.replace(URL, &host.url) + "\n");
    let lines: Vec<&str> = ["sh", "console"]
        .into_iter()
        .flat_map(|language| blocks(&text, language))
        .flat_map(str::lines)
        .map(|line| line.strip_prefix("$ ").unwrap_or(line))
        .collect();
    assert!(lines.len() > 15, "{lines:?}");
    for line in lines {
        let shown = host.types(line);
        match line {
            "skillpm-registry token list /srv/skills" => assert!(shown.contains("alice"), "{shown}"),
            "skillpm install acme:pdf" => {
                assert!(host.machine.read(".agents/skills/pdf/SKILL.md").contains("# PDF 1.2.0"));
            }
            "skillpm registry owner list -r acme pdf" => assert!(shown.contains("bob"), "{shown}"),
            _ => {}
        }
    }
    let root = host.machine.root();
    assert!(root.join("srv/www/index.html").is_file() && root.join("backup/skills/config.json").is_file());
}

/// Runs a program of others in a new directory of `machine`, and returns that directory and what it wrote.
fn other(machine: &Sandbox, program: &Path, args: &[&str], env: &[(&str, &str)]) -> (PathBuf, Vec<u8>) {
    let name = program.file_name().expect("a name").to_string_lossy().into_owned();
    let mut room = machine.root().join(&name);
    while room.exists() {
        let name = room.file_name().expect("a name").to_string_lossy().into_owned() + "-";
        room.set_file_name(name);
    }
    std::fs::create_dir(&room).expect("a directory");
    let mut command = Command::new(program);
    command.args(args).current_dir(&room).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &room).env("TMPDIR", &room);
    let output = command.env("NO_PROXY", "*").envs(env.iter().copied()).output().expect("starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name} {args:?}: {said}{errors}");
    (room, output.stdout)
}

/// The server of a stranger with `pdf`: 1.0.0 published with a token, 1.1.0 by a job of a CI system.
fn hosted() -> Host {
    let issuer = Issuer::start();
    let mut host = Host::new(&format!("https://token.actions.githubusercontent.com,{}", issuer.url()));
    host.types("skillpm registry serve /srv/skills");
    host.types("skillpm-registry token create /srv/skills --account alice");
    host.types("skillpm registry login https://skills.example.com");
    Host::writes(&host.machine, "1.0.0");
    let publish = "skillpm publish skills/pdf --to https://skills.example.com";
    host.types(publish);
    host.types(&format!(
        "skillpm registry publisher add -r {URL} pdf --repository acme/skills --workflow publish.yml --issuer {}",
        issuer.url()
    ));

    // A machine of the CI system has no token of an account.
    let mut job = Sandbox::new();
    job.env("ACTIONS_ID_TOKEN_REQUEST_URL", &issuer.request_url());
    job.env("ACTIONS_ID_TOKEN_REQUEST_TOKEN", REQUEST_TOKEN);
    Host::writes(&job, "1.1.0");
    let output = job.output(&mut job.shell(&publish.replace(URL, &host.url)));
    assert_eq!(output.code, Some(0), "{output}");
    host
}

#[test]
fn colleagues_install_from_one_server_with_what_they_have() {
    let host = hosted();
    let url = host.url.as_str();
    let expected = "# PDF 1.1.0\n";
    let colleague = Sandbox::new();
    let is_there = |path: PathBuf| std::fs::read_to_string(&path).expect("a file").ends_with(expected);

    let Some(curl) = program("curl") else { return };
    let fetch = |path: &str| other(&colleague, &curl, &["-fsSL", &format!("{url}{path}")], &[]).1;
    // What the page of the skill says is typed as it is.
    let page = String::from_utf8(fetch("/skills/pdf/")).expect("text").replace("&#x2f;", "/");
    let line = page.split("skillpm install ").nth(1).and_then(|rest| rest.split('<').next());
    let line = format!("skillpm install {}", line.expect("how it is installed"));
    let output = colleague.output(&mut colleague.shell(&line));
    assert_eq!(output.code, Some(0), "{line}: {output}");
    assert!(colleague.read(".agents/skills/pdf/SKILL.md").ends_with(expected));
    // The archive is the one that the list names.
    let list: Value = serde_json::from_slice(&fetch("/index/pdf.json")).expect("JSON");
    let versions = list["versions"].as_array().expect("versions");
    let newest = versions.iter().find(|version| version["version"] == "1.1.0").expect("a version");
    let digest = newest["artifact"]["digest"].as_str().expect("a digest");
    let archive = fetch(&format!("/artifacts/sha256/{}.zip", digest.trim_start_matches("sha256:")));
    assert_eq!(Digest::of(&archive).to_string(), digest);

    if let (Some(node), Some(script)) = (node(), script("skills/bin/cli.mjs")) {
        let script = script.to_str().expect("UTF-8");
        let args = [script, "add", url, "--skill", "pdf", "--agent", "codex", "--yes", "--copy"];
        let env = [("DISABLE_TELEMETRY", "1"), ("DO_NOT_TRACK", "1")];
        let (room, _) = other(&colleague, &node, &args, &env);
        assert!(is_there(room.join(".agents/skills/pdf/SKILL.md")), "skills");
    }
    if let (Some(node), Some(script)) = (node(), script("clawhub/bin/clawdhub.js")) {
        let args = [script.to_str().expect("UTF-8"), "--no-input", "install", "pdf"];
        let env = [("CLAWHUB_REGISTRY", url), ("CLAWHUB_DISABLE_TELEMETRY", "1")];
        let (room, _) = other(&colleague, &node, &args, &env);
        assert!(is_there(room.join("skills/pdf/SKILL.md")), "clawhub");
    }
    if let (Some(skopeo), Some(tar)) = (program("skopeo"), program("tar")) {
        let from = format!("docker://{}/pdf:1.1.0", url.trim_start_matches("http://"));
        let args = ["--insecure-policy", "copy", "--src-tls-verify=false", &from, "dir:pdf"];
        let (room, _) = other(&colleague, &skopeo, &args, &[]);
        let manifest = std::fs::read(room.join("pdf/manifest.json")).expect("a file");
        let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
        let layer = manifest["layers"][0]["digest"].as_str().expect("a digest");
        let layer = room.join("pdf").join(layer.trim_start_matches("sha256:"));
        let (room, _) = other(&colleague, &tar, &["-xzf", layer.to_str().expect("UTF-8")], &[]);
        assert!(is_there(room.join("pdf/SKILL.md")), "skopeo");
    }
}
