//! One tree of files, wherever it is: a directory, a `file://` address, a sub-path of a site, a host of raw files.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use super::*;

/// A sandbox with a registry in `site` beside the project, which `registry add` filled.
fn publisher() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("SOURCE_DATE_EPOCH", "1795730400");
    sandbox.ok(&["registry", "init", "../site", "--name", "acme"]);
    publish(&sandbox, "base", "1.0.0", "");
    publish(&sandbox, "report", "1.0.0", "base@^1");
    sandbox
}

fn publish(sandbox: &Sandbox, name: &str, version: &str, needs: &str) {
    let needs = if needs.is_empty() { String::new() } else { format!("\n  skill-dependencies: {needs}") };
    let text = format!(
        "---\nname: {name}\ndescription: Reads {name} files. Use it when the user mentions {name}.\n\
         license: MIT\nmetadata:\n  version: '{version}'{needs}\n---\n\n# {name}\n"
    );
    sandbox.write("new.zip", Tree::new().file("SKILL.md", text).zip());
    sandbox.ok(&["registry", "add", "-r", "../site", "new.zip"]);
    fs::remove_file(sandbox.project().join("new.zip")).expect("removes");
}

/// The files below `dir` that are served, but for the log: a mirror has its own.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(dir).expect("below").to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                open.push(path);
            } else if name != "lock" && !name.starts_with("pending/") && !name.starts_with("log/") {
                all.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    all
}

/// Installs, searches, mirrors and updates from `address`, where `serve` puts the files of the site.
fn works(address: &str, site: &Sandbox, serve: &dyn Fn()) {
    serve();
    let sandbox = Sandbox::new();
    sandbox.write("skillpm.toml", format!("[registries]\ndefault = \"{address}\"\n"));
    sandbox.ok(&["install", "report"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0", "report 1.0.0"], "{address}");
    let found = json_of(&sandbox, &["search", "report", "--json"]);
    assert!(found.to_string().contains("\"report\""), "{address}: {found}");
    assert!(sandbox.ok(&["install", "--list", "registry:default"]).stdout.contains("base"), "{address}");
    assert_eq!(refusal(&sandbox, "nothing"), "usage", "{address}");
    sandbox.ok(&["registry", "mirror", "default", "copy"]);
    let copy = files(&sandbox.project().join("copy"));
    assert_eq!(copy, files(&site.root().join("site")), "{address}");
    publish(site, "base", "1.1.0", "");
    serve();
    assert_eq!(json_of(&sandbox, &["outdated", "base", "--json"])[0]["newest"], json!("1.1.0"), "{address}");
    sandbox.ok(&["update"]);
    assert_eq!(locked(&sandbox), ["base 1.1.0", "report 1.0.0"], "{address}");
    let outcome = json_of(&sandbox, &["registry", "mirror", "default", "copy", "--json"]);
    assert_eq!(outcome["fetched"], json!(1), "{address}");
    fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    fs::remove_dir_all(sandbox.home().join(".local")).expect("removes");
    sandbox.ok(&["install", "--locked"]);
    sandbox.ok(&["verify"]);
}

#[test]
fn a_directory_and_a_file_address() {
    let site = publisher();
    let dir = site.root().join("site");
    works(&dir.display().to_string(), &site, &|| {});
    let site = publisher();
    works(&format!("file://{}", site.root().join("site").display()), &site, &|| {});
}

#[test]
fn a_sub_path_of_a_site() {
    let (forge, site) = (Forge::start(), publisher());
    let serve = || {
        for (path, bytes) in files(&site.root().join("site")) {
            forge.serve(&format!("/a/b/registry/{path}"), bytes);
        }
    };
    works(&format!("{}/", forge.url("/a/b/registry")), &site, &serve);
    // Nothing outside of the sub-path was requested.
    assert!(forge.asked().iter().all(|path| path.starts_with("/a/b/registry/")), "{:?}", forge.asked());
}

/// A host that serves files as raw text: by their whole path, with a tag as the only validator, without listings of
/// directories and without ranges; what is missing is a page of HTML.
struct RawHost {
    address: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl RawHost {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let files: Arc<Mutex<BTreeMap<String, Vec<u8>>>> = Arc::default();
        let served = Arc::clone(&files);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let served = Arc::clone(&served);
                thread::spawn(move || answer(&connection, &served));
            }
        });
        Self { address, files }
    }
}

fn answer(mut connection: &TcpStream, files: &Mutex<BTreeMap<String, Vec<u8>>>) {
    let mut lines = BufReader::new(connection).lines().map_while(Result::ok);
    let Some(request) = lines.next() else { return };
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let path = request.split(' ').nth(1).unwrap_or_default();
    let file = files.lock().expect("files").get(path).cloned();
    let tag = |bytes: &[u8]| format!("W/\"{}\"", Digest::of(bytes).hex());
    let knows = |tag: &str| {
        head.iter().any(|line| line.to_ascii_lowercase().starts_with("if-none-match:") && line.contains(tag))
    };
    let (status, kind, tag, body) = match file {
        Some(bytes) if knows(&tag(&bytes)) => ("304 Not Modified", "text/plain", tag(&bytes), Vec::new()),
        Some(bytes) => ("200 OK", "text/plain; charset=utf-8", tag(&bytes), bytes),
        None => {
            let page = b"<!DOCTYPE html><title>404</title><p>404: Not Found".to_vec();
            ("404 Not Found", "text/html", String::new(), page)
        }
    };
    let tag = if tag.is_empty() { tag } else { format!("etag: {tag}\r\n") };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{tag}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&body));
}

#[test]
fn a_host_of_raw_files() {
    let (host, site) = (RawHost::start(), publisher());
    let serve = || {
        let below = |(path, bytes)| (format!("/acme/skills/main/registry/{path}"), bytes);
        *host.files.lock().expect("files") =
            files(&site.root().join("site")).into_iter().map(below).collect();
    };
    works(&format!("{}/acme/skills/main/registry", host.address), &site, &serve);
}
