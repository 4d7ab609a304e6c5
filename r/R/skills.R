#' List the skills that there are
#'
#' Lists the skills that a chat can use in the project around the working
#' directory: one row for each name. What is not a valid skill is left out with
#' a warning.
#'
#' @param agent An agent such as `"claude-code"`: only the skills that it sees,
#'   and of several with one name the one that it takes. Without one, all.
#' @return A data frame with the columns `name`, `description`, `location` (the
#'   path of the `SKILL.md`), `version`, `compatibility`, and the list columns
#'   `allowed_tools` and `tags`. It has no rows if there are no skills. It prints
#'   a line for each skill, with what fits of the description.
#' @seealso [skill_get()] for all about one skill, [skill_install()] for more
#'   skills.
#' @export
#' @examplesIf skillpm::skillpm_available()
#' skill_list()
skill_list <- function(agent = NULL) {
  if (!is.null(agent)) {
    check_string(agent, "agent")
  }
  fields <- "description,location,compatibility,allowed-tools,tags,version"
  told <- ask_json(c("--quiet", "catalog", "--json", flag("fields", fields), flag("agent", agent), loading()))
  skills <- told$skills
  list_column <- function(key) I(lapply(skills, function(skill) as.character(unlist(skill[[key]]))))
  skills <- data.frame(
    name = texts(skills, "name"),
    description = texts(skills, "description"),
    location = texts(skills, "location"),
    version = texts(skills, "version"),
    compatibility = texts(skills, "compatibility"),
    allowed_tools = list_column("allowed_tools"),
    tags = list_column("tags")
  )
  # Where pillar is loaded it prints what is a `tbl`.
  class(skills) <- c("skillpm_skills", "tbl", class(skills))
  skills
}

#' @export
print.skillpm_skills <- function(x, ...) {
  if (isNamespaceLoaded("pillar") || !all(c("name", "description") %in% names(x))) {
    return(NextMethod())
  }
  writeLines(skill_lines(x))
  invisible(x)
}

# A line for each skill, which fits the width of the console.
skill_lines <- function(x) {
  if (!nrow(x)) {
    return("no skills")
  }
  columns <- lapply(unclass(x)[intersect(c("name", "version"), names(x))], function(column) {
    format(ifelse(is.na(column), "", column))
  })
  start <- do.call(paste, c(columns, sep = "  "))
  # The last column of a terminal stays free.
  room <- max(20L, getOption("width") - max(nchar(start, "width")) - 3L)
  about <- gsub("[[:space:]]+", " ", x$description)
  is_long <- nchar(about, "width") > room
  about[is_long] <- paste0(strtrim(about[is_long], room - 3L), "...")
  trimws(paste(start, about, sep = "  "), "right")
}

# One field of many JSON objects, `NA` where one does not have it.
texts <- function(objects, key) {
  vapply(objects, function(object) as.character(object[[key]] %||% NA), "")
}

`%||%` <- function(value, default) {
  if (is.null(value)) default else value
}

#' Get all about a skill
#'
#' Returns the fields, files and other facts of a skill. Its instructions are
#' not among them: [skill_invoke()] has them.
#'
#' @param name The name of the skill, `source:name` for one that another skill
#'   hides, or the path of a skill's directory that begins with `./`, `../`,
#'   `/` or `~/`.
#' @return A list of the class `skillpm_skill`: the fields of the `SKILL.md`,
#'   such as `name`, `description`, `license` and `metadata`, its directory
#'   `location`, its `file`, the data frame `files`, and what
#'   `skillpm show --json` has besides.
#' @export
#' @examplesIf skillpm::skillpm_available()
#' dir <- tempfile()
#' skill_create("release-notes", path = dir)
#' skill_get(file.path(dir, "release-notes"))
skill_get <- function(name) {
  check_string(name, "name")
  skill <- ask_json(c("--quiet", "show", "--json", loading(), "--", name))
  files <- skill$files
  skill$files <- data.frame(
    path = texts(files, "path"),
    size = vapply(files, function(file) as.numeric(file$size %||% NA), 0),
    executable = vapply(files, function(file) isTRUE(file$executable), NA)
  )
  structure(skill, class = "skillpm_skill")
}

#' @export
print.skillpm_skill <- function(x, ...) {
  cat("<skill> ", x$name, "\n", sep = "")
  cat(strwrap(x$description, indent = 2, exdent = 2), sep = "\n")
  cat("  location: ", x$location, "\n", sep = "")
  cat("  files: ", paste(x$files$path, collapse = ", "), "\n", sep = "")
  invisible(x)
}

#' Get the instructions of a skill
#'
#' Returns what a language model gets when it activates a skill. None of the
#' skill's scripts runs.
#'
#' @inheritParams skill_get
#' @param arguments What the skill is to work on: one text, which is split into
#'   words where the skill asks for words, or several words.
#' @param format The form of the answer: `"plain"` (directory and
#'   instructions), `"bare"` (instructions only), `"markdown"` (with a list of
#'   files), `"json"`, `"xml"`, or `"btw"` (instructions, and the paths of the
#'   files in `scripts`, `references` and `assets`).
#' @return A string; for `"json"` a list.
#' @export
#' @examplesIf skillpm::skillpm_available()
#' dir <- tempfile()
#' skill_create("release-notes", path = dir)
#' cat(skill_invoke(file.path(dir, "release-notes"), "version 1.2"))
skill_invoke <- function(
  name,
  arguments = character(),
  format = c("plain", "bare", "markdown", "json", "xml", "btw")
) {
  check_string(name, "name")
  check_strings(arguments, "arguments")
  format <- match.arg(format)
  args <- c("--quiet", "invoke", "--exact", flag("format", format), loading(), "--", name, arguments)
  if (format == "json") ask_json(args) else ask(args)
}

#' Read a file of a skill
#'
#' @inheritParams skill_get
#' @param path The path of the file below the skill's directory, with `/`.
#'   Without a path, the files beside `SKILL.md` are listed.
#' @return Without `path`, a character vector of the paths of the skill's files
#'   beside its `SKILL.md`, of which [skill_invoke()] returns the instructions.
#'   With `path`, the content of the file: a string, or a raw vector if it is
#'   not UTF-8 text.
#' @export
#' @examplesIf skillpm::skillpm_available()
#' dir <- tempfile()
#' skill_create("release-notes", path = dir, resources = "references")
#' skill <- file.path(dir, "release-notes")
#' skill_read(skill)
#' cat(skill_read(skill, "references/guide.md"))
skill_read <- function(name, path = NULL) {
  check_string(name, "name")
  check_string(path, "path", null = TRUE)
  told <- ask_json(c("--quiet", "read", "--json", loading(), "--", name, path))
  if (is.null(path)) {
    as.character(unlist(told$available_files))
  } else if (identical(told$encoding, "base64")) {
    jsonlite::base64_dec(told$content)
  } else {
    told$content
  }
}

#' Run a script of a skill
#'
#' Runs a script in the sandbox of `skillpm`, with a time limit and without the
#' variables of this session. Only scripts of skills that are locked, or that
#' are in a directory that you trust, run at all.
#'
#' @inheritParams skill_get
#' @param script The script, by its name in `scripts/` with or without the
#'   ending.
#' @param arguments Its arguments.
#' @param timeout How many seconds it may take.
#' @param network Whether it may use the network.
#' @param allow Whether to say yes where a policy asks before a script runs.
#' @param interpreters The programs that run scripts, by language, such as
#'   `c(python = ".venv/bin/python")`: names in `PATH` or paths. Others are run
#'   by the usual programs.
#' @return A list with what `skillpm run --json` has. Among it are `exit_code`,
#'   which is `NULL` if the script was stopped, `status`, and the texts
#'   `stdout` and `stderr`. A script that fails is not an error.
#' @export
#' @examples
#' \dontrun{
#' skill_run("pdf", "fill_form", c("in.pdf", "out.pdf"))
#' }
skill_run <- function(
  name,
  script,
  arguments = character(),
  timeout = 30,
  network = TRUE,
  allow = FALSE,
  interpreters = character()
) {
  check_string(name, "name")
  check_string(script, "script")
  check_strings(arguments, "arguments")
  check_strings(interpreters, "interpreters")
  if (length(interpreters) && (is.null(names(interpreters)) || !all(nzchar(names(interpreters))))) {
    abort("each of `interpreters` must have the name of a language", kind = "usage", code = 2L)
  }
  args <- c(
    "--quiet",
    "run",
    "--json",
    flag("timeout", format(timeout, scientific = FALSE)),
    switch_on("no-network", !network),
    switch_on("allow-scripts", allow),
    sprintf("--interpreter=%s=%s", names(interpreters), interpreters),
    loading(),
    "--",
    name,
    script,
    arguments
  )
  # The exit code is that of the script. If none ran, there is nothing to tell.
  ran <- from_json(answer(args, function(result) nzchar(result$stdout))$stdout)
  ran$stdout <- ran$stdout$text
  ran$stderr <- ran$stderr$text
  ran
}

#' Remove skills
#'
#' Removes installed skills: the copies, the links of agents and the entries in
#' the manifest and the lockfile. `skillpm undo` brings them back.
#'
#' @param names The names of the skills.
#' @param scope `"project"`, the project around the working directory, or
#'   `"user"`, your own skills.
#' @param force Whether to remove skills that you edited, too. The store keeps
#'   the edited copy.
#' @return The names of the removed skills, invisibly.
#' @export
#' @examples
#' \dontrun{
#' skill_remove("pdf")
#' }
skill_remove <- function(names, scope = "project", force = FALSE) {
  check_strings(names, "names")
  check_scope(scope)
  args <- c("remove", "--json", flag("scope", scope), switch_on("force", force), "--", names)
  invisible(as.character(unlist(ask_json(args)$removed)))
}
