# The two promises: `make run` and `make test`, on a fresh clone, with nothing but Python 3.11.
# Each step leaves a stamp in .venv or var, so that the second time takes seconds.

SHELL := /bin/sh
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PIP := .venv/bin/pip --disable-pip-version-check
PY := .venv/bin/python
WORKERS ?= 4
# Compiled modules are kept, whatever the shell says: the site and the tests start many processes.
export PYTHONDONTWRITEBYTECODE :=

# Settings as in production, with keys that are good for this one check only.
PRODUCTION = ENV_FILE=/dev/null DEMO=no \
	SECRET_KEY=$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))') \
	ALLOWED_HOSTS=pyramidion.example.org DATABASE_URL=postgres://user@127.0.0.1/none \
	MARKETPLACE_SECRET_KEY=$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))') \
	MARKETPLACE_ALLOWED_HOSTS=market.example.org MARKETPLACE_DATABASE_URL=postgres://user@127.0.0.1/none

.PHONY: help run prepare test check containers bench docs format clean
.DEFAULT_GOAL := help

help:
	@echo "make run     install, load the demo study, serve http://127.0.0.1:8000"
	@echo "make test    install, run the whole test suite"
	@echo "make check   linters, types, import rules, migrations"
	@echo "make containers  run what the deployment files say, in fresh folders"
	@echo "make bench   every benchmark against its peer"
	@echo "make docs    build the documentation into var/docs"
	@echo "make format  put the code into shape"

.venv/base:
	@echo "== Making a virtual environment with $(PYTHON)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info[:2] == (3, 11) else "Pyramidion needs Python 3.11; this is " + sys.version.split()[0] + ". Say which one: make PYTHON=/path/to/python3.11 run")'
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/run: .venv/base requirements.txt
	@echo "== Installing torch (the longest step)"
	@$(PIP) install --progress-bar on torch==2.13.0 2>&1 | grep -v -e WARNING -e 'already satisfied' || true
	@echo "== Installing everything else"
	@$(PIP) install --progress-bar on -r requirements.txt > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@

.venv/dev: .venv/run requirements-dev.txt
	@echo "== Installing the tools for tests and checks"
	@$(PIP) install -r requirements-dev.txt > .venv/install.log 2>&1 || { tail -n 20 .venv/install.log; exit 1; }
	@touch $@

var/env:
	@mkdir -p var
	@printf '# Settings of this clone; deploy/env.example explains them all.\nDEMO=yes\nBACKGROUND=worker\n' > $@

prepare: .venv/run var/env
	@$(PY) manage.py migrate --verbosity 0
	@$(PY) manage.py collectstatic --noinput --verbosity 0
	@$(PY) manage.py load_demo

run: prepare
	@echo "== Pyramidion: http://127.0.0.1:8000   (stop with Ctrl-C)"
	@exec $(PY) -m deploy.up

test: .venv/dev
	@tests/prepare.sh
	@echo "== Tests of the site and the libraries, on SQLite"
	@$(PY) -m pytest -n $(WORKERS) -m "not postgres or sqlite"
	@echo "== Tests of the marketplace, on SQLite"
	@$(PY) -m pytest -n $(WORKERS) --ds=tests.marketplace_settings -m "not postgres or sqlite" tests/marketplace tests/contract
	@echo "== Tests of both, on PostgreSQL"
	@WORKERS=$(WORKERS) $(PY) -m tests.postgres run

check: .venv/dev
	@echo "== ruff";          .venv/bin/ruff check . && .venv/bin/ruff format --check .
	@echo "== templates";     .venv/bin/djangofmt --quiet --check annotation
	@echo "== mypy";          $(PY) -m mypy && $(PY) -m mypy --config-file annotation/marketplace/mypy.ini
	@echo "== import-linter"; .venv/bin/lint-imports --no-cache
	@echo "== migrations";    DEMO=1 $(PY) manage.py makemigrations --check --dry-run
	@DEMO=1 DJANGO_SETTINGS_MODULE=deploy.marketplace_settings $(PY) manage.py makemigrations --check --dry-run
	@echo "== deployment";    $(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING
	@$(PRODUCTION) DJANGO_SETTINGS_MODULE=deploy.marketplace_settings $(PY) manage.py check --deploy --fail-level WARNING
	@echo "== advisories";   $(PY) -m tests.audit

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
