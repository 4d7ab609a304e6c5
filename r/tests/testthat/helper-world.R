# A project and a home of its own for one test. The project is the working
# directory. Skipped without the program, but never on a build machine.
local_world <- function(env = parent.frame()) {
  if (!nzchar(Sys.getenv("CI"))) {
    skip_if_not(skillpm_available(), "the program `skillpm` is installed")
  }
  root <- normalizePath(withr::local_tempdir(.local_envir = env), winslash = "/")
  project <- file.path(root, "project")
  home <- file.path(root, "home")
  # A project's root is where its git directory lies.
  dir.create(file.path(project, ".git"), recursive = TRUE)
  dir.create(home)
  withr::local_dir(project, .local_envir = env)
  withr::local_envvar(
    HOME = home,
    USERPROFILE = home,
    XDG_CONFIG_HOME = NA,
    XDG_DATA_HOME = NA,
    XDG_CACHE_HOME = NA,
    XDG_STATE_HOME = NA,
    CLAUDE_CONFIG_DIR = NA,
    SKILLPM_AUDIT = "off",
    SKILLPM_OFFLINE = "1",
    .local_envir = env
  )
  # No skills of packages that happen to be attached.
  withr::local_options(skillpm.packages = character(), .local_envir = env)
  list(root = root, project = project, home = home)
}

write_file <- function(path, ...) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  file <- file(path, "wb")
  on.exit(close(file))
  writeLines(enc2utf8(c(character(), ...)), file, useBytes = TRUE)
  invisible(path)
}

# Writes a skill, and returns its directory.
write_skill <- function(
  dir,
  name = basename(dir),
  description = sprintf("Does %s. Use it in tests.", name),
  fields = character(),
  body = sprintf("# %s", name)
) {
  write_file(
    file.path(dir, "SKILL.md"),
    "---",
    paste("name:", name),
    paste("description:", description),
    fields,
    "---",
    body
  )
  invisible(dir)
}

# A package in a library of its own.
local_package <- function(name, skills, env = parent.frame()) {
  withr::local_libpaths(library_with(name, skills), action = "prefix", .local_envir = env)
}

libraries <- new.env()

# An installation takes a second or two, so tests share them.
library_with <- function(name, skills) {
  key <- paste(c(name, skills), collapse = " ")
  if (is.null(libraries[[key]])) {
    libraries[[key]] <- install_package(name, skills)
  }
  libraries[[key]]
}

install_package <- function(name, skills) {
  library <- tempfile("library")
  dir.create(library)
  source <- file.path(withr::local_tempdir(), name)
  write_file(
    file.path(source, "DESCRIPTION"),
    paste("Package:", name),
    "Version: 1.2.3",
    "Title: Demo",
    "Description: Demo.",
    "License: MIT",
    "Author: Me",
    "Maintainer: Me <me@example.com>"
  )
  write_file(file.path(source, "NAMESPACE"))
  for (skill in skills) {
    write_skill(file.path(source, "inst", "skills", skill))
  }
  utils::install.packages(
    source,
    lib = library,
    repos = NULL,
    type = "source",
    quiet = TRUE,
    INSTALL_opts = c("--no-docs", "--no-test-load", "--no-byte-compile")
  )
  library
}

# A program that stands in for `skillpm`: a script for `sh`.
local_program <- function(script, env = parent.frame()) {
  skip_on_os("windows")
  path <- withr::local_tempfile(.local_envir = env)
  writeLines(c("#!/bin/sh", script), path)
  Sys.chmod(path, "755")
  withr::local_options(skillpm.program = path, .local_envir = env)
  path
}

# Somebody at the console who takes the choice of this number, 0 for none.
local_person <- function(number, env = parent.frame()) {
  person <- getFromNamespace("person", "skillpm")
  old <- as.list(person)
  withr::defer(list2env(old, person), envir = env)
  asked <- new.env()
  person$is_there <- function() TRUE
  person$choose <- function(choices, title) {
    asked$choices <- choices
    asked$title <- title
    number
  }
  asked
}
