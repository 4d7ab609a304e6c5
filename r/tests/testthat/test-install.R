installed <- function(name) file.path(".agents/skills", name, "SKILL.md")

test_that("skills are installed from a directory, and removed", {
  local_world()
  write_skill("source/pdf")
  result <- suppressMessages(skill_install("./source"))
  expect_identical(result$name, "pdf")
  expect_identical(result$change, "added")
  expect_match(result$digest, "^sha256:")
  expect_true(file.exists(installed("pdf")))
  expect_match(readLines("skillpm.lock"), "pdf", all = FALSE)
  expect_identical(skill_list()$name, "pdf")

  expect_identical(suppressMessages(skill_remove("pdf")), "pdf")
  expect_false(file.exists(installed("pdf")))
  expect_error(skill_remove("pdf"), "not installed", class = "skillpm_error_usage")
})

test_that("what an agent sees is listed", {
  local_world()
  write_skill(".claude/skills/pdf")
  write_skill(".agents/skills/xlsx")
  expect_setequal(skill_list()$name, c("pdf", "xlsx"))
  expect_identical(skill_list(agent = "claude-code")$name, "pdf")
  expect_error(skill_list(agent = 1), "agent")
})

# S4-7
test_that("a skill is installed for the user, and chats find it", {
  world <- local_world()
  write_skill("source/pdf")
  suppressMessages(skill_install("./source", scope = "user"))
  expect_identical(skill_list()$location, file.path(world$home, installed("pdf")))
  suppressMessages(skill_remove("pdf", scope = "user"))
  expect_identical(nrow(skill_list()), 0L)
})

# S4-22
test_that("skills of an R package are installed, from the libraries of this session", {
  local_world()
  local_package("demo", c("plots", "tables"))
  result <- suppressMessages(skill_install_package("demo", "plots"))
  expect_identical(result$name, "plots")
  expect_identical(result$source, "r:demo")
  expect_identical(dir(".agents/skills"), "plots")
  expect_error(skill_install_package("nonesuch"), "`r:nonesuch` is not installed", class = "skillpm_error")
  expect_error(skill_install_package("stats"), class = "skillpm_error")
})

# S4-23
test_that("of several skills a person chooses one, and a script gets an error", {
  local_world()
  write_skill("source/docx")
  write_skill("source/pdf")
  error <- expect_error(skill_install("./source"), class = "skillpm_error_usage")
  expect_match(conditionMessage(error), "has 2 skills.*docx.*pdf")
  expect_false(dir.exists(".agents"))

  asked <- local_person(2L)
  result <- suppressMessages(skill_install("./source"))
  expect_identical(asked$choices, c("docx", "pdf"))
  expect_identical(result$name, "pdf")

  local_person(0L)
  expect_error(skill_install("./source"), "nothing was chosen", class = "skillpm_error_usage")

  result <- suppressMessages(skill_install("./source", skill = "*"))
  expect_identical(result$name, c("docx", "pdf"))
})

test_that("two skills of one name are told apart by their directories", {
  local_world()
  write_skill("source/a/pdf")
  write_skill("source/b/pdf")
  asked <- local_person(2L)
  suppressMessages(skill_install("./source"))
  expect_identical(asked$choices, c("a/pdf", "b/pdf"))
  expect_match(readLines("skillpm.lock"), "b/pdf", all = FALSE)
})

# S4-24
test_that("the old skill stays if the new one is wrong or cannot be placed", {
  local_world()
  write_skill("source/pdf", body = "old")
  suppressMessages(skill_install("./source"))
  before <- lapply(c(installed("pdf"), "skillpm.lock", "skillpm.toml"), readLines)

  write_file("source/pdf/SKILL.md", "---", "name: pdf", "---", "new")
  expect_error(suppressMessages(skill_install("./source", force = TRUE)), class = "skillpm_error")
  after <- lapply(c(installed("pdf"), "skillpm.lock", "skillpm.toml"), readLines)
  expect_identical(after, before)

  # One of two skills is wrong: neither is replaced.
  write_skill("source/pdf", body = "new")
  write_file("source/docx/SKILL.md", "no frontmatter")
  expect_error(suppressMessages(skill_install("./source", skill = c("pdf", "docx"), force = TRUE)), class = "skillpm_error")
  expect_identical(lapply(c(installed("pdf"), "skillpm.lock", "skillpm.toml"), readLines), before)

  write_skill("source/pdf", body = "new")
  suppressMessages(skill_install("./source", skill = "pdf", force = TRUE))
  expect_match(readLines(installed("pdf")), "^new$", all = FALSE)
})

test_that("a skill that its user edited is kept, unless it is forced", {
  local_world()
  write_skill("source/pdf", body = "old")
  suppressMessages(skill_install("./source"))
  write_skill(".agents/skills/pdf", body = "mine")
  write_skill("source/pdf", body = "new")
  error <- expect_error(suppressMessages(skill_install("./source")), class = "skillpm_error_findings")
  expect_match(conditionMessage(error), "pdf")
  expect_match(readLines(installed("pdf")), "^mine$", all = FALSE)
  expect_warning(suppressMessages(skill_install("./source", force = TRUE)), "was saved")
  expect_match(readLines(installed("pdf")), "^new$", all = FALSE)
})

# S4-21, with a stand-in for the program; the program's own tests install from
# a stand-in for GitHub.
test_that("a repository on GitHub is named to the program", {
  asked_of <- function(...) {
    local_program(c(
      "for word; do printf '%s\\n' \"$word\"; done > asked",
      "echo '{\"skills\": []}'"
    ))
    skill_install_github(...)
    readLines("asked")
  }
  withr::local_dir(withr::local_tempdir())
  expect_identical(
    asked_of("acme/skills", "pdf", ref = "v1.0", scope = "user"),
    c(
      "--color=never", "--error-format=json", "install", "--json", "--scope=user", "--yes",
      "--skill=pdf", "--", "github:acme/skills#v1.0"
    )
  )
  expect_identical(tail(asked_of("acme/skills"), 2), c("--", "github:acme/skills"))
  expect_false("--yes" %in% asked_of("acme/skills"))
  expect_true("--force" %in% asked_of("acme/skills", force = TRUE))
})
