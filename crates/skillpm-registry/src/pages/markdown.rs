//! Markdown of strangers as HTML that does nothing: no HTML of its own, no foreign images, no scripts.

use std::collections::BTreeSet;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};
use skillpm_format::text::{percent_decoded, visible};

/// The schemes of links that lead to another machine.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];
/// The start of the ids of headings, which sets them apart from those of the page.
const ID: &str = "doc-";

/// Returns the HTML of `text`. Raw HTML is shown as text, an image is a link with its description, and a link stays one
/// only if it leads to a heading, to a file for which `anchor` knows where the page shows it, or to an address with one
/// of a few schemes.
pub(super) fn html(text: &str, anchor: &dyn Fn(&str) -> Option<String>) -> String {
    let text = text.replace("\r\n", "\n");
    let text = visible(&text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut inert =
        Inert { anchor, events: Vec::new(), links: Vec::new(), heading: None, ids: BTreeSet::new() };
    for event in Parser::new_ext(&text, options) {
        inert.take(event);
    }
    let mut html = String::with_capacity(text.len() * 2);
    push_html(&mut html, inert.events.into_iter());
    html
}

/// Collects events, those that are not harmless replaced.
struct Inert<'a, 'text> {
    anchor: &'a dyn Fn(&str) -> Option<String>,
    events: Vec<Event<'text>>,
    /// The links and images around the next event: where the link starts and leads to; `None` for those that are text.
    links: Vec<Option<(usize, CowStr<'text>)>>,
    /// The start of the current heading, and its text.
    heading: Option<(usize, String)>,
    ids: BTreeSet<String>,
}

impl<'text> Inert<'_, 'text> {
    fn take(&mut self, event: Event<'text>) {
        match event {
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => self.text(text),
            Event::Code(text) => {
                self.note(&text);
                self.events.push(Event::Code(text));
            }
            Event::Start(Tag::HtmlBlock) => self.events.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => self.events.push(Event::End(TagEnd::Paragraph)),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => self.open(&dest_url),
            Event::End(TagEnd::Link | TagEnd::Image) => self.close(),
            Event::Start(Tag::Heading { level, .. }) => {
                self.heading = Some((self.events.len(), String::new()));
                self.events.push(Event::Start(heading(level, None)));
            }
            Event::End(TagEnd::Heading(level)) => self.end_heading(level),
            // Its alignment would be a style, which the page does not allow.
            Event::Start(Tag::Table(columns)) => {
                let columns = columns.iter().map(|_| pulldown_cmark::Alignment::None).collect();
                self.events.push(Event::Start(Tag::Table(columns)));
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "☑ " } else { "☐ " }.into()),
            other => self.events.push(other),
        }
    }

    fn text(&mut self, text: CowStr<'text>) {
        self.note(&text);
        self.events.push(Event::Text(text));
    }

    /// Adds to the text of the heading.
    fn note(&mut self, text: &str) {
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(text);
        }
    }

    fn open(&mut self, address: &str) {
        let is_inside = self.links.iter().any(Option::is_some);
        let target = target(address, self.anchor).filter(|_| !is_inside).map(CowStr::from);
        self.links.push(target.map(|target| {
            let link_type = pulldown_cmark::LinkType::Inline;
            let (title, id) = (CowStr::from(""), CowStr::from(""));
            self.events.push(Event::Start(Tag::Link { link_type, dest_url: target.clone(), title, id }));
            (self.events.len(), target)
        }));
    }

    fn close(&mut self) {
        let Some(Some((start, target))) = self.links.pop() else { return };
        if self.events.len() == start {
            // A link without text could not be seen.
            self.text(target);
        }
        self.events.push(Event::End(TagEnd::Link));
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        if let Some((start, text)) = self.heading.take() {
            let id = self.id(&text);
            self.events[start] = Event::Start(heading(level, Some(id.into())));
        }
        self.events.push(Event::End(TagEnd::Heading(lower(level))));
    }

    /// Returns an id for a heading with this text that no other one has.
    fn id(&mut self, text: &str) -> String {
        let slug = slug(text);
        let numbers = std::iter::once(String::new()).chain((1..).map(|number| format!("-{number}")));
        let free = numbers.map(|number| format!("{ID}{slug}{number}")).find(|id| !self.ids.contains(id));
        let id = free.unwrap_or_default();
        self.ids.insert(id.clone());
        id
    }
}

fn heading(level: HeadingLevel, id: Option<CowStr<'_>>) -> Tag<'_> {
    Tag::Heading { level: lower(level), id, classes: Vec::new(), attrs: Vec::new() }
}

/// Returns the level of a heading below those of the page.
fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

/// Returns the words of a heading as the end of its id, as other programs make it.
fn slug(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).take(80).collect()
}

/// Returns where a link to `address` leads; `None` if it must not be one.
fn target(address: &str, anchor: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let start = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    if SCHEMES.iter().any(|scheme| start.starts_with(scheme)) {
        return Some(address.to_owned());
    }
    if let Some(heading) = address.strip_prefix('#') {
        return Some(format!("#{ID}{}", slug(&percent_decoded(heading))));
    }
    let path = address.split(['#', '?']).next().unwrap_or_default();
    let path = percent_decoded(path);
    anchor(path.strip_prefix("./").unwrap_or(&path)).map(|id| format!("#{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        html(text, &|path| (path == "references/a b.md").then(|| "file-1".to_owned()))
    }

    #[test]
    fn markdown_is_html() {
        assert_eq!(
            of("# One `x`\n\n## One x\n\n- [ ] *a*\n- [x] b\n"),
            "<h3 id=\"doc-one-x\">One <code>x</code></h3>\n<h4 id=\"doc-one-x-1\">One x</h4>\n<ul>\n\
             <li>☐ <em>a</em></li>\n<li>☑ b</li>\n</ul>\n"
        );
        assert_eq!(
            of("|a|\n|-:|\n|b|\n"),
            "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>\n"
        );
    }

    #[test]
    fn raw_html_is_text() {
        for raw in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<!-- do this -->",
            "<svg onload=alert(1)>\n\n<p>",
            "<style>* { display: none }</style>",
            "<iframe src=https://example.org></iframe>",
            "<math><mtext></mtext></math>",
            "> <form action=/x><button>b</button></form>",
        ] {
            let html = of(raw);
            let tags = html.matches('<').count();
            let own = ["<p>", "</p>", "<blockquote>", "</blockquote>"];
            assert_eq!(tags, own.iter().map(|tag| html.matches(tag).count()).sum::<usize>(), "{html}");
            assert!(html.contains("&lt;"), "{html}");
        }
    }

    #[test]
    fn links_lead_only_where_they_may() {
        for hostile in [
            "[a](javascript:alert(1))",
            "[a](JaVaScRiPt:alert(1))",
            "[a](&#106;avascript:alert(1))",
            "[a](<java\tscript:alert(1)>)",
            "[a](data:text/html,x)",
            "[a](vbscript:x)",
            "[a](file:///etc/passwd)",
            "[a](//evil.example)",
            "[a](/\\evil.example)",
            "[a](../../../api/v1/whoami)",
            "[a](missing.md)",
            "[a]: javascript:alert(1)\n\n[a]",
            "![a](javascript:alert(1))",
        ] {
            assert_eq!(of(hostile), "<p>a</p>\n", "{hostile}");
        }
        assert!(!of("<javascript:alert(1)>").contains("<a"));
        for (text, html) in [
            (
                "[a](https://example.org/?a=1&b=\"x\")",
                "<a href=\"https://example.org/?a=1&amp;b=%22x%22\">a</a>",
            ),
            ("<MAILTO:a@example.org>", "<a href=\"MAILTO:a@example.org\">MAILTO:a@example.org</a>"),
            ("[a](#One)", "<a href=\"#doc-one\">a</a>"),
            ("[a](./references/a%20b.md#x)", "<a href=\"#file-1\">a</a>"),
            ("[](https://example.org)", "<a href=\"https://example.org\">https://example.org</a>"),
            ("[a](https://example.org \"\\\" onclick=x\")", "<a href=\"https://example.org\">a</a>"),
        ] {
            assert_eq!(of(text), format!("<p>{html}</p>\n"), "{text}");
        }
    }

    #[test]
    fn images_are_links() {
        assert_eq!(
            of("![a *b*](https://example.org/a.png)"),
            "<p><a href=\"https://example.org/a.png\">a <em>b</em></a></p>\n"
        );
        assert_eq!(
            of("[![a](https://example.org/a.png)](https://example.org)"),
            "<p><a href=\"https://example.org\">a</a></p>\n"
        );
        assert!(of("![](https://example.org/a.png)").contains(">https://example.org/a.png</a>"));
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(of("a\u{202e}b"), "<p>a\\u{202e}b</p>\n");
        assert_eq!(
            of("```\"><script>\nx</code></pre><script>\n```"),
            "<pre><code class=\"language-&quot;&gt;&lt;script&gt;\">x&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;\n</code></pre>\n"
        );
    }

    #[test]
    fn ids_are_never_those_of_the_page() {
        for text in ["# main", "# ", "# \" onclick=x", "# 文档"] {
            let html = of(text);
            assert!(html.starts_with("<h3 id=\"doc-"), "{html}");
            let start = html.split('>').next().expect("a start");
            assert_eq!(start.matches('"').count(), 2, "{html}");
        }
    }
}
