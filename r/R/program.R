#' Find out whether the program is installed
#'
#' All other functions of this package ask the program `skillpm`. It is
#' looked for in the option `skillpm.program`, then in the environment variable
#' `SKILLPM_PROGRAM`, then on `PATH`.
#'
#' @return `TRUE` if the program was found, otherwise `FALSE`.
#' @export
#' @examples
#' skillpm_available()
skillpm_available <- function() {
  nzchar(program_path())
}

program_path <- function() {
  path <- getOption("skillpm.program", Sys.getenv("SKILLPM_PROGRAM"))
  if (!nzchar(path)) {
    path <- "skillpm"
  }
  unname(Sys.which(path))
}

# Runs the program, and returns its exit code and what it wrote.
run_program <- function(args) {
  program <- program_path()
  if (!nzchar(program)) {
    abort(
      "the program `skillpm` was not found",
      kind = "program",
      hints = c(
        "install it: https://github.com/skillpm/skillpm#install",
        "`options(skillpm.program = \"/path/to/skillpm\")` names it if it is not on `PATH`"
      )
    )
  }
  # By way of files: what comes out of pipes is converted to the locale of R,
  # which may lack most letters.
  out <- tempfile("skillpm")
  err <- tempfile("skillpm")
  on.exit(unlink(c(out, err)))
  result <- processx::run(
    program,
    as_utf8(c("--color=never", "--error-format=json", args)),
    error_on_status = FALSE,
    stdout = out,
    stderr = err,
    env = child_environment()
  )
  list(status = result$status, stdout = read_utf8(out), stderr = read_utf8(err))
}

# UTF-8 that is handed to a program byte for byte. Windows has no bytes there,
# and needs to know what they are.
as_utf8 <- function(args) {
  args <- enc2utf8(args)
  if (.Platform$OS.type == "unix") {
    Encoding(args) <- "unknown"
  }
  args
}

read_utf8 <- function(file) {
  text <- rawToChar(readBin(file, "raw", file.size(file)))
  Encoding(text) <- "UTF-8"
  text
}

# Runs the program, signals its warnings, messages and errors as conditions,
# and returns its standard output and its exit code.
answer <- function(args, succeeded = function(result) identical(result$status, 0L)) {
  result <- run_program(args)
  talk <- parse_talk(result$stderr)
  for (item in talk) {
    switch(
      item$kind,
      warning = warn(item),
      note = inform(item)
    )
  }
  if (!succeeded(result)) {
    # There are several where only some of what was asked for was not done.
    errors <- Filter(function(item) item$kind == "error", talk)
    texts <- vapply(errors, `[[`, "", "text")
    abort(
      paste(if (length(texts)) texts else ended_early(result$status), collapse = "\n"),
      kind = kind_of(result$status),
      code = result$status,
      hints = as.character(unlist(lapply(errors, `[[`, "hints"))),
      stderr = result$stderr
    )
  }
  result[c("stdout", "status")]
}

# Returns what the program writes on standard output.
ask <- function(args) {
  answer(args)$stdout
}

# Returns the JSON that the program writes, as lists.
ask_json <- function(args) {
  from_json(ask(args))
}

from_json <- function(text) {
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}

ended_early <- function(status) {
  if (is.na(status) || status < 0L) {
    return("the program `skillpm` was stopped")
  }
  sprintf("`skillpm` did not do all that it was asked for (exit code %d)", status)
}

# Flags that say which skills there are, and how they are loaded.
loading <- function() {
  dirs <- package_skills()
  c(
    paste0("--profile=", getOption("skillpm.profile", "btw")),
    if (length(dirs)) paste0("--dir=", dirs)
  )
}

# The directories of skills that R packages bring along. The program lets every
# other place override them.
package_skills <- function() {
  packages <- getOption("skillpm.packages", rev(.packages()))
  dirs <- vapply(packages, function(package) system.file("skills", package = package), "")
  unname(dirs[nzchar(dirs)])
}

# `--name=value`, or nothing without a value: a value may begin with a hyphen.
flag <- function(name, value) {
  if (is.null(value)) NULL else paste0("--", name, "=", value)
}

switch_on <- function(name, value) {
  if (isTRUE(value)) paste0("--", name) else NULL
}
