# A part of the Makefile: what is particular to Linux; windows.mk has the same names.
BASE_x86_64 := -march=x86-64
PIC         := -fPIC
PTHREAD     := -pthread
SN_LIBS     := -lm -lpthread -ldl
LIBRARY     := libsimdnet.so
# The runtime of clang's sanitizers is in the program alone: a shared library has undefined names then.
SANITIZED   := $(findstring -fsanitize,$(CFLAGS))
SO_FLAGS     = -shared -Wl,-soname,$(SONAME) -Wl,--version-script=libsrc/simdnet.map -Wl,-z,nodelete -Wl,-z,relro \
               -Wl,-z,now -Wl,-z,noexecstack $(if $(SANITIZED),,-Wl,--no-undefined)
# With these of the compiler, local names get a level in kernels, and internal names become local in the static library.
BINARY_TOOLS := nm objcopy ld

# How the shared library is installed.
INSTALLED_LIBRARY = $(addprefix $(TO_LIB)/,libsimdnet.so.$(VERSION) $(SONAME) libsimdnet.so)
define INSTALL_LIBRARY
$(Q)install -m 755 $(B)/libsimdnet.so $(TO_LIB)/libsimdnet.so.$(VERSION)
$(Q)$(STRIP) --strip-unneeded $(TO_LIB)/libsimdnet.so.$(VERSION)
$(Q)ln -sf libsimdnet.so.$(VERSION) $(TO_LIB)/$(SONAME)
$(Q)ln -sf libsimdnet.so.$(VERSION) $(TO_LIB)/libsimdnet.so
endef
