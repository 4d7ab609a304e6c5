//! The parts of Markdown that rules need: links, code and HTML, with their positions.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// The maximum number of bytes of Markdown that are examined; no agent reads more.
pub const MAX_MARKDOWN: usize = 1 << 20;

/// A link or an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The target, without the escapes of Markdown; percent signs are as written.
    pub target: String,
    /// The range of bytes: the whole link if it contains its target, otherwise the use of the definition.
    pub span: Range<usize>,
    /// The range of the target if it is written out literally in `span`, otherwise all of `span`.
    pub target_span: Range<usize>,
    /// Whether it is an image.
    pub image: bool,
}

/// The parts of a Markdown text that are not prose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Markdown {
    /// Links and images, in the order of the text.
    pub links: Vec<Link>,
    /// Code blocks with their fences, and inline code.
    pub code: Vec<Range<usize>>,
    /// HTML, including comments.
    pub html: Vec<Range<usize>>,
}

impl Markdown {
    /// Reads `text`, which starts at byte `base` of the file.
    pub fn parse(text: &str, base: usize) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_MARKDOWN.min(text.len()))];
        let mut markdown = Self::default();
        let mut html = None;
        // The text of a footnote is not a target of a link.
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        for (event, span) in Parser::new_ext(text, options).into_offset_iter() {
            let at = base + span.start..base + span.end;
            match event {
                // An address such as `<me@example.org>` does not lead to a file.
                Event::Start(Tag::Link { link_type: LinkType::Email, .. }) => {}
                Event::Start(Tag::Link { dest_url, .. }) => {
                    markdown.link(&dest_url, text, span, base, false);
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    markdown.link(&dest_url, text, span, base, true);
                }
                Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => markdown.code.push(at),
                Event::Start(Tag::HtmlBlock) => html = Some(at),
                Event::End(TagEnd::HtmlBlock) => markdown.html.extend(html.take()),
                Event::InlineHtml(_) => markdown.html.push(at),
                _ => {}
            }
        }
        markdown
    }

    fn link(&mut self, target: &str, text: &str, span: Range<usize>, base: usize, image: bool) {
        // The last occurrence: the text of a link may be its address too.
        let written = text[span.clone()].rfind(target).filter(|_| !target.is_empty());
        let whole = base + span.start..base + span.end;
        let target_span =
            written.map_or_else(|| whole.clone(), |at| whole.start + at..whole.start + at + target.len());
        self.links.push(Link { target: target.to_owned(), span: whole, target_span, image });
    }

    /// Reports whether byte `at` of the file is in code.
    pub fn is_code(&self, at: usize) -> bool {
        self.code_at(at).is_some()
    }

    /// Returns the code that contains byte `at` of the file.
    pub fn code_at(&self, at: usize) -> Option<&Range<usize>> {
        let after = self.code.partition_point(|range| range.start <= at);
        self.code[..after].last().filter(|range| range.contains(&at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn links(text: &str) -> Vec<(String, String)> {
        let markdown = Markdown::parse(text, 0);
        markdown.links.into_iter().map(|link| (link.target, text[link.target_span].to_owned())).collect()
    }

    fn pair(target: &str, written: &str) -> (String, String) {
        (target.to_owned(), written.to_owned())
    }

    #[test]
    fn links_of_every_form() {
        assert_eq!(
            links("[a](b.md) ![c](d.png \"t\") <https://x.y/z> | [e][f]\n\n[f]: g.md\n"),
            [
                pair("b.md", "b.md"),
                pair("d.png", "d.png"),
                pair("https://x.y/z", "https://x.y/z"),
                pair("g.md", "[e][f]"),
            ]
        );
        assert_eq!(links("[b.md](b.md#x)"), [pair("b.md#x", "b.md#x")]);
        assert_eq!(
            links("[a](<b c.md>) [d](e\\_f.md)"),
            [pair("b c.md", "b c.md"), pair("e_f.md", "[d](e\\_f.md)")]
        );
        assert_eq!(links("| a |\n|---|\n| [b](c.md) |\n"), [pair("c.md", "c.md")]);
    }

    #[test]
    fn footnotes_are_no_links_and_may_hold_some() {
        assert_eq!(links("Fast[^1], [a][^2].\n\n[^1]: Approximately.\n[^2]: v2.0+\n"), []);
        assert_eq!(links("Fast[^1].\n\n[^1]: See [a](b.md).\n"), [pair("b.md", "b.md")]);
    }

    #[test]
    fn code_holds_no_links_and_is_known() {
        let text = "`[a](b)` x\n\n```md\n[c](d)\n```\n\n    [e](f)\n\n<!-- [g](h) -->\n\nz <b>y</b>\n";
        let markdown = Markdown::parse(text, 100);
        assert_eq!(markdown.links, []);
        for (part, code) in [("[a]", true), (" x", false), ("[c]", true), ("[e]", true), ("[g]", false)] {
            assert_eq!(markdown.is_code(100 + text.find(part).expect(part)), code, "{part}");
        }
        let html: Vec<_> = markdown.html.iter().map(|html| &text[html.start - 100..html.end - 100]).collect();
        assert_eq!(html, ["<!-- [g](h) -->\n", "<b>", "</b>"]);
    }

    proptest! {
        #[test]
        fn spans_are_of_the_text(
            text in "(\\[|\\]|\\(|\\)|!|`|```|<|>|<!--|-->|\\n|\\\\|é|a\\.md|:| |\\||---|&amp;|#|\\PC){0,40}",
        ) {
            let markdown = Markdown::parse(&text, 0);
            for link in &markdown.links {
                prop_assert!(text.get(link.span.clone()).is_some());
                prop_assert!(text.get(link.target_span.clone()).is_some());
            }
            for range in markdown.code.iter().chain(&markdown.html) {
                prop_assert!(text.get(range.clone()).is_some());
            }
            prop_assert!(markdown.code.is_sorted_by_key(|range| range.start));
        }
    }
}
