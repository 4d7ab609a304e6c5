test_that("a missing program is an error that says how to get it", {
  withr::local_options(skillpm.program = "/no/such/program")
  expect_false(skillpm_available())
  error <- expect_error(skill_list(), class = "skillpm_error_program")
  expect_s3_class(error, "skillpm_error")
  expect_match(conditionMessage(error), "`skillpm` was not found\nhint: install it")
  expect_identical(error$code, NA_integer_)
})

test_that("the program is named by the option, the variable, or `PATH`", {
  dir <- withr::local_tempdir()
  skip_on_os("windows")
  for (name in c("skillpm", "second", "third")) {
    writeLines("#!/bin/sh", file.path(dir, name))
    Sys.chmod(file.path(dir, name), "755")
  }
  withr::local_envvar(PATH = paste(dir, Sys.getenv("PATH"), sep = ":"), SKILLPM_PROGRAM = NA)
  expect_identical(skillpm:::program_path(), file.path(dir, "skillpm"))
  withr::local_envvar(SKILLPM_PROGRAM = file.path(dir, "second"))
  expect_identical(skillpm:::program_path(), file.path(dir, "second"))
  withr::local_options(skillpm.program = file.path(dir, "third"))
  expect_identical(skillpm:::program_path(), file.path(dir, "third"))
})

test_that("an error has the message, the hints and the exit code of the program", {
  local_world()
  error <- expect_error(skill_get("pdf"), class = "skillpm_error_usage")
  expect_identical(error$code, 2L)
  expect_match(conditionMessage(error), "^there is no skill `pdf`")
  expect_true(length(error$hints) > 0)
  expect_match(error$stderr, "\"exit_code\":2")
  expect_null(conditionCall(error))
})

test_that("an error names arguments of R", {
  local_world()
  write_skill("src/skills/a")
  write_skill("src/skills/b")
  error <- expect_error(skill_install("./src"), class = "skillpm_error_usage")
  expect_match(conditionMessage(error), "choose some with `skill`:", fixed = TRUE)
  expect_match(conditionMessage(error), "`skill = \"*\"` for all", fixed = TRUE)
  expect_no_match(conditionMessage(error), "--skill")
  error <- expect_error(skill_remove("none"), class = "skillpm_error_usage")
  expect_match(error$hints, "`skill_list()`", fixed = TRUE)
})

test_that("each exit code has a class", {
  kinds <- c("findings", "usage", "config", "network", "integrity", "io", "program")
  for (code in seq_along(kinds)) {
    local_program(sprintf("echo '{\"message\":\"no\",\"hints\":[]}' >&2; exit %d", code))
    expect_error(skill_list(), "^no$", class = paste0("skillpm_error_", kinds[[code]]))
  }
})

test_that("a program that fails without an error, or dies, is an error", {
  local_program("echo 'warning: `pdf` is edited' >&2; exit 1")
  expect_warning(
    error <- expect_error(skill_list(), class = "skillpm_error_findings"),
    "`pdf` is edited"
  )
  expect_match(conditionMessage(error), "(exit code 1)", fixed = TRUE)
  local_program("kill -9 $$")
  expect_error(skill_list(), "was stopped", class = "skillpm_error_program")
})

test_that("what the program says on standard error is told apart", {
  talk <- skillpm:::parse_talk(paste(
    "warning: one",
    "  more of it",
    "hint: do this",
    "hint: or that",
    "+ pdf 1.0",
    "warning: no",
    "  hint: not a hint, the text of a skill",
    "{\"message\":\"no\",\"causes\":[\"that\"],\"hints\":[{\"parts\":[{\"text\":\"try\"}]}]}",
    "",
    sep = "\n"
  ))
  expect_identical(vapply(talk, `[[`, "", "kind"), c("warning", "note", "warning", "error"))
  expect_identical(talk[[1]]$text, "one\n  more of it")
  expect_identical(talk[[1]]$hints, c("do this", "or that"))
  expect_identical(talk[[3]]$text, "no\n  hint: not a hint, the text of a skill")
  expect_identical(talk[[3]]$hints, character())
  expect_identical(talk[[4]]$text, "no\n  caused by: that")
  expect_identical(talk[[4]]$hints, "try")
  expect_identical(skillpm:::parse_talk(""), list())
})

test_that("hints are in words of R", {
  call <- function(verb, arguments = list(), options = list(), scope = NULL) {
    skillpm:::word_part(list(
      run = list(verb = verb, arguments = arguments, options = options, scope = scope)
    ))
  }
  skill <- list(name = "skill", value = "*")
  force <- list(name = "force", value = NULL)
  expect_identical(
    call("install", list("o/r"), list(skill, force), "user"),
    "`skill_install(\"o/r\", skill = \"*\", force = TRUE, scope = \"user\")`"
  )
  expect_identical(
    call("install", list("o/r"), list(skill, list(name = "skill", value = "b"))),
    "`skill_install(\"o/r\", skill = c(\"*\", \"b\"))`"
  )
  expect_identical(
    skillpm:::word_part(list(option = list(name = "skill", value = NULL))),
    "`skill`"
  )
  expect_identical(
    skillpm:::word_part(list(option = list(name = "path", value = NULL))),
    "`path`"
  )
  expect_identical(call("list"), "`skill_list()`")
  expect_identical(call("list", options = list(list(name = "all", value = NULL))), "`skillpm list --all`")
  later <- list(text = "run `x`", parts = list(list(text = "run "), list(tool = "x")))
  expect_identical(skillpm:::word_hint(later), "run `x`")
  expect_identical(call("update", list("a b"), list(), "user"), "`skillpm update 'a b' -g`")
  expect_identical(
    call("install", list(), list(list(name = "frozen", value = NULL))),
    "`skillpm install --frozen`"
  )
  consent <- list(name = "allow-new-capabilities", value = "c")
  expect_identical(
    call("install", list("./src"), list(skill, consent)),
    "`skillpm install ./src '--skill=*' --allow-new-capabilities=c`"
  )
  expect_identical(skillpm:::word_part(list(option = skill)), "`skill = \"*\"`")
  expect_identical(skillpm:::word_part(list(option = list(name = "tag", value = "NAME"))), "`--tag NAME`")
  expect_identical(
    skillpm:::word_part(list(setting = list(key = "scripts", value = "ask"))),
    "`scripts = \"ask\"`"
  )
})

test_that("arguments are refused before the program starts", {
  withr::local_options(skillpm.program = "/no/such/program")
  for (call in list(
    quote(skill_get(NA_character_)),
    quote(skill_get(c("a", "b"))),
    quote(skill_read("a", 1)),
    quote(skill_invoke("a", NA)),
    quote(skill_install("a", scope = "machine")),
    quote(skill_create("a", scope = "machine"))
  )) {
    expect_error(eval(call), "must be", class = "skillpm_error_usage")
  }
})
