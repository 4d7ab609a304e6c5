//! Who may read what.

use serde_json::json;
use skillpm_testing::issuer::{Issuer, statement};

use crate::support::{Answer, Server};

/// Asks for `path` with `token`.
async fn get(server: &Server, token: &str, path: &str) -> Answer {
    server.send("GET", path, Some(token), "").await
}

#[tokio::test]
async fn reading_a_closed_registry_takes_the_scope_read() {
    let server = Server::start("read = \"token\"");
    let alice = server.token("alice", &[]);
    let only = |scope: &str| server.token("alice", &["--scope", scope]);
    let (publish, yank) = (only("publish"), only("yank"));
    assert_eq!(server.publish(&publish, "pdf", "1.0.0").await.status, 201);
    assert_eq!(server.publish(&publish, "pdf", "1.0.0").await.status, 200);
    for path in [
        "/",
        "/feed.atom",
        "/index/pdf.json",
        "/index/docx.json",
        "/search.json",
        "/.well-known/agent-skills/index.json",
        "/api/v1/log",
        "/api/v1/skills/pdf/owners",
        "/api/v1/search?q=pdf",
        "/v2/",
        "/v2/pdf/tags/list",
        "/nothing/here",
    ] {
        for token in [&publish, &yank] {
            let refused = get(&server, token, path).await;
            assert_eq!(refused.status, 403, "{path}");
            assert!(refused.text().contains("the scope `read`"), "{path}: {}", refused.text());
        }
        assert_eq!(get(&server, "skpm_0", path).await.status, 401, "{path}");
        let (known, admin) = (get(&server, &alice, path).await, get(&server, &only("admin"), path).await);
        assert_eq!(known.status, admin.status, "{path}");
        assert!(matches!(known.status, 200 | 404), "{path}");
    }
    assert_eq!(get(&server, &publish, "/search.json").await.json()["code"], "not-permitted");
    assert_eq!(get(&server, &publish, "/v2/").await.json()["errors"][0]["code"], "DENIED");
    for open in ["/config.json", "/api/v1/whoami"] {
        assert_eq!(get(&server, &publish, open).await.status, 200, "{open}");
    }
    // The client of ClawHub shows the line as it is.
    let stranger = server.get("/api/v1/search?q=pdf").await;
    assert!(
        stranger.status == 401 && stranger.text().contains("`clawhub login --token"),
        "{}",
        stranger.text()
    );
    // What changes something takes its own scope and no other.
    let path = "/api/v1/skills/pdf/versions/1.0.0/yank";
    let refused = server.send("POST", path, Some(&publish), "{}").await;
    assert!(refused.status == 403 && refused.text().contains("the scope `yank`"), "{}", refused.text());
    assert_eq!(server.send("POST", path, Some(&yank), "{}").await.json(), json!({"changed": true}));
    let refused = server.publish(&only("read"), "pdf", "1.1.0").await;
    assert!(refused.status == 403 && refused.text().contains("the scope `publish`"), "{}", refused.text());
}

#[tokio::test]
async fn a_token_for_some_skills_reads_no_others_of_a_closed_registry() {
    let server = Server::start("read = \"token\"");
    let alice = server.token("alice", &[]);
    for name in ["docx", "pdf"] {
        assert_eq!(server.publish(&alice, name, "1.0.0").await.status, 201);
    }
    let some = server.token("bob", &["--scope", "read", "--name", "doc*"]);
    let none = server.token("bob", &["--scope", "read", "--name", "xlsx"]);
    for (token, docx, pdf) in [(&alice, true, true), (&some, true, false), (&none, false, false)] {
        for (name, is_seen) in [("docx", docx), ("pdf", pdf)] {
            let status = if is_seen { 200 } else { 404 };
            assert_eq!(get(&server, token, &format!("/index/{name}.json")).await.status, status);
            for path in
                ["/", "/search.json", "/.well-known/skills/index.json", "/api/v1/skills", "/feed.atom"]
            {
                let shown = get(&server, token, path).await;
                assert_eq!(shown.status, 200, "{path}");
                assert_eq!(shown.text().contains(name), is_seen, "{name} {path}");
            }
        }
    }
}

#[tokio::test]
async fn a_private_skill_is_seen_with_tokens_of_its_owners_that_read() {
    for settings in ["", "read = \"token\""] {
        let server = Server::start(settings);
        let alice = server.token("alice", &[]);
        assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
        let hidden = r#"{"visibility":"private"}"#;
        assert_eq!(
            server.send("PUT", "/api/v1/skills/pdf/visibility", Some(&alice), hidden).await.status,
            200
        );
        let of = |account: &str, more: &[&str]| server.token(account, more);
        let publish = of("alice", &["--scope", "publish"]);
        for (token, status) in [
            (&alice, 200),
            (&of("alice", &["--scope", "read"]), 200),
            (&of("alice", &["--scope", "read", "--name", "docx"]), 404),
            (&of("root", &["--scope", "admin"]), 200),
            (&of("bob", &[]), 404),
            (&of("bob", &["--scope", "read", "--name", "pdf"]), 404),
            (&publish, 403),
        ] {
            assert_eq!(get(&server, token, "/index/pdf.json").await.status, status);
            let listed = get(&server, token, "/search.json").await;
            assert_eq!(listed.text().contains("pdf"), status == 200, "{}", listed.text());
        }
        assert_eq!(server.publish(&publish, "pdf", "1.1.0").await.status, 201);
    }
}

#[tokio::test]
async fn a_job_reads_what_it_publishes_and_nothing_else_of_a_closed_registry() {
    let issuer = Issuer::start();
    let server = Server::start(&format!(
        "read = \"token\"\npublic-url = \"https://skills.example\"\ntrusted-issuers = [\"{}\"]",
        issuer.url()
    ));
    let alice = server.token("alice", &[]);
    for name in ["docx", "pdf"] {
        assert_eq!(server.publish(&alice, name, "1.0.0").await.status, 201);
    }
    let publisher = json!({"issuer": issuer.url(), "repository": "acme/skills", "workflow": "publish.yml"});
    server.send("POST", "/api/v1/skills/pdf/publishers", Some(&alice), &publisher.to_string()).await;
    let shown = json!({"token": issuer.sign(&statement(&issuer.url()))}).to_string();
    let job = server.send("POST", "/api/v1/tokens/exchange", None, &shown).await.json();
    let job = job["secret"].as_str().expect("a token");
    assert_eq!(server.publish(job, "pdf", "1.1.0").await.status, 201);
    assert_eq!(get(&server, job, "/index/pdf.json").await.status, 200);
    assert_eq!(get(&server, job, "/index/docx.json").await.status, 404);
    for path in ["/", "/search.json"] {
        let shown = get(&server, job, path).await.text();
        assert!(shown.contains("pdf") && !shown.contains("docx"), "{path}: {shown}");
    }
}
