# One command for each job. The first makes a virtual environment in .venv and later ones use it; run `make help` for the list.

SHELL := /bin/sh
.SHELLFLAGS := -ec
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Any Python >= 3.11; found by itself, or named: make test PYTHON=/path/to/python
PYTHON ?=
# More arguments for pytest: make test ARGS="tests/test_layers.py -x"
ARGS ?=
# How many processes run the tests: one more than two cores, since many tests wait
JOBS ?= 3
# Arguments of the fuzzer: make fuzz FUZZ="--dialect openai-chat --seed 7" FUZZ_SECONDS=60
FUZZ ?=
# Arguments of the sampler of mutants: make mutants MUTANTS="--seed 7 --count 40 history"
MUTANTS ?=
# Keeps the environment of this clone apart from one that happens to be active
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH

# Each process begins with a block of neighbouring tests, which share what their modules and folders prepare
SPREAD = -n $(JOBS) --dist worksteal

PY := .venv/bin/python
READY := .venv/project.stamp
CLIENTS := .venv/clients.stamp

.PHONY: help demo test coverage test-thorough test-clients mutants clients check fresh fresh-checks format bench docs pages fuzz pins clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-23s %s\n' "$$name" "$$text"; done

demo: $(READY) ## play an agent's run that is cut, killed, resumed and recovered, and compare
	@$(PY) examples/demo.py

test: $(READY) $(CLIENTS) ## run every test
	@$(PY) -m pytest $(SPREAD) $(ARGS)

coverage: $(READY) $(CLIENTS) ## run every test and show what is not covered; takes three times as long
	@$(PY) -m pytest --cov $(SPREAD) $(ARGS)

test-thorough: $(READY) $(CLIENTS) ## run every test with more examples by chance, and cut recordings at every byte
	@HYPOTHESIS_PROFILE=thorough $(PY) -m pytest -o timeout=3600 $(SPREAD) $(ARGS)

test-clients: $(READY) ## run the official JavaScript clients against the mock provider; needs node
	@$(PY) scripts/clients.py javascript
	@$(PY) -m pytest $(SPREAD) tests/official -k javascript $(ARGS)

mutants: $(READY) ## put small faults into copies of the core and name those that no test notices
	@$(PY) scripts/mutants.py --jobs $(JOBS) $(MUTANTS)

clients: $(READY) $(CLIENTS) ## install the official Python clients that the tests drive

check: $(READY) ## lint, formatting, and types by mypy and pyright
	@failed=; \
	run() { echo "check: $$*"; $(PY) -m "$$@" || failed=yes; }; \
	run ruff check --quiet; run ruff format --check --quiet; run mypy; run pyright --pythonpath $(PY); \
	$(check-pages); \
	test -z "$$failed"

fresh: ## check types and run the pages' examples with the newest versions of every dependency
	@rm -rf .venv-fresh
	@$(find-python); "$$python" -m venv .venv-fresh
	@echo "fresh: installing the newest versions of requirements/dev.in"
	@.venv-fresh/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.in
	@$(MAKE) --no-print-directory fresh-checks PY=.venv-fresh/bin/python

fresh-checks:
	@failed=; \
	run() { echo "fresh: $$*"; $(PY) -m "$$@" || failed=yes; }; \
	run mypy; run pyright --pythonpath $(PY); $(check-pages); \
	run pytest -q -p no:cacheprovider tests/test_docs.py tests/test_examples.py; \
	test -z "$$failed"

format: $(READY) ## format the code and mend what ruff can mend
	@$(PY) -m ruff check --fix-only --quiet
	@$(PY) -m ruff format

bench: $(READY) ## measure speed and memory as ratios; BENCH_JSON=FILE also writes the figures
	@$(PY) scripts/clients.py javascript
	@$(PY) scripts/clients.py peers
	@$(PY) -m benchmarks

docs: $(READY) ## build the documentation in docs/_build, warnings are errors
	@$(PY) -m sphinx -W --keep-going --quiet --fresh-env docs docs/_build
	@echo "docs: open docs/_build/index.html"

pages: $(READY) ## write what is generated from the code: text of the pages, tables and types of the browser module
	@PYTHONPATH=docs/_ext $(PY) -m generated_pages
	@$(PY) -m scripts.browser_module

fuzz: $(READY) ## feed mutated streams of every dialect until stopped, or for FUZZ_SECONDS
	@$(PY) -m tests.fuzz $(FUZZ)

pins: ## work out the exact versions of everything anew: requirements/ and the clients
	@rm -rf .venv-pins
	@$(find-python); "$$python" -m venv .venv-pins
	@echo "pins: resolving requirements/dev.in"
	@.venv-pins/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.in
	@{ sed -n '/^#/p' requirements/dev.txt; \
	   .venv-pins/bin/python -m pip freeze --disable-pip-version-check --exclude-editable; } > .venv-pins/dev.txt
	@mv .venv-pins/dev.txt requirements/dev.txt
	@.venv-pins/bin/python scripts/clients.py pins
	@rm -rf .venv-pins

clean: ## remove the environment, caches and everything built
	@rm -rf .venv .venv-pins .venv-fresh tests/official/javascript/node_modules build dist docs/_build htmlcov .coverage .coverage.* \
		.hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find src tests docs examples benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Examples are checked as a reader would write them: not strict, but with every name and type. Those that are read first
# are also clean in a strict project.
define check-pages
$(PY) scripts/page_examples.py build/pages; \
run mypy --config-file scripts/page_examples.ini build/pages; \
run mypy --strict build/pages/README.py build/pages/docs_tutorial.py; \
run pyright --pythonpath $(PY) --project scripts/page_examples.json
endef

# The environment is made anew when the pins change, and the package is put into it again when its metadata changes.

.venv/pins.stamp: requirements/dev.txt
	@$(find-python); "$$python" scripts/make_venv.py
	@touch $@

$(READY): .venv/pins.stamp pyproject.toml
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# A client that cannot be installed leaves no stamp and stops nothing: its tests say how to get it.
$(CLIENTS): .venv/pins.stamp requirements/clients/*.txt scripts/clients.py
	@$(PY) scripts/clients.py

# Sets `python` to the first interpreter that is new enough and can make environments, or stops with one line.
define find-python
python=; bare=; \
for name in $(if $(PYTHON),"$(PYTHON)",python3 python3.14 python3.13 python3.12 python3.11 python); do \
	if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		if "$$name" -c 'import ensurepip, venv' 2>/dev/null; then python=$$name; break; fi; \
		bare=$$name; \
	fi; \
done; \
if [ -z "$$python" ] && [ -n "$$bare" ]; then \
	echo "setup: $$bare has no venv module: install it (python3-venv on Debian and Ubuntu) or run make with PYTHON=/path/to/python" >&2; exit 1; \
elif [ -z "$$python" ]; then \
	echo "setup: Python 3.11 or newer is needed and $(if $(PYTHON),$(PYTHON) is not one,none was found): install one or run make with PYTHON=/path/to/python" >&2; exit 1; \
fi
endef
