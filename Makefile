# The two promises: `make run` and `make test`, on a fresh clone, with nothing but a Python that pyproject.toml allows.
# Each step leaves a stamp in .venv or var, so that the second time takes seconds.

SHELL := /bin/sh
# The first on the machine that can run it; pyproject.toml says which can.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do $$p deploy/setup/python_version.py 2> /dev/null && { command -v $$p; exit; }; done; echo python3)
PY := .venv/bin/python
LIBRARIES := $(PY) -m annotation.common.libraries
WORKERS ?= 4
# Compiled modules are kept, whatever the shell says: the site and the tests start many processes.
export PYTHONDONTWRITEBYTECODE :=

# Settings as in production, with keys that are good for this one check only.
PRODUCTION = ENV_FILE=/dev/null DEMO=no \
	SECRET_KEY=$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))') \
	ALLOWED_HOSTS=pyramidion.example.org DATABASE_URL=postgres://user@127.0.0.1/none \
	MARKETPLACE_SECRET_KEY=$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))') \
	MARKETPLACE_ALLOWED_HOSTS=market.example.org MARKETPLACE_DATABASE_URL=postgres://user@127.0.0.1/none

.PHONY: help run site models prepare test newest attack schema check containers bench docs format clean
.DEFAULT_GOAL := help

help:
	@echo "make run     install, load the demo study, serve http://127.0.0.1:8000"
	@echo "make models  install what the metrics with models need (make run brings it in the background)"
	@echo "make test    install, run the whole test suite"
	@echo "make newest  a quick pass of it on the newest Python of this machine"
	@echo "make attack  the attack of make test, ten minutes for each surface"
	@echo "make schema  schemathesis on the API, in its long form"
	@echo "make check   linters, types, import rules, migrations"
	@echo "make containers  run what the deployment files say, in fresh folders"
	@echo "make bench   every benchmark against its peer"
	@echo "make docs    build the documentation into var/docs"
	@echo "make format  put the code into shape"

.venv/base:
	@$(PYTHON) deploy/setup/python_version.py
	@echo "== Making a virtual environment with $(PYTHON)"
	@$(PYTHON) -m venv .venv
	@touch $@

# What site, worker and marketplace need. The metrics with models come behind, while the site serves (`make models`: at once).
.venv/run: .venv/base requirements-start.txt requirements-site.txt
	@$(LIBRARIES) start site
	@touch $@

.venv/models: .venv/run requirements-models.txt
	@$(LIBRARIES) models
	@touch $@

.venv/dev: .venv/models requirements-cluster.txt requirements-dev.txt
	@$(LIBRARIES) cluster dev
	@touch $@

var/env:
	@mkdir -p var
	@printf '# Settings of this clone; deploy/env.example explains them all.\nDEMO=yes\nBACKGROUND=worker\n' > $@

prepare: .venv/run var/env
	@$(PY) manage.py prepare load_demo

run: prepare
	@exec $(PY) -m deploy.up

site: .venv/run

models: .venv/models

test: .venv/dev
	@tests/prepare.sh
	@WORKERS=$(WORKERS) $(PY) -m tests.passes $(PASSES) -- $(WORDS)

# A quick pass on the newest Python of this machine, in an environment of its own, without the metrics with models.
NEWEST ?= $(shell for p in python3.14 python3.13 python3.12 $$(ls -d ~/.pyenv/versions/3.1[2-4]*/bin/python3 2> /dev/null | sort -rV); do $$p deploy/setup/python_version.py 2> /dev/null && { echo $$p; exit; }; done)
newest:
	@if [ -z "$(NEWEST)" ]; then \
		echo "== No Python newer than 3.11 is here: its quick pass is skipped (make NEWEST=/path/to/python3.13 newest)"; \
	else \
		[ -x var/newest/bin/python ] || $(NEWEST) -m venv var/newest; \
		var/newest/bin/python -m annotation.common.libraries start site dev && \
		WORKERS=$(WORKERS) var/newest/bin/python -m tests.passes quick -- $(WORDS); \
	fi

attack: .venv/dev
	@ATTACK_SECONDS=$${ATTACK_SECONDS:-600} $(PY) -m pytest -n 0 tests/attack

schema: .venv/dev
	@API_EXAMPLES=$${API_EXAMPLES:-50} $(PY) -m pytest -n 0 tests/contract/test_api_schema.py

check: .venv/dev
	@echo "== ruff";          .venv/bin/ruff check . && .venv/bin/ruff format --check .
	@echo "== templates";     .venv/bin/djangofmt --quiet --check annotation
	@echo "== mypy";          $(PY) -m mypy && $(PY) -m mypy --config-file annotation/marketplace/mypy.ini
	@echo "== import-linter"; .venv/bin/lint-imports --no-cache
	@echo "== migrations";    DEMO=1 $(PY) manage.py makemigrations --check --dry-run
	@DEMO=1 DJANGO_SETTINGS_MODULE=deploy.marketplace_settings $(PY) manage.py makemigrations --check --dry-run
	@echo "== deployment";    $(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING
	@$(PRODUCTION) DJANGO_SETTINGS_MODULE=deploy.marketplace_settings $(PY) manage.py check --deploy --fail-level WARNING
	@echo "== advisories";   $(PY) -m tests.architecture.audit

containers: .venv/dev
	@$(PY) -m tests.deploy.containers

bench: .venv/dev
	@$(PY) -m benchmarks

docs: .venv/dev
	@$(PY) -m sphinx -q -W --keep-going -b html docs var/docs
	@echo "== var/docs/index.html"

format: .venv/dev
	@.venv/bin/ruff check --fix . && .venv/bin/ruff format . && .venv/bin/djangofmt --quiet annotation

clean:
	rm -rf .venv var
