# A part of the Makefile: make TARGET=windows check runs under Wine what can be: the checker, the tests of the vocabulary, and programs
# that use the DLL. The other tests fork, replace functions of the C library, or end threads: they are for Linux.
WINE        ?= $(or $(shell command -v wine),$(shell command -v wine64))
ON_WINE      = WINEDEBUG=-all WINEPREFIX="$$PWD/$(B)/wine" timeout 3600 $(WINE)
WINDOWS_VEC := $(foreach test,vec vec_math vec_memory,$(VOCABULARIES:%=$(B)/tests/test_$(test)_%.exe))
# All but those with threads of their own.
WINDOWS_EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%.exe,$(filter-out %/18_serving.c,$(wildcard examples/*.c)))

$(WINDOWS_VEC) $(B)/tests/check.exe: $(B)/tests/%.exe: $(B)/tests/%
	@cp $< $@

# Linked with the import library, beside a copy of the DLL.
$(WINDOWS_EXAMPLES): $(B)/examples/%.exe: examples/%.c $(B)/$(LIBRARY)
	@mkdir -p $(@D) && cp $(B)/$(LIBRARY) $(@D)/
	$(CC) $(CFLAGS) -std=c99 -Iinclude $< $(B)/libsimdnet.dll.a -o $@

# An example succeeds if it ends with status 0.
.PHONY: check-windows
check-windows: all $(B)/tests/check.exe $(WINDOWS_VEC) $(WINDOWS_EXAMPLES)
	@echo "== tests/sh/check_windows.sh"; tests/sh/check_windows.sh $(B) "$(CC)"
	@echo "== tests/sh/check_windows_install.sh"; WINEDEBUG=-all WINEPREFIX="$$PWD/$(B)/wine" \
	    tests/sh/check_windows_install.sh $(B) "$(CC)" $(WINE)
	@set -e; if [ -z "$(WINE)" ]; then echo "skipped: no wine: the programs were built, but not run"; else \
	    for t in $(WINDOWS_VEC) $(WINDOWS_EXAMPLES); do echo "== $$t"; $(ON_WINE) $$t; done; \
	    echo "== $(B)/tests/check.exe"; $(ON_WINE) $(B)/tests/check.exe --quick $(CHECK_FLAGS); \
	    $(ON_WINE) $(B)/tests/check.exe --quick --every 16 --threads 3 $(CHECK_FLAGS); fi
