# A part of the Makefile: the programs of tests and benchmarks, how they are run, and the libraries that benchmarks compare with.

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

# ---- hides newer instructions from benchmarks, see older_cpu.c
OLDER_CPU := $(if $(filter linux-x86_64,$(TARGET)-$(ARCH)),$(B)/bench/libolder_cpu.so)

COMMAND_older_cpu = $(CC) -std=c99 -O2 -Wall -Wextra -shared -fPIC
$(call commands,older_cpu)
$(B)/bench/libolder_cpu.so: tests/bench/older_cpu.c $(B)/commands/older_cpu
	@mkdir -p $(@D)
	$(COMMAND_older_cpu) $< -o $@

# ---- C tests: each tests/c/test_*.c is a program; check_*.c and check.c together are the checker. They are linked with internal.a
# because the libraries hide internal functions. test_vec*.c are compiled once per instruction set, like kernels.
TEST_CFLAGS := $(SN_CFLAGS) -Itests -Itests/c -Itests/c/$(TARGET)
VEC_SRC     := $(wildcard tests/c/test_vec*.c)
TESTS       := $(patsubst tests/c/%.c,$(B)/tests/%,$(filter-out $(VEC_SRC),$(wildcard tests/c/test_*.c)))
VOCABULARIES := $(foreach level,$(LEVELS),$(if $(KERNELS_$(level)),,$(level)))
VEC_TESTS   := $(foreach source,$(VEC_SRC),$(VOCABULARIES:%=$(B)/tests/$(basename $(notdir $(source)))_%))
CHECK_OBJ   := $(patsubst tests/c/%.c,$(B)/tests/%.o,$(wildcard tests/c/check*.c))

# Replacements of C library functions that some tests use, for the library and for themselves.
WRAP_test_cpu        := -Wl,--wrap=open,--wrap=sysconf
WRAP_test_allocation := -Wl,--wrap=malloc,--wrap=calloc,--wrap=free,--wrap=posix_memalign,--wrap=pthread_setspecific
WRAP_test_threads    := -Wl,--wrap=syscall,--wrap=sched_setaffinity,--wrap=sched_yield
WRAP_test_thread_number := -Wl,--wrap=open,--wrap=pthread_atfork,--wrap=sched_getaffinity

# The test of the list of instruction sets contains the full list.
DEFINE_test_cpu := $(if $(strip $(ISAS)),-DSOME_ISAS)

COMMAND_test    = $(CC) $(CPPFLAGS) $(CFLAGS) $(TEST_CFLAGS)
COMMAND_program = $(CC) $(CFLAGS) $(LDFLAGS) $(foreach program,cpu allocation threads thread_number,$(WRAP_test_$(program))) $(SN_LIBS)
COMMAND_check   = $(COMMAND_program) $(CHECK_OBJ) $(LIMITS_OBJ)
$(call commands,test program check)
TEST_LINK = $(CC) $(CFLAGS) $(filter %.o,$^) $(or $(INTERNAL_$(@F)),$(B)/internal.a) $(LDFLAGS) $(WRAP_$(@F)) $(SN_LIBS) -o $@

$(B)/tests/%.o: tests/c/%.c $(B)/commands/test
	@mkdir -p $(@D)
	$(COMMAND_test) $(DEFINE_$(*F)) -I$(@D) -c $< -o $@

$(B)/tests/families.h: $(wildcard tests/c/check_*.c) $(B)/commands/check
	$(call collect,CHECK_FAMILY)
$(B)/tests/check.o: $(B)/tests/families.h

define vec_test_rules
$(B)/tests/$(basename $(notdir $(1)))_$(2): $(B)/tests/$(basename $(notdir $(1)))_$(2).o $(B)/internal.a $(B)/commands/program
	$$(TEST_LINK)

$(B)/tests/$(basename $(notdir $(1)))_$(2).o: $(1) $(B)/commands/test $(B)/commands/$(2)
	@mkdir -p $$(@D)
	$$(COMMAND_$(2)) -Itests -Itests/c -Itests/c/$(TARGET) -MF $$(@:.o=.d) -MT $$@ -c $$< -o $$@
endef
$(foreach source,$(VEC_SRC),$(foreach isa,$(VOCABULARIES),$(eval $(call vec_test_rules,$(source),$(isa)))))

$(TESTS) $(B)/tests/accuracy: $(B)/tests/%: $(B)/tests/%.o $(B)/internal.a $(B)/commands/program
	$(TEST_LINK)

$(B)/tests/check: $(CHECK_OBJ) $(LIMITS_OBJ) $(B)/internal.a $(B)/commands/check
	$(TEST_LINK)

# Not empty if instructions and stack sizes are those of a normal build.
OPTIMISED := $(and $(filter -O2 -O3,$(CFLAGS)),$(if $(SANITIZED),,yes))

# A shape that at least three algorithms support on every level with a tile.
CALIBRATE_SMALL := '1x16x6x6->16x6x6,3x3,nhwc'

# The largest stack of a call, in KB. In pooling and in Winograd transforms, clang 14 gives each inlined instance its own arrays,
# where gcc uses the same memory for all.
STACK := $(if $(findstring clang,$(CC)),80,64)

# The runs of the checker, each written like its options: with FULL its whole list of cases, else one of eight random ones, and for
# the stack half of these, for caches of other sizes a twelfth. Under an emulator there is one run, without threads. CHECK_FLAGS are options for all, and come last:
# make check CHECK_FLAGS='--seed 7'.
CHECK      = $(RUN) $(B)/tests/check --jobs $(JOBS)
CHECK_RUNS = $(if $(FULL),--jobs=$(JOBS)) $(if $(RUN),,--quick=--threads=5) \
             $(if $(RUN),,--quick=--caches$(if $(FULL),,=--every=12)) \
             $(if $(OPTIMISED),--quick=--stack=$(STACK)$(if $(FULL)$(RUN),,=--every=2 $(DEEPEST)),$(if $(RUN),--quick))
# The function that needs the most stack: all its cases, of which one in thousands needed more than there is.
DEEPEST := --quick=--stack=$(STACK)=--function=SimdnetConvolution32fForwardAdd

# $(call run_programs,PROGRAMS), in a shell
run_programs = for t in $(1); do echo "== $$t"; $(RUN) $$t || exit 1; done

# Programs are built before the first of them runs. Those of the vocabularies compute on one thread, and run beside the others, of
# which some measure times, but those of processors; what they print comes last. An emulator has no times to calibrate with.
.PHONY: test-programs check-programs
test-programs: $(TESTS) $(VEC_TESTS) | $(B)/tests/check $(B)/bench/calibrate
	@$(if $(filter 1,$(JOBS)),$(call run_programs,$(VEC_TESTS) $(TESTS)), \
	    log=$(B)/tests/vec.log; ($(call run_programs,$(VEC_TESTS))) > $$log 2>&1 & vec=$$!; \
	    ($(call run_programs,$(TESTS))); others=$$?; \
	    wait $$vec; status=$$?; cat $$log; exit $$((status | others)))

check-programs: test-programs
	@set -e; for options in $(CHECK_RUNS); do \
	    options=$$(echo $$options | tr = ' '); echo "== $(B)/tests/check $$options"; $(CHECK) $$options $(CHECK_FLAGS); \
	 done; \
	 $(if $(RUN),,echo "== $(B)/bench/calibrate"; $(B)/bench/calibrate --shape $(CALIBRATE_SMALL))

# For programs that call make: the jobs of this make are not shared with them.
NO_JOBS = MAKEFLAGS='$(if $(OUTSIDE),BUILD=$(BUILD))'

# Each file of tests runs in one worker, with the fixtures that its tests share.
PYTEST = $(NO_JOBS) $(VENV)/bin/python -m pytest -n $(JOBS) --dist loadfile $(if $(FULL),--full) $(PYTEST_FLAGS)

# Loops are not unrolled here (SN_UNROLL in runtime/common.h), and three checks are omitted, because clang 14 would need minutes for
# some files with either; AddressSanitizer finds nearly all of the same faults.
ASAN_CFLAGS := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=null,pointer-overflow,object-size

# Tests of threads under ThreadSanitizer, which requires that addresses are not randomised.
TSAN_VARIANT := $(ARCH)-$(notdir $(firstword $(CC)))-tsan
TSAN_TESTS := $(addprefix $(BUILD)/$(TSAN_VARIANT)/tests/,test_callers test_races test_threads test_verbose)

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
	$(call pip_project,$(VENV),[bench]) && touch $@ || $(call pip_project,$(VENV))

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

# The cost models compared with this machine: CALIBRATE_FLAGS='--isa avx2 --only 3x3'.
CALIBRATE_OBJ := $(B)/bench/calibrate.o $(LIMITS_OBJ)
COMMAND_calibrate = $(COMMAND_program) $(CALIBRATE_OBJ)
$(call commands,calibrate)
$(B)/bench/calibrate.o: tests/bench/calibrate.c $(B)/commands/test
	@mkdir -p $(@D)
	$(COMMAND_test) -c $< -o $@

$(B)/bench/calibrate: $(CALIBRATE_OBJ) $(B)/internal.a $(B)/commands/calibrate
	$(TEST_LINK)

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


SCORECARD_FLAGS = $(if $(FULL),--full) $(if $(ROWS),--rows $(ROWS)) $(if $(RESUME),--resume) $(if $(KEEP),--keep $(KEEP)) \
                  $(if $(MINUTES),--minutes $(MINUTES))
