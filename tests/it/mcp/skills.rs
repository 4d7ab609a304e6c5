//! The extension for skills: lists, entries, files and directories.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skillpm_format::digest::Digest;

use super::{FILES, USER, machine, skill, usual};
use crate::support::mcp::{MODERN, Peer, from_base64};
use crate::support::{Sandbox, testdata};

/// The bytes of a file, read as a resource.
fn bytes(peer: &mut Peer, uri: &str) -> Vec<u8> {
    let read = peer.ask("resources/read", json!({ "uri": uri }));
    let content = &read["contents"][0];
    assert_eq!(content["uri"], uri);
    match content["text"].as_str() {
        Some(text) => text.into(),
        None => from_base64(content["blob"].as_str().expect("bytes")),
    }
}

/// Readers differ on the line feed at the end of a frontmatter: what is served has none that they could differ on.
#[test]
fn a_block_of_text_at_the_end_is_read_alike_by_all() {
    let sandbox = Sandbox::new();
    let text = "---\nname: block\ndescription: d\ncompatibility: >\n  Needs\n  this.\n---\nx\n";
    let file = sandbox.write("more/block/SKILL.md", text);
    let mut peer = Peer::modern(&sandbox, &["--dir", "more"]);
    let entry = &peer.ask("skills/list", json!({}))["skills"][0];
    assert_eq!(entry["frontmatter"]["compatibility"], "Needs this.");
    let served = bytes(&mut peer, entry["uri"].as_str().expect("a URI"));
    assert_eq!(String::from_utf8_lossy(&served), text.replace('>', ">-"));
    assert_eq!(entry["resources"][0]["digest"], Digest::of(&served).to_string());
    assert_eq!(entry["resources"][0]["size"], served.len());
    assert_eq!(std::fs::read_to_string(file).expect("a file"), text);
}

/// Lists and loaded skills say where a skill comes from.
#[test]
fn tools_tell_source_version_and_digest() {
    let sandbox = Sandbox::new();
    let text = "---\nname: pdf\ndescription: Reads PDF.\nmetadata:\n  version: 1.2.0\n---\nRead it.\n";
    sandbox.write("src/pdf/SKILL.md", text);
    sandbox.ok(&["install", "./src/pdf", "--scope", "user", "--yes"]);
    let lock = std::fs::read_to_string(sandbox.home().join(".agents/skillpm.lock"));
    let lock = lock.or_else(|_| std::fs::read_to_string(sandbox.home().join(".config/skillpm/skillpm.lock")));
    let mut peer = Peer::modern(&sandbox, &[]);
    let mut told = |tool: &str, arguments: Value| {
        let answer = peer.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["content"]
            .as_array()
            .expect("parts")
            .iter()
            .map(|part| part["text"].as_str().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let list = told("list_skills", json!({}));
    assert!(list.contains("src/pdf, version 1.2.0, sha256:"), "{list}");
    assert_eq!(told("search_skills", json!({ "query": "please read this PDF" })), list);
    let loaded = told("load_skill", json!({ "name": "pdf" }));
    let digest = loaded.rsplit_once("sha256:").expect("a digest").1.trim_end_matches(['.', '\n']);
    assert_eq!(digest.len(), 64, "{loaded}");
    assert!(list.contains(&digest[..12]) && lock.is_ok_and(|lock| lock.contains(digest)), "{list}");
}

/// An entry has the whole frontmatter, and every file with the digest and size of its bytes.
#[test]
fn an_entry_tells_everything_of_a_skill() {
    let sandbox = machine();
    let mut peer = Peer::modern(&sandbox, &[]);
    let page = peer.ask("skills/list", json!({}));
    assert_eq!(page["resultType"], "complete");
    assert_eq!(page["cacheScope"], "private");
    assert!(page["ttlMs"].as_u64().is_some_and(|ttl| ttl >= 1000), "{page}");
    assert!(page.get("nextCursor").is_none());
    let entry = &page["skills"][0];
    assert_eq!(entry["uri"], "skill://user/pdf/SKILL.md");
    assert_eq!(
        entry["frontmatter"],
        json!({
            "name": "pdf",
            "description": "Fills in forms. Use it for PDF files.",
            "license": "MIT",
            "allowed-tools": "Read, Bash",
            "metadata": {
                "version": 1.1,
                "tags": ["office", "forms"],
                "deep": { "on": true, "nothing": null, "count": 3, "text": "3" }
            },
            "argument-hint": "[fast|slow]"
        })
    );
    let mut read = BTreeSet::new();
    for file in entry["resources"].as_array().expect("files") {
        let uri = file["uri"].as_str().expect("a URI");
        let content = bytes(&mut peer, uri);
        assert_eq!(file["size"], content.len(), "{file}");
        assert_eq!(file["digest"], Digest::of(&content).to_string(), "{file}");
        read.insert((uri.to_owned(), content));
    }
    let main = std::fs::read(sandbox.project().join(USER).join("pdf/SKILL.md")).expect("a file");
    let uris = [
        "assets/gr%C3%B6%C3%9Fe%20a%3F.txt",
        "assets/logo.png",
        "empty.txt",
        "references/deep/forms.md",
        "scripts/fill.py",
    ];
    let wanted =
        uris.iter().zip(FILES).map(|(uri, (_, bytes))| (format!("skill://user/pdf/{uri}"), bytes.to_vec()));
    let wanted: BTreeSet<_> = wanted.chain([("skill://user/pdf/SKILL.md".to_owned(), main)]).collect();
    assert_eq!(read, wanted);
    let got = peer.ask("skills/get", json!({ "uri": entry["uri"] }));
    assert_eq!(got["skill"], *entry);
    assert_eq!((&got["resultType"], &got["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(peer.end().success());
}

/// What is not there is -32602 for each method, and a method that is not there is -32601.
#[test]
fn what_is_not_there_is_refused() {
    let sandbox = machine();
    usual(&sandbox, "other");
    let mut peer = Peer::modern(&sandbox, &[]);
    for uri in [
        "skill://user/none/SKILL.md",
        "skill://project/pdf/SKILL.md",
        "skill://user/pdf/none.md",
        "skill://user/pdf",
        "skill://user/pdf/references",
        "skill://user/pdf/../other/SKILL.md",
        "skill://user/pdf/%2E%2E/other/SKILL.md",
        "skill://user/pdf/..%2Fother/SKILL.md",
        "skill://user/pdf/../../../../etc/passwd",
        "skill://user/pdf/%2Fetc%2Fpasswd",
        "skill://user/pdf/SKILL.md%00",
        "skill://user/pdf/SKILL.md?x",
        "skill://user/pdf/%",
        "skill:///pdf/SKILL.md",
        "file:///etc/passwd",
        "not a URI",
        "",
    ] {
        for method in ["resources/read", "skills/get", "resources/directory/read"] {
            let is_directory = method == "resources/directory/read"
                && ["skill://user/pdf", "skill://user/pdf/references"].contains(&uri);
            if !is_directory {
                assert_eq!(peer.refused(method, json!({ "uri": uri })).0, -32602, "{method} {uri}");
            }
        }
    }
    // Of a file that is there, but is no skill and no directory.
    let file = json!({ "uri": "skill://user/pdf/scripts/fill.py" });
    assert_eq!(peer.refused("skills/get", file.clone()).0, -32602);
    assert_eq!(peer.refused("resources/directory/read", file).0, -32602);
    for method in ["skills/get", "resources/read", "resources/directory/read"] {
        assert_eq!(peer.refused(method, json!({})).0, -32602, "{method}");
        assert_eq!(peer.refused(method, json!({ "uri": 3 })).0, -32602, "{method}");
        assert_eq!(peer.refused(method, json!({ "uri": ["x"] })).0, -32602, "{method}");
    }
    for method in ["skills/none", "none", "tasks/list", "resources/subscribe"] {
        assert_eq!(peer.refused(method, json!({})).0, -32601, "{method}");
    }
    for cursor in ["x", "-1", "7", ""] {
        assert_eq!(peer.refused("skills/list", json!({ "cursor": cursor })).0, -32602, "{cursor}");
    }
    assert!(peer.end().success());
    // In the versions before, a resource that is not there has a code of its own.
    let mut peer = Peer::legacy(&sandbox, &[]);
    assert_eq!(peer.refused("resources/read", json!({ "uri": "skill://user/none/SKILL.md" })).0, -32002);
    assert!(peer.end().success());
}

/// An address may be encoded more than it has to be.
#[test]
fn an_address_may_be_percent_encoded() {
    let sandbox = machine();
    let mut peer = Peer::modern(&sandbox, &[]);
    for (uri, content) in [
        ("skill://user/pdf/%65mpty.txt", &b""[..]),
        ("SKILL://user/pdf/references%2Fdeep/forms.md", b"# Forms\n"),
        ("skill://user/pdf/assets/gr%c3%b6%c3%9fe%20a%3f.txt", b"umlauts\n"),
        ("skill://user/pdf/assets/größe a%3F.txt", b"umlauts\n"),
    ] {
        assert_eq!(bytes(&mut peer, uri), content, "{uri}");
    }
    assert!(peer.end().success());
}

/// Directories are read level by level, above skills too, and lead to every file.
#[test]
fn directories_lead_to_every_file() {
    let sandbox = machine();
    skill(&sandbox, "pdf/inner", "name: inner\ndescription: A skill inside of another one.");
    let mut peer = Peer::modern(&sandbox, &[]);
    let (mut open, mut files) = (vec!["skill://".to_owned()], BTreeSet::new());
    while let Some(uri) = open.pop() {
        let page = peer.ask("resources/directory/read", json!({ "uri": uri }));
        assert_eq!(page["resultType"], "complete");
        for child in page["resources"].as_array().expect("resources") {
            let below = child["uri"].as_str().expect("a URI");
            let name = below.strip_prefix(&uri).expect("it is below");
            let name = if uri == "skill://" { name } else { name.strip_prefix('/').expect("it is below") };
            assert!(!name.is_empty() && !name.contains('/'), "{child}");
            match child["mimeType"].as_str() {
                Some("inode/directory") => open.push(below.to_owned()),
                _ => assert!(files.insert(below.to_owned()), "{below}"),
            }
        }
    }
    let mut listed = BTreeSet::new();
    for entry in peer.skills() {
        let uris = entry["resources"].as_array().expect("files").iter();
        listed.extend(uris.map(|file| file["uri"].as_str().expect("a URI").to_owned()));
    }
    assert_eq!(files, listed);
    assert!(files.contains("skill://user/pdf/references/deep/forms.md"));
    let slash = peer.ask("resources/directory/read", json!({ "uri": "skill://user/pdf/scripts/" }));
    assert_eq!(slash["resources"][0]["uri"], "skill://user/pdf/scripts/fill.py");
    assert!(peer.end().success());
    let mut peer = Peer::modern(&Sandbox::new(), &[]);
    let empty = peer.ask("resources/directory/read", json!({ "uri": "skill://" }));
    assert_eq!(empty["resources"], json!([]));
    assert!(peer.end().success());
}

/// A list has pages, and what the pages have is the list.
#[test]
fn a_list_has_pages() {
    let sandbox = Sandbox::in_memory();
    for number in 0..250 {
        usual(&sandbox, &format!("s{number:03}"));
    }
    let mut peer = Peer::modern(&sandbox, &[]);
    for (method, key) in
        [("skills/list", "skills"), ("resources/list", "resources"), ("prompts/list", "prompts")]
    {
        let (mut sizes, mut seen, mut params) = (Vec::new(), BTreeSet::new(), json!({}));
        loop {
            let page = peer.ask(method, params);
            let items = page[key].as_array().expect("items");
            sizes.push(items.len());
            for item in items {
                let id = item.get("uri").or_else(|| item.get("name")).expect("an id");
                assert!(seen.insert(id.to_string()), "{id}");
                assert_eq!(
                    item["resources"].as_array().map(Vec::len),
                    (method == "skills/list").then_some(1)
                );
            }
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!((sizes, seen.len()), (vec![100, 100, 50], 250), "{method}");
    }
    assert!(peer.end().success());
}

/// A skill that the extension cannot carry is left out with one word about it, and tools have it all the same.
#[test]
fn what_the_extension_cannot_carry_tools_offer() {
    let sandbox = machine();
    skill(&sandbox, "Bad_Name", "name: Bad_Name\ndescription: d");
    skill(&sandbox, "unnamed", "description: It has no name.");
    usual(&sandbox, "many");
    for number in 0..512 {
        sandbox.write(&format!("{USER}/many/{number}.txt"), "");
    }
    usual(&sandbox, "large");
    let large = std::fs::File::create(sandbox.project().join(USER).join("large/data")).expect("a file");
    large.set_len(16 << 20).expect("a size");
    usual(&sandbox, "limit");
    for number in 0..511 {
        sandbox.write(&format!("{USER}/limit/{number}.txt"), "");
    }
    skill(&sandbox, "renamed-directory", "name: renamed\ndescription: Its directory has another name.");
    skill(&sandbox, "broken", "name: [broken\ndescription: d");
    let mut peer = Peer::modern(&sandbox, &[]);
    let listed: Vec<_> =
        peer.skills().iter().map(|skill| skill["uri"].as_str().expect("a URI").to_owned()).collect();
    assert_eq!(
        listed,
        ["skill://user/limit/SKILL.md", "skill://user/pdf/SKILL.md", "skill://user/renamed/SKILL.md"],
        "{}",
        peer.stderr()
    );
    assert_eq!(peer.skills().len(), 3);
    let left_out = ["Bad_Name", "unnamed", "many", "large"];
    for name in left_out {
        let loaded = peer.call("load_skill", json!({ "name": name }));
        assert_eq!(loaded["isError"], false, "{name}: {loaded}");
        assert_eq!(
            peer.refused("skills/get", json!({ "uri": format!("skill://user/{name}/SKILL.md") })).0,
            -32602
        );
    }
    assert!(text_of(&peer.call("list_skills", json!({}))).contains("broken"));
    assert!(peer.end().success());
    let stderr = peer.stderr();
    for name in left_out {
        let lines = stderr
            .lines()
            .filter(|line| line.contains(&format!("the skill `{name}` is offered by tools only")));
        assert_eq!(lines.count(), 1, "{name}: {stderr}");
    }
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("text")
}

/// One name is one skill, the first that is found; the other is told of.
#[test]
fn of_two_skills_of_one_name_the_first_counts() {
    let sandbox = machine();
    sandbox.write("more/pdf/SKILL.md", "---\nname: pdf\ndescription: the other one\n---\n");
    let mut peer = Peer::modern(&sandbox, &["--dir", "more"]);
    let uris: Vec<_> = peer.skills().iter().map(|skill| skill["uri"].clone()).collect();
    assert_eq!(uris, ["skill://user/pdf/SKILL.md"]);
    assert!(peer.end().success());
}

/// Every real skill is in the list of the extension or told of on standard error, and its bytes are what the list says.
#[test]
fn real_skills_are_carried() {
    let Some(testdata) = testdata::dir() else { return };
    let (mut carried, mut left_out, mut files) = (0, 0, 0);
    for repository in testdata::REPOSITORIES {
        let sandbox = Sandbox::in_memory();
        testdata::repository(&testdata, repository).write(&sandbox.project().join("all"));
        let mut peer = Peer::session(&sandbox, &["--dir", "all", "--scope", "user"], MODERN, json!({})).0;
        for entry in peer.skills() {
            for file in entry["resources"].as_array().expect("files").iter().take(20) {
                let content = bytes(&mut peer, file["uri"].as_str().expect("a URI"));
                assert_eq!(file["digest"], Digest::of(&content).to_string(), "{file}");
                files += 1;
            }
            carried += 1;
        }
        assert!(peer.end().success());
        left_out += peer.stderr().lines().filter(|line| line.contains("is offered by tools only")).count();
        println!("{repository}: {}", peer.stderr());
    }
    println!("{carried} real skills are carried with {files} files read, {left_out} are not");
    assert!(carried > 200, "{carried}");
}
