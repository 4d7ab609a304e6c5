# These tests run with ellmer, or with the stand-in of `tests/stand-ins`.

# What `chat_*()` of ellmer returns, as far as it is used.
fake_chat <- function(prompt = NULL) {
  chat <- new.env()
  chat$prompt <- prompt
  chat$tools <- list()
  chat$get_system_prompt <- function() chat$prompt
  chat$set_system_prompt <- function(value) chat$prompt <- value
  chat$register_tool <- function(tool) chat$tools <- c(chat$tools, tool)
  chat
}

# S4-16
test_that("there is a tool only where there are skills", {
  skip_if_not_installed("ellmer")
  local_world()
  expect_null(skill_tool())
  chat <- fake_chat("Be kind.")
  expect_identical(skill_register(chat), chat)
  expect_length(chat$tools, 0L)
  expect_identical(chat$prompt, "Be kind.")

  write_skill(".agents/skills/pdf")
  skill_register(chat)
  expect_length(chat$tools, 1L)
  expect_match(chat$prompt, "^Be kind[.]\n\nSkills are .*<name>pdf</name>")
  skill_register(chat <- fake_chat(), name = "use_skill")
  expect_match(chat$prompt, "^Skills are .*call `use_skill`")
  expect_identical(attr(chat$tools[[1]], "name"), "use_skill")
})

# S4-17, S4-26, C9, C18
test_that("the tool gives the instructions and the paths of the files, and runs nothing", {
  skip_if_not_installed("ellmer")
  world <- local_world()
  dir <- write_skill(".agents/skills/pdf", body = "Fill the form.")
  script <- write_file(file.path(dir, "scripts", "fill.sh"), "#!/bin/sh", "touch ran")
  Sys.chmod(script, "755")
  tool <- skill_tool()
  expect_identical(attr(tool, "name"), "load_skill")
  expect_identical(attr(tool, "annotations")$read_only_hint, TRUE)
  text <- tool(name = "pdf")
  expect_match(text, "^Fill the form[.]")
  expect_match(text, file.path(world$project, script), fixed = TRUE)
  expect_false(file.exists("ran"))

  # What is on disk counts, not what was there when the tool was made.
  write_skill(".agents/skills/docx")
  expect_match(tool(name = "docx"), "# docx")
})

# S4-18
test_that("an unknown skill is an error with the names that there are", {
  skip_if_not_installed("ellmer")
  local_world()
  write_skill(".agents/skills/docx")
  write_skill(".agents/skills/pdf")
  tool <- skill_tool()
  error <- expect_error(tool(name = "pfd"), class = "skillpm_error_usage")
  expect_match(conditionMessage(error), "there is no skill `pfd`\nhint: available skills: docx, pdf")
})

test_that("a model loads skills that it was told of, and no directories", {
  local_world()
  write_skill(".agents/skills/pdf")
  write_skill("drafts/secret")
  write_skill(".agents/skills/for-people", fields = "disable-model-invocation: true")
  withr::local_options(skillpm.profile = "default")
  for (name in list("./drafts/secret", "drafts/secret", "for-people", "", NA, c("pdf", "pdf"), "--help")) {
    expect_error(btw_tool_skill(name), "there is no skill", class = "skillpm_error_usage")
  }
  expect_match(btw_tool_skill("pdf"), "# pdf")
})

test_that("without ellmer the tool says what to install", {
  skip_if(requireNamespace("ellmer", quietly = TRUE), "ellmer is installed")
  expect_error(skill_tool(), "`ellmer` is not installed", class = "skillpm_error_usage")
})
