# Every target sets itself up: a fresh clone needs Python 3.11 or later and make, nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help bench test lint calibrate perf clean

help:
	@echo "make bench      the easy cases on the embedded cluster with the reference repairs"
	@echo "make test       lint, types and the plugin's own tests"
	@echo "make calibrate  all cases: oracle must recover every one, noop none"
	@echo "make perf       a table of measured ratios"
	@echo "make clean      remove the virtual environment and caches"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

bench: $(READY)
	$(BIN)/python -m pytest --remediator=oracle -k easy

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest tests -n 2 -W error::pytest.PytestUnraisableExceptionWarning

calibrate: $(READY)
	$(BIN)/python tests/calibration.py oracle noop
	$(BIN)/python tests/calibration.py oracle --full

perf: $(READY)
	$(BIN)/python tests/perf/measure.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
