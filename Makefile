# make demo    learn a bundled example by F2SL-h and by the paper's F2SL-c, from nothing: makes .venv, installs, learns, prints, saves
# make test    everything that must hold: style, types, import directions, tests, doctests
# make check   the same in short, for while you work: style, types, import directions, the fast tests
# make release-check   sdists and wheels in fresh environments, the oldest dependencies, each extra alone; PYTHONS="python3.12 ..."
#              tries the wheel with other Pythons as well; needs a package index, and minutes
# make bench   how fast it is on this machine, as ratios
# make paper   the F2SL paper's experiments (on its data where F2SL_MMHC_DATA names them) to paper-results/: hours,
#              and the same command goes on where it was
# make bench-peers   f2sl beside other libraries on the same data, in an environment of its own (.venv-peers): hours,
#              and the same command goes on where it was; writes benchmarks/results/ and docs/evidence/performance.md
# make docs    the documentation site, with its gallery, in docs/_build/html
# make lint    style, types and import directions alone

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The many processes of tests share compiled modules, also where the environment says that none are written.
export PYTHONDONTWRITEBYTECODE :=
# More processes of tests than cores, because many wait for others: commands, workers, a browser.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS := $(shell expr 2 \* $(CORES))

# Two steps at once, each shown as a whole when it ends (where make can: not the one of macOS).
TOGETHER := $(MAKE) -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.PHONY: demo check fast test warm plain release-check docs browser bench bench-peers paper lint clean

$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt -e ".[plot]"
	touch $@

$(VENV)/.test-installed: $(VENV)/.installed paper/pyproject.toml
	$(BIN)/pip install --quiet -c constraints.txt -e ".[test,plot,deep,cluster]" -e paper
	touch $@

$(VENV)/.docs-installed: $(VENV)/.installed paper/pyproject.toml
	$(BIN)/pip install --quiet -c constraints.txt -e ".[docs]" -e paper
	touch $@

demo: $(VENV)/.installed
	mkdir -p demo-output
	$(BIN)/f2sl example alarm --out demo-output/alarm.csv --truth demo-output/truth.json
	$(BIN)/f2sl learn demo-output/alarm.csv --out demo-output/graph.json --plot demo-output/graph.svg --truth demo-output/truth.json
	$(BIN)/f2sl learn demo-output/alarm.csv --algorithm f2sl-c --out demo-output/paper.json --truth demo-output/truth.json

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_imports.py

# A browser for the tests of pages, and Graphviz. Where they cannot be installed tests are skipped, and make test ends
# with a warning that says why.
NO_BROWSER := $(VENV)/.no-browser
browser: $(VENV)/.installed
	@rm -f $(NO_BROWSER)
	@{ command -v chromium && command -v dot; } >/dev/null \
		|| if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then echo "installing it needs root and apt-get"; false; \
		else { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium graphviz; } 2>&1 \
		| tail -1; command -v chromium && command -v dot; fi >$(NO_BROWSER) && rm -f $(NO_BROWSER) || true

# Examples in docstrings, and the tests of parts that start no processes, clusters or browsers and learn small graphs.
FAST := src paper/src tests/docs/test_documents.py tests/release tests/graph tests/knowledge tests/stats \
	tests/learners/test_options.py tests/learners/test_skeleton.py tests/learners/test_v_structures.py tests/learners/test_local_*.py

check: $(VENV)/.test-installed
	$(TOGETHER) lint fast

fast: $(VENV)/.test-installed
	F2SL_EXAMPLES=5 $(BIN)/python -m pytest -q -n $(CORES) --dist worksteal $(FAST) \
		--ignore-glob='*_large.py' --ignore-glob='*_sound.py'

release-check:
	$(PYTHON) tools/check_release.py $(PYTHONS)

# All is installed before anything runs side by side.
test: $(VENV)/.test-installed browser
	$(MAKE) $(VENV)/.docs-installed
	$(TOGETHER) lint warm
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal
	$(TOGETHER) plain docs
	@test ! -e $(NO_BROWSER) || echo "WARNING: tests in a browser or with Graphviz were skipped: $$(head -1 $(NO_BROWSER))"

# Compile the kernels once, instead of once in each process of tests.
warm: $(VENV)/.test-installed
	$(BIN)/python tests/helpers/warm_kernels.py

# Only files that have such tests: collecting all takes each process longer than these tests take.
plain: $(VENV)/.test-installed
	NUMBA_DISABLE_JIT=1 F2SL_EXAMPLES=10 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m kernels \
		$$(grep -rl mark.kernels --include='test_*.py' tests)

docs: $(VENV)/.docs-installed
	$(BIN)/sphinx-build -q -E -W --keep-going docs docs/_build/html

bench: $(VENV)/.test-installed
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/exact.py
	$(BIN)/python benchmarks/best_networks.py
	$(BIN)/python benchmarks/wide.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/page.py

.venv-peers/.installed: pyproject.toml paper/pyproject.toml constraints.txt
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet -c constraints.txt -e ".[peers]" -e paper
	touch $@

bench-peers: .venv-peers/.installed
	.venv-peers/bin/python benchmarks/peers
	.venv-peers/bin/python benchmarks/peers --report

paper: $(VENV)/.test-installed
	$(BIN)/f2sl reproduce --out paper-results

clean:
	rm -rf $(VENV) .venv-peers build dist paper/build demo-output docs/_build docs/_generated docs/gallery docs/reference/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
