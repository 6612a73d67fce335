# Everything runs in .venv, which the first target that needs it sets up. A stamp inside .venv, named after the
# content of pyproject.toml, says that the set-up is complete: while the file is unchanged nothing asks the network.

PYTHON ?=
WORKERS ?= 3
AGENTS ?= claude-code codex gemini qwen copilot opencode pi
EXTRAS := models,mcp,lua,kiln,semantic,serve,wasm,dev

BIN := .venv/bin
HERE := $(shell printf %s '$(CURDIR)' | cksum | tr ' ' -)
MADE := .venv/made-$(HERE)
PROJECT := $(shell { cat pyproject.toml; echo '$(EXTRAS)'; } | cksum | tr ' ' -)
READY := .venv/ready-$(PROJECT)
BENCH := .venv/bench-$(PROJECT)
SDKS := .venv-adapters/ready-$(HERE)-$(PROJECT)
# An agent is installed once: its stamp is named after the content of the file with its version.
PINS := $(shell cksum < tests/real_agents/package.json | tr ' ' -)

.DEFAULT_GOAL := help
.PHONY: help setup agents demo test test-adapters test-agents lint format hooks bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## set up .venv with all that the tests need

demo: $(READY) ## run a session with the scripted model and one hook of every contract
	$(BIN)/treblehook demo

test: $(READY) ## run the tests, WORKERS files at a time
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --max-worker-restart 0

agents: $(AGENTS:%=.cache/agents/%/ready-$(PINS)) ## install the agents that people have into .cache/agents, AGENTS="codex pi" or all

test-agents: $(READY) agents ## run the agents that people have, AGENTS="codex pi" or all, against the gateway
	$(BIN)/python -m pytest tests/real_agents --agents '$(AGENTS)' -n $(WORKERS)

test-adapters: $(SDKS) ## test and type-check the adapters, with every SDK, in .venv-adapters
	.venv-adapters/bin/mypy --cache-dir .cache/mypy-adapters $$(find src/treblehook/adapters -name '*.py')
	.venv-adapters/bin/python -m pytest -o 'norecursedirs=.*' -n $(WORKERS) --dist loadfile tests/adapters

lint: $(READY) ## check style, types and the order of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

format: $(READY) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: $(READY) ## build the shipped WebAssembly hooks from their sources
	@for manifest in src/treblehook/contracts/murmur/shipped_hooks/*/murmur.yaml; do \
		folder=$${manifest%/*}; \
		$(BIN)/treblehook hooks build "$$folder" && rm "$$folder"/*.mur.zip || exit; \
	done

bench: $(BENCH) ## measure beside floors and peers; writes benchmarks/results.md
	$(BIN)/python -m benchmarks

clean: ## remove .venv, .venv-adapters and every cache
	rm -rf .venv .venv-adapters .cache dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# A virtual environment holds absolute paths, so a project folder that was moved gets a new one.
$(MADE):
	@for python in $(PYTHON) python3 python3.15 python3.14 python3.13 python3.12 python3.11; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "creating .venv with $$("$$python" --version)"; \
			"$$python" -m venv --clear .venv && touch $@; \
			exit; \
		fi; \
	done; \
	echo 'Treblehook needs Python 3.11 or newer, and found none as python3 or python3.NN. Name one: make PYTHON=/path/to/python' >&2; \
	exit 1

$(READY): $(MADE)
	@rm -f .venv/ready-* .venv/bench-*
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $@

$(BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(SDKS): | $(MADE)
	$(BIN)/python -m venv --clear .venv-adapters
	.venv-adapters/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[adapters-dev]'
	@touch $@

.cache/agents/%/ready-$(PINS): | $(READY)
	$(BIN)/python -m tests.real_agents.install $*
	@touch $@
