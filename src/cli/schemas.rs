//! The files of `schema/` that describe what commands print: made from the types of the outcomes.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};
use skillpm_testing::{is_set, root};

use super::render::explain::RuleData;
use skillpm_core::engine::LoadedSkill;
use skillpm_core::engine::catalog::CatalogData;
use skillpm_core::ops;
use skillpm_format::lint::report::json::Json as Report;
use skillpm_sources::error::ErrorData;

/// Files of `schema/` that describe what people write, which no type does.
const WRITTEN: [&str; 3] = ["frontmatter.schema.json", "lockfile.schema.json", "skillpm.schema.json"];

/// A file of `schema/`.
struct Page {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    forms: Vec<fn(&mut SchemaGenerator) -> Schema>,
}

macro_rules! pages {
    ($($name:literal $title:literal $about:literal [$($form:ty),+];)*) => {
        vec![$(Page {
            name: $name,
            title: $title,
            about: $about,
            forms: vec![$(|generator| generator.subschema_for::<$form>()),+],
        }),*]
    };
}

#[rustfmt::skip]
fn pages() -> Vec<Page> {
    use ops::{agents, audit, bump, cache, create, diff, disable, doctor, export, fmt, import, install, kept, link};
    use ops::{list, mcp, outdated, pack, policy, publish, read, registry, remove, run, search, self_check, show, test, tools, tree, trust};
    use ops::{undo, update, usage, verify, why};
    pages! {
        "agents" "skillpm agents --json" "The agents, with what each of them sees." [Vec<agents::AgentView>];
        "audit" "skillpm audit --json" "Lines of the audit log. A line of the log itself is an `AuditRecord`." [audit::AuditOutcome];
        "available" "skillpm install --list --json" "The skills that sources offer; with `--marketplace`, the plugins." [Vec<install::Available>, Vec<install::OfferedPlugin>];
        "bump" "skillpm bump --json" "The new version of a skill." [bump::BumpOutcome];
        "cache" "skillpm cache --json" "What an action of `skillpm cache` found or did: `dir`, then `prune` and `clean`, then `verify`." [cache::CacheDirs, cache::RemovedOutcome, cache::VerifyOutcome];
        "catalog" "skillpm catalog --json" "What an agent is told of all skills." [CatalogData<'static>];
        "create" "skillpm create --json" "The skill that `skillpm create` made, or would make; with `--list-templates`, the templates." [create::CreateOutcome, Vec<skillpm_core::template::Builtin>];
        "diff" "skillpm diff --json" "The skills that differ." [Vec<diff::SkillDiff>];
        "disable" "skillpm disable --json" "What `skillpm disable` and `skillpm enable` changed." [disable::DisableOutcome];
        "doctor" "skillpm doctor --json" "What is wrong on this machine, and what was repaired." [doctor::DoctorOutcome];
        "error" "an error with --json" "A line of standard error, if a command with `--json` or `--format json` fails: one for each thing that failed." [ErrorData];
        "explain" "skillpm explain --json" "The rules of the linter." [Vec<RuleData>];
        "export" "skillpm export skills-lock --json" "What was written for another tool." [export::ExportOutcome];
        "fmt" "skillpm fmt --json" "The files, and the form in which they were found." [fmt::FmtOutcome];
        "import" "skillpm import --json" "What was taken over from other tools." [import::ImportOutcome];
        "install" "skillpm install --json" "What `skillpm install` and `skillpm sync` installed." [install::InstallOutcome];
        "invoke" "skillpm invoke --format json" "What an agent gets of a skill." [LoadedSkill<'static>];
        "link" "skillpm link --json" "What `skillpm link` and `skillpm unlink` changed." [link::LinkOutcome];
        "list" "skillpm list --json" "The installed skills, those of the project before those of the user, then by name." [Vec<list::ListedSkill>];
        "mcp" "skillpm mcp --json" "What an action of `skillpm mcp` did or found: `install` and `uninstall`, then `status`." [mcp::McpChangeOutcome, mcp::McpStatusOutcome];
        "outdated" "skillpm outdated --json" "The skills, with what is newer in their sources." [Vec<outdated::OutdatedSkill>];
        "pack" "skillpm pack --json" "The package of a skill; if it was refused, the findings." [pack::PackOutcome, Report<'static>];
        "policy" "skillpm policy --json" "The lines that decide here, and what they decide about sources." [policy::PolicyOutcome];
        "publish" "skillpm publish --json" "What was published, and where; if it was refused, the findings." [publish::PublishOutcome, Report<'static>];
        "read" "skillpm read --json" "A file of a skill; without a path, the list of its files." [read::ReadOutcome, read::FilesOutcome];
        "registry" "skillpm registry --json" "What an action of `skillpm registry` did or found: `init`, `add`, `index`, `yank` and `unyank`, `verify`, `list`, `mirror`, `bundle`, `login`, `logout`, `login --list`, and `owner`, `publisher` and `visibility`." [
            registry::InitOutcome, registry::AddOutcome, registry::IndexOutcome, registry::YankOutcome, registry::VerifyOutcome,
            registry::ListOutcome, registry::mirror::MirrorOutcome, registry::mirror::BundleOutcome, registry::LoginOutcome,
            registry::LogoutOutcome, registry::LoginsOutcome, registry::AccessOutcome];
        "remove" "skillpm remove --json" "What was removed." [remove::RemoveOutcome];
        "report-v1" "Report of `skillpm validate --format json`, version 1" "What was found in each skill." [Report<'static>];
        "run" "skillpm run --json" "A script that ran." [run::RunOutcome];
        "search" "skillpm search --json" "The skills that match." [search::SearchOutcome];
        "self" "skillpm self check --json" "This program, and whether there is a newer one." [self_check::SelfOutcome];
        "show" "skillpm show --json" "Everything about a skill." [show::ShowOutcome];
        "test" "skillpm test --json" "Requests for skills, and how the right one ranks for each." [test::TestOutcome];
        "tools" "skillpm tools --json" "The scripts that an agent can call, in the order of the skills, then by their paths." [Vec<tools::ListedTool>];
        "tree" "skillpm tree --json" "The skills, with those that they need." [Vec<tree::TreeSkill>];
        "trust" "skillpm trust --json" "The trusted directories, as `skillpm trust` and `skillpm untrust` print them." [trust::TrustOutcome];
        "undo" "skillpm undo --json" "What was undone; with `--forget`, what was removed; with `--list`, the kept copies; with `--restore`, the one that was restored." [undo::UndoOutcome, undo::Forgotten, Vec<kept::KeptCopy>, kept::RestoreOutcome];
        "update" "skillpm update --json" "What was updated." [update::UpdateOutcome];
        "usage" "skillpm usage --json" "Which skills were used, and which never, as sessions of agents record it." [usage::UsageOutcome];
        "verify" "skillpm verify --json" "Whether what is installed is what was locked." [verify::VerifyOutcome];
        "why" "skillpm why --json" "Why skills are here, and who sees them." [why::WhyOutcome];
    }
}

impl Page {
    fn file(&self) -> String {
        format!("{}.schema.json", self.name)
    }

    /// Returns the schema as JSON.
    fn schema(&self) -> Value {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let mut forms: Vec<Schema> = self.forms.iter().map(|form| form(&mut generator)).collect();
        let mut schema = match &mut forms[..] {
            [form] => form.clone(),
            _ => Schema::try_from(json!({ "anyOf": forms })).expect("an object"),
        };
        let mut definitions = generator.take_definitions(true);
        for definition in definitions.values_mut() {
            Tidy.transform(definition.try_into().expect("a schema"));
        }
        Tidy.transform(&mut schema);
        let mut whole = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": format!("https://github.com/skillpm/skillpm/raw/main/schema/{}", self.file()),
            "title": self.title,
            "description": self.about,
        });
        let members = whole.as_object_mut().expect("an object");
        for (key, value) in schema.as_object().into_iter().flatten() {
            members.entry(key).or_insert_with(|| value.clone());
        }
        if !definitions.is_empty() {
            members.insert("$defs".to_owned(), definitions.into());
        }
        whole
    }
}

/// Makes descriptions of Rust's documentation: without links to items, which lead nowhere here.
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(text)) = schema.get_mut("description") {
            let text_of_rust = unlinked(&text.replace('\n', " ")).replace("`None`", "`null`");
            // The sentences of the page on stability.
            let sentences: Vec<&str> = text_of_rust.split(". ").collect();
            let own = sentences.iter().filter(|sentence| !sentence.contains("an interface: fields are only"));
            let own: Vec<&str> = own.copied().collect();
            *text = own.join(". ").trim_end_matches('.').to_owned() + ".";
        }
        schema.remove("additionalProperties");
        transform_subschemas(self, schema);
    }
}

/// Returns `text` with `` `Outcome::failures` `` instead of `` [`Outcome::failures`] ``, and the same of
/// `` [`list`](super::list) ``.
fn unlinked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("[`") {
        let Some((name, after)) = behind.split_once("`]") else { break };
        out.extend([before, "`", name, "`"]);
        rest = after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
            .map_or(after, |(_, after)| after);
    }
    out + rest
}

/// Returns the JSON pointers of properties without a description.
fn undescribed(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(members) = schema else { return };
    if let Some(Value::Object(properties)) = members.get("properties") {
        for (name, property) in properties {
            let is_described = property.get("description").is_some();
            // The variants of an enum are described as a whole.
            let is_tag = property.get("const").is_some() || at.ends_with("/oneOf");
            if !is_described && !is_tag {
                found.push(format!("{at}/{name}"));
            }
        }
    }
    for (key, value) in members {
        match value {
            Value::Array(items) => {
                for item in items {
                    undescribed(item, &format!("{at}/{key}"), found);
                }
            }
            value => undescribed(value, &format!("{at}/{key}"), found),
        }
    }
}

/// With `SKILLPM_BLESS=1` they are written anew.
#[test]
#[expect(clippy::disallowed_methods, reason = "the files are outside of every room of the program")]
fn the_files_of_schema_are_made_from_the_types() {
    let directory = root().join("schema");
    let mut names: BTreeSet<String> = WRITTEN.iter().map(|name| (*name).to_owned()).collect();
    for page in pages() {
        let schema = page.schema();
        let mut found = Vec::new();
        undescribed(&schema, page.name, &mut found);
        assert_eq!(found, [""; 0], "fields without a comment");
        let (path, text) = (directory.join(page.file()), format!("{schema:#}\n"));
        if is_set("SKILLPM_BLESS") {
            std::fs::write(&path, &text).expect("a file");
        }
        let is = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            is == text,
            "{} differs; `SKILLPM_BLESS=1 cargo test --lib schema` writes it anew",
            path.display()
        );
        names.insert(page.file());
    }
    let files = std::fs::read_dir(&directory).expect("schema/");
    let is: BTreeSet<_> =
        files.map(|file| file.expect("a file").file_name().into_string().expect("a name")).collect();
    assert_eq!(is, names);
}

#[test]
fn descriptions_have_no_links_to_items() {
    assert_eq!(unlinked("as [`list`](super::list), or [`A::b`] [x]"), "as `list`, or `A::b` [x]");
}
