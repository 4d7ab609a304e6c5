# `make help` lists the targets.

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
RELEASE = $(abspath $(TARGET))/release/skillpm
# What `make try` builds: compiled in a fraction of the time, by the profile `quick` of Cargo.toml.
QUICK = $(abspath $(TARGET))/quick/skillpm
TRY = target/try
MADE = target/from-templates
TEST_TOOLS = $(abspath $(TARGET))/test-tools
# The npm tool that import and export are held against, and a Node that can run it.
SKILLS = skills@1.7.4
NODE = node-$$(node -p 'process.platform.replace("win32", "win") + "-" + process.arch')@22

# The Python package: the interpreter, the environment of its tests, and where its extension is compiled.
PYTHON ?= python3
PYTHON_ENV = $(abspath $(TARGET))/python-env
PYTHON_BIN = $(PYTHON_ENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PYTHON_LOWEST = $(abspath $(TARGET))/python-env-lowest
PYTHON_LOWEST_BIN = $(PYTHON_LOWEST)/$(notdir $(PYTHON_BIN))
PYTHON_TARGET = $(abspath $(TARGET))/python
# What ruff looks at; mypy runs with the tests of the package.
PYTHON_SOURCES = python examples/python benches/python
BINDINGS = CARGO_TARGET_DIR="$(PYTHON_TARGET)" PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1 $(CARGO)

.DEFAULT_GOAL := help
.PHONY: help try install-examples build install install-pages python test test-tools own-skills python-env python-tests python-tests-lowest python-lfx-tests bench fuzz lint fmt advisories tools

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
	    cd python && CARGO_TARGET_DIR="$(PYTHON_TARGET)" "$(PYTHON_BIN)/maturin" build --release --locked --out "$(abspath $(TARGET))/wheels"; \
	else exit 2; fi

test: tools test-tools ## run all tests, and validate the example skills and what the templates make
	$(CARGO) test --locked --no-default-features --lib
	@$(MAKE) --no-print-directory own-skills
	$(CARGO) test --locked --all-features
	@$(MAKE) --no-print-directory python-tests

own-skills: tools ## validate the example skills, and a skill from each template, as for publishing
	$(CARGO) run --locked --quiet -- validate --profile publish --strict examples/skills examples/tools
	@rm -rf $(MADE)
	@for template in $(notdir $(wildcard templates/*)); do \
	    echo "skillpm create $$template --template $$template, with and without all that can be added"; \
	    $(CARGO) run --locked --quiet -- --quiet create "$$template" --template "$$template" --path $(MADE) --yes || exit; \
	    $(CARGO) run --locked --quiet -- --quiet create "$$template" --template "$$template" --path $(MADE)/full --yes \
	        --license MIT --author 'The authors' --resources scripts,references,assets || exit; \
	done
	$(CARGO) run --locked --quiet -- validate --profile publish --strict $(MADE)

# Programs that some tests run for real, each as program:package. Tests that miss theirs say so.
PROGRAMS = git:git nginx:nginx-light sshd:openssh-server strace:strace zsh:zsh fish:fish groff:groff-base
test-tools: ## get what some tests run for real: Debian's packages as root, npm's into target/test-tools
	@missing=; for tool in $(PROGRAMS); do \
	    PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v "$${tool%%:*}" >/dev/null 2>&1 || missing="$$missing $${tool#*:}"; \
	done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo "Installing for tests:$$missing"; \
	    apt-get update -q && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
	        apt-get install -q -y --no-install-recommends $$missing && missing=; \
	fi; \
	if [ -n "$$missing" ]; then echo "Not installed:$$missing. The tests that need them are passed over and say so."; fi
	@mkdir -p "$(TEST_TOOLS)"
	@if ! command -v npm >/dev/null 2>&1; then echo 'npm was not found: tests against the npm tool `skills` are left out'; \
	elif [ ! -e "$(TEST_TOOLS)/node_modules/skills/package.json" ]; then \
	    npm install --prefix "$(TEST_TOOLS)" --ignore-scripts --no-audit --no-fund --loglevel=error $(SKILLS) "$(NODE)" \
	        || echo 'npm could not fetch $(SKILLS): tests against it are left out'; \
	fi

# Left out with a word where there is no Python, or no network for what the tests need of its index of packages.
python-env:
	@if ! command -v $(PYTHON) >/dev/null 2>&1; then \
	    echo '$(PYTHON) was not found: the Python package is left out (`make PYTHON=...` names another)'; \
	elif ! cmp -s python/requirements-test.txt "$(PYTHON_ENV)/ready"; then \
	    rm -f "$(PYTHON_ENV)/ready"; \
	    { [ -x "$(PYTHON_BIN)/python" ] || $(PYTHON) -m venv "$(PYTHON_ENV)"; } \
	        && "$(PYTHON_BIN)/python" -m pip install --quiet --disable-pip-version-check -r python/requirements-test.txt \
	        && cp python/requirements-test.txt "$(PYTHON_ENV)/ready" \
	        || echo 'an environment with what python/requirements-test.txt names could not be made: the Python package is left out'; \
	fi

python-tests: tools python-env ## build the Python package into an environment under target/ and run its tests
	@if [ -e "$(PYTHON_ENV)/ready" ]; then \
	    cd python && CARGO_TARGET_DIR="$(PYTHON_TARGET)" VIRTUAL_ENV="$(PYTHON_ENV)" "$(PYTHON_BIN)/maturin" develop --quiet --locked \
	        && "$(PYTHON_BIN)/python" -m pytest -q $(PYTEST); \
	fi
	@$(MAKE) --no-print-directory python-tests-lowest
	@$(MAKE) --no-print-directory python-lfx-tests

# The tests of the adapters with the oldest versions that are supported of what they adapt to. They need Python 3.10.
python-tests-lowest: python-env
	@if [ ! -e "$(PYTHON_ENV)/ready" ]; then exit 0; fi; \
	if ! "$(PYTHON_BIN)/python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then \
	    echo 'LangChain needs Python 3.10: its oldest supported version is left out'; exit 0; \
	fi; \
	if ! cmp -s python/requirements-lowest.txt "$(PYTHON_LOWEST)/ready"; then \
	    rm -f "$(PYTHON_LOWEST)/ready"; \
	    { [ -x "$(PYTHON_LOWEST_BIN)/python" ] || "$(PYTHON_BIN)/python" -m venv "$(PYTHON_LOWEST)"; } \
	        && "$(PYTHON_LOWEST_BIN)/python" -m pip install --quiet --disable-pip-version-check -r python/requirements-lowest.txt \
	        && cp python/requirements-lowest.txt "$(PYTHON_LOWEST)/ready" \
	        || { echo 'what python/requirements-lowest.txt names could not be installed: it is left out'; exit 0; }; \
	fi; \
	cd python && PYTHONPATH="$$PWD" "$(PYTHON_LOWEST_BIN)/python" -m pytest -q tests/test_lang[cg]*.py

# Langflow's executor is large and brings packages of its own: an environment for the oldest and the newest.
LFX ?= 1.12.0 1.13.0
LFX_WHEEL = $(abspath $(TARGET))/python-lfx
python-lfx-tests: tools python-env ## run the tests of what Langflow gets, in environments with its executor
	@if [ ! -e "$(PYTHON_ENV)/ready" ]; then exit 0; \
	elif ! "$(PYTHON_BIN)/python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then \
	    echo 'lfx needs Python 3.10: the tests with it are left out'; exit 0; \
	fi; \
	rm -rf "$(LFX_WHEEL)" && cd python \
	    && CARGO_TARGET_DIR="$(PYTHON_TARGET)" "$(PYTHON_BIN)/maturin" build --quiet --locked --out "$(LFX_WHEEL)" || exit; \
	for version in $(LFX); do \
	    env="$(PYTHON_ENV)-lfx-$$version"; bin="$$env/$(notdir $(PYTHON_BIN))"; \
	    if ! cmp -s requirements-lfx.txt "$$env/ready"; then \
	        rm -f "$$env/ready"; \
	        { [ -x "$$bin/python" ] || "$(PYTHON_BIN)/python" -m venv "$$env"; } \
	            && "$$bin/python" -m pip install --quiet --disable-pip-version-check -r requirements-lfx.txt "lfx==$$version" \
	            && cp requirements-lfx.txt "$$env/ready" \
	            || { echo "an environment with lfx $$version could not be made: its tests are left out"; continue; }; \
	    fi; \
	    echo "with lfx $$version:"; \
	    "$$bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$(LFX_WHEEL)"/*.whl \
	        && "$$bin/pytest" -q tests/test_langflow_*.py $(PYTEST) || exit; \
	done

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

lint: tools ## check format, lints, documentation, and licences where cargo-deny is installed
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets --all-features -- -D warnings
	$(CARGO) clippy --locked --no-default-features --lib --tests -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --all-features
	$(CARGO) fmt --manifest-path python/Cargo.toml --check
	$(BINDINGS) clippy --manifest-path python/Cargo.toml --locked --all-targets -- -D warnings
	@$(MAKE) --no-print-directory python-env
	@if [ -e "$(PYTHON_ENV)/ready" ]; then \
	    "$(PYTHON_BIN)/ruff" check --quiet $(PYTHON_SOURCES) && "$(PYTHON_BIN)/ruff" format --check --quiet $(PYTHON_SOURCES); \
	fi
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
	    $(CARGO) deny --all-features check bans licenses sources \
	        && $(CARGO) deny --manifest-path python/Cargo.toml check --config deny.toml bans licenses sources; \
	else \
	    echo 'cargo-deny is not installed: licences, bans and sources were not checked'; \
	fi

fmt: tools ## format the code
	$(CARGO) fmt
	$(CARGO) fmt --manifest-path python/Cargo.toml
	@if [ -e "$(PYTHON_ENV)/ready" ]; then "$(PYTHON_BIN)/ruff" format $(PYTHON_SOURCES) && "$(PYTHON_BIN)/ruff" check --fix $(PYTHON_SOURCES); fi

advisories: tools ## check the dependencies for known faults (needs cargo-deny and the network)
	$(CARGO) deny --all-features check advisories

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
