# Messages and hints of the program in words of R: functions and arguments of
# this package where it has them, else the command.

word_hint <- function(hint) {
  words <- lapply(hint$parts, word_part)
  # A later version of the program may have parts of other kinds, an earlier one
  # none of messages.
  known <- length(words) && !any(vapply(words, is.null, NA))
  if (known) paste(words, collapse = "") else hint$text
}

word_part <- function(part) {
  switch(
    names(part)[[1]],
    text = part$text,
    run = word_call(part$run),
    option = word_option(part$option),
    setting = sprintf("`%s = %s`", part$setting$key, r_text(part$setting$value)),
    NULL
  )
}

# The function that does what a verb does, and how many arguments without names
# it takes.
functions <- list(
  create = list(name = "skill_create", words = 1L),
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
  create = c(description = "description", path = "path", scope = "scope"),
  install = c(skill = "skill", scope = "scope", agent = "agents", force = "force"),
  remove = c(scope = "scope", force = "force"),
  validate = c(profile = "profile", strict = "strict")
)

word_call <- function(call) {
  known <- functions[[call$verb]]
  options <- call$options
  if (identical(call$scope, "user")) {
    options <- c(options, list(list(name = "scope", value = call$scope)))
  }
  values <- split(
    lapply(options, `[[`, "value"),
    factor(vapply(options, `[[`, "", "name"), unique(vapply(options, `[[`, "", "name")))
  )
  known_options <- arguments[[call$verb]]
  is_known <- !is.null(known) &&
    is.null(call$project) &&
    length(call$arguments) %in% known$words &&
    all(names(values) %in% names(known_options)) &&
    all(lengths(values) == 1L | names(values) %in% c("skill", "agent"))
  if (!is_known) {
    return(word_command(call))
  }
  named <- sprintf("%s = %s", known_options[names(values)], vapply(values, r_value, ""))
  words <- c(vapply(call$arguments, r_text, ""), named)
  sprintf("`%s(%s)`", known$name, paste(words, collapse = ", "))
}

# The command, as it is typed in a shell.
word_command <- function(call) {
  # In one word: a value that may be left out is never the next word, which would
  # be taken for a name.
  in_one_word <- function(option) paste(c(paste0("--", option$name), option$value), collapse = "=")
  options <- vapply(call$options, in_one_word, "")
  scope <- if (identical(call$scope, "user")) "-g"
  words <- c(call$verb, unlist(call$arguments), scope, options)
  plain <- grepl("^[A-Za-z0-9_@%+=:,./#~-]+$", words)
  words[!plain] <- shQuote(words[!plain], type = "sh")
  text <- sprintf("`skillpm %s`", paste(words, collapse = " "))
  if (is.null(call$project)) text else sprintf("%s in `%s`", text, call$project)
}

word_option <- function(option) {
  if (identical(option$name, "interpreter")) {
    return(word_interpreter(option$value))
  }
  # A hint does not say of which function: no two mean different things.
  name <- c(arguments$install, arguments$create)[option$name]
  if (is.na(name)) {
    return(sprintf("`--%s`", paste(c(option$name, option$value), collapse = " ")))
  }
  if (is.null(option$value) && !option$name %in% switches) {
    return(sprintf("`%s`", name))
  }
  sprintf("`%s = %s`", name, r_value(list(option$value)))
}

word_interpreter <- function(value) {
  if (is.null(value)) {
    return("`interpreters`")
  }
  language <- sub("=.*", "", value)
  sprintf("`interpreters = c(%s = %s)`", language, r_text(sub("[^=]*=", "", value)))
}

# Options without a value.
switches <- c("force", "strict")

# The values of an option: a vector where there are several.
r_value <- function(values) {
  texts <- vapply(values, function(value) if (is.null(value)) "TRUE" else r_text(value), "")
  if (length(texts) == 1L) texts else sprintf("c(%s)", paste(texts, collapse = ", "))
}

r_text <- function(text) {
  encodeString(text, quote = "\"")
}
