#' Expect that skills are valid
#'
#' An expectation for testthat. In the tests of a package it checks the skills
#' that the package brings along, so that `R CMD check` fails if one of them
#' breaks the specification:
#'
#' ```r
#' test_that("the skills of this package are valid", {
#'   skillpm::expect_skills_valid()
#' })
#' ```
#'
#' The test is skipped where the program `skillpm` is not installed.
#'
#' @inheritParams skill_validate
#' @param path The skills. By default those in `inst/skills` of the package that
#'   is tested.
#' @return The result of [skill_validate()], invisibly.
#' @seealso [use_skill()], which writes the test.
#' @export
expect_skills_valid <- function(path = NULL, profile = "spec", strict = FALSE) {
  testthat::skip_if_not(skillpm_available(), "the program `skillpm` is installed")
  path <- path %||% skills_under_test()
  result <- skill_validate(path, profile = profile, strict = strict)
  problem <- if (!result$valid) c("Some skills are not valid.", result$issues)
  testthat::expect(result$valid, paste(problem, collapse = "\n"))
  invisible(result)
}

# The skills of the package that testthat tests.
skills_under_test <- function() {
  package <- Sys.getenv("TESTTHAT_PKG")
  path <- if (nzchar(package)) system.file("skills", package = package) else ""
  if (!nzchar(path)) {
    abort(
      "no skills to check: this package has no `inst/skills`",
      kind = "usage",
      code = 2L,
      hints = "`use_skill()` lays one out, `path` names other directories"
    )
  }
  path
}
