library(testthat)
library(skillpm)

test_check("skillpm")
