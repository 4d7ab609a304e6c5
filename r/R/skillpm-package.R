#' skillpm: find, check and install Agent Skills
#'
#' An Agent Skill is a directory with a `SKILL.md` file that teaches a language
#' model how to do a job; [agentskills.io](https://agentskills.io) has the
#' specification. This package is the front end of the program `skillpm` in R.
#'
#' @section The program:
#' Every function asks the program `skillpm`, which has to be installed; see
#' [skillpm_available()].
#'
#' @section Where skills are found:
#' In the order of the btw package: the skills of attached R packages, then
#' yours, then `.btw/skills`, `.agents/skills` and `.claude/skills` of the
#' project. If two skills have the same name, the later one is used. A skill
#' that does not follow the specification is skipped with a warning.
#'
#' The project is the nearest directory, from the working directory up, that
#' has a `skillpm.toml`, otherwise the nearest one with a `.git`.
#'
#' @section Options:
#' - `skillpm.program`: the path of the program. The environment variable
#'   `SKILLPM_PROGRAM` is the second choice, `PATH` the third.
#' - `skillpm.profile`: how skills are found and loaded, `"btw"` by default.
#'   `"default"` finds what `skillpm` finds at the command line.
#' - `skillpm.packages`: the R packages whose skills are found without being
#'   installed, by default those that are attached.
#'
#' @section Conditions:
#' If the program fails, an error of the class `skillpm_error` is signalled. Its
#' message is that of the program. It has these fields:
#' - `code`: the exit code of the program, `NA` if it did not start
#' - `hints`: what to do about it
#' - `stderr`: all that the program wrote
#'
#' It also has a class for its kind: `skillpm_error_findings` (a check found
#' something), `skillpm_error_usage` (an argument is wrong, or names what does
#' not exist), `skillpm_error_config` (a manifest, lockfile or setting is
#' wrong), `skillpm_error_network`, `skillpm_error_integrity` (content is not
#' what was locked, or what no skill may have), `skillpm_error_io` (files), or
#' `skillpm_error_program` (the program was not found, or ended early).
#'
#' Warnings have the class `skillpm_warning`, messages the class
#' `skillpm_message`.
#'
#' @keywords internal
"_PACKAGE"
