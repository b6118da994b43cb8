# Everything, with all extras, lives in .venv; a target installs only when pyproject.toml or constraints.txt changed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: run test browser-test lint format docs bench fuzz chaos soak mutants results clean

run: runs/first/result.json
	$(BIN)/augcl train --method GraphCL --preset published --hardness augcl --out runs/first --resume

runs/first/result.json: $(READY) $(shell find src -name '*.py' -o -name '*.toml')
	$(BIN)/augcl train --method GraphCL --preset published --hardness augcl --out runs/first --overwrite > /dev/null

test: $(READY)
	$(BIN)/pytest -n 2

# Playwright drives the Chromium of the system; where one of them cannot be installed, the tests say so and are skipped.
APT := timeout 400 apt-get -qq -y -o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60

browser-test: $(READY)
	@$(BIN)/python -c "import playwright" 2> /dev/null || $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt playwright || echo "Playwright cannot be installed here"
	@command -v chromium > /dev/null || { $(APT) update && $(APT) install --no-install-recommends chromium; } > /dev/null || echo "Chromium cannot be installed here: install it, or run as root where apt has a network"
	$(BIN)/pytest -rs tests/runs/test_page_in_browser.py || [ $$? -eq 5 ]  # 5: all are skipped

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

bench: $(READY)
	$(BIN)/python -m benchmarks

# Another SEED draws other damage, kills and mutants.
SEED ?= 0

fuzz: $(READY)
	$(BIN)/python -m robustness fuzz --seed $(SEED)

chaos soak mutants: $(READY)
	$(BIN)/python -m robustness $@ $(if $(filter soak,$@),,--seed $(SEED))

results: $(READY)
	$(BIN)/python -m augcl.paper.records results
	$(BIN)/python -m augcl.paper.results

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
