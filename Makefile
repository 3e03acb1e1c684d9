# simdnet. Targets:
#
#   all        libsimdnet.so and libsimdnet.a below build/ (the default)
#   demo       the main job on real input: classifies handwritten digits, see examples/digits/
#   test       all tests: check, then pytest and the code in the README, in a .venv that it creates
#   check      the C tests and the checker, which compares every instruction set of this machine with base
#   accuracy   measures exp, log and similar functions over all floats and writes docs/accuracy.md (minutes); with STEP=1000 it
#              takes every 1000th float and only prints
#   operators  writes docs/operators.md, the operators that models may have, from the cases of the package onnx
#   models     fetches published models into build/models/, for tests and benchmarks: tests/real_models.py lists them
#   bench      times the layer cases, as fractions of this machine's limits; with PEERS=1 beside ONNX Runtime, OpenVINO, ncnn
#              and PyTorch, which it installs in .venv-peers; with SWEEP=1 layers drawn at random; see docs/benchmarks.md
#   calibrate  compares the cost models of convolutions with this machine (minutes); CALIBRATE_FLAGS are its options, see
#              docs/benchmarks.md
#   examples   builds and runs the programs in examples/
#   asan       the C tests and the checker, built with clang, AddressSanitizer and UndefinedBehaviorSanitizer
#   tsan       the tests of threads, built with ThreadSanitizer; they include all kinds of contexts in many threads at once
#   scorecard  checks the library's promises, docs/scorecard.md: quick forms, with FULL=1 long ones (hours); ROWS=3,7 selects
#              rows, RESUME=1 goes on where a run was interrupted, KEEP=docs writes the page
#   lint       mypy --strict and ruff on all Python code
#   docs       the documentation as pages: build/docs/html/index.html
#   install    libraries, header, simdnet.pc and CMake files in $(DESTDIR)$(PREFIX), without debug information unless STRIP=:
#   uninstall  removes the files that install creates
#   wheel      build/dist/pysimd-...-py3-none-manylinux_....whl, for every Python 3 on Linux with this glibc or a newer one; with
#              CC=aarch64-linux-gnu-gcc it is for aarch64
#   sdist      build/dist/pysimd-....tar.gz, the sources from which the wheel is built
#   check-package  builds both from a fresh checkout, installs them in fresh environments and uses them there
#   check-reproducible  builds twice, in different folders and environments, and compares libraries and packages bit by bit
#   clean      removes build/, and docs/api/, which docs writes
#   help       prints this text
#
# A single target uses all processors; -j1 and MAKEFLAGS=-j1 are respected, as are those of a make that calls this one.
# CC, CPPFLAGS, CFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR and STRIP are respected. -march in CFLAGS has no effect: each instruction
# set has its own flags. make ISAS='avx2' builds a smaller library, with these sets and those that they are built on. The default
# -g1 is enough for backtraces; CFLAGS='-O2 -g' keeps variables for a debugger, at twice the time and four times the bytes.
# Debug information has names of sources relative to this folder: a debugger that is started elsewhere needs gdb -d FOLDER.
# Cross-build: make CC=aarch64-linux-gnu-gcc RUN='qemu-aarch64 -L ...'. Source files are found, not listed.
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

VERSION := $(shell sed -n 's/^\#define SIMDNET_VERSION "\(.*\)"/\1/p' include/simdnet.h)
# Before 1.0 a minor version may remove functions, as 0.2 did: a program loads only the minor version that it was linked with.
MAJOR   := $(firstword $(subst ., ,$(VERSION)))
SONAME  := libsimdnet.so.$(MAJOR)$(if $(filter 0,$(MAJOR)),.$(word 2,$(subst ., ,$(VERSION))))
ARCH    := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
STRIP   ?= $(shell $(CC) -print-prog-name=strip)

# ---- instruction sets: the tree in isa/levels.h, or the part of it that ISAS names, with all sets that these are built on. Only
# the objects of a set are compiled with its flags, in addition to those for every machine of the architecture.
ISAS       ?=
LEVEL_LIST ?= libsrc/isa/levels.h
TREE       := $(shell $(CC) -E -P -x c '-DSN_LEVEL(name, parent, needs)=name:parent' $(LEVEL_LIST))
KNOWN      := $(foreach row,$(TREE),$(firstword $(subst :, ,$(row))))
UNKNOWN    := $(filter-out $(KNOWN),$(ISAS))
$(if $(UNKNOWN),$(error ISAS: no instruction set $(UNKNOWN); there are $(KNOWN)))

parent  = $(patsubst $(1):%,%,$(filter $(1):%,$(TREE)))
lineage = $(if $(filter-out base,$(1)),$(1) $(call lineage,$(call parent,$(1))))
LEVELS := $(filter $(foreach level,$(or $(ISAS),$(KNOWN)),$(call lineage,$(level))),$(KNOWN))
include $(LEVELS:%=libsrc/isa/%/level.mk)
# A level that improves some kernels of its parent uses the vocabulary of its parent; only those kernels are compiled for it.
folders = $(1) $(if $(KERNELS_$(1)),$(call folders,$(call parent,$(1))))

BASE_x86_64    := -march=x86-64
# Inline atomics, because outline atomics need a constructor, and the library has none.
BASE_aarch64   := -march=armv8-a -mno-outline-atomics

# ---- flags that the user cannot change
WARNINGS  := -Wall -Wextra -Wshadow -Wundef -Wvla -Wmissing-prototypes -Wstrict-prototypes
SN_CFLAGS := $(BASE_$(ARCH)) -std=c99 -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-lto -pthread $(WARNINGS) \
             -Iinclude -Ilibsrc -MMD -MP
# Unless it is told, clang raises exceptions that the C code does not: it divides several elements at once by divisors of which some
# are 0, and then chooses among the quotients. Kernels of vectors state what is computed, so this is for the other sources. (clang
# 14 has the option for x86-64 alone.)
EXCEPTIONS := $(if $(filter x86_64,$(ARCH)),$(if $(shell $(CC) -dM -E -x c /dev/null | grep __clang__),-ffp-exception-behavior=maytrap))
SN_LIBS   := -lm -lpthread -ldl
# The runtime of clang's sanitizers is in the program alone: a shared library has undefined names then.
SANITIZED := $(findstring -fsanitize,$(CFLAGS))
SO_FLAGS  := -shared -Wl,-soname,$(SONAME) -Wl,--version-script=libsrc/simdnet.map -Wl,-z,nodelete -Wl,-z,relro \
             -Wl,-z,now -Wl,-z,noexecstack $(if $(SANITIZED),,-Wl,--no-undefined)

space   := $(subst ,, )
VARIANT ?= $(ARCH)-$(notdir $(firstword $(CC)))$(if $(strip $(ISAS)),-$(subst $(space),+,$(sort $(ISAS))))
B       := $(BUILD)/$(VARIANT)
NATIVE  := $(and $(filter $(ARCH),$(shell uname -m)),$(filter file,$(origin VARIANT)))
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
# Sphinx follows links to the sources, so the documentation is copied.
.PHONY: $(PROJECT)/setup.py
$(PROJECT)/setup.py:
	@mkdir -p $(@D) && rm -rf $(@D)/docs && cp -Rp docs $(@D)/
	@ln -sfn $(patsubst %,"$$PWD"/%,$(filter-out build dist docs %.egg-info,$(wildcard *))) $(@D)/
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

# ---- what is built from what. Sorted: the order of wildcards depends on make's version and on the locale.
sources    = $(sort $(wildcard $(1)))
COMMON_SRC := $(call sources,libsrc/api/*.c libsrc/ops/*.c libsrc/dispatch/*.c libsrc/runtime/*.c)
KERNEL_SRC := $(call sources,libsrc/kernels/*.c)
REFERENCE_SRC := $(call sources,libsrc/reference/*.c)
SMALL      := $(patsubst libsrc/%.c,$(B)/obj/%.o,$(COMMON_SRC) $(REFERENCE_SRC))
OBJECTS    := $(SMALL)

.PHONY: all check test bench calibrate accuracy demo examples asan tsan scorecard lint docs install uninstall wheel sdist check-package \
        check-reproducible clean help
all: $(B)/libsimdnet.so $(B)/libsimdnet.a $(if $(PLAIN),$(BUILD)/libsimdnet.so)

# An object's folder also contains what make generates for its source. The folders of sources and builds appear neither in objects,
# so that builds in different folders are equal, nor in commands, so that a moved folder is not built again. $$PWD is what
# compilers write into debug information; $(CURDIR) differs below a symbolic link. With hash_dir=false, ccache would return objects
# compiled in other folders without these flags.
MAPPED    = -ffile-prefix-map="$$PWD"=. -ffile-prefix-map=$(B)=build
TO_OBJECT = -I$(@D) $(MAPPED) -c $< -o $@
export CCACHE_HASHDIR := true

COMMAND_compile = $(CC) $(CPPFLAGS) $(CFLAGS) $(SN_CFLAGS)
COMMAND_small   = $(COMMAND_compile) $(EXCEPTIONS)
$(call commands,compile small)
$(B)/obj/%.o: libsrc/%.c $(B)/commands/small
	@mkdir -p $(@D)
	$(COMMAND_small) $(TO_OBJECT)

# Names of local functions end with their level, so that profiles distinguish levels: relu_32f becomes relu_32f_avx2, and
# relu_32f.cold becomes relu_32f_avx2.cold. Without the compiler's nm and objcopy they are not changed.
tool    = $(shell command -v "$$($(CC) -print-prog-name=$(1))")
NM      := $(call tool,nm)
OBJCOPY := $(call tool,objcopy)
LD      := $(call tool,ld)
ADD_LEVEL = $$2 == "t" && !seen[$$3]++ { name = $$3; sub(/\.|$$/, "_$(1)&", name); print $$3, name }
name_level = $(if $(and $(NM),$(OBJCOPY)),@$(NM) $@ | awk '$(ADD_LEVEL)' | $(OBJCOPY) --redefine-syms=/dev/stdin $@)
COMMAND_names = $(NM) $(OBJCOPY) $(value ADD_LEVEL)
$(call commands,names)

# Collects the lines SN_INSTALL(...) of some files for install.c of kernels/ and reference/, and likewise the checker's families.
collect = @mkdir -p $(@D); grep -oh '^$(1)([^)]*)' $(filter %.c,$^) > $@

# gcc reads <immintrin.h> in 0.25 s (AVX2) or 0.15 s (AVX-512), most kernels compile in less: so the header that a level names
# as HEADER_<level> is compiled once, to a file that gcc maps in 0.02 s. It can only replace what comes before all code, hence
# -include. clang reads the header itself; so does ccache, to which this is the same source.
define header_rules
HEADER_OF_$(1) := $(B)/obj/$(1)/kernels/intrinsics.h.gch
$(B)/obj/$(1)/kernels/intrinsics.h.gch: $(B)/commands/$(1)
	@mkdir -p $$(@D); echo '#include <$(HEADER_$(1))>' > $$(basename $$@)
	$$(COMMAND_$(1)) $$(MAPPED) -x c-header $$(basename $$@) -o $$@
endef
$(foreach level,$(LEVELS),$(if $(HEADER_$(level)),$(eval $(call header_rules,$(level)))))

# One set of rules for each level: kernels/ compiled with the files in isa/ for the level, its parents or its vocabulary.
define level_rules
VOCABULARY_$(1) := $$(lastword $$(call folders,$(1)))
SRC_$(1)     := $(if $(KERNELS_$(1)),$(KERNELS_$(1):%=libsrc/kernels/%.c) libsrc/kernels/install.c,$(KERNEL_SRC))
OBJECTS      += $$(SRC_$(1):libsrc/%.c=$(B)/obj/$(1)/%.o)
COMMAND_$(1)  = $$(COMMAND_compile) $(FLAGS_$(1)) -DSN_ISA=$(1) -DSN_VOCABULARY=$$(VOCABULARY_$(1)) \
                $(patsubst %,-Ilibsrc/isa/%,$(call folders,$(1))) -Ilibsrc/kernels/default
$(B)/obj/$(1)/%.o: libsrc/%.c $(B)/commands/$(1) $(B)/commands/names $(HEADER_OF_$(1))
	@mkdir -p $$(@D)
	$$(COMMAND_$(1)) $(if $(HEADER_$(1)),-include intrinsics.h) $$(TO_OBJECT)
	$$(call name_level,$(1))
$(B)/obj/$(1)/kernels/installs.h: $$(filter-out %/install.c,$$(SRC_$(1))) $(B)/commands/$(1) $(B)/commands/archive
	$$(call collect,SN_INSTALL)
$(B)/obj/$(1)/kernels/install.o: $(B)/obj/$(1)/kernels/installs.h
endef
$(foreach level,$(LEVELS),$(eval $(call level_rules,$(level))))
$(call commands,$(LEVELS))

$(B)/obj/reference/%.o: libsrc/reference/%.c $(B)/commands/small $(B)/commands/names
	@mkdir -p $(@D)
	$(COMMAND_small) $(TO_OBJECT)
	$(call name_level,base)
$(B)/obj/reference/installs.h: $(filter-out %/install.c,$(REFERENCE_SRC)) $(B)/commands/compile $(B)/commands/archive
	$(call collect,SN_INSTALL)
$(B)/obj/reference/install.o: $(B)/obj/reference/installs.h

COMMAND_levels = $(LEVEL_LIST): base $(LEVELS)
$(call commands,levels)
$(B)/obj/dispatch/levels.h: $(LEVEL_LIST) $(B)/commands/levels
	@mkdir -p $(@D); grep $(patsubst %,-e '^SN_LEVEL.%[^a-z0-9]',base $(LEVELS)) $< > $@
$(B)/obj/dispatch/dispatch.o: $(B)/obj/dispatch/levels.h

COMMAND_link    = $(CC) $(CFLAGS) $(SO_FLAGS) $(LDFLAGS) $(OBJECTS) $(SN_LIBS)
COMMAND_archive = $(AR) rcsD $(B)/internal.a $(OBJECTS)
COMMAND_static  = $(LD) -r $(OBJECTS) -o $(B)/simdnet.o $(if $(OBJCOPY),&& $(OBJCOPY) --localize-hidden $(B)/simdnet.o)
$(call commands,link archive static)
# Kernels first: behind objects of a second or two, those of 0.1 s keep all processors busy to the end.
$(B)/libsimdnet.so: $(filter-out $(SMALL),$(OBJECTS)) $(SMALL) libsrc/simdnet.map $(B)/commands/link
	$(COMMAND_link) -o $@
	@ln -sf libsimdnet.so $(B)/$(SONAME)

# The link to the library of the last plain make, even if that had nothing to build.
ifneq ($(shell readlink $(BUILD)/libsimdnet.so),$(VARIANT)/libsimdnet.so)
.PHONY: $(BUILD)/libsimdnet.so
endif
$(BUILD)/libsimdnet.so: | $(B)/libsimdnet.so
	@ln -sfn $(VARIANT)/libsimdnet.so $@ && ln -sfn libsimdnet.so $(BUILD)/$(SONAME)

# The static library is one object in which internal names are local, so that they cannot clash with those of a program or of
# another library. A program that calls one function has 3.93 MB; with an archive of all objects it has 3.74, since the tables of
# kernels refer to most of them.
$(B)/libsimdnet.a: $(OBJECTS) $(B)/commands/static
	$(COMMAND_static)
	@rm -f $@
	$(AR) rcsD $@ $(B)/simdnet.o
	@rm $(B)/simdnet.o

# Tests link internal functions.
$(B)/internal.a: $(OBJECTS) $(B)/commands/archive
	@rm -f $@
	$(COMMAND_archive)

# ---- the limits of the machine, for the benchmarks and the checker's --bench: limits_set.c is compiled once per instruction set,
# like kernels
LIMITS_OBJ  := $(B)/bench/limits.o $(LEVELS:%=$(B)/bench/limits_%.o)
LIMITS      := $(B)/bench/liblimits.so

COMMAND_limits_link = $(CC) $(CFLAGS) -shared -Wl,--no-undefined $(LDFLAGS) $(LIMITS_OBJ)
$(call commands,limits_link)
$(B)/bench/limits.o: tests/bench/limits.c $(B)/obj/dispatch/levels.h $(B)/commands/compile
	@mkdir -p $(@D)
	$(COMMAND_compile) -I$(B)/obj/dispatch -c $< -o $@

$(LEVELS:%=$(B)/bench/limits_%.o): $(B)/bench/limits_%.o: tests/bench/limits_set.c $(B)/commands/%
	@mkdir -p $(@D)
	$(COMMAND_$*) -c $< -o $@

$(LIMITS): $(LIMITS_OBJ) $(B)/commands/limits_link
	$(COMMAND_limits_link) -o $@

# ---- C tests: each tests/c/test_*.c is a program; check_*.c and check.c together are the checker. They are linked with internal.a
# because the libraries hide internal functions. test_vec*.c are compiled once per instruction set, like kernels.
TEST_CFLAGS := $(SN_CFLAGS) -Itests -Itests/c
VEC_SRC     := $(wildcard tests/c/test_vec*.c)
TESTS       := $(patsubst tests/c/%.c,$(B)/tests/%,$(filter-out $(VEC_SRC),$(wildcard tests/c/test_*.c)))
VOCABULARIES := $(foreach level,$(LEVELS),$(if $(KERNELS_$(level)),,$(level)))
VEC_TESTS   := $(foreach source,$(VEC_SRC),$(VOCABULARIES:%=$(B)/tests/$(basename $(notdir $(source)))_%))
CHECK_OBJ   := $(patsubst tests/c/%.c,$(B)/tests/%.o,$(wildcard tests/c/check*.c))

# Replacements of C library functions that some tests use, for the library and for themselves.
WRAP_test_cpu        := -Wl,--wrap=open,--wrap=sysconf
WRAP_test_allocation := -Wl,--wrap=malloc,--wrap=calloc,--wrap=free,--wrap=posix_memalign,--wrap=pthread_setspecific
WRAP_test_threads    := -Wl,--wrap=syscall,--wrap=sched_setaffinity
WRAP_test_thread_number := -Wl,--wrap=pthread_atfork,--wrap=sched_getaffinity

# The test of the list of instruction sets contains the full list.
DEFINE_test_cpu := $(if $(strip $(ISAS)),-DSOME_ISAS)

COMMAND_test    = $(CC) $(CPPFLAGS) $(CFLAGS) $(TEST_CFLAGS)
COMMAND_program = $(CC) $(CFLAGS) $(LDFLAGS) $(foreach program,cpu allocation threads thread_number,$(WRAP_test_$(program))) $(SN_LIBS)
COMMAND_check   = $(COMMAND_program) $(CHECK_OBJ) $(LIMITS_OBJ)
$(call commands,test program check)
TEST_LINK = $(CC) $(CFLAGS) $(filter %.o,$^) $(B)/internal.a $(LDFLAGS) $(WRAP_$(@F)) $(SN_LIBS) -o $@

$(B)/tests/%.o: tests/c/%.c $(B)/commands/test
	@mkdir -p $(@D)
	$(COMMAND_test) $(DEFINE_$(*F)) -I$(@D) -c $< -o $@

$(B)/tests/families.h: $(wildcard tests/c/check_*.c) $(B)/commands/check
	$(call collect,CHECK_FAMILY)
$(B)/tests/check.o: $(B)/tests/families.h

define vec_test_rules
$(B)/tests/$(basename $(notdir $(1)))_$(2): $(1) $(B)/internal.a $(B)/commands/test $(B)/commands/$(2) $(B)/commands/program
	@mkdir -p $$(@D)
	$$(COMMAND_$(2)) -Itests -Itests/c -MF $$@.d -MT $$@ $$< $$(B)/internal.a $$(LDFLAGS) $$(SN_LIBS) -o $$@
endef
$(foreach source,$(VEC_SRC),$(foreach isa,$(VOCABULARIES),$(eval $(call vec_test_rules,$(source),$(isa)))))

$(TESTS) $(B)/tests/accuracy: $(B)/tests/%: $(B)/tests/%.o $(B)/internal.a $(B)/commands/program
	$(TEST_LINK)

$(B)/tests/check: $(CHECK_OBJ) $(LIMITS_OBJ) $(B)/internal.a $(B)/commands/check
	$(TEST_LINK)

STEP ?=
accuracy: $(B)/tests/accuracy
	$(RUN) $< $(STEP) $(if $(STEP),,> $(B)/accuracy.md && cp $(B)/accuracy.md docs/accuracy.md)

# Not empty if instructions and stack sizes are those of a normal build.
OPTIMISED := $(and $(filter -O2 -O3,$(CFLAGS)),$(if $(SANITIZED),,yes))

# A shape that at least three algorithms support on every level with a tile.
CALIBRATE_SMALL := '1x16x6x6->16x6x6,3x3,nhwc'

.PHONY: check-programs
check: all check-programs
	@echo "== tests/check_library.sh"; tests/check_library.sh $(B) "$(CC)" $(RUN)
	@echo "== tests/check_install.sh"; tests/check_install.sh $(B) "$(CC)" $(RUN)
	@echo "== tests/check_build.sh"; tests/check_build.sh $(B) "$(CC)" $(RUN)
	@echo "== tests/check_levels.sh"; tests/check_levels.sh $(B) "$(CC)" $(RUN)
	$(if $(OPTIMISED),\
	    @echo "== tests/test_disassembly.py"; if command -v $(PYTHON) > /dev/null; then \
	        $(PYTHON) tests/test_disassembly.py $(B)/obj; else echo "skipped: no $(PYTHON)"; fi)

# The largest stack of a call, in KB. In pooling and in Winograd transforms, clang 14 gives each inlined instance its own arrays,
# where gcc uses the same memory for all.
STACK := $(if $(findstring clang,$(CC)),80,64)

# CHECK_FLAGS are the checker's options: make check CHECK_FLAGS='--quick --seed 7'. With --quick the first run is omitted, because
# the last one finds the same.
CHECK = $(RUN) $(B)/tests/check --jobs $(JOBS) $(CHECK_FLAGS)
check-programs: $(TESTS) $(VEC_TESTS) $(B)/tests/check $(B)/bench/calibrate
	@set -e; for t in $(VEC_TESTS) $(TESTS); do echo "== $$t"; $(RUN) $$t; done; \
	 $(if $(and $(OPTIMISED),$(findstring --quick,$(CHECK_FLAGS))),,echo "== $(B)/tests/check"; $(CHECK);) \
	 echo "== $(B)/bench/calibrate"; $(RUN) $(B)/bench/calibrate --shape $(CALIBRATE_SMALL); \
	 $(if $(RUN),,echo "== $(B)/tests/check --threads 5"; $(CHECK) --quick --threads 5;) \
	 $(if $(OPTIMISED),echo "== $(B)/tests/check --stack $(STACK)"; $(CHECK) --quick --stack $(STACK))

# Loops are not unrolled here (SN_UNROLL in runtime/common.h), and three checks are omitted, because clang 14 would need minutes for
# some files with either; AddressSanitizer finds nearly all of the same faults.
ASAN_CFLAGS := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=null,pointer-overflow,object-size
asan:
	ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(MAKE) CC=clang \
	    VARIANT=$(ARCH)-clang-asan CFLAGS='$(ASAN_CFLAGS)' CHECK_FLAGS='--quick $(CHECK_FLAGS)' check-programs

# Tests of threads under ThreadSanitizer, which requires that addresses are not randomised.
TSAN_VARIANT := $(ARCH)-$(notdir $(firstword $(CC)))-tsan
TSAN_TESTS := $(addprefix $(BUILD)/$(TSAN_VARIANT)/tests/,test_callers test_races test_threads test_verbose)
tsan:
	$(MAKE) VARIANT=$(TSAN_VARIANT) CFLAGS='-O1 -g1 -fsanitize=thread' $(TSAN_TESTS)
	set -e; export TSAN_OPTIONS='halt_on_error=1 die_after_fork=0'; \
	    for t in $(TSAN_TESTS); do echo "== $$t"; setarch -R $$t; done

# ---- Python: a virtual environment for this checkout, with a stamp for each extra of pyproject.toml that is installed.
# $(call pip,environment) runs pip there, one at a time.
pip = flock $(1) $(1)/bin/python -m pip install --quiet --disable-pip-version-check

VENV := $(OUTSIDE).venv
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); false; }

$(VENV)/%.stamp: pyproject.toml setup.py | $(VENV)/bin/python $(PROJECT)/setup.py
	$(call pip,$(VENV)) --editable '$(PROJECT)[$*]'
	@touch $@

.PHONY: operators
operators: $(VENV)/test.stamp
	cd tests && $(abspath $(VENV))/bin/python operators_table.py

.PHONY: models
models: $(VENV)/models.stamp
	PYTHONPATH=. $(VENV)/bin/python tests/real_models.py $(BUILD)/models

# ---- examples: the compiled ones are linked with the shared library like any program; run.py runs all of them and compares their
# output with that in their sources. The default C++ compiler is the one that belongs to the C compiler.
EXAMPLE_SRC  := $(wildcard examples/[0-9]*)
C_EXAMPLES   := $(patsubst examples/%.c,$(B)/examples/%,$(filter %.c,$(EXAMPLE_SRC)))
CXX_EXAMPLES := $(patsubst examples/%.cpp,$(B)/examples/%,$(filter %.cpp,$(EXAMPLE_SRC)))
EXAMPLE_LINK  = -pthread -Iinclude $< -L$(B) -lsimdnet -lm -Wl,-rpath,$(abspath $(B)) $(LDFLAGS) -o $@

ifeq ($(origin CXX),default)
CXX := $(patsubst cc,c++,$(subst gcc,g++,$(subst clang,clang++,$(CC))))
endif

COMMAND_example     = $(CC) $(CFLAGS) -std=c99 $(WARNINGS) $(LDFLAGS)
COMMAND_cxx_example = $(CXX) $(CFLAGS) -std=c++11 -Wall -Wextra $(LDFLAGS)
$(call commands,example cxx_example)

$(C_EXAMPLES): $(B)/examples/%: examples/%.c include/simdnet.h $(B)/libsimdnet.so $(B)/commands/example
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 $(WARNINGS) $(EXAMPLE_LINK)

$(CXX_EXAMPLES): $(B)/examples/%: examples/%.cpp include/simdnet.h $(B)/libsimdnet.so $(B)/commands/cxx_example
	@mkdir -p $(@D)
	@if command -v $(firstword $(CXX)) > /dev/null; then \
	    set -x; $(CXX) $(CFLAGS) -std=c++11 -Wall -Wextra $(EXAMPLE_LINK); else echo "no $(CXX)"; fi

# For programs that call make: the jobs of this make are not shared with them.
NO_JOBS = MAKEFLAGS='$(if $(OUTSIDE),BUILD=$(BUILD))'

examples: $(C_EXAMPLES) $(CXX_EXAMPLES) $(VENV)/test.stamp
	$(NO_JOBS) $(VENV)/bin/python examples/run.py --programs $(B)/examples --prefix '$(RUN)' $(EXAMPLE_SRC)

# ---- all tests: built together, by all processors, and run one after the other, so that each has all processors
test: all $(TESTS) $(VEC_TESTS) $(B)/tests/check $(C_EXAMPLES) $(CXX_EXAMPLES) $(LIMITS) $(VENV)/test.stamp
	$(MAKE) --no-print-directory check
	$(MAKE) --no-print-directory examples
	@echo "== pytest"
	$(PYTEST)

# Each file of tests runs in one worker, with the fixtures that its tests share.
PYTEST = $(NO_JOBS) $(VENV)/bin/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_FLAGS)

# ---- the demo: without matplotlib it draws no picture, and the next run tries to install it again
DIGITS_SRC := $(wildcard examples/digits/*.c)

$(B)/demo/digits: $(DIGITS_SRC) examples/digits/digits_files.h include/simdnet.h $(B)/libsimdnet.so $(B)/commands/example
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 $(WARNINGS) -Iinclude $(DIGITS_SRC) -L$(B) -lsimdnet -lm -Wl,-rpath,$(abspath $(B)) $(LDFLAGS) -o $@

$(VENV)/demo.stamp: pyproject.toml setup.py | $(VENV)/bin/python $(PROJECT)/setup.py
	$(call pip,$(VENV)) --editable '$(PROJECT)[demo]' && touch $@ || $(call pip,$(VENV)) --editable $(PROJECT)

demo: all $(B)/demo/digits $(VENV)/demo.stamp
	@SIMDNET_LIBRARY=$(B)/libsimdnet.so $(VENV)/bin/python examples/digits/demo.py $(B)/demo/digits $(BUILD)/demo/digits.png

# ---- the benchmarks: BENCH_FLAGS are their options, see make bench BENCH_FLAGS=--help. The libraries that they compare with are
# installed in a separate environment, so that no test finds them. One that cannot be installed is omitted, and the next run tries
# again.
PEERS      ?=
PEERS_VENV := $(OUTSIDE).venv-peers
PEERS_PIP  := $(call pip,$(PEERS_VENV))

$(PEERS_VENV)/bin/python:
	$(PYTHON) -m venv $(PEERS_VENV) || { rm -rf $(PEERS_VENV); false; }

$(PEERS_VENV)/pysimd.stamp: pyproject.toml | $(PEERS_VENV)/bin/python
	$(PEERS_PIP) numpy cffi
	@touch $@

# The packages for the progress bar and the pictures; without them bench prints lines and writes JSON.
$(PEERS_VENV)/bench.stamp: | $(PEERS_VENV)/pysimd.stamp
	$(PEERS_PIP) tqdm matplotlib && touch $@ || echo "tqdm, matplotlib: not installed"

$(VENV)/bench.stamp: pyproject.toml setup.py | $(VENV)/bin/python $(PROJECT)/setup.py
	$(call pip,$(VENV)) --editable '$(PROJECT)[bench]' && touch $@ || $(call pip,$(VENV)) --editable $(PROJECT)

PEERS_onnxruntime := onnx onnxruntime
PEERS_openvino    := openvino
PEERS_ncnn        := ncnn
$(PEERS_VENV)/%.stamp: | $(PEERS_VENV)/pysimd.stamp
	$(PEERS_PIP) $(PEERS_$*) && touch $@ || echo "$*: not installed"

# The program that converts ONNX files for ncnn; its package requires PyTorch, which the program does not use.
$(PEERS_VENV)/pnnx.stamp: | $(PEERS_VENV)/pysimd.stamp
	$(PEERS_PIP) --no-deps pnnx && touch $@ || echo "pnnx: not installed"

# Without the libraries for graphics cards, which are gigabytes. PyTorch's own index has this build if the usual one does not.
PEERS_torch := torch==2.13.0+cpu
$(PEERS_VENV)/torch.stamp: | $(PEERS_VENV)/pysimd.stamp
	$(PEERS_PIP) $(PEERS_torch) || $(PEERS_PIP) --index-url https://download.pytorch.org/whl/cpu $(PEERS_torch); \
	    if [ $$? = 0 ]; then touch $@; else echo "torch: not installed"; fi

SWEEP        ?=
BENCH_PYTHON := $(if $(PEERS)$(SWEEP),$(PEERS_VENV)/bin/python,$(VENV)/bin/python)
BENCH_STAMPS := $(if $(PEERS),$(patsubst %,$(PEERS_VENV)/%.stamp,pysimd bench onnxruntime openvino ncnn pnnx torch),\
    $(if $(SWEEP),$(patsubst %,$(PEERS_VENV)/%.stamp,pysimd bench onnxruntime openvino),$(VENV)/bench.stamp))
# A layer of a sweep that is timed again does not replace the file of all.
BENCH_MODE   := $(if $(SWEEP),--sweep $(if $(findstring --only,$(BENCH_FLAGS)),,--json $(BUILD)/sweep.json),\
    $(if $(PEERS),--peers) --json $(BUILD)/bench.json)
bench: all $(LIMITS) $(BENCH_STAMPS)
	SIMDNET_LIBRARY=$(B)/libsimdnet.so PYTHONPATH=.:tests $(BENCH_PYTHON) -m bench $(BENCH_MODE) $(BENCH_FLAGS)

# The cost models compared with this machine: CALIBRATE_FLAGS='--isa avx2 --only 3x3'.
CALIBRATE_OBJ := $(B)/bench/calibrate.o $(LIMITS_OBJ)
COMMAND_calibrate = $(COMMAND_program) $(CALIBRATE_OBJ)
$(call commands,calibrate)
$(B)/bench/calibrate.o: tests/bench/calibrate.c $(B)/commands/test
	@mkdir -p $(@D)
	$(COMMAND_test) -c $< -o $@

$(B)/bench/calibrate: $(CALIBRATE_OBJ) $(B)/internal.a $(B)/commands/calibrate
	$(TEST_LINK)

calibrate: $(B)/bench/calibrate
	$(RUN) $< $(if $(findstring --shape,$(CALIBRATE_FLAGS)),,--shapes tests/bench/convolutions.txt) $(CALIBRATE_FLAGS)

# ---- fuzzing: a program of clang's libFuzzer, with AddressSanitizer, which calls every function on the levels of FUZZ_ISAS, those
# of the machine; tests/fuzz/fuzz_calls.py calls this and runs it. Loops are not unrolled, as under asan. Comparisons are not traced:
# the program reads small numbers from its bytes, so that their operands tell libFuzzer nothing, and calls took twice as long.
FUZZ_SRC    := $(wildcard tests/fuzz/*.c)
FUZZ_OBJ    := $(FUZZ_SRC:tests/%.c=$(B)/%.o)
FUZZ_CFLAGS := -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address -fno-sanitize-coverage=trace-cmp \
               -fno-sanitize-address-use-after-scope
FUZZ_ISAS   ?= $(LEVELS)
$(B)/fuzz/%.o: tests/fuzz/%.c $(B)/commands/test
	@mkdir -p $(@D)
	$(COMMAND_test) -c $< -o $@

$(B)/fuzz/calls: $(FUZZ_OBJ) $(B)/internal.a
	$(CC) $(CFLAGS) -fsanitize=fuzzer $(FUZZ_OBJ) $(B)/internal.a $(LDFLAGS) $(SN_LIBS) -o $@

.PHONY: fuzz-program
fuzz-program:
	$(MAKE) CC=clang ISAS='$(FUZZ_ISAS)' VARIANT=$(ARCH)-clang-fuzz CFLAGS='$(FUZZ_CFLAGS)' $(BUILD)/$(ARCH)-clang-fuzz/fuzz/calls

# ---- the card of promises
SCORECARD_FLAGS = $(if $(FULL),--full) $(if $(ROWS),--rows $(ROWS)) $(if $(RESUME),--resume) $(if $(KEEP),--keep $(KEEP)) \
                  $(if $(MINUTES),--minutes $(MINUTES))
scorecard: all $(VENV)/test.stamp
	PYTHONPATH=.:tests $(VENV)/bin/python -m scorecard $(SCORECARD_FLAGS)

# ---- lint of Python; pages of documentation. Tools that users do not need are installed in a separate environment.
lint: $(VENV)/test.stamp $(VENV)/dev.stamp
	$(VENV)/bin/python -m mypy
	$(VENV)/bin/python -m ruff check
	$(VENV)/bin/python -m ruff format --check

TOOLS := $(OUTSIDE).venv-tools
$(TOOLS)/bin/python:
	$(PYTHON) -m venv $(TOOLS) || { rm -rf $(TOOLS); false; }

$(TOOLS)/%.stamp: pyproject.toml setup.py | $(TOOLS)/bin/python $(PROJECT)/setup.py
	$(call pip,$(TOOLS)) --editable '$(PROJECT)[$*]'
	@touch $@

docs: all $(TOOLS)/docs.stamp | $(PROJECT)/setup.py
	SIMDNET_LIBRARY=$(abspath $(B))/libsimdnet.so $(TOOLS)/bin/python -m sphinx -q -E -a -W --keep-going \
	    -d $(BUILD)/docs/doctrees $(PROJECT)/docs $(BUILD)/docs/html
	@echo $(BUILD)/docs/html/index.html

# ---- installing. PREFIX, LIBDIR and DESTDIR may contain blanks and characters that are special to a shell or to sed.
TO_LIB     = $(call quote,$(DESTDIR)$(LIBDIR))
TO_INCLUDE = $(call quote,$(DESTDIR)$(PREFIX)/include)
in_sed     = $(call quote,s|$(1)|$(subst |,\|,$(subst &,\&,$(subst \,\\,$(2))))|)

# The files for pkg-config and CMake are templates. Those for CMake have the path from their own folder to the header's, so that
# an installed tree can be moved.
CMAKE_FILES := cmake/simdnet
TO_HEADER    = $(shell realpath -ms --relative-to=$(call quote,$(LIBDIR)/$(CMAKE_FILES)) $(call quote,$(PREFIX)/include))
FILL_IN      = sed -e $(call in_sed,@PREFIX@,$(PREFIX)) -e $(call in_sed,@LIBDIR@,$(LIBDIR)) -e $(call in_sed,@LIBS@,$(SN_LIBS)) \
               -e $(call in_sed,@VERSION@,$(VERSION)) -e $(call in_sed,@SONAME@,$(SONAME)) \
               -e $(call in_sed,@INCLUDE@,$(TO_HEADER))

install: all
	install -d $(TO_LIB)/pkgconfig $(TO_LIB)/$(CMAKE_FILES) $(TO_INCLUDE)
	install -m 755 $(B)/libsimdnet.so $(TO_LIB)/libsimdnet.so.$(VERSION)
	$(STRIP) --strip-unneeded $(TO_LIB)/libsimdnet.so.$(VERSION)
	ln -sf libsimdnet.so.$(VERSION) $(TO_LIB)/$(SONAME)
	ln -sf libsimdnet.so.$(VERSION) $(TO_LIB)/libsimdnet.so
	install -m 644 $(B)/libsimdnet.a $(TO_LIB)/
	$(STRIP) --strip-debug -D $(TO_LIB)/libsimdnet.a
	install -m 644 include/simdnet.h include/simdnet_simd.h $(TO_INCLUDE)/
	$(FILL_IN) libsrc/simdnet.pc.in > $(TO_LIB)/pkgconfig/simdnet.pc
	$(FILL_IN) libsrc/simdnetConfig.cmake.in > $(TO_LIB)/$(CMAKE_FILES)/simdnetConfig.cmake
	$(FILL_IN) libsrc/simdnetConfigVersion.cmake.in > $(TO_LIB)/$(CMAKE_FILES)/simdnetConfigVersion.cmake

uninstall:
	rm -f $(TO_LIB)/libsimdnet.so $(TO_LIB)/$(SONAME) $(TO_LIB)/libsimdnet.so.$(VERSION) $(TO_LIB)/libsimdnet.a \
	      $(TO_LIB)/pkgconfig/simdnet.pc $(TO_INCLUDE)/simdnet.h $(TO_INCLUDE)/simdnet_simd.h
	rm -rf $(TO_LIB)/$(CMAKE_FILES)

# ---- packages. setup.py calls python-files, which puts the library beside the modules.
DIST := $(BUILD)/dist

.PHONY: python-files
python-files: all
	install -m 755 $(B)/libsimdnet.so $(call quote,$(INTO))/
	$(STRIP) --strip-unneeded $(call quote,$(INTO))/libsimdnet.so
	install -m 644 include/simdnet.h include/simdnet_simd.h $(call quote,$(INTO))/

# A wheel is named after the oldest glibc that has all symbol versions of the library (PEP 600), which readelf prints for any
# machine; tests/check_package.sh compares with auditwheel.
GLIBC     = $(shell $(call tool,readelf) -V $(B)/libsimdnet.so | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1)
PLATFORM  = $(if $(GLIBC),manylinux_$(subst .,_,$(GLIBC:GLIBC_%=%))_$(ARCH),$(error the library needs no version of glibc: \
              name its platform, as in make wheel PLATFORM=musllinux_1_2_$(ARCH)))

wheel: all $(TOOLS)/package.stamp | $(PROJECT)/setup.py
	@rm -f $(DIST)/*_$(ARCH).whl
	$(TOOLS)/bin/python -m build --wheel --no-isolation --config-setting=--build-option=--plat-name=$(PLATFORM) \
	    --outdir $(DIST) $(PROJECT)

sdist: $(TOOLS)/package.stamp | $(PROJECT)/setup.py
	@rm -f $(DIST)/*.tar.gz
	$(TOOLS)/bin/python -m build --sdist --no-isolation --outdir $(DIST) $(PROJECT)

check-package: all
	tests/check_package.sh

check-reproducible: all $(TOOLS)/package.stamp
	tests/check_reproducible.sh $(B) "$(CC)" $(TOOLS)

clean:
	$(if $(OUTSIDE),$(error remove $(BUILD) by hand: it may contain other files))
	rm -rf build docs/api

help:
	@sed -n '/^# simdnet/,/^$$/s/^# \{0,1\}//p' Makefile

-include $(OBJECTS:.o=.d) $(wildcard $(B)/tests/*.d $(B)/bench/*.d)
