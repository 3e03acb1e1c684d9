# A part of the Makefile: make TARGET=windows check runs under Wine what can be: the checker, the tests of the vocabulary, tests that
# need no more of the system than threads, and programs that use the DLL. The other tests fork, replace functions of Linux's C library,
# send signals or end threads: they are for Linux.
WINE        ?= $(or $(shell command -v wine),$(shell command -v wine64))
WINE_FOLDER  = WINEDEBUG=-all WINEPREFIX=$(call quote,$(abspath $(B)/wine))
ON_WINE      = $(WINE_FOLDER) timeout $(1) $(WINE)
# Wine's server ends about two seconds after its last program, and a program that connects just then fails with "Connection reset by
# peer". So one server stays from the first program to ten minutes after the last one.
WINE_SERVER  = mkdir -p $(B)/wine; $(WINE_FOLDER) wineserver -k; $(WINE_FOLDER) wineserver -p600
WINDOWS_TESTS := $(patsubst %,$(B)/tests/test_%.exe,allocation context error overlap packed races share)
WINDOWS_VEC := $(VEC_TESTS:%=%.exe)
# All but those with threads of their own.
WINDOWS_EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%.exe,$(filter-out %/18_serving.c,$(wildcard examples/*.c)))

$(WINDOWS_VEC) $(WINDOWS_TESTS) $(B)/tests/check.exe: $(B)/tests/%.exe: $(B)/tests/%
	@cp $< $@

# ziglang's linker for Windows has no --wrap, so the calls of the library are renamed, and the pointers by which it calls a DLL.
WRAP_test_allocation     :=
INTERNAL_test_allocation := $(B)/tests/wrapped.a
$(B)/tests/test_allocation: $(B)/tests/wrapped.a
$(B)/tests/wrapped.a: $(B)/internal.a tests/windows.mk
	objcopy $(foreach name,malloc calloc free,--redefine-sym $(name)=__wrap_$(name)) \
	    $(foreach name,_aligned_malloc _aligned_free,--redefine-sym __imp_$(name)=replaced$(name)) $< $@

# Linked with the import library, beside a copy of the DLL.
$(WINDOWS_EXAMPLES): $(B)/examples/%.exe: examples/%.c $(B)/$(LIBRARY)
	@mkdir -p $(@D) && cp $(B)/$(LIBRARY) $(@D)/
	$(CC) $(CFLAGS) -std=c99 -Iinclude $< $(B)/libsimdnet.dll.a -o $@

# An example succeeds if it ends with status 0.
.PHONY: check-windows
check-windows: all $(B)/tests/check.exe $(WINDOWS_VEC) $(WINDOWS_TESTS) $(WINDOWS_EXAMPLES)
	@-if command -v wineserver > /dev/null; then $(WINE_SERVER); fi > /dev/null 2>&1
	@echo "== tests/sh/check_windows.sh"; tests/sh/check_windows.sh $(B) "$(CC)"
	@echo "== tests/sh/check_windows_install.sh"; $(WINE_FOLDER) \
	    tests/sh/check_windows_install.sh $(B) "$(CC)" $(WINE)
	@set -e; if [ -z "$(WINE)" ]; then echo "skipped: no wine: the programs were built, but not run"; else \
	    for t in $(WINDOWS_VEC) $(WINDOWS_TESTS) $(WINDOWS_EXAMPLES); do echo "== $$t"; $(call ON_WINE,900) $$t; done; \
	    for options in '' '--every 16 --threads 3'; do \
	        echo "== $(B)/tests/check.exe $$options"; $(call ON_WINE,3600) $(B)/tests/check.exe --quick $(CHECK_FLAGS) $$options; \
	    done; fi
