# `make help` lists the targets.

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
RELEASE = $(abspath $(TARGET))/release/skillpm
# What the tests build.
DEBUG = $(abspath $(TARGET))/debug/skillpm
# What `make try` builds: compiled in a fraction of the time, by the profile `quick` of Cargo.toml.
QUICK = $(abspath $(TARGET))/quick/skillpm
TRY = target/try
MADE = target/from-templates
TEST_TOOLS = $(abspath $(TARGET))/test-tools
# The npm tool that import and export are held against, and a Node that can run it.
SKILLS = skills@1.7.4
# The client of the registry ClawHub, whose protocol the server speaks. Later versions need a newer Node.
CLAWHUB = clawhub@0.20.0
# What drives Chromium, and what judges the accessibility of pages.
PLAYWRIGHT = playwright-core@1.65.1
AXE = axe-core@4.14.1
# A client of MCP that checks skills.
INSPECTOR = @modelcontextprotocol/inspector@2.12.0
# The suite of the protocol itself, which has checks for skills from this version on.
CONFORMANCE = @modelcontextprotocol/conformance@0.2.0-alpha.12
# The agents that print what they list: what `skillpm agents` computes is held against them, byte for byte.
AGENTS = @openai/codex@0.171.0 @google/gemini-cli@0.61.0
OPENCODE_VERSION = 1.18.34
OPENCODE = opencode-$$(node -p 'process.platform.replace("win32", "windows") + "-" + process.arch')@$(OPENCODE_VERSION)
NPM = $(SKILLS) $(CLAWHUB) $(PLAYWRIGHT) $(AXE) $(INSPECTOR) $(CONFORMANCE) $(AGENTS)
NODE = node-$$(node -p 'process.platform.replace("win32", "win") + "-" + process.arch')@22

# The Python package: the interpreter, and the environments of its tests. It is compiled beside the program, so
# that both share what they depend on.
PYTHON ?= python3
PYTHON_ENV = $(abspath $(TARGET))/python-env
PYTHON_LOWEST = $(abspath $(TARGET))/python-env-lowest
PYTHON_LFX = $(abspath $(TARGET))/python-env-lfx
# The kits for agents that the package adapts to.
PYTHON_AGENTS = $(abspath $(TARGET))/python-env-agents
# A store that speaks S3, and what checks an interface against its description, for the tests of the registry's server.
PYTHON_SERVER = $(abspath $(TARGET))/python-env-server
# Servers and clients of MCP, and `uv`, which brings packages of scripts along.
PYTHON_MCP = $(abspath $(TARGET))/python-env-mcp
# The generator of the documentation site.
PYTHON_SITE = $(abspath $(TARGET))/python-env-site
# An agent of LangChain that uses MCP, by an adapter that needs an older client.
PYTHON_AGENT = $(abspath $(TARGET))/python-env-agent
SCRIPTS = $(if $(filter Windows_NT,$(OS)),Scripts,bin)
PYTHON_BIN = $(PYTHON_ENV)/$(SCRIPTS)
MATURIN = cd python && CARGO_TARGET_DIR="$(abspath $(TARGET))" VIRTUAL_ENV="$(PYTHON_ENV)" "$(PYTHON_BIN)/maturin"
# What ruff looks at; mypy runs with the tests of the package.
PYTHON_SOURCES = python examples/python benches/python site tests/it/mcp packaging
# Checking the bindings takes no interpreter.
export PYO3_NO_PYTHON = 1
export PYO3_BUILD_EXTENSION_MODULE = 1

# $(call left-out,TEXT): says what does not run on this machine. With `CI` set that is a failure.
left-out = { echo $(1) >&2; $(if $(filter-out 0 false,$(CI)),exit 1;) }
# $(call environment,DIRECTORY,PYTHON,REQUIREMENTS,MORE): a virtual environment with what the file names, and more.
environment = cmp -s $(3) "$(1)/ready" || { rm -f "$(1)/ready" \
	&& { [ -x "$(1)/$(SCRIPTS)/python" ] || "$(2)" -m venv "$(1)"; } \
	&& "$(1)/$(SCRIPTS)/python" -m pip install --quiet --no-compile --disable-pip-version-check -r $(3) $(4) \
	&& cp $(3) "$(1)/ready"; } \
	|| $(call left-out,'$(notdir $(1)): what $(3) $(4) names could not be installed: its tests are left out')

.DEFAULT_GOAL := help
.PHONY: help try install-examples build install install-pages python dist dist-tools dist-tests dist-check licences test rust-tests r-tests test-tools own-skills python-env python-envs python-developed python-tests python-tests-newest python-tests-lowest python-lfx-tests python-agents-tests site links bench fuzz lint lint-and-tools fmt advisories tools

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

try: tools ## build skillpm quickly and install the example skills into a fresh project, target/try
	@echo 'Building skillpm, which takes 3 to 4 minutes on two cores the first time.'
	$(CARGO) build --profile quick --locked
	@echo 'Installing the example skills into a fresh project, $(TRY).'
	@rm -rf $(TRY) && mkdir -p $(TRY) && : > $(TRY)/skillpm.toml
	cd $(TRY) && "$(QUICK)" install ../../examples/skills --skill '*' --agent claude-code --yes
	@cd $(TRY) && "$(QUICK)" list
	@printf '%s\n' '' \
	    'The example skills are installed in $(TRY), a project of its own:' \
	    '  skillpm.toml      what you asked for' \
	    '  skillpm.lock      exactly what was installed' \
	    '  .agents/skills/   the skills; most agents read them here' \
	    '  .claude/skills/   links for Claude Code' \
	    '' 'What to do next:' \
	    '  export PATH="$(patsubst %/,%,$(dir $(QUICK))):$$PATH"' \
	    '  cd $(TRY)' \
	    '  skillpm invoke git-helper "write a message for what is staged"' \
	    '  skillpm remove code-reviewer' \
	    '  skillpm install                    # restores what skillpm.lock names' \
	    '' 'To keep skillpm: make install, which builds it with all optimisations (about 10 minutes)'

install-examples: try ## the same as `make try`

build: tools ## build the program for use, target/release/skillpm
	$(CARGO) build --release --locked

install: tools ## build skillpm and put it where cargo keeps programs, with completions and man pages
	$(CARGO) install --locked --path .
	@$(MAKE) --no-print-directory install-pages

# Where programs of a user keep what shells and `man` read.
DATA = $${XDG_DATA_HOME:-$$HOME/.local/share}
BIN = $${CARGO_INSTALL_ROOT:-$${CARGO_HOME:-$$HOME/.cargo}}/bin
install-pages: ## put completions for bash, zsh and fish and the man pages of an installed skillpm where a user has them
	@data="$(DATA)"; skillpm="$(BIN)/skillpm"; \
	[ -x "$$skillpm" ] || skillpm=$$(command -v skillpm) || { echo 'skillpm is not installed: `make install`' >&2; exit 2; }; \
	put() { mkdir -p "$$(dirname "$$2")" && "$$skillpm" completions "$$1" > "$$2" && echo "completions for $$1: $$2"; }; \
	put bash "$$data/bash-completion/completions/skillpm" \
	    && put zsh "$$data/zsh/site-functions/_skillpm" \
	    && put fish "$$data/fish/vendor_completions.d/skillpm.fish" \
	    && "$$skillpm" --quiet man --out "$$data/man/man1" && echo "man pages: $$data/man/man1" \
	    && echo "zsh reads its file if \`fpath=($$data/zsh/site-functions \$$fpath)\` stands before \`compinit\` in ~/.zshrc."

python: tools python-env ## build the wheel of the Python package, in target/wheels
	@if [ -e "$(PYTHON_ENV)/ready" ]; then \
	    $(MATURIN) build --profile wheel --locked --out "$(abspath $(TARGET))/wheels"; \
	else exit 2; fi

# What `make dist` compiles with, besides cargo, comes from PyPI and crates.io into directories of its own.
PYTHON_DIST = $(abspath $(TARGET))/python-env-dist
DIST_TOOLS = $(abspath $(TARGET))/dist-tools
CYCLONEDX = cargo-cyclonedx@0.5.9
DIST = PATH="$(PYTHON_DIST)/$(SCRIPTS):$(DIST_TOOLS)/bin:$$PATH" CARGO_TARGET_DIR="$(abspath $(TARGET))"
dist-tools: tools
	@$(call environment,$(PYTHON_DIST),$(PYTHON),packaging/requirements.txt)
	@[ -x "$(DIST_TOOLS)/bin/cargo-cyclonedx" ] || $(CARGO) install --quiet --locked --root "$(DIST_TOOLS)" $(CYCLONEDX)

dist: dist-tools ## make what a release consists of, as far as this machine can, in target/dist
	$(DIST) $(PYTHON) packaging/dist.py all

dist-tests: ## test how a release is made, with the debug program as a stand-in
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    cd packaging && SKILLPM_DIST_PROGRAM="$(DEBUG)" $(PYTHON) -m unittest discover --top-level-directory . --start-directory tests; \
	else $(call left-out,'Python 3.11 was not found: how a release is made is not tested'); fi

PUBLISHED = --workspace --exclude skillpm-python --exclude skillpm-testing
dist-check: dist ## build what is published, build the programs twice and compare them, try the package in an old Debian (as root)
	$(CARGO) package --locked $(PUBLISHED)
	$(DIST) packaging/reproduce.sh
	packaging/check-debian.sh bullseye "$(abspath $(TARGET))/dist"

licences: ## write docs/reference/licences.md, the licences of all dependencies
	$(PYTHON) packaging/dist.py licences

# The environments of Python come over the network while the compiler works.
test: tools test-tools ## run all tests, and validate the example skills and what the templates make
	@mkdir -p "$(TARGET)"; \
	$(MAKE) --no-print-directory python-envs >"$(TARGET)/python-envs.log" 2>&1 & envs=$$!; \
	$(MAKE) --no-print-directory rust-tests; rust=$$?; \
	wait $$envs; envs=$$?; cat "$(TARGET)/python-envs.log"; [ $$rust = 0 ] && [ $$envs = 0 ]
	@$(MAKE) --no-print-directory --jobs=3 $(OUTPUT_SYNC) dist-tests python-tests r-tests

# The output of a target that runs beside others comes in one piece, where make can do that (not on macOS).
OUTPUT_SYNC = $(if $(filter output-sync,$(.FEATURES)),--output-sync=recurse)

# The tests bring the program with them. The Python package shares what it can: the server's crates want more features
# of some, so these are built twice, in about a minute.
SHAPE = --locked --workspace --all-features
rust-tests: tools ## run the tests in Rust, and `make own-skills`
	$(CARGO) test $(SHAPE) --no-run
	@$(MAKE) --no-print-directory own-skills
	$(CARGO) test $(SHAPE)

own-skills: tools ## validate the example skills, and a skill from each template, as for publishing
	$(CARGO) test $(SHAPE) --quiet --no-run --package skillpm --test it
	"$(DEBUG)" validate --profile publish --strict examples/skills examples/tools
	@rm -rf $(MADE)
	@for template in $(notdir $(patsubst %/,%,$(wildcard templates/*/))); do \
	    echo "skillpm create $$template --template $$template, with and without all that can be added"; \
	    "$(DEBUG)" --quiet create "$$template" --template "$$template" --path $(MADE) --yes \
	        --description "Tries the template $$template. Use it when somebody asks what it makes." || exit; \
	    "$(DEBUG)" --quiet create "$$template" --template "$$template" --path $(MADE)/full --yes \
	        --description "Tries all of $$template. Use it when somebody asks what is added." \
	        --license MIT --author 'The authors' --resources scripts,references,assets || exit; \
	done
	"$(DEBUG)" validate --profile publish --strict --ignore template-untouched $(MADE)

# Programs that some tests run for real, each as program:package. A test that misses its program says so; with
# `CI` set it fails.
PROGRAMS = bash:bash chromium:chromium curl:curl docker-registry:docker-registry fish:fish git:git groff:groff-base htpasswd:apache2-utils nginx:nginx-light node:nodejs npm:npm openssl:openssl \
	pandoc:pandoc python3:python3 rpmbuild:rpm skopeo:skopeo sshd:openssh-server Rscript:r-base-core strace:strace tar:tar unzip:unzip wget:wget xz:xz-utils zsh:zsh
# Packages of R that the R package and its tests use.
R_PACKAGES = jsonlite knitr processx rmarkdown roxygen2 testthat withr
# Prints those that are not installed.
R_MISSING = Rscript --vanilla -e 'args <- commandArgs(TRUE); cat(args[!nzchar(vapply(args, function(p) system.file(package = p), ""))])' $(R_PACKAGES) 2>/dev/null || echo $(R_PACKAGES)
test-tools: tools ## get what some tests run for real: Debian's packages as root, npm's into target/test-tools
	@missing=; for tool in $(PROGRAMS); do \
	    PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v "$${tool%%:*}" >/dev/null 2>&1 || missing="$$missing $${tool#*:}"; \
	done; \
	python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$$missing python3-venv"; \
	python3 -m pip --version >/dev/null 2>&1 || missing="$$missing python3-pip"; \
	for package in $$($(R_MISSING)); do missing="$$missing r-cran-$$package"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo "Installing for tests:$$missing"; \
	    apt-get update -q && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
	        apt-get install -q -y --no-install-recommends $$missing && missing=; \
	fi; \
	[ -z "$$missing" ] || $(call left-out,"Not installed:$$missing. The tests that need them say so.")
	@mkdir -p "$(TEST_TOOLS)"
	@$(call environment,$(PYTHON_SERVER),$(PYTHON),crates/skillpm-registry/tests/requirements-server.txt)
	@$(call environment,$(PYTHON_MCP),$(PYTHON),tests/requirements-mcp.txt)
	@$(call environment,$(PYTHON_AGENT),$(PYTHON),tests/requirements-agent.txt)
	@$(call environment,$(PYTHON_SITE),$(PYTHON),site/requirements.txt)
	@[ "$$(cat "$(TEST_TOOLS)/ready" 2>/dev/null)" = '$(NPM) $(OPENCODE_VERSION)' ] \
	    || { npm install --prefix "$(TEST_TOOLS)" --ignore-scripts --no-audit --no-fund --loglevel=error $(NPM) "$(NODE)" "$(OPENCODE)" \
	        && echo '$(NPM) $(OPENCODE_VERSION)' > "$(TEST_TOOLS)/ready"; } \
	    || $(call left-out,'npm could not fetch $(NPM): the tests with them are left out')

site: tools ## build the documentation site with the skill that it serves, in target/site
	@$(call environment,$(PYTHON_SITE),$(PYTHON),site/requirements.txt)
	$(CARGO) test $(SHAPE) --quiet --no-run --package skillpm --test it
	MKDOCS="$(PYTHON_SITE)/$(SCRIPTS)/mkdocs" SKILLPM="$(DEBUG)" sh site/build.sh "$(abspath $(TARGET))/site"
	@echo 'Look at it: $(PYTHON) -m http.server --directory $(TARGET)/site'

links: ## ask whether the addresses that the pages link to exist (needs the network)
	@$(PYTHON) site/links.py

# The environments are left out with a word where there is no Python, or no network for what the tests need.
python-env:
	@if ! command -v $(PYTHON) >/dev/null 2>&1; then \
	    $(call left-out,'$(PYTHON) was not found: the Python package is left out (`make PYTHON=...` names another)'); \
	    exit 0; \
	fi; \
	$(call environment,$(PYTHON_ENV),$(PYTHON),python/requirements-test.txt)

# The oldest versions that are supported of what the package adapts to; and Langflow's executor, the oldest and the
# newest, which is large and brings packages of its own.
LFX ?= 1.12.0 1.13.0
python-envs: python-env
	@$(if-adapters) $(call environment,$(PYTHON_LOWEST),$(PYTHON_BIN)/python,python/requirements-lowest.txt)
	@$(if-adapters) $(foreach version,$(LFX),{ $(call environment,$(PYTHON_LFX)-$(version),$(PYTHON_BIN)/python,python/requirements-lfx.txt,lfx==$(version)); } &&) :
	@$(if-agents) $(call environment,$(PYTHON_AGENTS),$(PYTHON_BIN)/python,python/requirements-agents.txt)
if-adapters = [ -e "$(PYTHON_ENV)/ready" ] || exit 0; \
	"$(PYTHON_BIN)/python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	    || { $(call left-out,'LangChain and Langflow need Python 3.10: the tests with them are left out'); exit 0; };
if-agents = [ -e "$(PYTHON_ENV)/ready" ] || exit 0; \
	"$(PYTHON_BIN)/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { $(call left-out,'Some kits for agents need Python 3.11: the tests with them are left out'); exit 0; };

python-tests: python-tests-newest python-tests-lowest python-lfx-tests python-agents-tests ## run the tests of the Python package, with all versions of what it adapts to

python-developed: tools python-env
	@[ -e "$(PYTHON_ENV)/ready" ] || exit 0; $(MATURIN) develop --quiet --locked

python-tests-newest: python-developed
	@[ -e "$(PYTHON_ENV)/ready" ] || exit 0; \
	cd python && "$(PYTHON_BIN)/python" -m pytest -q $(PYTEST)

python-tests-lowest: python-envs python-developed
	@[ -e "$(PYTHON_LOWEST)/ready" ] || exit 0; \
	cd python && PYTHONPATH="$$PWD" "$(PYTHON_LOWEST)/$(SCRIPTS)/python" -m pytest -q tests/test_lang[cg]*.py

python-agents-tests: python-envs python-developed ## run the tests of the adapters to kits for agents, in an environment with all of them
	@[ -e "$(PYTHON_AGENTS)/ready" ] || exit 0; \
	cd python && PYTHONPATH="$$PWD" "$(PYTHON_AGENTS)/$(SCRIPTS)/python" -m pytest -q tests/test_adapter_*.py $(PYTEST)

LFX_WHEEL = $(abspath $(TARGET))/python-lfx
python-lfx-tests: python-envs python-developed ## run the tests of what Langflow gets, in environments with its executor
	@[ -e "$(PYTHON_ENV)/ready" ] || exit 0; \
	rm -rf "$(LFX_WHEEL)" && ($(MATURIN) build --profile dev --quiet --locked --out "$(LFX_WHEEL)") || exit; \
	for version in $(LFX); do \
	    env="$(PYTHON_LFX)-$$version"; [ -e "$$env/ready" ] || continue; \
	    echo "with lfx $$version:"; \
	    "$$env/$(SCRIPTS)/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$(LFX_WHEEL)"/*.whl \
	        && (cd python && "$$env/$(SCRIPTS)/pytest" -q tests/test_langflow_*.py $(PYTEST)) || exit; \
	done

# R checks the package as CRAN does, with a stand-in for ellmer where that is not installed. The help pages in the tree
# have to be those that the comments make. Without repositories R asks none.
R_CHECK = $(abspath $(TARGET))/r-check
r-tests: tools ## check the R package: its help pages, and `R CMD check` with its tests and vignette
	@missing=$$($(R_MISSING)); command -v pandoc >/dev/null 2>&1 || missing="$$missing pandoc"; \
	if [ -n "$$missing" ]; then \
	    $(call left-out,"Not installed for R: $$missing. The R package is left out"); \
	    exit 0; \
	fi; \
	$(CARGO) test $(SHAPE) --quiet --no-run --package skillpm --test it || exit; \
	rm -rf "$(R_CHECK)" && mkdir -p "$(R_CHECK)/library" && cp -R r "$(R_CHECK)/skillpm" \
	    && echo 'options(repos = character())' > "$(R_CHECK)/Rprofile" || exit; \
	export LC_ALL=C.UTF-8 R_PROFILE="$(R_CHECK)/Rprofile" R_LIBS="$(R_CHECK)/library$${R_LIBS:+:$$R_LIBS}" SKILLPM_PROGRAM="$(DEBUG)" \
	    SKILLPM_ENGINE_CASES="$(CURDIR)/tests/fixtures/engine" SKILLPM_R_GUIDE="$(CURDIR)/docs/guide/r.md" _R_CHECK_CRAN_INCOMING_=false; \
	Rscript --vanilla -e 'quit(status = nzchar(system.file(package = "ellmer")))' \
	    && { R CMD INSTALL --no-docs --library="$(R_CHECK)/library" r/tests/stand-ins/ellmer >"$(R_CHECK)/ellmer.log" 2>&1 \
	        || { cat "$(R_CHECK)/ellmer.log"; exit 1; }; }; \
	(cd "$(R_CHECK)/skillpm" && Rscript --vanilla -e 'suppressMessages(roxygen2::roxygenise())' >/dev/null) \
	    && diff -r r/man "$(R_CHECK)/skillpm/man" && diff r/NAMESPACE "$(R_CHECK)/skillpm/NAMESPACE" \
	    || { echo "The help pages of the R package are out of date: cd r && Rscript -e 'roxygen2::roxygenise()'" >&2; exit 1; }; \
	cd "$(R_CHECK)" && R CMD build --no-manual skillpm && R CMD check --no-manual --no-build-vignettes skillpm_*.tar.gz; \
	grep -qx 'Status: OK' skillpm.Rcheck/00check.log || { cat skillpm.Rcheck/tests/*.fail 2>/dev/null; exit 1; }

bench: build ## measure skillpm beside a floor and other validators; BENCH_FULL=1 takes more time
	@command -v python3 >/dev/null 2>&1 || { echo 'python3 was not found: the skills are made with it' >&2; exit 2; }
	python3 benches/compare.py "$(RELEASE)"
ifeq ($(BENCH_FULL),1)
	$(CARGO) bench --locked --bench validate
endif

FUZZ ?= document
FUZZ_SECONDS ?= 60
fuzz: tools ## look for inputs that break a reader: FUZZ=zip FUZZ_SECONDS=600 (needs cargo-fuzz)
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { printf '%s\n' \
	    'cargo-fuzz is not installed: `cargo install cargo-fuzz`.' \
	    '`cargo test fuzz_smoke` runs the targets without it.' >&2; exit 2; }
	@if rustup run nightly cargo --version >/dev/null 2>&1; then \
	    set -- $(CARGO) +nightly; \
	else \
	    echo 'no nightly toolchain: RUSTC_BOOTSTRAP=1 makes the stable one take the flags of a sanitizer' >&2; \
	    set -- env RUSTC_BOOTSTRAP=1 $(CARGO); \
	fi; \
	"$$@" fuzz run $(FUZZ) -- -max_total_time=$(FUZZ_SECONDS)

# The library has to build without the crates of the program, too. What it does then is tested with them.
lint: tools ## check format, lints, documentation, and licences where cargo-deny is installed
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(SHAPE) --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(SHAPE) --no-deps --document-private-items
	$(CARGO) clippy --locked --package skillpm-sources --package skillpm-core --no-default-features --lib -- -D warnings
	@$(MAKE) --no-print-directory python-env
	@if [ -e "$(PYTHON_ENV)/ready" ]; then \
	    "$(PYTHON_BIN)/ruff" check --quiet $(PYTHON_SOURCES) && "$(PYTHON_BIN)/ruff" format --check --quiet $(PYTHON_SOURCES); \
	fi
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
	    $(CARGO) deny --workspace --all-features check bans licenses sources; \
	else \
	    echo 'cargo-deny is not installed: licences, bans and sources were not checked'; \
	fi

# What the tests run for real comes over the network while the compiler works.
lint-and-tools:
	@$(MAKE) --no-print-directory --jobs=2 $(OUTPUT_SYNC) lint test-tools

fmt: tools ## format the code
	$(CARGO) fmt --all
	@if [ -e "$(PYTHON_ENV)/ready" ]; then "$(PYTHON_BIN)/ruff" format $(PYTHON_SOURCES) && "$(PYTHON_BIN)/ruff" check --fix $(PYTHON_SOURCES); fi

advisories: tools ## check the dependencies for known faults (needs cargo-deny and the network)
	$(CARGO) deny --workspace --all-features check advisories

# What a build needs: cargo, and a C compiler, which links programs and compiles the `ring` crate.
tools:
	@command -v $(CARGO) >/dev/null 2>&1 || { printf '%s\n' \
	    'cargo was not found. Install Rust with rustup, which https://rustup.rs explains, or with the' \
	    'package manager of your system if it has the version that Cargo.toml names as rust-version.' >&2; exit 2; }
	@if [ "$$OS" = Windows_NT ] || command -v cc >/dev/null 2>&1; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo 'No C compiler was found: installing build-essential'; \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends build-essential; \
	else \
	    printf '%s\n' 'A C compiler named `cc` was not found. Install one:' \
	        '  Debian, Ubuntu   sudo apt-get install build-essential' \
	        '  Fedora           sudo dnf install gcc' \
	        '  Alpine           sudo apk add build-base' \
	        '  macOS            xcode-select --install' >&2; exit 2; \
	fi
