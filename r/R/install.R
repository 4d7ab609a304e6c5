#' Install skills
#'
#' Installs skills into the project or for you. Every skill is fetched, checked
#' and prepared before anything is changed, and then all files change in one
#' step: if something fails, all is as it was. `skillpm.toml` notes what you
#' asked for, `skillpm.lock` the exact content.
#'
#' @param source Where the skills come from: `owner/repo`, `owner/repo#ref`,
#'   `./directory`, `./archive.zip`, the address of a git repository or of a
#'   site, `r:package`, or anything else that `skillpm install` takes.
#' @param skill The names of the skills. If there are several and none is
#'   named, you are asked; in a script this is an error. `"*"` means all.
#' @param scope `"project"`, the project around the working directory, or
#'   `"user"`, for you in every project.
#' @param agents Agents such as `"claude-code"` or `"cursor"` that get a link;
#'   chats in R and many agents need none.
#' @param force Whether to replace what is in the way, such as skills that you
#'   edited. The store keeps your copy.
#' @return A data frame of what was installed, invisibly: the columns `name`,
#'   `version`, `source`, `digest` and `change` (`"added"`, `"updated"`,
#'   `"unchanged"`, ...).
#' @seealso [skill_remove()], [skill_list()]
#' @export
#' @examples
#' \dontrun{
#' skill_install("anthropics/skills", skill = "pdf")
#' skill_install("./my-skills", scope = "user")
#' }
skill_install <- function(
  source,
  skill = NULL,
  scope = "project",
  agents = character(),
  force = FALSE
) {
  check_string(source, "source")
  install(source, skill, scope, agents = agents, force = force)
}

#' Install skills from GitHub
#'
#' @inheritParams skill_install
#' @param repo The repository as `owner/repo`, or a directory in it as
#'   `owner/repo/directory`.
#' @param ref A tag, a branch or a commit, by default the newest commit of the
#'   default branch.
#' @inherit skill_install return
#' @export
#' @examples
#' \dontrun{
#' skill_install_github("anthropics/skills", "pdf")
#' }
skill_install_github <- function(
  repo,
  skill = NULL,
  ref = NULL,
  scope = "project",
  force = FALSE
) {
  check_string(repo, "repo")
  check_string(ref, "ref", null = TRUE)
  source <- paste0("github:", sub("^github:", "", repo))
  if (!is.null(ref) && ref != "HEAD") {
    source <- paste0(source, "#", ref)
  }
  install(source, skill, scope, force = force)
}

#' Install skills that an R package brings along
#'
#' Authors of packages keep skills in `inst/skills`. The package has to be
#' installed, in a library of this session.
#'
#' Skills of packages that are attached are found without being installed, but
#' only in R; installed skills are there for other agents too.
#'
#' @inheritParams skill_install
#' @param package The name of the package.
#' @inherit skill_install return
#' @export
#' @examples
#' \dontrun{
#' skill_install_package("demo")
#' }
skill_install_package <- function(package, skill = NULL, scope = "project", force = FALSE) {
  check_string(package, "package")
  install(paste0("r:", package), skill, scope, force = force)
}

install <- function(source, skill, scope, agents = character(), force = FALSE) {
  check_scope(scope)
  check_strings(agents, "agents")
  if (is.null(skill)) {
    skill <- choose_skill(source)
  }
  check_strings(skill, "skill")
  args <- c(
    "install",
    "--json",
    flag("scope", scope),
    # Otherwise the program would take all where there are several.
    if (length(skill)) c("--yes", paste0("--skill=", skill)),
    if (length(agents)) paste0("--agent=", agents),
    switch_on("force", force),
    "--",
    source
  )
  skills <- ask_json(args)$skills
  invisible(data.frame(
    name = texts(skills, "name"),
    version = texts(skills, "version"),
    source = texts(skills, "source"),
    digest = texts(skills, "digest"),
    change = texts(skills, "change")
  ))
}

# Asks which of several skills is meant, where somebody can answer.
choose_skill <- function(source) {
  if (!person$is_there()) {
    return(character())
  }
  there <- ask_json(c("--quiet", "install", "--list", "--json", "--", source))
  if (length(there) < 2L) {
    return(character())
  }
  # Two skills of one name are told apart by their directories.
  names <- texts(there, "name")
  twice <- names %in% names[duplicated(names)]
  names[twice] <- texts(there, "path")[twice]
  names[[choose(names, sprintf("`%s` has several skills. Which one?", source))]]
}

# The person at the console. Tests put another one here.
person <- new.env(parent = emptyenv())
person$is_there <- interactive
person$choose <- function(choices, title) utils::menu(choices, title = title)

choose <- function(choices, title) {
  choice <- person$choose(choices, title)
  if (choice == 0L) {
    abort("nothing was chosen, so nothing was done", kind = "usage", code = 2L)
  }
  choice
}
