# The course's verbs. Each is a thin call that can be typed without make: see README.md.
#
#   PYTHON=python3.12   which Python makes the environment (3.10 or newer)
#   CPU=1               PyTorch without CUDA on Linux: a much smaller download
#   ARGS="..."          options for JupyterLab, e.g. ARGS="--no-browser --port 9999"

PYTHON ?= python3
ZIP ?= language-model-course.zip
VENV := .venv
BIN := $(VENV)/bin
INDEX := $(if $(CPU),--extra-index-url https://download.pytorch.org/whl/cpu)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Three files at a time, in the order of tests/conftest.py: browsers and kernels wait a good deal.
WORKERS := -n 3 --dist loadfile --no-loadscope-reorder
QUICK := "not slow and not browser and not colab and not marking and not nightly and not pretrained"
ROOT_USER := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)

# Where this variable is set, each of the many processes of the tests compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help lab test check fresh mark slides figures site release test-marking test-machines test-versions test-pretrained pretrained nightly new refresh address zip format clean

help:
	@echo "make lab                            open the course in JupyterLab"
	@echo "make fresh NOTEBOOK=02              lay a fresh working copy beside the old one"
	@echo "make pretrained [ARGS=gemma]        fetch models and data of others (ARGS=all: some 500 MB)"
	@echo "make test                           run every test and every notebook"
	@echo "make check                          the quick ones among the tests, in two minutes"
	@echo "For lecturers:"
	@echo "make slides NOTEBOOK=09             write slides/09_self_attention.html, which needs no network"
	@echo "make figures NOTEBOOK=09            write its figures as PNG and SVG, with their captions"
	@echo "make site                           the course as a website, in build/site"
	@echo "For assistants (see notebooks/labs/README.md):"
	@echo "make mark SUBMISSIONS=folder [SECRET_FILE=file] [HAND=file] [ROSTER=file]    mark a folder of labs"
	@echo "make release [CLASS_TREE=folder SECRET_FILE=file]    labs from their sources, or a class's copy"
	@echo "For maintainers:"
	@echo "make test-marking                   what protects labs and marking, hostile hand-ins included"
	@echo "make test-machines                  all notebooks whole, as several machines compute them"
	@echo "make test-versions                  the quick tests with other versions of Python and PyTorch"
	@echo "make test-pretrained                the models and data that 'make pretrained' fetches"
	@echo "make nightly                        all of these tests, and those that take long"
	@echo "make new NOTEBOOK=15_name           write a skeleton of the next notebook, or of further/02_name"
	@echo "make refresh [NOTEBOOK=02]          execute notebooks and store their outputs"
	@echo "make address REPO=owner/name REF=v1 write the public address into badges and set-up cells"
	@echo "make zip                            write language-model-course.zip, for Colab or without git"
	@echo "make format                         format the code"
	@echo "make clean                          remove the environment and caches (never work/)"
	@echo 'Options: PYTHON=python3.12, CPU=1 (PyTorch without CUDA), ARGS="--no-browser --port 9999"'

# Stamps inside the environment: a second call has nothing to do and needs no network.
$(VENV)/.made:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10))" || { echo \
	  "The course needs Python 3.10 or newer as '$(PYTHON)'; name another: make lab PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null || { echo \
	  "'$(PYTHON)' cannot make environments; install its venv module (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	@echo "Making the environment $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: requirements.txt $(VENV)/.made
	@echo "Installing requirements.txt (once; PyTorch is large)"
	@$(PIP) $(INDEX) -r requirements.txt
	@touch $@

$(VENV)/.tests-installed: pyproject.toml $(VENV)/.installed
	@echo "Installing what the tests need (once)"
	@$(PIP) "setuptools>=77"
	@$(PIP) --no-build-isolation -e ".[test]"
	@touch $@

$(VENV)/.staff-installed: pyproject.toml $(VENV)/.installed
	@echo "Installing what authors and assistants need (once)"
	@$(PIP) "setuptools>=77"
	@$(PIP) --no-build-isolation -e ".[staff]"
	@touch $@

$(VENV)/.site-installed: pyproject.toml $(VENV)/.installed
	@echo "Installing what slides and the site are made of (once)"
	@$(PIP) "setuptools>=77"
	@$(PIP) --no-build-isolation -e ".[site,staff]"
	@touch $@

$(VENV)/.colab-installed: tests/notebooks/colab-requirements.txt $(VENV)/.made
	@echo "Installing Colab's versions beside it, in $(VENV)/colab (once)"
	@$(BIN)/python tests/notebooks/colab_environment.py $(VENV)/colab
	@touch $@

lab: $(VENV)/.installed
	@$(BIN)/python -m helpers.course.workspace
	@$(BIN)/python -m jupyterlab --ServerApp.root_dir=. \
	  --LabApp.default_url=/lab/tree/work/00_start_here.ipynb $(ROOT_USER) $(ARGS)

test: $(VENV)/.tests-installed $(VENV)/.colab-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(WORKERS) -m "not marking and not nightly and not pretrained" \
	  --nbval-lax --nbval-current-env --nbval-kernel-startup-timeout=300 \
	  tests notebooks --ignore notebooks/labs/source

check: $(VENV)/.tests-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(WORKERS) -m $(QUICK) tests

# The oldest that the package takes, Colab's, and the newest: Python=PyTorch.
VERSIONS ?= 3.10=2.6.0 3.12=2.11.0 3.13=2.14.1
test-versions:
	@set -e; for pair in $(VERSIONS); do \
	  python=$${pair%=*} torch=$${pair#*=} folder=build/versions/$$pair; \
	  echo "Python $$python with PyTorch $$torch"; \
	  test -e $$folder/.installed || { \
	    python$$python -m venv --clear $$folder; \
	    pip="$$folder/bin/python -m pip install --quiet --disable-pip-version-check"; \
	    $$pip $(INDEX) torch==$$torch "setuptools>=77"; \
	    $$pip --no-build-isolation -e ".[test]"; touch $$folder/.installed; }; \
	  $$folder/bin/python -m pytest $(WORKERS) -m $(QUICK) tests; \
	done

slides: $(VENV)/.site-installed
	@[ -n "$(NOTEBOOK)" ] || { echo "Name the notebook: make slides NOTEBOOK=09"; exit 2; }
	@$(BIN)/python -m staff.notebooks.slides "$(NOTEBOOK)" $(ARGS)

figures: $(VENV)/.staff-installed
	@[ -n "$(NOTEBOOK)" ] || { echo "Name the notebook: make figures NOTEBOOK=09"; exit 2; }
	@$(BIN)/python -m staff.notebooks.figures "$(NOTEBOOK)" $(ARGS)

site: $(VENV)/.site-installed
	@$(BIN)/python -m staff.site.build $(ARGS)

mark: $(VENV)/.staff-installed
	@[ -n "$(SUBMISSIONS)" ] || { echo "Name the folder of submissions: make mark SUBMISSIONS=folder"; exit 2; }
	@$(BIN)/python -m staff.marking.marking "$(SUBMISSIONS)" \
	  $(if $(SECRET_FILE),--secret-file "$(SECRET_FILE)") $(ARGS)
	@$(BIN)/python -m staff.marking.by_hand "$(SUBMISSIONS)" \
	  $(if $(HAND),--hand "$(HAND)") $(if $(ROSTER),--roster "$(ROSTER)")

release: $(VENV)/.staff-installed
	@$(BIN)/python -m staff.authoring.release \
	  $(if $(CLASS_TREE),--class-tree "$(CLASS_TREE)") \
	  $(if $(SECRET_FILE),--secret-file "$(SECRET_FILE)") $(ARGS)

test-marking: $(VENV)/.tests-installed
	$(BIN)/python -m pytest $(WORKERS) -m marking tests
	$(BIN)/python -m tests.labs.forty_submissions
	@$(BIN)/python -m tests.labs.stamp --write

test-machines: $(VENV)/.tests-installed
	$(BIN)/python -m tests.notebooks.machines $(ARGS)

pretrained: $(VENV)/.installed
	@$(BIN)/python -m helpers.pretrained $(ARGS)

test-pretrained: $(VENV)/.tests-installed
	$(BIN)/python -m pytest -m pretrained tests

nightly: test test-marking test-machines
	$(BIN)/python -m pytest $(WORKERS) -m nightly tests

fresh: $(VENV)/.installed
	@$(BIN)/python -m helpers.course.workspace --fresh $(NOTEBOOK)

new: $(VENV)/.staff-installed
	@[ -n "$(NOTEBOOK)" ] || { echo "Name the notebook: make new NOTEBOOK=15_bert_and_encoders"; exit 2; }
	@$(BIN)/python -m staff.notebooks.new_notebook "$(NOTEBOOK)"

refresh: $(VENV)/.staff-installed
	@$(BIN)/python -m staff.notebooks.refresh $(NOTEBOOK)

address: $(VENV)/.staff-installed
	@$(BIN)/python -m staff.notebooks.address $(REPO) $(REF)

# What students use of the last commit: the sources of the labs hold the solutions. The same commit gives
# the same bytes, whatever the time zone. It needs git alone.
zip:
	@TZ=UTC git archive --format=zip --prefix=language-model-course/ --output="$(ZIP)" HEAD -- data guide helpers \
	  notebooks ":!notebooks/labs/source" CONTRIBUTING.md LICENSE Makefile README.md pyproject.toml requirements.txt
	@echo "wrote $(ZIP)"

format: $(VENV)/.tests-installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
