# A stand-in for ellmer 0.4.2, for tests on machines without it. The arguments
# are those of the real functions; the values have only what the tests look at.

tool <- function(
  fun,
  description,
  ...,
  arguments = list(),
  name = NULL,
  convert = TRUE,
  annotations = list()
) {
  stopifnot(...length() == 0L, setequal(names(arguments), names(formals(fun))))
  structure(
    fun,
    class = c("ellmer::ToolDef", "function"),
    name = name,
    description = description,
    arguments = arguments,
    convert = convert,
    annotations = annotations
  )
}

type_string <- function(description = NULL, required = TRUE) {
  structure(
    list(description = description, required = required),
    class = c("ellmer::TypeBasic", "ellmer::Type")
  )
}

tool_annotations <- function(
  title = NULL,
  read_only_hint = NULL,
  open_world_hint = NULL,
  idempotent_hint = NULL,
  destructive_hint = NULL,
  ...
) {
  annotations <- list(
    title = title,
    read_only_hint = read_only_hint,
    open_world_hint = open_world_hint,
    idempotent_hint = idempotent_hint,
    destructive_hint = destructive_hint,
    ...
  )
  annotations[!vapply(annotations, is.null, NA)]
}
