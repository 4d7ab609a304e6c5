#' Check skills against the specification
#'
#' @param path Directories of skills, `SKILL.md` files, or directories to look
#'   for skills in.
#' @param profile Whose rules to apply: `"spec"`, `"reference"`,
#'   `"claude-code"`, `"claude-ai"`, `"publish"`, `"strict"` or `"lenient"`.
#' @param strict Whether warnings make a skill invalid.
#' @return A list of the class `skillpm_validation`:
#' - `valid`: `TRUE` if there is no error, with `strict` no warning either
#' - `issues`: a character vector, one text for each finding
#' - `findings`: a data frame with the columns `file`, `line`, `column`,
#'   `severity` (`"error"`, `"warning"` or `"note"`), `rule`, `message` and
#'   `help`
#' @export
#' @examplesIf skillpm::skillpm_available()
#' dir <- tempfile()
#' skill <- skill_create("release-notes", path = dir)
#' skill_validate(skill)
skill_validate <- function(path = ".", profile = "spec", strict = FALSE) {
  check_strings(path, "path")
  check_string(profile, "profile")
  args <- c(
    "--quiet",
    "validate",
    "--json",
    flag("profile", profile),
    switch_on("strict", strict),
    "--",
    path
  )
  # Exit code 1 is a verdict.
  answer <- answer(args, function(result) result$status %in% 0:1)
  findings <- findings_of(from_json(answer$stdout)$skills)
  structure(
    list(valid = answer$status == 0L, issues = issues_of(findings), findings = findings),
    class = "skillpm_validation"
  )
}

# The findings of all skills as one data frame.
findings_of <- function(skills) {
  in_file <- function(skill) {
    lapply(skill$findings, function(finding) c(finding, file = skill$path))
  }
  findings <- unlist(lapply(skills, in_file), recursive = FALSE)
  position <- function(key) {
    vapply(findings, function(finding) as.integer(finding$start[[key]]), 0L)
  }
  data.frame(
    file = texts(findings, "file"),
    line = position("line"),
    column = position("column"),
    severity = texts(findings, "severity"),
    rule = texts(findings, "rule"),
    message = texts(findings, "message"),
    help = texts(findings, "help")
  )
}

issues_of <- function(findings) {
  if (!nrow(findings)) {
    return(character())
  }
  sprintf(
    "%s:%d:%d: %s: %s [%s]",
    findings$file,
    findings$line,
    findings$column,
    findings$severity,
    findings$message,
    findings$rule
  )
}

#' @export
print.skillpm_validation <- function(x, ...) {
  cat(if (x$valid) "valid" else "not valid", "\n", sep = "")
  writeLines(paste0("  ", x$issues, recycle0 = TRUE))
  invisible(x)
}
