# Everything runs in one virtual environment, made on first use and updated when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
# Installed before the rest, by exact version: an index that serves CPU builds of torch gives one for this, while an
# unpinned torch may bring gigabytes of CUDA libraries. Newer versions work as well: `make TORCH=torch==X.Y.Z test`.
TORCH ?= torch==2.13.0

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Keep Python's compiled files, because the tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help install demo test test-slow test-busy toolchains lint types mypy pyright format reference docs stubs clean

help:
	@echo "make demo       index real code, serve it, ask a question, print the evidence"
	@echo "make test       linters, and all tests but the slow ones"
	@echo "make test-slow  the slow tests: the wheel in a clean environment, crashes, Envoy, load; type checkers included"
	@echo "make toolchains what slow tests need besides Python packages; as root on Debian"
	@echo "make test-busy  tests, RUNS times (10), beside BUSY (6) processes that only keep the processors busy"
	@echo "make lint       linters alone"
	@echo "make types      type checkers alone"
	@echo "make format     sort imports and format the code"
	@echo "make reference  write docs/pipelines-reference.md, which git ignores, from the code"
	@echo "make docs       build the documentation site in site/; links that lead nowhere are errors"
	@echo "make stubs      generate the stubs of the protos, their descriptors for Envoy, and the chart's schema"
	@echo "make clean      remove the environment and everything that was built"

install: $(INSTALLED)

# jsonschema loads rfc3987-syntax wherever it is installed, which a tool of the tests sees to. Its grammar takes each
# process a second to compile, and it checks addresses of other alphabets, which no schema here asks for.
$(INSTALLED): pyproject.toml
	@echo "installing into $(VENV); the first time takes minutes"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-compile "$(TORCH)"
	$(PIP) install --quiet --no-compile --editable ".[dev]"
	$(PIP) uninstall --quiet --yes rfc3987-syntax
	@touch $@

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py

# The profile of the property tests: `quick` tries each property on 50 examples, `thorough` on 400.
PROFILE ?= quick
PYTEST := $(BIN)/python -m pytest --hypothesis-profile $(PROFILE)
# Three processes more than processors, since tests wait for servers and packages: with one more, two processors were
# busy for half of the time only.
PROCESSES = $$(($$(getconf _NPROCESSORS_ONLN) + 3))

# In the order of the folders: otherwise the files of few tests run last, and among them is what takes longest.
test: lint
	$(PYTEST) -m "not slow" --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder

# The manifests in deploy/ are built with it and with kubectl, which comes along.
$(BIN)/helm: $(INSTALLED) deploy/install_programs.py
	$(BIN)/python deploy/install_programs.py $(BIN)

# The files that name something, because collecting all tests takes each process 15 s. Not tests/conftest.py, which names
# it for all. Tests that use Milvus are slow as well.
where = $(shell grep -rlE --include='test_*.py' --include=conftest.py '$(1)' tests | sed 's:/conftest.py$$::' | grep -vx tests | sort)

test-slow: types $(BIN)/helm
	$(PYTEST) $(call where,mark\.slow|milvus|new_storage) -m "slow and not alone" \
	    --dist loadfile --no-loadscope-reorder --numprocesses $(PROCESSES)
	$(PYTEST) $(call where,mark\.alone) -m alone

# No test may depend on how fast the machine is. Another target than `test` is run by `make test-busy TESTS=test-slow`.
RUNS ?= 10
BUSY ?= 6
TESTS ?= test
test-busy: $(INSTALLED)
	$(BIN)/python tests/run_busy.py --runs $(RUNS) --busy $(BUSY) -- $(MAKE) --no-print-directory $(TESTS)

# Node with npm is needed as well. Prometheus is not installed, which would start it: only its checker is taken out.
toolchains:
	apt-get update
	apt-get install --yes --no-install-recommends golang-go golang-google-grpc-dev \
	    golang-github-golang-protobuf-1-5-dev protobuf-compiler protoc-gen-go protoc-gen-go-grpc \
	    chromium fonts-dejavu-core
	cd /tmp && apt-get download prometheus
	dpkg-deb --fsys-tarfile /tmp/prometheus_*.deb | tar --extract --to-stdout ./usr/bin/promtool > /usr/local/bin/promtool
	chmod +x /usr/local/bin/promtool
	rm /tmp/prometheus_*.deb

lint: $(INSTALLED) docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/lint-imports --no-cache
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/buf lint
	$(BIN)/hadolint Dockerfile

# At the same time, since each uses one processor.
types: $(INSTALLED)
	$(MAKE) --jobs 2 --output-sync --no-print-directory mypy pyright

# Nothing is run on Windows and macOS, so that types are checked as they are there: what these systems lack is an error.
mypy: $(INSTALLED)
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 server client pipelines protos
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin server client pipelines protos

# It would ask the network for a newer version of itself.
pyright: $(INSTALLED)
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python

reference: $(INSTALLED)
	$(BIN)/python -m groundwire_pipelines.reference > docs/pipelines-reference.md

docs: reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs --quiet build --strict

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# protoc finds its plugins for type stubs on the PATH.
stubs: $(INSTALLED)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python protos/generate.py
	$(BIN)/python client/generate_client.py
	$(BIN)/python deploy/descriptors.py
	$(BIN)/python deploy/chart_schema.py

clean:
	rm -rf $(VENV) .demo build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
