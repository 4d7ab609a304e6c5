environment_of_child <- function() {
  local_program("env")
  lines <- strsplit(skillpm:::run_program(character())$stdout, "\n")[[1]]
  parts <- regmatches(lines, regexpr("=", lines), invert = TRUE)
  stats::setNames(vapply(parts, `[[`, "", 2L), vapply(parts, `[[`, "", 1L))
}

test_that("the program gets the library path that the user had, without that of R", {
  skip_on_os(c("windows", "mac"))
  own <- skillpm:::r_loader_path()
  expect_match(own, file.path(R.home(), "lib"), fixed = TRUE)

  withr::local_envvar(LD_LIBRARY_PATH = own)
  expect_false("LD_LIBRARY_PATH" %in% names(environment_of_child()))

  withr::local_envvar(LD_LIBRARY_PATH = paste0(own, ":/my own/lib:/usr/lib"))
  expect_identical(environment_of_child()[["LD_LIBRARY_PATH"]], "/my own/lib:/usr/lib")

  # An R that was started by R.
  withr::local_envvar(LD_LIBRARY_PATH = paste(own, own, "/mine", sep = ":"))
  expect_identical(environment_of_child()[["LD_LIBRARY_PATH"]], "/mine")

  # Set by a person, in this session.
  withr::local_envvar(LD_LIBRARY_PATH = "/mine")
  expect_identical(environment_of_child()[["LD_LIBRARY_PATH"]], "/mine")

  withr::local_envvar(LD_LIBRARY_PATH = NA)
  expect_false("LD_LIBRARY_PATH" %in% names(environment_of_child()))
})

test_that("a fresh R hands on what it was started with", {
  skip_on_os(c("windows", "mac"))
  script <- "cat(skillpm:::child_environment()[\"LD_LIBRARY_PATH\"])"
  started_with <- function(path) {
    env <- c("current", R_LIBS = paste(.libPaths(), collapse = ":"), LD_LIBRARY_PATH = path)
    processx::run(file.path(R.home("bin"), "Rscript"), c("-e", script), env = env)$stdout
  }
  skip_if_not(nzchar(system.file("help", package = "skillpm")), "the package is installed")
  expect_identical(started_with("/mine:/other"), "/mine:/other")
  expect_identical(started_with(""), "NA")
})

test_that("only whole entries are removed from a search path", {
  without <- skillpm:::without_prefix
  expect_identical(without("/r/lib:/mine", "/r/lib"), "/mine")
  expect_identical(without("/r/lib", "/r/lib"), "")
  expect_identical(without("/r/library:/mine", "/r/lib"), "/r/library:/mine")
  expect_identical(without("/mine:/r/lib", "/r/lib"), "/mine:/r/lib")
  expect_identical(without("/mine", ""), "/mine")
})

test_that("the program looks for packages where this session does, and sees the rest as it is", {
  withr::local_envvar(SOME_VARIABLE = "a b=c", R_LIBS = "/elsewhere")
  env <- environment_of_child()
  expect_identical(env[["SOME_VARIABLE"]], "a b=c")
  expect_identical(env[["R_LIBS"]], paste(.libPaths(), collapse = ":"))
})
