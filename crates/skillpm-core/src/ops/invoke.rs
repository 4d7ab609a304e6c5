//! `invoke`: returns what an agent would get.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::engine::{Activation, Arguments, Form, Hit, Instructions, Skill, activate, resources};
use crate::fs;
use crate::name::SkillName;
use crate::profile::LoadProfile;
use crate::scope::health::problem;
use crate::scope::merges::{self, has_conflicts};
use crate::scope::state::Files;
use crate::scope::{Scope, Scopes};
use crate::session::named::is_alias;
use crate::session::record::not_written;
use crate::session::{Session, SessionError, not_listed};
use crate::settings::Settings;
use crate::skill::{Deviation, DeviationKind};

/// A request to invoke a skill.
#[derive(Debug, Clone)]
pub struct InvokeRequest {
    /// The skill's name.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// The form of the content. It determines whether the skill's files are listed.
    pub form: Form,
    /// Whether to write the audit log.
    pub record: bool,
    /// The session for the line of the log; `None` means that of the process.
    pub session: Option<String>,
    /// The largest number of bytes of the instructions; what follows them is left out. `None` means all.
    pub limit: Option<usize>,
}

impl InvokeRequest {
    /// Returns a request for the skill `name` without arguments, in the plain form, to be recorded in the
    /// audit log.
    pub fn new(name: impl Into<String>) -> Self {
        let (arguments, form) = (Arguments::default(), Form::default());
        Self { name: name.into(), arguments, form, record: true, session: None, limit: None }
    }
}

/// The outcome: what an agent would get.
#[derive(Debug, Clone)]
pub struct InvokeOutcome {
    /// The processed content, in the requested form.
    pub content: String,
    /// The activation that the content was made from.
    pub activation: Activation,
    /// The number of bytes at the end of the skill's file that [`InvokeRequest::limit`] left out.
    pub left_out: usize,
    /// Tolerated problems of the skill.
    pub warnings: Vec<Warning>,
}

impl Session {
    /// Returns what an agent gets from a skill, and records that in the audit log unless the request says otherwise.
    /// Nothing is run.
    pub fn invoke(&self, request: &InvokeRequest) -> Result<InvokeOutcome, SessionError> {
        let began = Instant::now();
        let hit = self.find(&request.name)?;
        self.invoke_hit(hit, request, began)
    }

    /// Works like [`Session::invoke`], for a `skill` that was already found: its name is not looked up again.
    ///
    /// # Errors
    ///
    /// Fails if the skill can no longer be loaded.
    pub fn invoke_found(
        &self,
        skill: &Arc<Skill>,
        request: &InvokeRequest,
    ) -> Result<InvokeOutcome, SessionError> {
        let hit = Hit { skill: Arc::clone(skill), warnings: Vec::new() };
        self.invoke_hit(hit, request, Instant::now())
    }

    fn invoke_hit(
        &self,
        hit: Hit,
        request: &InvokeRequest,
        began: Instant,
    ) -> Result<InvokeOutcome, SessionError> {
        let Instructions { skill, body } = self.instructions(&hit.skill, &request.name)?;
        let mut outcome = invoked(self.context(), self.profile(), &skill, &body, request);
        outcome.warnings.splice(..0, hit.warnings);
        if request.record {
            outcome.warnings.extend(self.record(&skill, request, began.elapsed()));
        }
        Ok(outcome)
    }

    /// Records that the instructions of `skill` were handed out. Returns a warning for the
    /// user if that fails.
    fn record(&self, skill: &Skill, request: &InvokeRequest, took: Duration) -> Option<Warning> {
        let given = match request.arguments.text() {
            "" => Vec::new(),
            text => vec![OsString::from(text)],
        };
        let written = self.activations().write(skill, &given, took, request.session.as_deref());
        written.err().map(|error| Warning::new(codes::AUDIT_NOT_WRITTEN, not_written(&error)))
    }
}

/// Returns what an agent gets from `skill`, whose instructions are `body`, under `profile`.
fn invoked(
    context: &Context,
    profile: &LoadProfile,
    skill: &Skill,
    body: &str,
    request: &InvokeRequest,
) -> InvokeOutcome {
    // The blank line after the frontmatter is not part of the instructions.
    let whole = body.trim_start_matches(['\r', '\n']);
    let body = request.limit.map_or(whole, |limit| &whole[..whole.floor_char_boundary(limit)]);
    let left_out = whole.len() - body.len();
    let mut activation =
        activate(skill.meta.clone(), body, &skill.dir, &request.arguments, profile.placeholders);
    let mut warnings = Vec::new();
    warnings.extend(off_specification(context, skill));
    warnings.extend(unsettled(&context.settings, &skill.dir));
    if request.form.lists_files() {
        match resources::list(&skill.dir, profile.listing) {
            Ok(files) => activation.files = files,
            Err(error) => warnings.push(not_listed(&activation.meta.name, &error)),
        }
    }
    if !activation.commands.is_empty() {
        let told = format!(
            "`{}` has commands that some agents run before they read it; none was run: {}",
            activation.meta.name,
            activation.command_list()
        );
        warnings.push(Warning::new(codes::COMMANDS_NOT_RUN, told));
    }
    InvokeOutcome { content: activation.render(request.form), activation, left_out, warnings }
}

/// Returns one warning about all tolerated deviations from the specification, including repairs. Deviations
/// found by loading are enough: the linter takes longer than everything else. Fields of other programs are
/// not reported to a user who wants to see the text.
fn off_specification(context: &Context, skill: &Skill) -> Option<Warning> {
    let is_news = |deviation: &&Deviation| match &deviation.kind {
        DeviationKind::UnknownField(_) | DeviationKind::LegacyField(_) => false,
        // A user who installed it under another name knows.
        DeviationKind::NameDirectory { name, directory } => !is_alias(context, directory, name),
        _ => true,
    };
    let mut deviations = skill.deviations.iter().filter(is_news);
    let first = deviations.next()?;
    let more = match deviations.count() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let name = &skill.meta.name;
    let told = message!(
        format_args!("`{name}` does not follow the specification: {first}{more}; "),
        Verb::Validate.call().path(&skill.file),
        " lists all"
    );
    Some(Warning::new(codes::OFF_SPECIFICATION, told))
}

/// Returns what to tell anyone who is about to use the skill that is at `directory`, which a search has found there, if
/// an update left conflicts in it. Of the skills of a scope, almost none has a record, and no other file is read then.
fn unsettled(settings: &Settings, directory: &Path) -> Option<Warning> {
    let name = directory.file_name().and_then(|name| SkillName::new(name.to_str()?).ok())?;
    let real = fs::real_path(directory).ok().flatten()?;
    let lies_in = |scope: &Scope| {
        let place = scope.skills_dir().join(name.as_str());
        fs::real_path(&place).is_ok_and(|place| place.as_ref() == Some(&real))
    };
    let scopes = Scopes::new(settings, None).ok()?.there;
    let scope = scopes.iter().find(|scope| merges::is_recorded(scope, &name) && lies_in(scope))?;
    let files = Files::read(scope).ok()?;
    let locked = files.lock.skills.get(&name)?;
    has_conflicts(scope, &name, locked, &real).ok()?.then(|| {
        Warning::new(
            problem::MERGE_UNFINISHED.id,
            message!(
                format_args!("`{name}` has unresolved conflicts of an update, and agents read the markers; "),
                Verb::Update.within(scope.kind).word(&name),
                " lists them"
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::resources::Content;
    use crate::engine::testing::World;
    use crate::error::{ErrorKind, Result};
    use crate::fs;
    use crate::profile::Freshness;
    use crate::session::SessionOptions;

    fn invoked(world: &World, name: &str, arguments: &str) -> Result<InvokeOutcome> {
        let arguments = Arguments::new(arguments);
        let request = InvokeRequest { arguments, ..InvokeRequest::new(name) };
        Ok(Session::of_person(&world.context())?.invoke(&request)?)
    }

    /// S0-US3.1, S0-US3.4, S0-US5.5, S0-FR-011, S0-FR-021, S0-FR-022, S0-FR-027.
    #[test]
    fn the_body_comes_without_the_frontmatter_and_the_file_stays() {
        let world = World::new();
        let text = "---\nname: review\ndescription: x $ARGUMENTS\n---\n# Review $ARGUMENTS\n";
        world.write(".claude/skills/review/SKILL.md", text);
        let outcome = invoked(&world, "review", "a.py  b.py").expect("works");
        let dir = world.project().join(".claude/skills/review");
        assert_eq!(
            outcome.content,
            format!("Base directory for this skill: {}\n\n# Review a.py  b.py\n", dir.display())
        );
        assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        assert_eq!(fs::read_text(&dir.join("SKILL.md"), 999).expect("reads").as_deref(), Some(text));
    }

    /// Everything that agents load is loaded, and its problems are reported in one line.
    #[test]
    fn a_skill_that_is_off_the_specification_works_with_a_warning() {
        let world = World::new();
        let text = "---\nname: My Skill\ndescription: PDF: all of it\n---\nbody";
        world.write(".agents/skills/mine/SKILL.md", text);
        let outcome = invoked(&world, "My Skill", "").expect("works");
        assert!(outcome.content.ends_with("\n\nbody"));
        let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
        assert!(
            warning.to_string().starts_with(
                "`My Skill` does not follow the specification: the value of `description` is not valid YAML"
            ),
            "{warning}"
        );
        assert!(
            warning.to_string().contains(", and ") && warning.to_string().contains(" more; `validate "),
            "{warning}"
        );
        assert!(warning.to_string().ends_with("SKILL.md` lists all"), "{warning}");
    }

    #[test]
    fn a_hint_names_the_path_of_a_file() {
        let world = World::new();
        world.write(".agents/skills/my skill/SKILL.md", "---\nname: My Skill\ndescription: d\n---\nbody");
        let warnings = invoked(&world, "My Skill", "").expect("works").warnings;
        let file = world.project().join(".agents/skills/my skill/SKILL.md");
        assert!(warnings[0].to_string().ends_with(&format!("`validate {}` lists all", file.display())));
        let empty = crate::engine::load::Unusable::from(crate::skill::LoadError::Empty);
        let error = empty.into_error("pdf", &file);
        let hint = format!("`validate {}` shows the place and what to do", file.display());
        assert_eq!(error.hints(), [hint]);
    }

    /// Oddity 42: as in Claude Code.
    #[test]
    fn a_skill_without_a_name_has_that_of_its_directory() {
        let world = World::new();
        world.write(".agents/skills/pdf/SKILL.md", "---\ndescription: x\n---\nbody");
        let invoked = invoked(&world, "pdf", "").expect("works");
        assert_eq!(invoked.activation.meta.name, "pdf");
        assert!(
            invoked.warnings[0].to_string().contains("the directory's name `pdf` is used instead"),
            "{:?}",
            invoked.warnings
        );
    }

    #[test]
    fn fields_of_other_programs_are_no_news() {
        let world = World::new();
        let text = "---\nname: pdf\ndescription: x\nmodel: opus\nversion: 1\n---\nbody";
        world.write(".agents/skills/pdf/SKILL.md", text);
        assert_eq!(invoked(&world, "pdf", "").expect("works").warnings, [""; 0]);
    }

    /// S0-E1, S0-E2, S0-US5.2, S0-FR-014, S0-SC-007.
    #[test]
    fn a_skill_that_cannot_be_loaded_is_an_error_with_path_and_reason() {
        let world = World::new();
        for (text, reason) in [
            ("", "the file is empty"),
            ("---\nname: [x]\ndescription: x\n---\n", "the field `name` must be text"),
            ("---\nname: bad\n---\n", "the required field `description` is missing"),
            ("---\nname: bad\ndescription: x\nnonsense\n---\n", "not valid YAML"),
        ] {
            world.write(".agents/skills/bad/SKILL.md", text);
            let error = invoked(&world, "bad", "").expect_err(reason);
            assert_eq!(error.kind(), ErrorKind::Findings);
            let message = error.to_string();
            assert!(message.contains("bad/SKILL.md`: ") && message.contains(reason), "{message}");
        }
    }

    /// S3-US-5: only a form with files waits for them.
    #[test]
    fn files_are_listed_where_the_form_has_them() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.write(".agents/skills/pdf/references/forms.md", "# Forms\n");
        for (_, form) in Form::NAMES {
            let request = InvokeRequest { form, ..InvokeRequest::new("pdf") };
            let session = Session::of_person(&world.context()).expect("opens");
            let outcome = session.invoke(&request).expect("works");
            assert_eq!(outcome.content.contains("references/forms.md"), form.lists_files(), "{form}");
        }
    }

    /// Nothing runs, and the user gets the same report as the agent.
    #[test]
    fn commands_of_the_body_are_told() {
        let world = World::new();
        let text = "---\nname: pdf\ndescription: x\n---\n!`touch evil` and !`ls`\n";
        world.write(".agents/skills/pdf/SKILL.md", text);
        let outcome = invoked(&world, "pdf", "").expect("works");
        let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
        assert!(warning.to_string().ends_with("none was run: `touch evil`, `ls`"), "{warning}");
        assert!(outcome.content.contains("\n!`touch evil` and !`ls`\n\nNOTE: "), "{}", outcome.content);
        assert_eq!(fs::kind(&world.project().join("evil")).expect("looks"), None);
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let world = World::new();
        world.skill(".agents/skills/big", "big");
        let text = crate::engine::testing::skill_text("big") + &"x".repeat(11 << 20);
        world.write(".agents/skills/big/SKILL.md", &text);
        let error = invoked(&world, "big", "").expect_err("refused");
        assert!(error.to_string().ends_with("it has more than 10 MiB"), "{error}");
        assert!(error.hints()[0].starts_with("move long parts into files beside it"), "{:?}", error.hints());
    }

    fn session(world: &World, profile: LoadProfile) -> Session {
        let options = SessionOptions { profile, paths: false, ..SessionOptions::of_person() };
        Session::new(world.context(), options).expect("opens")
    }

    /// Another skill that takes the name meanwhile is not meant.
    #[test]
    fn a_skill_that_was_found_is_not_looked_up_again() {
        let world = World::new();
        let write = |dir: &str| {
            let text = format!("---\nname: pdf\ndescription: d\n---\nFrom {dir}.\n");
            world.write(&format!("{dir}/skills/pdf/SKILL.md"), &text);
            world.write(&format!("{dir}/skills/pdf/a.md"), dir);
        };
        write(".claude");
        let profile = LoadProfile { freshness: Freshness::Stat, ..LoadProfile::DEFAULT };
        let session = session(&world, profile);
        let found = session.find("pdf").expect("there").skill;
        write(".agents");
        let request = InvokeRequest::new("pdf");
        let content = session.invoke_found(&found, &request).expect("invokes").content;
        assert!(content.trim_end().ends_with("From .claude."), "{content}");
        assert_eq!(session.read_found(&found, "a.md", 99).expect("reads"), Content::Text(".claude".into()));
        let content = session.invoke(&request).expect("invokes").content;
        assert!(content.trim_end().ends_with("From .agents."), "{content}");
    }

    /// S0-US3.1, S0-US5.5, S0-FR-006, S0-SC-002: whatever is next to the instructions.
    #[test]
    fn activation() {
        let world = World::new();
        world.write(
            ".agents/skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: d\n---\n\n\nRead $ARGUMENTS.\n",
        );
        world.write(".agents/skills/pdf/references/a.md", "a");
        let session = session(&world, LoadProfile { freshness: Freshness::Stat, ..LoadProfile::DEFAULT });
        let active = |form| {
            let request =
                InvokeRequest { arguments: Arguments::new("x  y"), form, ..InvokeRequest::new("pdf") };
            session.invoke(&request).expect("works")
        };
        let plain = active(Form::Plain);
        assert!(plain.activation.files.is_empty() && plain.warnings.is_empty());
        let dir = world.project().join(".agents/skills/pdf");
        let expected = format!("Base directory for this skill: {}\n\nRead x  y.\n", dir.display());
        assert_eq!(plain.content, expected);
        assert_eq!(active(Form::Json).activation.files, ["references/a.md"]);
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::ffi::OsStrExt;
            let odd = dir.join(std::ffi::OsStr::from_bytes(b"\xff"));
            crate::fs::write_atomic(&odd, b"").expect("writes");
            let listed = active(Form::Json);
            assert!(listed.activation.files == ["references/a.md"] && listed.warnings.is_empty());
            // Deeper than any path.
            let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
            let open = |at: &std::os::fd::OwnedFd, name: &str| {
                rustix::fs::openat(at, name, flags, 0.into()).expect("opens")
            };
            let mut at = rustix::fs::open(&dir, flags, 0.into()).expect("opens");
            let name = "d".repeat(250);
            for _ in 0..20 {
                rustix::fs::mkdirat(&at, &name, 0o755.into()).expect("is made");
                at = open(&at, &name);
            }
            let deep = active(Form::Json);
            assert!(deep.activation.files.is_empty() && deep.warnings.len() == 1);
            assert_eq!(deep.activation.body, "Read x  y.\n");
        }
    }
}
