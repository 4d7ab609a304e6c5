# The answers that all front ends give. Cases, questions and expected answers are
# those of `tests/it/fronts.rs`, which writes them. `make r-tests` names their
# directory.

cases <- Sys.getenv("SKILLPM_ENGINE_CASES")

read_json <- function(path) {
  jsonlite::fromJSON(path, simplifyVector = FALSE)
}

# Puts the files of a case into `world`.
make_case <- function(world, name) {
  from <- file.path(cases, name)
  for (part in setdiff(dir(from, all.files = TRUE, no.. = TRUE), c("case.json", "expected.json"))) {
    file.copy(file.path(from, part), world$root, recursive = TRUE, copy.mode = TRUE)
  }
  make <- read_json(file.path(from, "case.json"))$make
  for (path in names(make$bytes)) {
    at <- file.path(world$root, path)
    dir.create(dirname(at), recursive = TRUE, showWarnings = FALSE)
    digits <- make$bytes[[path]]
    pairs <- substring(digits, seq(1, nchar(digits), 2), seq(2, nchar(digits), 2))
    writeBin(as.raw(strtoi(pairs, 16L)), at)
  }
  for (path in names(make$links)) {
    at <- file.path(world$root, path)
    dir.create(dirname(at), recursive = TRUE, showWarnings = FALSE)
    file.symlink(make$links[[path]], at)
  }
}

# The answer of this package to a question, `NULL` if it has no function for it.
answer_to <- function(ask) {
  switch(
    ask$verb,
    catalog = NULL,
    show = shown(skill_get(ask$name)),
    invoke = skill_invoke(
      ask$name,
      if (nzchar(ask$arguments)) ask$arguments else character(),
      ask$form %||% "plain"
    ),
    files = as.list(skill_read(ask$name)),
    read = read_file(ask),
    run = run_script(ask)
  )
}

`%||%` <- function(value, default) if (is.null(value)) default else value

shown <- function(skill) {
  keys <- c(
    "name", "description", "version", "tags", "dependencies", "license", "compatibility",
    "allowed_tools", "metadata", "extra", "file", "deviations"
  )
  unclass(skill)[intersect(keys, names(skill))]
}

read_file <- function(ask) {
  content <- skill_read(ask$name, ask$path)
  told <- list(skill_name = sub("^[^:]*:", "", ask$name), filename = ask$path)
  if (is.raw(content)) {
    c(told, content = gsub("\n", "", jsonlite::base64_enc(content)), encoding = "base64")
  } else {
    c(told, content = content)
  }
}

run_script <- function(ask) {
  skillpm:::ask(c("--quiet", "trust", "."))
  skill_run(ask$name, ask$script, as.character(unlist(ask$arguments)))[c("exit_code", "stdout", "stderr")]
}

# Values with `[DIR]` instead of the directory of the test, in one order.
scrubbed <- function(value, root) {
  if (is.character(value)) {
    return(gsub(root, "[DIR]", value, fixed = TRUE))
  }
  if (!is.list(value)) {
    return(value)
  }
  value <- lapply(value, scrubbed, root)
  if (is.null(names(value))) value else value[order(names(value), method = "radix")]
}

answer_or_error <- function(ask) {
  withCallingHandlers(
    tryCatch(
      answer_to(ask),
      skillpm_error = function(error) {
        # Causes are on lines of their own, paths as they are from the working
        # directory.
        lines <- strsplit(conditionMessage(error), "\n", fixed = TRUE)[[1]]
        lines <- lines[!startsWith(lines, "hint: ")]
        text <- paste(lines[!startsWith(lines, "  ") | startsWith(lines, "  caused by: ")], collapse = "\n")
        text <- gsub("\n  caused by: ", ": ", text, fixed = TRUE)
        list(error = gsub("`.agents/", "`[DIR]/project/.agents/", text, fixed = TRUE), exit = error$code)
      }
    ),
    warning = function(warning) invokeRestart("muffleWarning")
  )
}

# C1, C5, C6, C7, C8, C9, C10, C13, C15, C16, C20, C21
test_that("this package gives the answers of all front ends", {
  skip_if(cases == "", "the directory of the cases is not named")
  skip_on_os("windows")
  skip_if_not(l10n_info()[["UTF-8"]], "files of the cases have names that only UTF-8 can say")
  asked <- 0L
  for (name in dir(cases)) {
    world <- local_world()
    withr::local_options(skillpm.profile = "default")
    make_case(world, name)
    for (case in read_json(file.path(cases, name, "expected.json"))$answers) {
      answer <- scrubbed(answer_or_error(case$ask), world$root)
      if (!is.null(answer)) {
        asked <- asked + 1L
        label <- sprintf("%s: %s", name, jsonlite::toJSON(case$ask, auto_unbox = TRUE))
        expect_identical(answer, scrubbed(case$answer, world$root), label = label)
      }
    }
  }
  expect_gt(asked, 100L)
})
