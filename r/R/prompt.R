#' Tell a chat which skills there are
#'
#' Returns the part of a system prompt that tells a language model which skills
#' it has: an explanation, and the list `<available_skills>` with the name,
#' description and location of each skill, and its compatibility and allowed
#' tools if it names them. Of their instructions nothing is in it: the model
#' loads those of a skill when it needs them, with [skill_tool()].
#'
#' @param tool The name of the tool that loads a skill.
#' @param budget The number of tokens that the list may take. The longest
#'   descriptions are shortened until it fits; no skill is left out.
#' @return A string, `""` if there are no skills.
#' @seealso [skill_register()], which does all for a chat of ellmer.
#' @export
#' @examplesIf skillpm::skillpm_available()
#' cat(skills_system_prompt())
skills_system_prompt <- function(tool = "load_skill", budget = NULL) {
  check_string(tool, "tool")
  catalog <- ask(c(
    "--quiet",
    "catalog",
    "--format=xml",
    flag("fields", "description,location,compatibility,allowed-tools"),
    flag("budget", if (!is.null(budget)) format(budget, scientific = FALSE)),
    loading()
  ))
  if (!nzchar(catalog)) {
    return("")
  }
  paste0(
    "Skills are instructions for kinds of jobs. These are the skills that you have. ",
    "Where one fits the task, call `",
    tool,
    "` with its name before you start, and do as it says.\n\n",
    sub("\n$", "", catalog)
  )
}
