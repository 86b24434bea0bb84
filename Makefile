# make run · test · check · fuzz · bench. Each installs what it needs into .venv, once; a second call takes seconds.
PORT ?= 8000
PYTHON ?= python3
UV := $(shell command -v uv)
NODE := $(shell command -v node)

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(if $(UV),uv pip install --quiet --python $(PY),$(PY) -m pip install --quiet --disable-pip-version-check)
# Contracts that must hold on both databases; the first run of `make test` is on PostgreSQL.
PARTS_WITHOUT_CONTRACTS = $(wildcard tests/test_feeds_*.py tests/test_page_*.py) $(patsubst %,tests/test_%.py,guides openapi settings setup)
ON_SQLITE_TOO = $(filter-out $(PARTS_WITHOUT_CONTRACTS),$(wildcard tests/test_*.py))
# Two processes, each with a database server of its own: more would slow down what tests with real threads wait for.
IN_PARALLEL = --numprocesses 2 --dist loadfile
JS_TESTS = $(wildcard tests/js/*.test.js tests/js/*.test.mjs)
# What `check --deploy` looks at: the settings of a production machine.
PRODUCTION = DEBUG=false INSECURE_HTTP=false ALLOWED_HOSTS=devpick.example SECRET_KEY=$$($(PY) -c "import secrets; print(secrets.token_urlsafe(64))")

.PHONY: run test check fuzz bench schema clean
.DELETE_ON_ERROR:

run: $(VENV)/installed
	@$(PY) manage.py demo --port $(PORT)

test: $(VENV)/installed-dev
	$(PY) -m tests.chromium
	$(PY) -m pytest $(IN_PARALLEL) --ignore tests/browser
	$(PY) -m pytest $(IN_PARALLEL) tests/browser --dist load
	DATABASE_URL=sqlite://:memory: $(PY) -m pytest $(IN_PARALLEL) $(ON_SQLITE_TOO)
	$(call with_node,JavaScript unit tests,$(NODE) --test --test-reporter=spec $(JS_TESTS))

check: $(VENV)/installed-dev $(if $(NODE),node_modules/.installed)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PRODUCTION) $(PY) -m mypy
	$(PRODUCTION) $(PY) manage.py makemigrations --check --dry-run
	$(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING
	$(PRODUCTION) $(PY) manage.py spectacular --format openapi-json --validate --fail-on-warn | cmp -s - docs/openapi.json \
	  || { echo "docs/openapi.json is not the description of this code: make schema"; exit 1; }
	$(call with_node,JavaScript type check,node_modules/.bin/tsc --project tsconfig.json)

fuzz: $(VENV)/installed-dev $(VENV)/fuzz/installed # the whole API against its description, with and without log-in: minutes
	$(PY) -m tests.fuzz $(VENV)/fuzz/bin/schemathesis

bench: $(VENV)/installed-dev
	@$(PY) -m tests.bench

schema: $(VENV)/installed-dev # after a change of the API: try it, write the examples and the document down
	WRITE_EXAMPLES=1 $(PY) -m pytest -q tests/test_openapi.py -k write_the_examples
	$(PRODUCTION) $(PY) manage.py spectacular --format openapi-json --validate --fail-on-warn > docs/openapi.json

clean: # what was installed and built; var/ (the database) stays
	rm -rf $(VENV) node_modules staticfiles .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Only Node may be missing on a reader's machine, never on CI's.
with_node = $(if $(NODE),$(2),@echo "The $(1) did not run: there is no Node.js on this machine." $(if $(CI),&& false))

$(PY):
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" \
	  || { echo "DevPick needs Python 3.11 or newer as $(PYTHON); name another one: make PYTHON=python3.12 ..."; exit 1; }
	@$(if $(UV),uv venv --quiet --seed --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV)) \
	  || { rm -rf $(VENV); echo "The virtual environment was not made. On Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/installed: requirements.txt | $(PY)
	@echo "Installing DevPick into $(VENV) ..."
	@$(PIP) --require-hashes -r requirements.txt
	@touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo "Installing the development tools into $(VENV) ..."
	@$(PIP) --require-hashes -r requirements-dev.txt
	@touch $@

$(VENV)/fuzz/installed: requirements-fuzz.txt | $(PY)
	@echo "Installing the fuzzer into $(VENV)/fuzz ..."
	@$(if $(UV),uv venv --quiet --seed --python $(PYTHON) $(VENV)/fuzz,$(PYTHON) -m venv $(VENV)/fuzz)
	@$(VENV)/fuzz/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-fuzz.txt
	@touch $@

node_modules/.installed: package-lock.json
	@echo "Installing the JavaScript tools into node_modules ..."
	@npm ci --silent --no-audit --no-fund || { echo "The type check of the JavaScript needs npm beside Node.js."; exit 1; }
	@touch $@
