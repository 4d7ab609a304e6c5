# The examples of `docs/guide/r.md`. `make r-tests` names the page.

test_that("the examples of the guide run", {
  guide <- Sys.getenv("SKILLPM_R_GUIDE")
  skip_if(guide == "", "the guide is not named")
  local_world()
  local_package("demo", "plots")
  # The test that it shows is one of a package with skills.
  withr::local_envvar(TESTTHAT_PKG = "demo")
  lines <- readLines(guide, encoding = "UTF-8")
  starts <- which(lines == "```r")
  starts <- starts[!startsWith(lines[starts - 1L], "<!-- not run: ")]
  expect_gt(length(starts), 2L)
  there <- new.env(parent = globalenv())
  there$test_that <- function(name, code) force(code)
  for (start in starts) {
    ends <- which(lines == "```")
    code <- lines[seq(start + 1L, min(ends[ends > start]) - 1L)]
    output <- utils::capture.output(suppressMessages(
      source(exprs = parse(text = code, encoding = "UTF-8"), local = there, print.eval = TRUE)
    ))
    expect_true(TRUE, label = code[[1]])
  }
})
