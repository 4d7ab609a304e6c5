# The environment of the program: that of R, except for what R itself added to
# the search path of shared libraries. Programs other than R fail to start, or
# load the wrong libraries, with it.
child_environment <- function() {
  env <- Sys.getenv()
  env <- stats::setNames(as.character(env), names(env))
  # The program looks for R packages where this session has them.
  env[["R_LIBS"]] <- paste(.libPaths(), collapse = .Platform$path.sep)
  variable <- loader_variable()
  if (variable %in% names(env)) {
    own <- without_prefix(env[[variable]], r_loader_path())
    env <- env[names(env) != variable]
    if (nzchar(own)) {
      env[[variable]] <- own
    }
  }
  env
}

loader_variable <- function() {
  if (Sys.info()[["sysname"]] == "Darwin") {
    "DYLD_FALLBACK_LIBRARY_PATH"
  } else {
    "LD_LIBRARY_PATH"
  }
}

# Removes `prefix` from the start of a search path, as often as it is there: an
# R that another R started has it twice.
without_prefix <- function(path, prefix) {
  if (!nzchar(prefix)) {
    return(path)
  }
  while (startsWith(paste0(path, ":"), paste0(prefix, ":"))) {
    path <- substring(path, nchar(prefix) + 2L)
  }
  path
}

cache <- new.env(parent = emptyenv())

# What R puts in front of the search path. It does not tell, so the file that
# its start script reads is read again, without a path to put it in front of.
r_loader_path <- function() {
  if (is.null(cache$loader_path)) {
    cache$loader_path <- read_loader_path()
  }
  cache$loader_path
}

read_loader_path <- function() {
  file <- file.path(paste0(R.home("etc"), .Platform$r_arch), "ldpaths")
  if (.Platform$OS.type != "unix" || !file.exists(file)) {
    return("")
  }
  variable <- loader_variable()
  script <- sprintf('unset %s; . "$1" >/dev/null 2>&1; printf %%s "$%s"', variable, variable)
  env <- c("current", R_HOME = R.home())
  result <- processx::run("sh", c("-c", script, "sh", file), error_on_status = FALSE, env = env)
  if (identical(result$status, 0L)) result$stdout else ""
}
