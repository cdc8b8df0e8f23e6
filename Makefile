# Needs make and a Python of at least 3.11 with its venv module; everything else goes into .venv.
# Another interpreter than the first that fits: make venv PYTHON=/path/to/python3

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help python venv verify test lint format kernel bench clean

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.complete
PYTHON ?=
PYTEST_ARGS ?= -n auto --maxprocesses=4

# A name on PATH proves nothing: each candidate has to run, be recent enough and be able to make environments.
CANDIDATES := $(or $(PYTHON),python3.13 python3.12 python3.11 python3)
PRINT_IF_FIT := import ensurepip, os, ssl, sys, venv; \
	sys.version_info >= (3, 11) or sys.exit(1); print(os.path.realpath(sys.executable))
FIND_PYTHON = for candidate in $(CANDIDATES); do \
	  python=$$("$$candidate" -c '$(PRINT_IF_FIT)' 2>/dev/null) && break; python=; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "No Python 3.11 or newer with its venv module was found (tried: $(CANDIDATES)): install one" \
	    "(Debian: apt-get install python3 python3-venv) or name one with make PYTHON=/path/to/python3." >&2; \
	  exit 1; \
	fi

help: ## list what make can do
	@sed -n 's/^\([a-z]*\):[^#]*## /make \1|/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

python: ## say which Python interpreter would be used
	@$(FIND_PYTHON); echo "$$python"

# The stamp holds the folder it was written for. It is out of date, too, where the interpreter behind the
# environment is gone or the folder has moved.
ifneq ($(CURDIR),$(shell $(BIN)/python -c '' 2>/dev/null && cat $(STAMP) 2>/dev/null))
.PHONY: $(STAMP)
endif

venv: $(STAMP) ## set up .venv with the pinned dependencies

$(STAMP): pyproject.toml constraints.txt
	@$(FIND_PYTHON); echo "Setting up $(VENV) with $$python; this takes about a minute."; \
	rm -rf $(VENV) && "$$python" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation -e '.[dev]'
	@echo "$(CURDIR)" > $@

verify: venv ## check every claim, run the real attention, write build/report/
	@mkdir -p build
	.venv/bin/twoheads report --out build/report

test: venv ## run the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: venv ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: venv ## repair what can be repaired of style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

kernel: venv ## have Coq check the proofs in proofs/coq/
	@mkdir -p build
	.venv/bin/python proofs/coq/check.py --json build/kernel.json

bench: venv ## measure how time and error grow with N and M
	.venv/bin/twoheads bench

clean: ## remove what make and the tools wrote, but not .venv
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
