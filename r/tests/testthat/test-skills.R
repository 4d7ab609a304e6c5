# S4-1, S4-27
test_that("skills are listed with what a model is told of them", {
  world <- local_world()
  expect_identical(nrow(skill_list()), 0L)
  write_skill(
    ".agents/skills/pdf",
    fields = c("compatibility: Needs Python.", "allowed-tools: Read Grep", "metadata:", "  version: '1.10'")
  )
  write_skill(".btw/skills/plain")
  skills <- skill_list()
  expect_s3_class(skills, "data.frame")
  expect_identical(skills$name, c("plain", "pdf"))
  expect_identical(skills$description[[2]], "Does pdf. Use it in tests.")
  expect_identical(skills$location[[2]], file.path(world$project, ".agents/skills/pdf/SKILL.md"))
  expect_identical(skills$version, c(NA, "1.10"))
  expect_identical(skills$compatibility, c(NA, "Needs Python."))
  expect_identical(unclass(skills$allowed_tools), list(character(), c("Read", "Grep")))
  expect_identical(names(skills), names(skill_list()[0, ]))
})

# S4-5, S4-6, C34: bundled, user, `.btw`, `.agents`, `.claude`.
test_that("all places are searched, and later ones override", {
  world <- local_world()
  local_package("demo", c("own-1", "pdf"))
  withr::local_options(skillpm.packages = "demo")
  places <- c(
    system.file("skills", package = "demo"),
    file.path(world$home, ".config/R/btw/skills"),
    file.path(world$home, ".agents/skills"),
    file.path(world$project, c(".btw/skills", ".agents/skills", ".claude/skills"))
  )
  for (place in places) {
    own <- paste0("own-", match(place, places))
    if (place != places[[1]]) {
      write_skill(file.path(place, "pdf"))
      write_skill(file.path(place, own))
    }
    skills <- suppressWarnings(skill_list())
    expect_true(own %in% skills$name)
    location <- skills$location[skills$name == "pdf"]
    expect_identical(dirname(dirname(location)), place)
    expect_match(suppressWarnings(skill_invoke("pdf")), file.path(place, "pdf"), fixed = TRUE)
    expect_identical(suppressWarnings(skill_get("pdf"))$location, file.path(place, "pdf"))
  }
})

test_that("skills of attached packages are found, and those of others are not", {
  local_world()
  local_package("demo", "pdf")
  withr::local_options(skillpm.packages = NULL)
  expect_identical(nrow(skill_list()), 0L)
  attachNamespace("demo")
  withr::defer(detach("package:demo", unload = TRUE))
  expect_identical(skill_list()$name, "pdf")
  expect_match(skill_invoke("pdf"), "# pdf")
})

# S4-14, S4-15
test_that("a skill that is not valid is skipped with a warning, and is no error", {
  local_world()
  write_skill(".agents/skills/good")
  write_skill(".agents/skills/bad", fields = "hooks: x")
  write_file(".agents/skills/empty/SKILL.md")
  warnings <- testthat::capture_warnings(skills <- skill_list())
  expect_identical(skills$name, "good")
  expect_length(warnings, 2L)
  expect_match(warnings[[1]], "`hooks`")
  suppressWarnings(expect_warning(skill_list(), class = "skillpm_warning"))
})

# S4-13, S4-25, S4-26
test_that("all about a skill, and its instructions, without a script that runs", {
  world <- local_world()
  dir <- write_skill(
    ".agents/skills/pdf",
    fields = c("license: MIT", "allowed-tools: Read"),
    body = "Fill $ARGUMENTS."
  )
  write_file(file.path(dir, "scripts", "deep", "run.sh"), "#!/bin/sh", "touch ran")
  skill <- skill_get("pdf")
  expect_s3_class(skill, "skillpm_skill")
  expect_identical(skill$license, "MIT")
  expect_identical(skill$location, file.path(world$project, dir))
  expect_identical(skill$files$path, c("SKILL.md", "scripts/deep/run.sh"))
  expect_true(all(skill$files$size > 0))
  expect_output(print(skill), "<skill> pdf")

  # The profile of btw fills nothing in.
  expect_identical(skill_invoke("pdf", format = "bare"), "Fill $ARGUMENTS.\n")
  expect_match(skill_invoke("pdf", format = "btw"), file.path(world$project, dir, "scripts/deep/run.sh"), fixed = TRUE)
  expect_identical(skill_invoke("pdf", format = "json")$skill_name, "pdf")
  withr::local_options(skillpm.profile = "default")
  expect_identical(skill_invoke("pdf", "a 'b c'", "bare"), "Fill a 'b c'.\n")
  expect_false(file.exists("ran"))
})

# S4-1
test_that("files are listed and read", {
  local_world()
  dir <- write_skill(".agents/skills/pdf")
  write_file(file.path(dir, "references", "with space.md"), "# Fórms", "")
  writeBin(as.raw(c(0x89, 0x50, 0x00, 0xff)), file.path(dir, "logo.png"))
  expect_identical(skill_read("pdf"), c("logo.png", "references/with space.md"))
  expect_identical(skill_read("pdf", "references/with space.md"), "# F\u00f3rms\n\n")
  expect_identical(skill_read("pdf", "logo.png"), as.raw(c(0x89, 0x50, 0x00, 0xff)))
  expect_error(skill_read("pdf", "../other/SKILL.md"), "it has `..`", fixed = TRUE, class = "skillpm_error_usage")
  expect_error(skill_read("pdf", "none.md"), class = "skillpm_error_usage")
})

test_that("paths with spaces and texts beyond ASCII come and go as they are", {
  world <- local_world()
  # A path is what the locale can say; a text is not bound to it.
  dir <- if (l10n_info()[["UTF-8"]]) "my sk\u00efls" else "my skills"
  text <- "Pr\u00fcft \u65e5\u672c\u8a9e \U0001F680. Use it for \u201equotes\u201c."
  path <- suppressMessages(skill_create("quotes", text, path = dir))
  expect_identical(path, file.path(world$project, dir, "quotes"))
  skill <- skill_get(path)
  expect_identical(skill$description, text)
  expect_identical(Encoding(skill$description), "UTF-8")
  expect_identical(skill$location, path)

  write_skill(".agents/skills/resume", name = "r\u00e9sum\u00e9")
  withr::local_options(skillpm.profile = "default")
  expect_identical(skill_list()$name, "r\u00e9sum\u00e9")
  # It is told that the name is not that of the directory.
  body <- suppressWarnings(skill_invoke("r\u00e9sum\u00e9", "\u65e5\u672c\u8a9e"))
  expect_match(body, "ARGUMENTS: \u65e5\u672c\u8a9e")
})

test_that("scripts run where they may, and their failure is no error", {
  skip_on_os("windows")
  world <- local_world()
  dir <- write_skill(".agents/skills/pdf")
  script <- write_file(file.path(dir, "scripts", "fill.sh"), "#!/bin/sh", "echo \"$1\"; echo no >&2; exit 3")
  Sys.chmod(script, "755")
  expect_error(skill_run("pdf", "fill"), "may not run", class = "skillpm_error_integrity")
  skillpm:::ask(c("--quiet", "trust", "."))
  ran <- skill_run("pdf", "fill", c("-a b", "c"), network = FALSE)
  expect_identical(ran$exit_code, 3L)
  expect_identical(ran[c("stdout", "stderr")], list(stdout = "-a b\n", stderr = "no\n"))
  expect_error(skill_run("pdf", "none"), "no script `none`", class = "skillpm_error_usage")
  write_file(file.path(dir, "scripts", "say.py"), "echo said")
  expect_identical(skill_run("pdf", "say", interpreters = c(python = "sh"))$stdout, "said\n")
  expect_error(
    skill_run("pdf", "say", interpreters = c(python = "no-such-program")),
    "interpreters = c(python = \"PROGRAM\")",
    fixed = TRUE,
    class = "skillpm_error_usage"
  )
  expect_error(skill_run("pdf", "say", interpreters = "sh"), "name of a language", class = "skillpm_error_usage")
})

test_that("the list prints a line for each skill", {
  local_world()
  expect_identical(skillpm:::skill_lines(skill_list()), "no skills")
  write_skill(".agents/skills/a", description = strrep("Does much. ", 40), fields = c("metadata:", "  version: 1.2.0"))
  write_skill(".agents/skills/longer-name")
  withr::local_options(width = 80)
  lines <- skillpm:::skill_lines(skill_list())
  expect_match(lines[[1]], "^a +1\\.2\\.0  Does much\\. .*\\.\\.\\.$")
  expect_match(lines[[2]], "^longer-name +Does longer-name\\. Use it in tests\\.$")
  expect_length(lines, 2L)
  expect_true(all(nchar(lines) < 80L))
  # Whoever prints it, pillar or we.
  expect_true(all(nchar(utils::capture.output(print(skill_list()))) <= 80L))
  expect_s3_class(skill_list(), "data.frame")
  expect_identical(nrow(skill_list()[skill_list()$name == "a", ]), 1L)
  expect_output(print(skill_list()["name"]), "longer-name")
})
