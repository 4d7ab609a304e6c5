//! Pages for people: the same served by the server and written as a site of files.
//!
//! A page is made in two steps: a value with everything that it shows, and a template that escapes all of it. The one text
//! that is not escaped there is the HTML that [`markdown`] makes.

mod contents;
mod diff;
mod feed;
mod graph;
mod listing;
mod markdown;
mod site;
mod skill;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use axum::body::Bytes;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value, context};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::app::{App, File, VisibleSkills};
use crate::digest::Digest;
use crate::error::{Error, Result, unknown};
use crate::name::SkillName;
use crate::registry::{History, Record, exact_name, files};
use contents::Contents;
pub(crate) use listing::Query;
pub(crate) use site::write;
use view::Links;

/// The content security policy of pages: they load only from the same server.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The same for a page of a static site, where the rule about frames must be a header.
const POLICY_IN_PAGE: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'";

/// The memory for the contents of archives, in bytes.
const KEPT: u64 = 24 << 20;

const HTML: &str = "text/html; charset=utf-8";
const TEMPLATES: [(&str, &str); 8] = [
    ("base.html", include_str!("templates/base.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("access.html", include_str!("templates/access.html")),
    ("index.html", include_str!("templates/index.html")),
    ("skill.html", include_str!("templates/skill.html")),
    ("diff.html", include_str!("templates/diff.html")),
    ("missing.html", include_str!("templates/missing.html")),
    ("feed.xml", include_str!("templates/feed.xml")),
];
/// The files that pages load: start and end of the name, media type, text.
const ASSETS: [(&str, &str, &str, &str); 3] = [
    ("style", "css", "text/css; charset=utf-8", include_str!("assets/style.css")),
    ("search", "js", "text/javascript; charset=utf-8", include_str!("assets/search.js")),
    ("icon", "svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// The address of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// The first page.
    Index,
    /// The feed of new versions.
    Feed,
    /// A file that pages load.
    Static(String),
    /// A skill, as its newest version is.
    Skill(SkillName),
    /// A version, named by its key.
    Version(SkillName, String),
    /// The form that asks which versions to compare.
    Compare(SkillName),
    /// The differences between two versions.
    Diff(SkillName, String, String),
}

/// Makes pages.
#[derive(Debug)]
pub(crate) struct Pages {
    templates: Environment<'static>,
    contents: Cache<Digest, Arc<Contents>, Weight>,
}

#[derive(Debug, Clone)]
struct Weight;

impl Weighter<Digest, Arc<Contents>> for Weight {
    fn weight(&self, _: &Digest, contents: &Arc<Contents>) -> u64 {
        contents.weight()
    }
}

impl Address {
    /// Returns the page at the path of a URL, with or without the name of its file.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let path = path.strip_suffix("index.html").unwrap_or(path);
        let parts: Vec<_> = path.split('/').collect();
        Some(match parts[..] {
            ["", ""] => Self::Index,
            ["", "feed.atom"] => Self::Feed,
            ["", "static", file] => Self::Static(file.to_owned()),
            ["", "skills", skill, ""] => Self::Skill(exact_name(skill)?),
            ["", "skills", skill, "diff", ""] => Self::Compare(exact_name(skill)?),
            ["", "skills", skill, version, ""] => Self::Version(exact_name(skill)?, version.to_owned()),
            ["", "skills", skill, "diff", from, to, ""] => {
                Self::Diff(exact_name(skill)?, from.to_owned(), to.to_owned())
            }
            _ => return None,
        })
    }

    /// Returns the path of its file below the start of the site.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Index => "index.html".to_owned(),
            Self::Feed => "feed.atom".to_owned(),
            Self::Static(file) => format!("static/{file}"),
            Self::Skill(name) => format!("skills/{name}/index.html"),
            Self::Version(name, version) => format!("skills/{name}/{version}/index.html"),
            Self::Compare(name) => format!("skills/{name}/diff/index.html"),
            Self::Diff(name, from, to) => format!("skills/{name}/diff/{from}/{to}/index.html"),
        }
    }
}

impl Pages {
    /// Returns what makes pages.
    pub(crate) fn new() -> Result<Self> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        for (name, text) in TEMPLATES {
            templates.add_template(name, text).map_err(failed)?;
        }
        let contents = Cache::with_weighter(1_000, KEPT, Weight);
        Ok(Self { templates, contents })
    }

    /// Returns the page at `address` for a caller with the view `visible`.
    pub(crate) async fn page(
        &self,
        app: &App,
        visible: &VisibleSkills,
        address: &Address,
        query: &Query,
        is_live: bool,
    ) -> Result<File> {
        let links = Links::of(address, is_live);
        let missing = || unknown(format!("there is no page `{}`", address.path()));
        let url = app.config.public_url.as_deref().map(|url| url.trim_end_matches('/'));
        match address {
            Address::Static(name) => asset(name).ok_or_else(missing),
            Address::Index => {
                let listing = listing::Listing::of(visible, query, links);
                self.html(app, "index.html", links, context! { view => Value::from(Serde(listing)) })
            }
            Address::Feed => {
                let feed = feed::Feed::of(visible, links, url);
                let text =
                    self.render(app, "feed.xml", links, context! { view => Value::from(Serde(feed)) })?;
                Ok(File::new(text, "application/atom+xml; charset=utf-8"))
            }
            Address::Skill(name) => {
                let history = visible.get(name)?;
                let record = history.newest().or_else(|| history.records().last()).ok_or_else(missing)?;
                self.skill(app, visible, history, record, links, false).await
            }
            Address::Version(name, key) => {
                let history = visible.get(name)?;
                let record = record(history, key).ok_or_else(missing)?;
                self.skill(app, visible, history, record, links, true).await
            }
            Address::Compare(_) => Err(missing()),
            Address::Diff(name, from, to) => {
                let history = visible.get(name)?;
                let (from, to) =
                    (record(history, from).ok_or_else(missing)?, record(history, to).ok_or_else(missing)?);
                self.diff(app, from, to, links).await
            }
        }
    }

    /// Returns the page for addresses without a page.
    pub(crate) fn missing(&self, app: &App, path: &str) -> Result<File> {
        // How deep the address is decides where the style is.
        let depth = path.matches('/').count().saturating_sub(1);
        self.html(app, "missing.html", Links::at(depth), context! {})
    }

    async fn skill(
        &self,
        app: &App,
        visible: &VisibleSkills,
        history: &History,
        record: &Record,
        links: Links,
        is_version_named: bool,
    ) -> Result<File> {
        let url = app.config.public_url.as_deref().map(|url| url.trim_end_matches('/'));
        let contents = self.contents(app, record).await?;
        let view = skill::Skill::of(visible, history, record, links, url, is_version_named);
        let context =
            context! { view => Value::from(Serde(view)), contents => Value::from(Serde(&*contents)) };
        self.html(app, "skill.html", links, context)
    }

    async fn diff(&self, app: &App, from: &Record, to: &Record, links: Links) -> Result<File> {
        let diff = app.read_two(from, to, diff::Diff::of).await?;
        let name = from.name.clone();
        let context = context! {
            view => Value::from(Serde(diff)),
            name => name.as_str(),
            from => from.version.as_str(),
            to => to.version.as_str(),
            skill_link => links.link(&Address::Skill(name.clone())),
            from_link => links.link(&view::version(from)),
            to_link => links.link(&view::version(to)),
        };
        self.html(app, "diff.html", links, context)
    }

    async fn contents(&self, app: &App, record: &Record) -> Result<Arc<Contents>> {
        let digest = record.artifact.digest;
        if let Some(contents) = self.contents.get(&digest) {
            return Ok(contents);
        }
        let of = record.clone();
        let contents = Arc::new(app.read(record, move |set| Contents::of(&of, set)).await?);
        self.contents.insert(digest, Arc::clone(&contents));
        Ok(contents)
    }

    fn html(&self, app: &App, template: &str, links: Links, context: Value) -> Result<File> {
        Ok(File::new(self.render(app, template, links, context)?, HTML))
    }

    fn render(&self, app: &App, template: &str, links: Links, context: Value) -> Result<String> {
        let [css, js, icon] = ASSETS.map(|asset| links.link(&Address::Static(asset_name(&asset))));
        let site = context! {
            registry => app.storage.config().name.as_str(),
            root => links.root(),
            home => links.link(&Address::Index),
            feed => links.link(&Address::Feed),
            css,
            js,
            icon,
            policy => if links.is_live { None } else { Some(POLICY_IN_PAGE) },
            is_live => links.is_live,
            url => app.config.public_url.as_deref(),
        };
        let template = self.templates.get_template(template).map_err(failed)?;
        template.render(context! { site, ..context }).map_err(failed)
    }
}

fn record<'a>(history: &'a History, key: &str) -> Option<&'a Record> {
    history.records().iter().find(|record| files::version_key(&record.version) == key)
}

/// Returns the name of a file that pages load. It contains the digest of the file, so that caches can keep it for ever.
fn asset_name((name, end, _, text): &(&str, &str, &str, &str)) -> String {
    format!("{name}.{}.{end}", &Digest::of(text.as_bytes()).hex()[..12])
}

fn asset_names() -> impl Iterator<Item = String> {
    ASSETS.iter().map(asset_name)
}

fn asset(name: &str) -> Option<File> {
    let (_, _, kind, text) = ASSETS.iter().find(|asset| asset_name(asset) == name)?;
    Some(File::new(Bytes::from_static(text.as_bytes()), kind))
}

fn failed(error: minijinja::Error) -> Error {
    Error::io("a page cannot be made").because(error)
}
