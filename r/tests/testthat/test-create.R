# S4-19, S4-7
test_that("a skill is made in a scope, and agents see it", {
  world <- local_world()
  path <- suppressMessages(skill_create("notes", "Writes notes. Use it for releases.", resources = "references"))
  expect_identical(path, file.path(world$project, "skills/notes"))
  expect_true(file.exists("skills/notes/references"))
  expect_identical(skill_list()$description, "Writes notes. Use it for releases.")
  expect_true(skill_validate(path)$valid)

  suppressMessages(skill_create("mine", scope = "user"))
  expect_setequal(skill_list()$name, c("notes", "mine"))
})

test_that("a skill is made in a directory, and nothing else is touched", {
  local_world()
  path <- suppressMessages(skill_create("notes", path = "drafts", resources = TRUE))
  expect_setequal(dir(path), c("SKILL.md", "assets", "references", "scripts"))
  expect_identical(dir(), "drafts")
  error <- expect_error(skill_create("notes", path = "drafts"), class = "skillpm_error")
  expect_match(conditionMessage(error), "already exists")
})

# S4-9, S4-10
test_that("what breaks the specification is not made", {
  local_world()
  for (name in c("Notes", "a--b", "-a", "a b", strrep("a", 65))) {
    expect_error(skill_create(name, path = "x"), class = "skillpm_error")
  }
  expect_error(skill_create("a", strrep("Use it. ", 200), path = "x"), class = "skillpm_error")
  expect_identical(dir(), character())
})

# S4-20
test_that("validation tells whether a skill is valid, and what is wrong", {
  local_world()
  good <- write_skill("good")
  result <- skill_validate(good)
  expect_true(result$valid)
  expect_identical(result$issues, character())
  expect_identical(nrow(result$findings), 0L)
  expect_identical(utils::capture.output(print(result)), "valid")

  bad <- write_skill("bad", name = "other", description = "Short.")
  result <- skill_validate(bad)
  expect_false(result$valid)
  expect_match(result$issues[[1]], "^bad/SKILL.md:2:7: error: .*\\[name-directory\\]$")
  expect_identical(result$findings$severity[[1]], "error")
  expect_output(print(result), "^not valid\n  bad/SKILL.md")

  warned <- write_skill("warned", fields = "licence: MIT")
  expect_true(skill_validate(warned)$valid)
  expect_false(skill_validate(warned, strict = TRUE)$valid)
  expect_error(skill_validate("none"), "does not exist", class = "skillpm_error_usage")
})

test_that("a package gets a skill and the test that keeps it valid", {
  local_world()
  write_file("pkg/DESCRIPTION", "Package: demo", "Version: 1.0")
  dir.create("pkg/R")
  path <- suppressMessages(use_skill("demo-plots", package = "pkg/R"))
  expect_true(file.exists("pkg/inst/skills/demo-plots/SKILL.md"))
  expect_match(readLines("pkg/tests/testthat/test-skills.R"), "skillpm::expect_skills_valid()", fixed = TRUE, all = FALSE)
  expect_match(readLines("pkg/tests/testthat.R"), "test_check(\"demo\")", fixed = TRUE, all = FALSE)
  writeLines("# mine", "pkg/tests/testthat/test-skills.R")
  suppressMessages(use_skill("demo-tables", package = "pkg"))
  expect_identical(readLines("pkg/tests/testthat/test-skills.R"), "# mine")
  expect_error(use_skill("a", package = "."), "no `DESCRIPTION`", class = "skillpm_error_usage")
})

test_that("valid skills pass the expectation, others fail it with what is wrong", {
  local_world()
  write_skill("skills/good")
  expect_success(expect_skills_valid("skills"))
  write_skill("skills/bad", name = "other")
  expect_failure(expect_skills_valid("skills"), "name-directory")

  local_package("demo", "pdf")
  withr::local_envvar(TESTTHAT_PKG = "demo")
  expect_success(expect_skills_valid())
  withr::local_envvar(TESTTHAT_PKG = "stats")
  expect_error(expect_skills_valid(), "no `inst/skills`", class = "skillpm_error_usage")
})

test_that("the expectation is skipped without the program", {
  withr::local_options(skillpm.program = "/no/such/program")
  expect_condition(expect_skills_valid("x"), class = "skip")
})
