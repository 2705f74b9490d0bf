# What a target needs, it sets up itself: `make demo` in a fresh clone is enough.
#
#   PYTHON=python3.12 make setup    choose the interpreter (3.11 or later)

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# Stamps live inside the environment, so that deleting it deletes them.
STAMPS := $(VENV)/.stamps

# A file of tests stays in one process: Spark's sessions are made for few files, and cost seconds. One process more than
# cores, since many tests wait; files in the order of conftest.py, the longest first.
TEST_PROCESSES ?= 3

PACKAGES := assignment_api builtin_assignors assignor_lab
PLUGIN_FILES := $(shell find plugins -type f \( -name '*.py' -o -name pyproject.toml -o -name py.typed \) 2>/dev/null)

.DEFAULT_GOAL := help
# Every target installs into one environment.
.NOTPARALLEL:
.PHONY: help setup plugins demo test test-services lint types contracts docs parity fuzz fuzz-readers releases bench fuzz-live fuzz-rest api-snapshot lock dist clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

# --- environments ---------------------------------------------------------------------------------

setup: $(STAMPS)/all ## make .venv with every extra and the command .venv/bin/assignor
	@scripts/check-java

$(STAMPS)/all: requirements/build.txt requirements/all.txt pyproject.toml
	@scripts/check-java
	@scripts/make-venv $(VENV) requirements/build.txt requirements/all.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/%: requirements/%.txt $(STAMPS)/all
	@scripts/pip-install $(VENV) $<
	@touch $@

plugins: $(STAMPS)/all $(STAMPS)/plugins ## install the example plugins as a third party's would be

$(STAMPS)/plugins: $(STAMPS)/all $(PLUGIN_FILES)
	@scripts/install-plugins $(VENV)
	@touch $@

# --- what people run ------------------------------------------------------------------------------

demo: setup plugins ## score the captured group in examples/ and write the report
	@scripts/demo $(BIN)

test: setup plugins $(STAMPS)/dev ## every test but those that need a browser or a broker
	$(BIN)/python -m pytest tests plugins -m "not services" -n $(TEST_PROCESSES) --dist loadfile \
		--no-loadscope-reorder

test-services: setup plugins $(STAMPS)/dev $(STAMPS)/services ## the tests that need a real browser or a real Kafka
	@scripts/install-chromium
	@scripts/build-java --check
	@scripts/build-official
	@scripts/build-kafka
	@scripts/build-brokers 4.4
	$(BIN)/python -m pytest -m services

lint: setup $(STAMPS)/dev contracts ## style, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

contracts: setup $(STAMPS)/dev
	$(BIN)/lint-imports --no-logo

types: setup $(STAMPS)/dev $(STAMPS)/services ## mypy --strict
	$(BIN)/mypy
	@for plugin in $(wildcard plugins/*/pyproject.toml); do \
		echo "mypy $$(dirname $$plugin)"; (cd $$(dirname $$plugin) && $(CURDIR)/$(BIN)/mypy --strict .) || exit 1; \
	done

docs: setup $(STAMPS)/dev $(STAMPS)/docs ## build the documentation and run its examples
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python -m sphinx -b doctest -W --keep-going -q -d docs/_build/doctrees docs docs/_build/doctest
	@echo "docs/_build/html/index.html"

parity: setup ## put random scenarios to official Kafka and to ours (COUNT=20000, SEED=drawn, KIND=streams, streams-group, streams-reconciliation or connect: one kind alone)
	@scripts/build-official
	$(BIN)/python -m parity --count $(or $(COUNT),20000) $(if $(SEED),--seed $(SEED)) $(if $(KIND),--kind $(KIND))

fuzz: setup ## play random episodes of Connect and Streams groups against the rules of safety (COUNT=100000, SEED=0)
	$(BIN)/assignor connect fuzz --episodes $(or $(COUNT),100000) --seed $(or $(SEED),0)
	$(BIN)/assignor simulate --fuzz --count $(or $(COUNT),100000) --seed $(or $(SEED),0)

fuzz-readers: setup $(STAMPS)/dev ## put mutated records and answers of brokers to the readers of groups (COUNT=1000000, SEED=0)
	$(BIN)/python -m tests.capture.reader_fuzz --count $(or $(COUNT),1000000) --seed $(or $(SEED),0)

releases: setup $(STAMPS)/dev ## ask brokers of each release, 3.9 to 4.4 (RELEASES_FLAGS=--write: the table of the docs)
	@scripts/build-official
	@scripts/build-kafka
	@scripts/build-brokers
	$(BIN)/python -m tests.capture.live.broker_releases $(RELEASES_FLAGS)

bench: setup ## time our assignors beside official Kafka (BENCH_FLAGS=--write: into benchmarks/README.md)
	@scripts/build-official
	$(BIN)/python -m benchmarks $(BENCH_FLAGS)
	$(BIN)/python -m benchmarks.flight_recorder $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.java $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.shim $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.hours $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.episodes $(if $(filter --write,$(BENCH_FLAGS)),--write)

fuzz-live: setup $(STAMPS)/dev ## random histories of live Connect workers in one process (COUNT=20000, SEED=1)
	$(BIN)/python -m tests.connect.live_histories --count $(or $(COUNT),20000) $(if $(SEED),--seed $(SEED))

fuzz-rest: setup $(STAMPS)/dev $(STAMPS)/services ## schema-driven requests to live Connect workers (COUNT=20000, SEED=1)
	$(BIN)/python scripts/fuzz_rest.py --count $(or $(COUNT),20000) $(if $(SEED),--seed $(SEED))

# --- upkeep ---------------------------------------------------------------------------------------

api-snapshot: setup $(STAMPS)/dev ## accept the present public surface (API_FLAGS=--unreleased: breaks too)
	$(BIN)/python scripts/api_snapshot.py --write $(API_FLAGS)

lock: setup $(STAMPS)/dev ## resolve requirements/*.txt anew (LOCK_FLAGS=--upgrade for newer releases)
	scripts/lock $(BIN)/uv $(LOCK_FLAGS)

dist: setup ## build wheel and sdist into dist/
	$(BIN)/python -m hatchling build -d dist

clean: ## remove what the targets made, but for .venv
	rm -rf build dist docs/_build docs/api/generated .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
