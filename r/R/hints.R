# Hints of the program in words of R: functions and arguments of this package
# where it has them, else the command.

word_hint <- function(hint) {
  paste(vapply(hint$parts, word_part, ""), collapse = "")
}

word_part <- function(part) {
  switch(
    names(part)[[1]],
    text = part$text,
    run = word_call(part$run),
    option = word_option(part$option),
    setting = sprintf("`%s = %s`", part$setting$key, r_text(part$setting$value))
  )
}

# The function that does what a verb does, and how many arguments without names
# it takes.
functions <- list(
  install = list(name = "skill_install", words = 1L),
  invoke = list(name = "skill_invoke", words = 1L),
  list = list(name = "skill_list", words = 0L),
  read = list(name = "skill_read", words = 1:2),
  remove = list(name = "skill_remove", words = 1L),
  show = list(name = "skill_get", words = 1L),
  validate = list(name = "skill_validate", words = 0:1)
)

# The arguments of these functions that are options of the program.
arguments <- list(
  install = c(skill = "skill", scope = "scope", agent = "agents", force = "force"),
  remove = c(scope = "scope", force = "force"),
  validate = c(profile = "profile", strict = "strict")
)

word_call <- function(call) {
  known <- functions[[call$verb]]
  options <- call$options
  if (!is.null(call$scope) && call$scope == "user") {
    options <- c(options, list(list(name = "scope", value = call$scope)))
  }
  names <- arguments[[call$verb]][vapply(options, `[[`, "", "name")]
  is_known <- !is.null(known) &&
    is.null(call$project) &&
    length(call$arguments) %in% known$words &&
    (!length(options) || length(names) == length(options) && !anyNA(names))
  if (!is_known) {
    return(word_command(call))
  }
  values <- vapply(options, function(option) r_value(option$value), "")
  words <- c(vapply(call$arguments, r_text, ""), if (length(options)) paste(names, values, sep = " = "))
  sprintf("`%s(%s)`", known$name, paste(words, collapse = ", "))
}

# The command, as it is typed in a shell.
word_command <- function(call) {
  # In one word: a value that may be left out is never the next word, which would be taken for a name.
  options <- lapply(call$options, function(option) paste(c(paste0("--", option$name), option$value), collapse = "="))
  words <- c(call$verb, unlist(call$arguments), if (identical(call$scope, "user")) "-g", unlist(options))
  plain <- grepl("^[A-Za-z0-9_@%+=:,./#~-]+$", words)
  words[!plain] <- shQuote(words[!plain], type = "sh")
  text <- sprintf("`skillpm %s`", paste(words, collapse = " "))
  if (is.null(call$project)) text else sprintf("%s in `%s`", text, call$project)
}

word_option <- function(option) {
  name <- unlist(arguments)[paste0("install.", option$name)]
  if (is.na(name)) {
    return(sprintf("`--%s`", paste(c(option$name, option$value), collapse = " ")))
  }
  sprintf("`%s = %s`", name, r_value(option$value))
}

r_value <- function(value) {
  if (is.null(value)) "TRUE" else r_text(value)
}

r_text <- function(text) {
  encodeString(text, quote = "\"")
}
