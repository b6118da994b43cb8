# Everything, with all extras, lives in .venv; a target installs only when pyproject.toml or constraints.txt changed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: run test lint format bench results clean

run: runs/first/result.json
	$(BIN)/augcl train --method GraphCL --preset published --hardness augcl --out runs/first --resume

runs/first/result.json: $(READY) $(shell find src -name '*.py' -o -name '*.toml')
	$(BIN)/augcl train --method GraphCL --preset published --hardness augcl --out runs/first --overwrite > /dev/null

test: $(READY)
	$(BIN)/pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

results: $(READY)
	$(BIN)/python -m augcl.paper.records results
	$(BIN)/python -m augcl.paper.results

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
