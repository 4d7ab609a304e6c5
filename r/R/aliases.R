#' Names that users of btw know
#'
#' These functions take the arguments of the functions of the same names in
#' btw. In new code, use the functions of this package that they call. If both
#' packages are attached, the one that was attached last is used.
#'
#' @section Differences from btw:
#' - Skills are installed into `.agents/skills` of the project or
#'   `~/.agents/skills`, where all agents can find them, and never into other
#'   directories.
#' - An existing skill stays until the new one is complete and valid, also with
#'   `overwrite`.
#' - A relative `scope` of `btw_skill_create()` starts from the working
#'   directory.
#'
#' @param name,skill_name The name of the skill.
#' @param description What the skill does and when to use it.
#' @param scope `"project"` or `"user"`; for `btw_skill_create()` also a
#'   directory. For `"project"`, `btw_skill_create()` takes the one that exists
#'   of `.btw/skills`, `.agents/skills` and `.claude/skills`. It asks if there
#'   are several, which in a script is an error, and makes `.btw/skills` if
#'   there is none.
#' @param resources Whether to make `scripts/`, `references/` and `assets/`.
#' @param path The directory of a skill.
#' @param repo The repository as `owner/repo`.
#' @param skill The name of the skill to install.
#' @param ref A tag, branch or commit.
#' @param overwrite Whether to replace what is in the way.
#' @param package The name of an R package.
#' @return What the functions return that they call: [skill_create()],
#'   [skill_validate()], [skill_install_github()], [skill_install_package()],
#'   [skill_invoke()] and [skills_system_prompt()].
#' @name btw
#' @keywords internal
NULL

#' @rdname btw
#' @export
btw_skill_create <- function(name, description = "", scope = "project", resources = TRUE) {
  check_string(name, "name")
  check_string(scope, "scope")
  description <- if (nzchar(description)) description
  if (identical(scope, "user")) {
    return(skill_create(name, description, scope = "user", resources = resources))
  }
  path <- if (identical(scope, "project")) project_skills() else as.character(scope)
  skill_create(name, description, path = path, resources = resources)
}

# The directory of the project that gets a new skill.
project_skills <- function() {
  root <- project_root()
  dirs <- file.path(root, c(".btw", ".agents", ".claude"), "skills")
  there <- dirs[dir.exists(dirs)]
  if (length(there) < 2L) {
    return(c(there, dirs)[[1]])
  }
  if (!person$is_there()) {
    abort(
      sprintf("the project has %d directories of skills:\n  %s", length(there), paste(there, collapse = "\n  ")),
      kind = "usage",
      code = 2L,
      hints = "name one as `scope`"
    )
  }
  there[[choose(there, "The project has several directories of skills. Which one?")]]
}

# The root of the project, of which the program tells the directories of agents.
project_root <- function() {
  told <- ask_json(c("--quiet", "agents", "--json", "--scope=project", "claude-code"))
  dirname(dirname(told[[1]]$directories[[1]]$path))
}

#' @rdname btw
#' @export
btw_skill_validate <- function(path = ".") {
  skill_validate(path)
}

#' @rdname btw
#' @export
btw_skill_install_github <- function(
  repo,
  skill = NULL,
  ref = "HEAD",
  scope = "project",
  overwrite = FALSE
) {
  skill_install_github(repo, skill, ref = ref, scope = scope, force = overwrite)
}

#' @rdname btw
#' @export
btw_skill_install_package <- function(
  package,
  skill = NULL,
  scope = "project",
  overwrite = FALSE
) {
  skill_install_package(package, skill, scope = scope, force = overwrite)
}

#' @rdname btw
#' @export
btw_tool_skill <- function(name) {
  load_skill(name)
}

#' @rdname btw
#' @export
btw_tool_fetch_skill <- function(skill_name) {
  load_skill(skill_name)
}

#' @rdname btw
#' @export
btw_skills_system_prompt <- function() {
  skills_system_prompt()
}
