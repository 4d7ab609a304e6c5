#' Offer skills to a chat of ellmer
#'
#' `skill_tool()` makes the tool with which a model loads a skill: it gets the
#' name of a skill, and returns its instructions and the paths of the files in
#' its `scripts`, `references` and `assets`. It runs nothing. A name that does
#' not exist is an error that lists the names that do, for the model to read.
#'
#' `skill_register()` registers the tool with a chat, and adds
#' [skills_system_prompt()] to the system prompt of it. If there are no skills,
#' it does neither.
#'
#' The skills are read again at each call, so the model gets what is on disk.
#'
#' @param name The name of the tool.
#' @return `skill_tool()` returns a tool of ellmer, or `NULL` if there are no
#'   skills. `skill_register()` returns the chat, invisibly.
#' @export
#' @examplesIf skillpm::skillpm_available() && requireNamespace("ellmer", quietly = TRUE)
#' tool <- skill_tool()
#' \dontrun{
#' chat <- skill_register(ellmer::chat_anthropic())
#' chat$chat("Fill the form in.pdf with the data in form.csv.")
#' }
skill_tool <- function(name = "load_skill") {
  check_string(name, "name")
  if (!requireNamespace("ellmer", quietly = TRUE)) {
    abort(
      "the package `ellmer` is not installed",
      kind = "usage",
      hints = "`install.packages(\"ellmer\")` installs it"
    )
  }
  if (!nrow(skill_list())) {
    return(NULL)
  }
  ellmer::tool(
    function(name) load_skill(name),
    name = name,
    description = paste(
      "Load the instructions of a skill, with the paths of its files.",
      "Call it with the name of a skill that fits the task, before you start."
    ),
    arguments = list(
      name = ellmer::type_string("The name of the skill, as it is listed.")
    ),
    annotations = ellmer::tool_annotations(
      title = "Load a skill",
      read_only_hint = TRUE,
      open_world_hint = FALSE
    )
  )
}

#' @rdname skill_tool
#' @param chat A chat of ellmer, such as that of `ellmer::chat_anthropic()`.
#' @export
skill_register <- function(chat, name = "load_skill") {
  tool <- skill_tool(name)
  if (!is.null(tool)) {
    chat$register_tool(tool)
    prompt <- c(chat$get_system_prompt(), skills_system_prompt(name))
    chat$set_system_prompt(paste(prompt, collapse = "\n\n"))
  }
  invisible(chat)
}

# What the tool returns. A model may name the skills that it was told of, and no
# directories.
load_skill <- function(name) {
  names <- suppressWarnings(skill_list(), classes = "skillpm_warning")$name
  if (!is.character(name) || length(name) != 1L || !name %in% names) {
    abort(
      sprintf("there is no skill `%s`", paste(name, collapse = " ")),
      kind = "usage",
      code = 2L,
      hints = paste("available skills:", paste(names, collapse = ", "))
    )
  }
  skill_invoke(name, format = "btw")
}
