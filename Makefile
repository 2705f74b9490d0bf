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

PLUGIN_FILES := $(shell find plugins -type f \( -name '*.py' -o -name pyproject.toml -o -name py.typed \) 2>/dev/null)

# Tests start many processes. Compiled files save each of them half a second of imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# Every target installs into one environment.
.NOTPARALLEL:
.PHONY: help setup plugins demo test test-fast test-services lint types contracts docs parity clients accuracy accuracy-live soak fuzz fuzz-readers releases bench fuzz-live fuzz-rest api-snapshot lock pictures dist release clean

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

demo: setup plugins ## score the captured group of assignor_lab/samples and write the report
	@scripts/demo $(BIN)

test: setup plugins $(STAMPS)/dev ## every test but the long ones and those that need a browser or a broker (AREA=capture: one room)
	$(BIN)/python -m pytest $(if $(AREA),tests/$(AREA),tests plugins) -m "not services and not long" -n $(TEST_PROCESSES) \
		--dist loadfile --no-loadscope-reorder

test-fast: setup $(STAMPS)/dev ## a sample of the tests in under a minute: no Spark, no processes (AREA=capture: one room)
	$(BIN)/python -m pytest $(if $(AREA),tests/$(AREA),tests) --fast -n 2 --dist loadfile -q

test-services: setup plugins $(STAMPS)/dev $(STAMPS)/services ## the tests that need a real browser or a real Kafka, and the long runs
	@scripts/install-chromium
	@scripts/build-java --check
	@scripts/build-official
	@scripts/build-kafka
	@scripts/build-brokers 4.4
	@scripts/build-clients
	@scripts/build-object-store
	@scripts/build-hdfs
	$(BIN)/python -m pytest -m services -n 2 --dist loadfile --no-loadscope-reorder
	$(BIN)/python -m pytest -m long -n 2 --dist loadfile --no-loadscope-reorder

lint: setup $(STAMPS)/dev contracts ## style, plain English and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_prose.py
	$(BIN)/python scripts/check_names.py

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

parity: setup ## put random scenarios to official Kafka and to ours (COUNT=20000, SEED=drawn, KIND=streams, streams-group, streams-reconciliation, connect or consumer; RELEASE=3.8 to 4.4: one release alone)
	@scripts/build-official $(RELEASE)
	$(BIN)/python -m parity --count $(or $(COUNT),20000) $(if $(RELEASE),--release $(RELEASE)) $(if $(SEED),--seed $(SEED)) $(if $(KIND),--kind $(KIND))

clients: setup $(STAMPS)/services ## compare the strategies of client libraries with Java's (COUNT=2000)
	@scripts/build-clients
	$(BIN)/assignor clients --count $(or $(COUNT),2000) --out build/clients/findings \
		--driver build/clients/driver --driver "node client_drivers/node/driver.mjs build/clients/node" \
		--driver "$(BIN)/python client_drivers/python/librdkafka.py"

release-diff: setup ## compare a version of Kafka with the one before: classes, settings, answers (VERSION=4.4.0, FROM=4.3.1, COUNT=500)
	$(BIN)/python -m parity.release_diff $(VERSION) $(if $(FROM),--from $(FROM)) --count $(or $(COUNT),500)

accuracy: setup ## predict every recorded change, and judge advice: docs/reference/accuracy.md and advice.md
	$(BIN)/python -m calibration.accuracy --write
	$(BIN)/python -m calibration.advice --write

accuracy-live: setup $(STAMPS)/dev $(STAMPS)/services ## plan changes of real Streams and Connect groups, do them, and compare (ROLLS=10)
	@scripts/build-official
	@scripts/build-kafka
	$(BIN)/python -m tests.calibration.live --rolls $(or $(ROLLS),10)
	$(BIN)/python -m tests.calibration.live.advised
	$(BIN)/python -m tests.calibration.live.connect
	$(BIN)/python -m tests.calibration.live.orders
	$(BIN)/python -m tests.calibration.live.scalings
	$(BIN)/python -m tests.calibration.live.scalings --own-processes --at-once 2
	$(BIN)/python -m tests.calibration.live.consumers
	@scripts/build-brokers 4.4
	$(BIN)/python -m tests.calibration.live --release 4.4 --rolls $(or $(ROLLS),10) --advised-rolls 0

soak: setup $(STAMPS)/dev $(STAMPS)/services ## record groups with metrics beside a real broker through rolls and kills (MINUTES=30)
	@scripts/build-official
	@scripts/build-kafka
	$(BIN)/python -m tests.capture.live.soak --minutes $(or $(MINUTES),30)

fuzz: setup plugins $(STAMPS)/dev ## play random episodes against the rules of safety, and try the optimum (COUNT=100000, SEED=0)
	$(BIN)/assignor connect fuzz --episodes $(or $(COUNT),100000) --seed $(or $(SEED),0)
	$(BIN)/assignor simulate --fuzz --count $(or $(COUNT),100000) --seed $(or $(SEED),0)
	$(BIN)/assignor simulate --fuzz --count 2000 --seed $(or $(SEED),0) --assignor optimal
	$(BIN)/assignor simulate --fuzz --count 2000 --seed $(or $(SEED),0) --assignor load_aware
	$(BIN)/python -m tests.assignment_api.optimum.brute_force --count 10000 --seed $(or $(SEED),0)

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
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.plain_groups $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.flight_recorder $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.java $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.shim $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.consumers
	$(BIN)/python -m benchmarks.consumers --grid
	$(BIN)/python -m benchmarks.hours $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.episodes $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.advice $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.coverage.orders
	$(BIN)/python -m benchmarks.orders
	$(BIN)/python -m benchmarks.plans $(if $(filter --write,$(BENCH_FLAGS)),--write)
	$(BIN)/python -m benchmarks.scaling $(if $(filter --write,$(BENCH_FLAGS)),--write)

fuzz-live: setup $(STAMPS)/dev ## random histories of live Connect workers in one process (COUNT=20000, SEED=1)
	$(BIN)/python -m tests.connect_workers.live_histories --count $(or $(COUNT),20000) $(if $(SEED),--seed $(SEED))

fuzz-rest: setup $(STAMPS)/dev $(STAMPS)/services ## schema-driven requests to live Connect workers (COUNT=20000, SEED=1)
	$(BIN)/python scripts/fuzz_rest.py --count $(or $(COUNT),20000) $(if $(SEED),--seed $(SEED))

# --- upkeep ---------------------------------------------------------------------------------------

pictures: demo ## make the pictures of README.md anew (needs a Chromium)
	@scripts/install-chromium
	$(BIN)/python scripts/make_pictures.py $(BIN)

api-snapshot: setup $(STAMPS)/dev ## accept the present public surface (API_FLAGS=--unreleased: breaks too)
	$(BIN)/python scripts/api_snapshot.py --write $(API_FLAGS)

lock: setup $(STAMPS)/dev ## resolve requirements/*.txt anew (LOCK_FLAGS=--upgrade for newer releases)
	scripts/lock $(BIN)/uv $(LOCK_FLAGS)

dist: setup ## build wheel and sdist into dist/
	$(BIN)/python -m hatchling build -d dist

release: setup $(STAMPS)/release ## build a release, check it and print its tag (ADDRESS=https://...: of the repository)
	@scripts/release $(BIN) $(ADDRESS)

clean: ## remove what the targets made, but for .venv
	rm -rf build dist docs/_build docs/api/generated .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
