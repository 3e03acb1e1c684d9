# A part of the Makefile: TARGET=windows builds, on Linux, a DLL for Windows 10 and later on x86-64. The compiler is that of the Python
# package ziglang, which is clang with the headers and import libraries of MinGW-w64: gcc stores AVX registers at addresses that Win64
# does not align. CC=... names another clang.
ZIG := $(abspath $(firstword $(wildcard $(TOOLS)/lib/python*/site-packages/ziglang/zig .venv/lib/python*/site-packages/ziglang/zig) \
           $(shell $(PYTHON) -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))' 2> /dev/null)))
NO_ZIG := no ziglang in $(TOOLS), .venv or $(PYTHON): pip install ziglang there, or name a clang: CC='zig cc -target x86_64-windows-gnu'
ifeq ($(filter command line environment,$(origin CC)),)
CC := $(if $(ZIG),$(ZIG) cc -target x86_64-windows-gnu,$(error TARGET=windows: $(NO_ZIG)))
AR := $(ZIG) ar
endif

VARIANT     ?= x86_64-windows$(SOME)
# zig has names of its own for processors.
BASE_x86_64 := -march=$(if $(findstring zig,$(CC)),x86_64,x86-64)
PIC         :=
PTHREAD     :=
SN_LIBS     := -lapi-ms-win-core-synch-l1-2-0
LIBRARY     := simdnet.dll
# The names that the DLL exports are in a file, which is made from the header.
SO_FLAGS     = -shared $(B)/simdnet.def -Wl,--out-implib,$(B)/libsimdnet.dll.a
SANITIZED   :=
BINARY_TOOLS :=

# How the DLL is installed: beside the programs, and its import library by the names that MinGW's and Microsoft's linkers look for.
TO_BIN            = $(call quote,$(DESTDIR)$(PREFIX)/bin)
INSTALLED_LIBRARY = $(TO_BIN)/simdnet.dll $(addprefix $(TO_LIB)/,libsimdnet.dll.a simdnet.lib)
define INSTALL_LIBRARY
$(Q)install -d $(TO_BIN)
$(Q)install -m 755 $(B)/simdnet.dll $(TO_BIN)/
$(Q)install -m 644 $(B)/libsimdnet.dll.a $(TO_LIB)/
$(Q)install -m 644 $(B)/libsimdnet.dll.a $(TO_LIB)/simdnet.lib
endef
STRIP    ?= strip
# The tag of the wheel, which contains the DLL as it is.
PLATFORM := win_amd64
