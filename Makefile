# Everything a person needs: make demo, make test. The virtual environment is made on first use.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test test-slow test-autogen test-lightning lint types bench docs golden constraints clean

demo: $(READY)  ## play the vending world with its three players and print what they earned
	$(BIN)/python examples/demo.py

test: $(READY)  ## the default tests
	$(BIN)/python -m pytest -q -m "not slow" -n auto

test-slow: $(READY)  ## the tests that take more than a few seconds each
	$(BIN)/python -m pytest -q -m slow -n auto

test-autogen: $(VENV)-autogen/.ready  ## the adapter for AutoGen, in an environment of its own
	AKINAI_ADAPTER=autogen $(VENV)-autogen/bin/python -m pytest -q tests/adapters/test_autogen*.py

test-lightning: $(VENV)-lightning/.ready  ## the adapter for agent-lightning; PYTHON=python3.12 VENV=.venv-3.12: its 1.x line
	AKINAI_ADAPTER=lightning $(VENV)-lightning/bin/python -m pytest -q tests/adapters

lint: $(READY)  ## style, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(READY)  ## strict on core, retrieval, worlds and learning
	$(BIN)/basedpyright

bench: $(READY)  ## every figure with the ratio to its budget
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(READY)  ## the commands and examples in the docs, run as tests
	$(BIN)/python -m pytest -q tests/test_docs.py

golden: $(READY)  ## write the golden playthroughs anew after a rule change; read the diff
	$(BIN)/python -m pytest -q tests/golden --golden

constraints: ## write down the exact versions of a fresh environment, names and versions only
	rm -rf $(VENV)-fresh && $(PYTHON) -m venv $(VENV)-fresh && $(VENV)-fresh/bin/pip install -q -e ".[autogen,dev,models,learn-postgres,report,server]"
	$(VENV)-fresh/bin/pip freeze --exclude-editable | grep -E '^[A-Za-z0-9._-]+==' > constraints.txt
	rm -rf $(VENV)-fresh

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[dev,models,learn-postgres,report,server]"
	@touch $(READY)

$(VENV)-autogen/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-autogen
	$(VENV)-autogen/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[autogen]" \
		hypothesis pytest pytest-asyncio
	@touch $@

$(VENV)-lightning/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)-lightning
	$(VENV)-lightning/bin/python -m pip install -q --disable-pip-version-check --no-compile -e ".[lightning]" \
		hypothesis pytest pytest-asyncio
	@touch $@
