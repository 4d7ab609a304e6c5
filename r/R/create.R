#' Make a new skill
#'
#' Makes the directory of a skill from a template, with a `SKILL.md` that
#' follows the specification.
#'
#' @param name The name: lower-case letters, digits and single hyphens, at most
#'   64 characters.
#' @param description What the skill does and when to use it, at most 1,024
#'   characters. Without one, there is a text to be replaced.
#' @param scope Where to make it. `"project"` puts it into `skills/` of the
#'   project and installs it from there, so that agents see every edit at once;
#'   `"user"` does the same for your own skills. Not used with `path`.
#' @param path The directory to make the skill's directory in. Nothing is
#'   installed then.
#' @param resources The directories that get a first file: any of `"scripts"`,
#'   `"references"` and `"assets"`. `TRUE` means all of them, `FALSE` none.
#' @param template The template: `"basic"`, `"script"`, `"reference"`,
#'   `"workflow"`, or one of your own as `./directory` or
#'   `owner/repo/directory`.
#' @param license The license as an SPDX expression.
#' @return The path of the skill's directory, invisibly.
#' @export
#' @examplesIf skillpm::skillpm_available()
#' dir <- tempfile()
#' skill_create("release-notes", "Writes release notes. Use it before a release.", path = dir)
#' list.files(dir, recursive = TRUE)
skill_create <- function(
  name,
  description = NULL,
  scope = "project",
  path = NULL,
  resources = FALSE,
  template = "basic",
  license = NULL
) {
  check_string(name, "name")
  check_string(description, "description", null = TRUE)
  check_string(path, "path", null = TRUE)
  check_string(template, "template")
  check_string(license, "license", null = TRUE)
  if (is.null(path)) {
    check_scope(scope)
  }
  args <- c(
    "create",
    "--json",
    "--yes",
    flag("description", description),
    if (is.null(path)) flag("scope", scope) else flag("path", path),
    resource_flag(resources),
    flag("template", template),
    flag("license", license),
    "--",
    name
  )
  invisible(ask_json(args)$path)
}

resource_flag <- function(resources) {
  if (isTRUE(resources)) {
    resources <- c("scripts", "references", "assets")
  }
  if (is.character(resources) && length(resources)) {
    flag("resources", paste(resources, collapse = ","))
  }
}

#' Lay out a skill in the package that you are writing
#'
#' Makes a skill in `inst/skills` of a package, so that it comes with the
#' package, and a test that keeps it valid, [expect_skills_valid()]. What is
#' there stays as it is.
#'
#' @inheritParams skill_create
#' @param package The directory of the package's sources, or one below it.
#' @return The path of the skill's directory, invisibly.
#' @seealso [skill_install_package()], with which users install it.
#' @export
#' @examplesIf skillpm::skillpm_available()
#' package <- tempfile()
#' dir.create(package)
#' writeLines(c("Package: demo", "Version: 1.0"), file.path(package, "DESCRIPTION"))
#' use_skill("demo-plots", "Draws plots with demo. Use it for plots.", package = package)
#' list.files(package, recursive = TRUE)
use_skill <- function(name, description = NULL, package = ".", resources = FALSE) {
  root <- package_root(package)
  path <- skill_create(
    name,
    description,
    path = file.path(root, "inst", "skills"),
    resources = resources
  )
  tests <- file.path(root, "tests")
  wrote <- write_new(
    file.path(tests, "testthat", "test-skills.R"),
    c(
      "test_that(\"the skills of this package are valid\", {",
      "  skillpm::expect_skills_valid()",
      "})"
    )
  )
  # Without it, `R CMD check` runs none of the tests.
  package <- read.dcf(file.path(root, "DESCRIPTION"), "Package")[[1L]]
  wrote <- c(wrote, write_new(
    file.path(tests, "testthat.R"),
    c("library(testthat)", sprintf("library(%s)", package), "", sprintf("test_check(\"%s\")", package))
  ))
  if (length(wrote)) {
    inform(list(
      text = paste(sprintf("wrote `%s`", wrote), collapse = "\n"),
      hints = "add `skillpm` and `testthat` to `Suggests` in `DESCRIPTION`"
    ))
  }
  invisible(path)
}

# Writes a file that is not there. Returns its path if it wrote it.
write_new <- function(file, text) {
  if (file.exists(file)) {
    return(NULL)
  }
  dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
  writeLines(text, file)
  file
}

# The nearest directory, from `path` up, that has a `DESCRIPTION`.
package_root <- function(path) {
  check_string(path, "package")
  dir <- normalizePath(path, winslash = "/", mustWork = FALSE)
  while (!file.exists(file.path(dir, "DESCRIPTION"))) {
    parent <- dirname(dir)
    if (parent == dir) {
      abort(
        sprintf("`%s` is not in the sources of a package: there is no `DESCRIPTION`", path),
        kind = "usage",
        code = 2L,
        hints = "`skill_create()` makes a skill outside of packages"
      )
    }
    dir <- parent
  }
  dir
}
