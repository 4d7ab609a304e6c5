# The kinds of exit codes.
kinds <- c("findings", "usage", "config", "network", "integrity", "io")

kind_of <- function(status) {
  if (status %in% seq_along(kinds)) kinds[[status]] else "program"
}

# Returns what the program wrote on standard error as a list of items, each with
# its kind, its text and its hints. An error is a line of JSON. A line that
# continues an item is indented, also if a skill or server wrote it: no text from
# outside can begin one.
parse_talk <- function(stderr) {
  lines <- strsplit(stderr, "\r?\n")[[1]]
  lines <- lines[nzchar(lines)]
  starts <- !startsWith(lines, "  ")
  if (length(lines)) {
    starts[[1]] <- TRUE
  }
  talk <- list()
  for (lines in split(lines, cumsum(starts))) {
    text <- paste(lines, collapse = "\n")
    error <- if (startsWith(text, "{")) tryCatch(from_json(text), error = function(e) NULL)
    if (!is.null(error)) {
      talk[[length(talk) + 1L]] <- error_item(error)
      next
    }
    kind <- regmatches(text, regexpr("^(warning|hint)(?=: )", text, perl = TRUE))
    if (!length(kind)) {
      kind <- "note"
    } else {
      text <- substring(text, nchar(kind) + 3L)
    }
    last <- length(talk)
    if (kind == "hint" && last) {
      talk[[last]]$hints <- c(talk[[last]]$hints, text)
    } else {
      talk[[last + 1L]] <- list(kind = kind, text = text, hints = character())
    }
  }
  talk
}

# Returns the item of an error of the program.
error_item <- function(error) {
  causes <- as.character(unlist(error$causes))
  list(
    kind = "error",
    text = paste(c(word_hint(list(text = error$message, parts = error$parts)), sprintf("  caused by: %s", causes)), collapse = "\n"),
    hints = vapply(error$hints, word_hint, "")
  )
}

with_hints <- function(text, hints) {
  paste(c(text, if (length(hints)) paste0("hint: ", hints)), collapse = "\n")
}

abort <- function(text, kind, code = NA_integer_, hints = character(), stderr = "") {
  stop(structure(
    class = c(paste0("skillpm_error_", kind), "skillpm_error", "error", "condition"),
    list(
      message = with_hints(text, hints),
      call = NULL,
      code = code,
      hints = hints,
      stderr = stderr
    )
  ))
}

warn <- function(item) {
  warning(structure(
    class = c("skillpm_warning", "warning", "condition"),
    list(message = with_hints(item$text, item$hints), call = NULL)
  ))
}

inform <- function(item) {
  message(structure(
    class = c("skillpm_message", "message", "condition"),
    list(message = paste0(with_hints(item$text, item$hints), "\n"), call = NULL)
  ))
}

# Refuses an argument that is not one text.
check_string <- function(value, name, null = FALSE) {
  if (null && is.null(value)) {
    return(invisible())
  }
  if (!is.character(value) || length(value) != 1L || is.na(value)) {
    abort(sprintf("`%s` must be a single string", name), kind = "usage", code = 2L)
  }
}

check_strings <- function(value, name) {
  if (!is.character(value) || anyNA(value)) {
    abort(sprintf("`%s` must be a character vector without `NA`", name), kind = "usage", code = 2L)
  }
}

check_scope <- function(scope) {
  if (!identical(scope, "project") && !identical(scope, "user")) {
    abort("`scope` must be \"project\" or \"user\"", kind = "usage", code = 2L)
  }
}
