# The developer's whole interface: `make demo`, `make test`, `make fuzz`, `make bench`, `make lock`.
# A fresh machine needs git, make and python3; everything else is set up here, in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.7
AXE_VERSION := 4.14.0
AXE := $(VENV)/node/node_modules/axe-core
# A stamp per set of inputs: set-up runs again only when one of them changed.
READY := $(VENV)/.ready

# A process of Assay is short: without bytecode it spends most of its time on compiling modules.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# How long `make fuzz` looks.
SECONDS ?= 60

.PHONY: help setup demo browser engine test fuzz format bench lock dist clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Assay needs Python 3.11 or newer; name one with: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "python3 cannot make a virtual environment; install its venv module (Debian: python3-venv)" >&2; exit 1; }

$(READY): requirements.lock pyproject.toml | $(BIN)/python
	@command -v $(BIN)/uv >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -c 'import assay.agents.sampling.worker, assay.questions.verification, assay.reports, \
	  assay.submissions.plan, assay.submissions.python_problems.worker, pandas, pyarrow.parquet'
	@touch $(READY)

setup: $(READY) ## Make .venv with exact versions

demo: $(READY) ## Run Assay on the shipped examples, offline
	@$(BIN)/python examples/demo.py

# The pages are also tested in a real browser. One is installed where that asks nobody: as root, on a
# machine with apt-get, which is a container or a CI machine. axe-core, which finds faults of
# accessibility, comes from npm. What is not there, the tests that need it say, and are skipped.
browser: $(READY)
	@command -v chromium chromium-browser google-chrome >/dev/null || [ "$$(id -u)" != 0 ] || \
	  ! command -v apt-get >/dev/null || \
	  { apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 || \
	  echo "no browser could be installed; the tests that need one say so"
	@[ -f $(AXE)/axe.min.js ] || { command -v npm >/dev/null && npm install --silent --no-audit --no-fund \
	  --no-save --ignore-scripts --prefix $(VENV)/node axe-core@$(AXE_VERSION) >/dev/null 2>&1; } || \
	  echo "axe-core could not be installed; the tests that need it say so"

# Submissions in containers are tested with podman, where there is one. Like the browser it is installed
# only where that asks nobody; `make test` does without it.
engine:
	@command -v podman >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	  { apt-get update && apt-get install -y --no-install-recommends podman runc crun; } >/dev/null 2>&1 || \
	  echo "no podman could be installed; the tests that need one say so"

test: $(READY) browser ## Formatting, lint, types and tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

fuzz: $(READY) ## Search for inputs and examples that break something, for SECONDS=60
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(FUZZ_ARGS)

format: $(READY) ## Rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## Measure speed and memory as ratios against named baselines
	$(BIN)/python -m benchmarks

lock: $(READY) ## Resolve the pinned versions again
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --extra dev --output-file requirements.lock pyproject.toml

# The same sources give the same bytes: the build backend takes times from SOURCE_DATE_EPOCH and nothing else.
dist: $(READY) ## Build the wheel and the source distribution in dist/, and check them
	@rm -rf dist
	@SOURCE_DATE_EPOCH=1577836800 $(BIN)/python -m hatchling build --directory dist >/dev/null
	@$(BIN)/twine check --strict dist/*
	@cd dist && sha256sum *

clean: ## Remove .venv and caches
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz
