# S4-2, S4-3, C27
test_that("the system prompt lists the skills, escaped, with what they name", {
  world <- local_world()
  write_skill(
    ".agents/skills/pdf",
    description = "Reads <pdf> & more. Use it for PDF.",
    fields = c("compatibility: Needs Python.", "allowed-tools: Read Grep")
  )
  prompt <- skills_system_prompt()
  expect_match(prompt, "call `load_skill` with its name", fixed = TRUE)
  for (line in c(
    "<available_skills>",
    "<name>pdf</name>",
    "<description>Reads &lt;pdf&gt; &amp; more. Use it for PDF.</description>",
    sprintf("<location>%s/.agents/skills/pdf/SKILL.md</location>", world$project),
    "<compatibility>Needs Python.</compatibility>",
    "<allowed-tools>Read, Grep</allowed-tools>",
    "</available_skills>"
  )) {
    expect_match(prompt, line, fixed = TRUE)
  }
  expect_match(skills_system_prompt("other"), "call `other`", fixed = TRUE)
  expect_identical(btw_skills_system_prompt(), prompt)
})

# S4-4
test_that("without skills there is nothing to say", {
  local_world()
  expect_identical(skills_system_prompt(), "")
})

test_that("a budget shortens descriptions and leaves no skill out", {
  local_world()
  for (name in c("a", "b")) {
    write_skill(file.path(".agents/skills", name), description = paste("Use it.", strrep("word ", 150)))
  }
  short <- suppressWarnings(suppressMessages(skills_system_prompt(budget = 200)))
  expect_lt(nchar(short), nchar(skills_system_prompt()))
  expect_match(short, "<name>a</name>.*<name>b</name>")
})
