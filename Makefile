# Everything runs from a checkout with nothing but Rust and Python 3.11 or newer: each target sets up what it needs.
# `cargo` decides whether the engine has to be rebuilt; when nothing changed that takes about a second.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the package needs, and what tests and lints need beyond that. Each is made again when its list changes.
MATURIN := $(BIN)/maturin
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help rust python setup built engine dev check wheel release web reproduce docs golden test test-rust test-python hostile hunt bench fuzz mutants lint format clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# What is missing is named here. Otherwise pip or the shell would fail with words about something else.
rust:
	@for tool in cargo rustc; do command -v $$tool >/dev/null || { \
		echo "$$tool is missing: install stable Rust, 1.88 or newer (https://rustup.rs), or do without make: pip install ." >&2; \
		exit 1; }; done

python:
	@test -x $(BIN)/python || $(PYTHON) -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Python 3.11 or newer with venv is missing ($(PYTHON)): on Debian apt-get install python3-venv;" \
			"for another Python: make PYTHON=python3.12" >&2; exit 1; }

$(MATURIN): constraints.txt | rust python
	@echo "environment: $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@sed -n '/^maturin==/,/[^\\]$$/p' constraints.txt | $(PIP) --require-hashes --no-deps --requirement /dev/stdin
	@touch $@

$(VENV)/.packages: $(MATURIN)
	@echo "environment: $$(grep -c '^[a-z].*==' constraints.txt) Python packages"
	@$(PIP) --no-compile --require-hashes --requirement constraints.txt
	@touch $@

# Cargo's profile of the engine: `engine` is fast and soon built, `dev` is slow and built at once after a change.
PROFILE := engine

built: $(MATURIN)
	@$(BIN)/python .ci/engine $(PROFILE)

# Entry point and version, beside the engine that `built` has left.
$(READY): pyproject.toml $(VENV)/.packages
	@$(BIN)/python .ci/engine $(PROFILE) --install
	@touch $@

# pip waits for the network while Cargo compiles.
engine: rust python
	@$(MAKE) --silent --jobs 2 PROFILE=$(PROFILE) built $(VENV)/.packages
	@$(MAKE) --silent PROFILE=$(PROFILE) $(READY)

dev: PROFILE := dev
dev: engine  ## the engine for a loop of changes: built in seconds, with all assertions, several times slower

$(DEV): constraints-dev.txt
	@echo "environment: $$(grep -c '^[a-z].*==' constraints-dev.txt) Python packages for tests and lints"
	@$(PIP) --no-compile --require-hashes --requirement constraints.txt --requirement constraints-dev.txt
	@touch $@

setup: engine $(DEV)  ## environment in .venv and the engine, built

# Others in that folder are of other builds, and pip refuses two of one version.
wheel: $(MATURIN)  ## a wheel of the engine and the package for this machine, in target/wheels
	@rm -f target/wheels/*.whl
	@VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin build --release --locked --quiet --out target/wheels

release: setup  ## what can be published, built and tried without Rust, in target/published: wheels, source, crates, page, documentation, static programs, Debian packages, checksums
	@.ci/release

web: setup  ## out/web/index.html: the simulator and the capture analyser in one page, which needs no installation
	@wasm=$$(crates/web/build.sh) && $(BIN)/python crates/web/page/build.py "$$wasm" out/web/index.html

# Interrupted, it goes on where it was.
reproduce: engine  ## every table and figure of the papers, published beside measured, and the report; ALL=1: the long ones too
	@echo "measuring: published numbers first"
	@$(BIN)/eifel reproduce $(if $(ALL),--all)
	@$(BIN)/eifel report

test: test-rust test-python  ## all tests

test-rust: rust
	cargo test --locked --workspace --exclude eifel-python
	cargo test --quiet --locked --manifest-path mutants/Cargo.toml

# After the Rust tests, so that the last lines are pytest's own. Two workers more than processors: what is measured on
# the wire waits in real time.
test-python: setup test-rust
	$(BIN)/python -m pytest --numprocesses $$(($$(getconf _NPROCESSORS_ONLN) + 2)) --dist loadfile --no-loadscope-reorder

# Review the change of each file: it is the change of an output.
docs: setup  ## docs/scenario.schema.json, docs/reference/algorithms.md, docs/reference/tables.md, docs/reference/schemas, the README's picture and THIRD-PARTY.txt
	@$(BIN)/python -m eifel.documents

golden: setup  ## writes again what tests keep whole: pages, tables, pictures, verdicts, runs, searches
	EIFEL_RENEW_GOLDENS=1 cargo test --locked --quiet --no-fail-fast --workspace --exclude eifel-python
	@EIFEL_GOLDEN=write $(BIN)/python -m pytest tests/python/test_claims.py tests/python/test_golden*.py

N ?= 1000000
FIRST ?= 0
# Optimised, but with the overflow checks and assertions of the tests.
hostile: rust  ## N random transfers over hostile paths from seed FIRST on (N=1000000, some minutes)
	cargo run --locked --profile checked -p eifel-hostile -- --count $(N) --first $(FIRST)

MINUTES := 60
SEED := $(shell date +%s)
hunt: setup  ## searches for what refutes the published claims, for an hour (MINUTES=…) from fresh seeds (SEED=…)
	@echo "eifel hunt all --minutes $(MINUTES) --seed $(SEED)"
	@$(BIN)/eifel hunt all --minutes $(MINUTES) --seed $(SEED)

bench: setup  ## what ACKs, samples and attacks cost; a segment's cost by flows, windows and losses; speed and agreement against ns-2, and captures against tcptrace, where they are installed; the page's speed; what a watch costs a host
	$(BIN)/python benches/run.py
	$(BIN)/python benches/scale.py
	$(BIN)/python benches/sweeps.py
	$(BIN)/python benches/captures.py
	$(BIN)/python benches/web.py
	$(BIN)/python benches/watch.py

SECONDS := 60
TARGETS :=

fuzz: rust  ## each fuzz target for a minute (SECONDS=…, TARGETS=…); needs a nightly compiler
	@SECONDS_EACH=$(SECONDS) fuzz/run.sh $(TARGETS)

# A night for all, on a machine that has nothing else to do, minutes for a change; docs/internals/mutants.md explains what survives.
CHANGED :=
BASE := main
MUTANTS := cargo mutants --cargo-arg=--locked $(if $(CHANGED),--in-diff target/changed.diff)
SAMPLE :=
mutants: rust  ## changes the code line by line, and lists what no test notices; CHANGED=1: only lines that differ from BASE=main; SAMPLE=100: so many at random (SEED=…)
ifneq ($(SAMPLE),)
	@echo "sample of $(SAMPLE), seed $(SEED)"
	@cargo run --quiet --release --locked --manifest-path mutants/Cargo.toml -- --sample $(SAMPLE) --seed $(SEED)
else
	@command -v cargo-mutants >/dev/null || test -x target/tools/bin/cargo-mutants \
		|| cargo install --quiet --locked --root target/tools cargo-mutants
	@mkdir -p target && git diff $(BASE) -- crates > target/changed.diff
	@export PATH="$$PATH:$(abspath target/tools/bin)"; status=0; \
		$(MUTANTS) --output target/mutants-brain --package eifel-recovery \
			--test-package eifel-recovery --test-package eifel-script || status=$$?; \
		$(MUTANTS) --output target/mutants-rest \
			$(addprefix --package eifel-,tcp path packet sim script worlds) || status=$$?; \
		exit $$status
endif

# The macro `algorithms!` names these files, so `cargo fmt` does not find them.
ALGORITHMS = $(wildcard crates/recovery/src/*/*.rs crates/recovery/src/rto/after_spurious/*.rs)

SCRIPTS = python tests/python benches crates/web/page packaging .ci/engine

lint: setup  ## what a reviewer should not have to say
	cargo fmt --check
	cargo fmt --check --manifest-path mutants/Cargo.toml
	rustfmt --check --edition 2024 $(ALGORITHMS)
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --manifest-path mutants/Cargo.toml --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --no-deps --workspace --exclude eifel-python
	$(BIN)/ruff check $(SCRIPTS)
	$(BIN)/ruff format --check $(SCRIPTS)
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest eifel._engine
	@if command -v cargo-deny >/dev/null; then .ci/deny; else echo "cargo-deny is not installed: dependencies are not judged"; fi

# One call of cargo test: for one crate alone Cargo would choose other features, and compile all it needs once more.
check: rust  ## what a change should pass before anything else: format, lints, unit tests and scripts
	cargo fmt --check
	rustfmt --check --edition 2024 $(ALGORITHMS)
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	cargo test --locked --quiet --workspace --exclude eifel-python --lib --test suite
	@if test -x $(BIN)/ruff; then \
		$(BIN)/ruff check --quiet $(SCRIPTS) && $(BIN)/ruff format --quiet --check $(SCRIPTS); fi

format:  setup  ## put the sources in order
	cargo fmt
	cargo fmt --manifest-path mutants/Cargo.toml
	rustfmt --edition 2024 $(ALGORITHMS)
	$(BIN)/ruff check --fix-only --quiet $(SCRIPTS)
	$(BIN)/ruff format $(SCRIPTS)

clean:  ## everything made here
	rm -rf $(VENV) target out
