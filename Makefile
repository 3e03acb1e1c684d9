# simdnet. Targets:
#
#   all        libsimdnet.so and libsimdnet.a below build/ (the default)
#   demo       the main job on real input: classifies handwritten digits, see examples/digits/
#   test       every kind of test, in minutes: check, the examples, then pytest, in a .venv that it creates
#   test-full  test with all cases: the checker's whole list, and what pytest samples
#   check      the C tests and the checker, which compares every instruction set of this machine with base; FULL=1 has all cases
#   accuracy   measures exp, log and similar functions over all floats and writes docs/accuracy.md (minutes); with STEP=1000 it
#              takes every 1000th float and only prints
#   operators  writes the first part of docs/operators.md, the operators that models may have, from the cases of the package
#              onnx
#   models     fetches published models into build/models/, for tests and benchmarks: tests/network/real_models.py lists them
#   bench      times the layer cases, as fractions of this machine's limits; with PEERS=1 beside ONNX Runtime, OpenVINO, ncnn
#              and PyTorch, which it installs in .venv-peers; with SWEEP=1 layers drawn at random; see docs/benchmarks.md
#   calibrate  compares the cost models of convolutions with this machine (minutes); CALIBRATE_FLAGS are its options, see
#              docs/benchmarks.md
#   examples   builds and runs the programs in examples/
#   asan       the C tests and the checker, built with clang, AddressSanitizer and UndefinedBehaviorSanitizer
#   tsan       the tests of threads, built with ThreadSanitizer; they include all kinds of contexts in many threads at once
#   scorecard  checks the library's promises, docs/scorecard.md: quick forms, with FULL=1 long ones (hours); ROWS=3,7 selects
#              rows, RESUME=1 goes on where a run was interrupted, KEEP=docs writes the page
#   size       prints the bytes of the library by family and instruction set, docs/size.md
#   lint       mypy --strict and ruff on all Python code
#   docs       the documentation as pages: build/docs/html/index.html
#   install    libraries, headers, simdnet.pc and CMake files in $(DESTDIR)$(PREFIX), without debug information unless STRIP=:;
#              prints their names, with V=1 the commands
#   uninstall  removes the files that install creates
#   wheel      build/dist/pysimd-...-py3-none-manylinux2014_....whl, for every Python 3 on Linux with glibc 2.17 or newer
#   wheel-aarch64  the same for aarch64, by aarch64-linux-gnu-gcc
#   wheel-musl the same for x86-64 Linux with musl 1.2, for example Alpine: musllinux_1_2_x86_64
#   check-musl runs the checker and the library of that wheel with musl's loader
#   sdist      build/dist/pysimd-....tar.gz, the sources from which the wheel is built
#   check-package  builds both from a fresh checkout, installs them in fresh environments and uses them there
#   check-reproducible  builds twice, in different folders and environments, and compares libraries and packages bit by bit
#   clean      removes build/, and docs/api/, which docs writes
#   help       prints this text
#
# A single target uses all processors; -j1 and MAKEFLAGS=-j1 are respected, as are those of a make that calls this one.
# CC, CPPFLAGS, CFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR and STRIP are respected. -march in CFLAGS has no effect: each instruction
# set has its own flags. make ISAS='avx2' builds a smaller library, with these sets and those whose kernels they need. The default
# -g1 is enough for backtraces; CFLAGS='-O2 -g' keeps variables for a debugger, at twice the time and four times the bytes.
# Debug information has names of sources relative to this folder: a debugger that is started elsewhere needs gdb -d FOLDER.
# Cross-build: make CC=aarch64-linux-gnu-gcc RUN='qemu-aarch64 -L ...', and make TARGET=windows, see docs/installing.md; that has the
# targets all and check. Source files are found, not listed.
#
# All files are built in build/<architecture>-<compiler>/, so builds do not mix; build/libsimdnet.so is a link to the library of
# the last make for this machine with all instruction sets. make BUILD=/another/folder builds there and writes nothing into this
# folder, which may be read-only; only test, which compares with build/, and accuracy need this one. If flags change, the affected
# files are built again: `make install` needs the same flags as the `make` before it.

CC      ?= cc
CFLAGS  ?= -O2 -g1
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
PYTHON  ?= python3
RUN     ?=
BUILD   := build

ifneq ($(words $(BUILD)),1)
$(error BUILD must be one folder whose name has no blanks, but is '$(BUILD)')
endif

ifeq ($(origin CC),default)
CC := cc
endif

# Several targets, as in `make clean all`, may depend on their order, and tests need all processors.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS))$(filter -j%,$(shell echo "$$MAKEFLAGS")),0)
MAKEFLAGS += -j$(shell nproc)
endif
# The number of parallel jobs for programs in a recipe. It is known only there.
JOBS = $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),1)

# The system that the library is for: linux or windows. Other projects have a variable of this name in the environment.
ifneq ($(origin TARGET),command line)
TARGET := linux
endif
TOOLS  := $(if $(filter file,$(origin BUILD)),,$(BUILD)/).venv-tools
space  := $(subst ,, )
SOME   := $(if $(strip $(ISAS)),-$(subst $(space),+,$(sort $(ISAS))))
$(if $(filter linux windows,$(TARGET)),,$(error TARGET is linux or windows, not '$(TARGET)'))
include libsrc/$(TARGET).mk

VERSION := $(shell sed -n 's/^\#define SIMDNET_VERSION "\(.*\)"/\1/p' include/simdnet.h)
# Before 1.0 a minor version may remove functions, as 0.2 did: a program loads only the minor version that it was linked with.
MAJOR   := $(firstword $(subst ., ,$(VERSION)))
SONAME  := libsimdnet.so.$(MAJOR)$(if $(filter 0,$(MAJOR)),.$(word 2,$(subst ., ,$(VERSION))))
ARCH    := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
STRIP   ?= $(shell $(CC) -print-prog-name=strip)

VARIANT ?= $(ARCH)-$(notdir $(firstword $(CC)))$(SOME)
B       := $(BUILD)/$(VARIANT)
NATIVE  := $(and $(filter linux,$(TARGET)),$(filter $(ARCH),$(shell uname -m)),$(filter file,$(origin VARIANT)))
PLAIN   := $(if $(strip $(ISAS)),,$(NATIVE))

# With BUILD on the command line nothing is written into the folder of the sources. Python's tools, which write beside what they
# install, are given a folder of links to the sources.
OUTSIDE := $(if $(filter file,$(origin BUILD)),,$(BUILD)/)
PROJECT := $(if $(OUTSIDE),$(BUILD)/project,.)
ifneq ($(OUTSIDE),)
export SIMDNET_LIBRARY     ?= $(abspath $(BUILD))/libsimdnet.so
export PYTHONPYCACHEPREFIX := $(abspath $(BUILD))/pycache
export MYPY_CACHE_DIR      := $(abspath $(BUILD))/mypy_cache
export RUFF_CACHE_DIR      := $(abspath $(BUILD))/ruff_cache
endif

# Quotes any text as one word of a shell command.
quote = '$(subst ','\'',$(1))'

# ---- commands. $(call commands,name) makes $(B)/commands/name a file that contains $(COMMAND_name). It is written again when the
# command changes, so that what depends on it is built again with other flags, by another compiler or from other files.
define command_rules
ifneq ($$(strip $$(file <$$(B)/commands/$(1))),$$(strip $$(COMMAND_$(1))))
.PHONY: $$(B)/commands/$(1)
endif
$$(B)/commands/$(1):
	@mkdir -p $$(@D)
	@printf '%s\n' $$(call quote,$$(strip $$(COMMAND_$(1)))) > $$@
endef
commands = $(foreach name,$(1),$(eval $(call command_rules,$(name))))

# What a failed command has written would look up to date.
.DELETE_ON_ERROR:

.PHONY: all check test bench calibrate accuracy demo examples asan tsan scorecard lint docs install uninstall wheel sdist check-package \
        check-reproducible clean help
all: $(B)/$(LIBRARY) $(B)/libsimdnet.a $(if $(PLAIN),$(BUILD)/libsimdnet.so)

include libsrc/library.mk pysimd/package.mk examples/examples.mk tests/tests.mk

STEP ?=
accuracy: $(B)/tests/accuracy
	$(RUN) $< $(STEP) $(if $(STEP),,> $(B)/accuracy.md && cp $(B)/accuracy.md docs/accuracy.md)

ifeq ($(TARGET),linux)
check: all check-programs
	@JOBS=$(JOBS) tests/sh/check_scripts.sh $(B) "$(CC)" $(RUN)
	$(if $(OPTIMISED),\
	    @echo "== tests/test_disassembly.py"; if command -v $(PYTHON) > /dev/null; then \
	        $(PYTHON) tests/test_disassembly.py $(B)/obj; else echo "skipped: no $(PYTHON)"; fi)
else
check: check-windows
include tests/windows.mk
endif

.PHONY: operators
operators: $(VENV)/test.stamp
	PYTHONPATH=.:tests $(VENV)/bin/python -m network.operators_table

.PHONY: models
models: $(VENV)/models.stamp
	PYTHONPATH=. $(VENV)/bin/python tests/network/real_models.py $(BUILD)/models

examples: $(C_EXAMPLES) $(CXX_EXAMPLES) $(VENV)/test.stamp
	$(NO_JOBS) $(VENV)/bin/python examples/run.py --jobs $(JOBS) --programs $(B)/examples --prefix '$(RUN)' $(EXAMPLE_SRC)

asan:
	ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(MAKE) CC=clang \
	    VARIANT=$(ARCH)-clang-asan CFLAGS='$(ASAN_CFLAGS)' CHECK_FLAGS='--quick $(CHECK_FLAGS)' check-programs

# No reports of threads that are never joined: a forked child has none of its parent's threads, and yet each that had ended by
# then counts as one. The tests count the threads of the process themselves.
tsan:
	$(MAKE) VARIANT=$(TSAN_VARIANT) CFLAGS='-O1 -g1 -fsanitize=thread' $(TSAN_TESTS)
	set -e; export TSAN_OPTIONS='halt_on_error=1 die_after_fork=0 report_thread_leaks=0'; \
	    for t in $(TSAN_TESTS); do echo "== $$t"; setarch -R $$t; done

.PHONY: fuzz-program
fuzz-program:
	$(MAKE) CC=clang ISAS='$(FUZZ_ISAS)' VARIANT=$(ARCH)-clang-fuzz CFLAGS='$(FUZZ_CFLAGS)' $(BUILD)/$(ARCH)-clang-fuzz/fuzz/calls

# ---- all tests: built together, by all processors, and run one after the other, so that each has all processors
test: all $(TESTS) $(VEC_TESTS) $(B)/tests/check $(C_EXAMPLES) $(CXX_EXAMPLES) $(LIMITS) $(OLDER_CPU) $(VENV)/test.stamp
	$(MAKE) --no-print-directory check
	$(MAKE) --no-print-directory examples
	@echo "== pytest"
	$(PYTEST)

.PHONY: test-full
test-full:
	$(MAKE) --no-print-directory test FULL=1

demo: all $(B)/demo/digits $(VENV)/demo.stamp
	@SIMDNET_LIBRARY=$(B)/libsimdnet.so $(VENV)/bin/python examples/digits/demo.py $(B)/demo/digits $(BUILD)/demo/digits.png

bench: all $(LIMITS) $(OLDER_CPU) $(BENCH_STAMPS)
	SIMDNET_LIBRARY=$(B)/libsimdnet.so PYTHONPATH=.:tests $(BENCH_PYTHON) -m bench $(BENCH_MODE) $(BENCH_FLAGS)

calibrate: $(B)/bench/calibrate
	$(RUN) $< $(if $(findstring --shape,$(CALIBRATE_FLAGS)),,--shapes tests/bench/convolutions.txt) $(CALIBRATE_FLAGS)

scorecard: all $(VENV)/test.stamp
	PYTHONPATH=.:tests $(VENV)/bin/python -m scorecard $(SCORECARD_FLAGS)

# ---- the bytes of the library by family and instruction set: the tables of docs/size.md
.PHONY: size
size: $(B)/libsimdnet.so
	@$(STRIP) --strip-unneeded -o $(B)/stripped.so $<
	@$(call tool,size) $(OBJECTS) | awk -v levels='$(LEVELS)' -v folder=$(B)/obj -v total="$$(wc -c < $(B)/stripped.so)" \
	    -f tests/library_size.awk
	@rm $(B)/stripped.so

# ---- lint of Python; pages of documentation. Tools that users do not need are installed in a separate environment.
lint: $(VENV)/test.stamp $(VENV)/dev.stamp
	$(VENV)/bin/python -m mypy
	$(VENV)/bin/python -m ruff check
	$(VENV)/bin/python -m ruff format --check

docs: all $(TOOLS)/docs.stamp | $(PROJECT)/setup.py
	SIMDNET_LIBRARY=$(abspath $(B))/libsimdnet.so $(TOOLS)/bin/python -m sphinx -q -E -a -W --keep-going \
	    -d $(BUILD)/docs/doctrees $(PROJECT)/docs $(BUILD)/docs/html
	@echo $(BUILD)/docs/html/index.html

# Each file is a line; V=1 prints the commands.
install: all
	$(Q)install -d $(TO_LIB)/pkgconfig $(TO_LIB)/$(CMAKE_FILES) $(TO_INCLUDE)
	$(INSTALL_LIBRARY)
	$(Q)install -m 644 $(B)/libsimdnet.a $(TO_LIB)/
	$(Q)$(STRIP) --strip-debug -D $(TO_LIB)/libsimdnet.a
	$(Q)install -m 644 include/simdnet.h include/simdnet_simd.h $(TO_INCLUDE)/
	$(Q)$(FILL_IN) libsrc/simdnet.pc.in > $(TO_LIB)/pkgconfig/simdnet.pc
	$(Q)$(FILL_IN) libsrc/simdnetConfig.cmake.in > $(TO_LIB)/$(CMAKE_FILES)/simdnetConfig.cmake
	$(Q)$(FILL_IN) libsrc/simdnetConfigVersion.cmake.in > $(TO_LIB)/$(CMAKE_FILES)/simdnetConfigVersion.cmake
	@printf 'installed %s\n' $(INSTALLED)

uninstall:
	$(Q)rm -f $(INSTALLED)
	$(Q)rm -rf $(TO_LIB)/$(CMAKE_FILES)
	@printf 'removed %s\n' $(INSTALLED)

wheel: all $(FOR_WHEEL) | $(PROJECT)/setup.py
	@rm -f $(DIST)/*-$(PLATFORM).whl
	PACKAGED=$(FOR_WHEEL) $(TOOLS)/bin/python -m build --wheel --no-isolation \
	    --config-setting=--build-option=--plat-name=$(PLATFORM) --outdir $(DIST) $(PROJECT)

sdist: $(TOOLS)/package.stamp | $(PROJECT)/setup.py
	@rm -f $(DIST)/*.tar.gz
	$(TOOLS)/bin/python -m build --sdist --no-isolation --outdir $(DIST) $(PROJECT)

check-package: all
	tests/sh/check_package.sh

check-reproducible: all $(TOOLS)/package.stamp
	tests/sh/check_reproducible.sh $(B) "$(CC)" $(TOOLS)

clean:
	$(if $(OUTSIDE),$(error remove $(BUILD) by hand: it may contain other files))
	rm -rf build docs/api

help:
	@sed -n '/^# simdnet/,/^$$/s/^# \{0,1\}//p' Makefile

-include $(OBJECTS:.o=.d) $(wildcard $(B)/tests/*.d $(B)/bench/*.d)
