# Each target does all of its set-up; a second call installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
DOCS_STAMP := $(VENV)/.installed-docs

.PHONY: demo test lint docs papers accuracy clean lock

demo: $(RUN_STAMP)
	$(BIN)/dpmarkov demo

test: $(DEV_STAMP) lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest  # small solves: threads that wait for each other cost more

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(RUN_STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(DEV_STAMP): $(RUN_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

$(DOCS_STAMP): $(DEV_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

# Tables and figures of the four papers: benchmarks/out/papers.html.
papers: $(DEV_STAMP)
	$(BIN)/python -m benchmarks.papers

# Every mechanism and peer on every data set: benchmarks/out/accuracy.html.
accuracy: $(DEV_STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.accuracy  # one process a core

# The site in site/, from docs/ and the docstrings; strict: a broken link or name fails.
docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Names no host: the versions alone, for every platform.
lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade \
		--no-header --no-annotate --no-emit-index-url --output-file constraints.txt

clean:
	rm -rf $(VENV) benchmarks/out site .mypy_cache .ruff_cache .pytest_cache
