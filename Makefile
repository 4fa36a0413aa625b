# Every target sets up what it needs in .venv first; scripts/dev.py says how.
PYTHON ?= python3
DEV = @command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not installed. On Debian: apt-get install python3 python3-venv"; exit 1; }; $(PYTHON) scripts/dev.py

.PHONY: help demo test test-tensorflow check setup screenshots proto clean
help:
	@echo "make demo         train the examples and show them in TensorBoard   DEMO_ARGS=--no-serve: only train"
	@echo "make test         all tests                                         TEST_ARGS=\"tests/format -q\": these"
	@echo "make test-tensorflow VERSION=2.16   what leans on TensorFlow, with that version in an environment of its own"
	@echo "make check        linters and types"
	@echo "make screenshots  the README's pictures and texts, taken anew"
	@echo "make proto        the protobuf code, generated anew"
	@echo "make clean        remove what the others made, .venv too"

demo:
	$(DEV) demo $(DEMO_ARGS)

test:
	$(DEV) test $(TEST_ARGS)

test-tensorflow:
	$(DEV) test-tensorflow $(VERSION) $(TEST_ARGS)

screenshots:
	$(DEV) screenshots $(ARGS)

check:
	$(DEV) check

setup proto:
	$(DEV) $@

clean:
	rm -rf .venv .venvs build dist *.egg-info tb_gradhealth.egg-info demo_logs test-artifacts frontend/node_modules tb_gradhealth/serve/static
