//! What an editor shows of a skill's file: findings, repairs, texts about rules and fields, and choices.

use lsp_types::{
    CodeAction, CodeActionKind, CodeDescription, CompletionItem, CompletionItemKind, CompletionTextEdit,
    Diagnostic, DiagnosticSeverity, Documentation, Hover, HoverContents, MarkupContent, MarkupKind,
    NumberOrString, Range, TextEdit, Uri, WorkspaceEdit,
};
use skillpm_format::advice::CommandLine;
use skillpm_format::document::Document;
use skillpm_format::lint::report::rule_page;
use skillpm_format::lint::{
    Choices, Completion, Finding, RULES, Rule, Safety, Severity, documented, explained, field_at,
};

use crate::lines::Lines;

/// The name of the program, as the source of findings.
pub(crate) const NAME: &str = "skillpm";

pub(crate) fn diagnostic(lines: &Lines<'_>, finding: &Finding) -> Diagnostic {
    let help = finding.help.as_ref().map(|help| format!("\n{}", help.worded(&CommandLine)));
    Diagnostic {
        range: lines.range(&finding.span),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(finding.rule.to_owned())),
        code_description: rule_page(finding.rule).parse().ok().map(|href| CodeDescription { href }),
        source: Some(NAME.to_owned()),
        message: format!("{}{}", finding.message, help.unwrap_or_default()),
        ..Diagnostic::default()
    }
}

/// Returns what is shown instead of findings if the check failed.
pub(crate) fn failure(message: String) -> Diagnostic {
    let (severity, source) = (Some(DiagnosticSeverity::ERROR), Some(NAME.to_owned()));
    Diagnostic { severity, source, message, ..Diagnostic::default() }
}

/// Returns the repair of `finding` in the file `uri`. A file is not renamed: an editor has it open.
pub(crate) fn action(lines: &Lines<'_>, uri: &Uri, finding: &Finding) -> Option<CodeAction> {
    let fix = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty())?;
    let edits =
        fix.edits.iter().map(|edit| TextEdit::new(lines.range(&edit.span), edit.text.clone())).collect();
    let is_safe = fix.safety == Safety::Safe;
    let title = if is_safe { fix.title.clone() } else { format!("{} (unsafe: review it)", fix.title) };
    Some(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic(lines, finding)]),
        edit: Some(WorkspaceEdit::new([(uri.clone(), edits)].into())),
        is_preferred: Some(is_safe),
        ..CodeAction::default()
    })
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

/// Returns the texts about the findings and the field at byte `offset`.
pub(crate) fn hover(
    lines: &Lines<'_>,
    document: &Document,
    findings: &[Finding],
    offset: usize,
) -> Option<Hover> {
    let is_here = |finding: &&Finding| finding.span.start <= offset && offset <= finding.span.end;
    let field = field_at(document, offset);
    let mut range = field.as_ref().map(|(span, _)| span.clone());
    let mut texts: Vec<String> = field.into_iter().map(|(_, field)| field.about).collect();
    for finding in findings.iter().filter(is_here) {
        let text = documented().find(|rule| rule.id == finding.rule).map(explained);
        texts.extend(text.filter(|text| !texts.contains(text)));
        range.get_or_insert_with(|| finding.span.clone());
    }
    let range = range.map(|span| lines.range(&span))?;
    Some(Hover { contents: HoverContents::Markup(markdown(texts.join("\n\n---\n\n"))), range: Some(range) })
}

/// Returns the items of `completion`; `skills` returns the names of skills.
pub(crate) fn items(
    lines: &Lines<'_>,
    completion: Completion,
    skills: impl FnOnce() -> Vec<String>,
) -> Vec<CompletionItem> {
    let range = lines.range(&completion.span);
    let value = |value: String| item(range, CompletionItemKind::VALUE, value.clone(), value, None);
    match completion.choices {
        Choices::Fields(fields) => {
            let key = |name: &str, about| {
                item(range, CompletionItemKind::PROPERTY, name.to_owned(), format!("{name}: "), Some(about))
            };
            fields.into_iter().map(|field| key(field.name, field.about)).collect()
        }
        Choices::Values(values) => values.into_iter().map(value).collect(),
        Choices::Skills => skills().into_iter().map(value).collect(),
        Choices::Rules => {
            let rule = |rule: &&Rule| {
                let (id, about) = (rule.id.to_owned(), rule.summary.to_owned());
                item(range, CompletionItemKind::CONSTANT, id.clone(), id, Some(about))
            };
            RULES.iter().map(rule).collect()
        }
    }
}

fn item(
    range: Range,
    kind: CompletionItemKind,
    label: String,
    text: String,
    about: Option<String>,
) -> CompletionItem {
    CompletionItem {
        label,
        kind: Some(kind),
        documentation: about.map(|about| Documentation::MarkupContent(markdown(about))),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, text))),
        ..CompletionItem::default()
    }
}
