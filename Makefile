# Every target sets up what it needs (scripts/setup); the second time that takes a moment.
# Arguments go through: make bench-crash ARGS="--engine postgres --rounds 50", make test ARGS="-k journal".

BIN := .venv/bin
ARGS ?=

.PHONY: help setup size run tour check test hunt faults bench-crash bench-write clean

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv, at the versions of constraints.txt
	@scripts/setup

size: setup ## what a core installation takes on disk
	@scripts/size

run: setup ## start the server, and say how to connect to it
	@scripts/demo $(ARGS)

tour: setup ## see it work, on a store that is gone afterwards
	@scripts/tour

check: setup ## lint, formatting, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

test: check ## check, then the whole suite
	$(BIN)/pytest -n 2 $(ARGS)

hunt: setup ## the property tests with new examples, twenty times as many
	RECOLLECT_HUNT=20 $(BIN)/pytest -n 2 -m hypothesis -o faulthandler_timeout=0 $(ARGS)

faults: setup ## attacks and faults in their long form: some hours
	RECOLLECT_HUNT=20 $(BIN)/pytest -n 2 -o faulthandler_timeout=0 $(ARGS) tests/faults tests/store/test_tampering.py \
		tests/store/test_isolation.py tests/store/test_privacy.py tests/policy/test_linear_time.py \
		tests/policy/test_secrets.py tests/policy/test_orders.py tests/flows/test_portions.py \
		tests/flows/test_word_statistics.py tests/flows/test_secret_fields.py tests/interfaces/test_hostile.py \
		tests/interfaces/test_isolation.py tests/interfaces/test_privacy.py tests/interfaces/test_refusals.py \
		tests/interfaces/test_rendering.py tests/interfaces/test_schema.py
	$(BIN)/python -m bench.isolation --engine sqlite --operations 20000
	$(BIN)/python -m bench.isolation --engine postgres --operations 20000
	$(BIN)/python -m bench.crash --engine sqlite --rounds 300
	$(BIN)/python -m bench.crash --engine postgres --rounds 50
	$(BIN)/python -m bench.crash --engine sqlite --rounds 50 --during all
	$(BIN)/python -m bench.crash --engine postgres --rounds 10 --during all
	$(BIN)/python -m bench.freeze

bench-crash: setup ## kill writers and count what was lost
	$(BIN)/python -m bench.crash $(ARGS)

bench-write: setup ## what a durable write costs
	$(BIN)/python -m bench.write $(ARGS)

clean: ## remove everything that was made here
	rm -rf .venv .tools .pytest_cache .ruff_cache .hypothesis build dist
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +
