# A part of the Makefile: Python environments for this checkout, and packages.

ifneq ($(OUTSIDE),)
# Sphinx follows links to the sources, so the documentation is copied.
.PHONY: $(PROJECT)/setup.py
$(PROJECT)/setup.py:
	@mkdir -p $(@D) && rm -rf $(@D)/docs && cp -Rp docs $(@D)/
	@ln -sfn $(patsubst %,"$$PWD"/%,$(filter-out build dist docs %.egg-info,$(wildcard *))) $(@D)/
endif

# ---- Python: a virtual environment for this checkout, with a stamp for each extra of pyproject.toml that is installed.
# $(call pip,environment) runs pip there, one at a time.
pip = flock $(1) $(1)/bin/python -m pip install --quiet --disable-pip-version-check

VENV := $(OUTSIDE).venv
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); false; }

$(VENV)/%.stamp: pyproject.toml setup.py | $(VENV)/bin/python $(PROJECT)/setup.py
	$(call pip,$(VENV)) --editable '$(PROJECT)[$*]'
	@touch $@

TOOLS := $(OUTSIDE).venv-tools
$(TOOLS)/bin/python:
	$(PYTHON) -m venv $(TOOLS) || { rm -rf $(TOOLS); false; }

$(TOOLS)/%.stamp: pyproject.toml setup.py | $(TOOLS)/bin/python $(PROJECT)/setup.py
	$(call pip,$(TOOLS)) --editable '$(PROJECT)[$*]'
	@touch $@

# ---- packages. setup.py calls python-files, which puts the library beside the modules.
DIST := $(BUILD)/dist

.PHONY: python-files
python-files: all
	install -m 755 $(B)/libsimdnet.so $(call quote,$(INTO))/
	$(STRIP) --strip-unneeded $(call quote,$(INTO))/libsimdnet.so
	install -m 644 include/simdnet.h include/simdnet_simd.h $(call quote,$(INTO))/

# A wheel is named after the oldest glibc that has all symbol versions of the library (PEP 600), which readelf prints for any
# machine; tests/sh/check_package.sh compares with auditwheel.
GLIBC     = $(shell $(call tool,readelf) -V $(B)/libsimdnet.so | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1)
PLATFORM  = $(if $(GLIBC),manylinux_$(subst .,_,$(GLIBC:GLIBC_%=%))_$(ARCH),$(error the library needs no version of glibc: \
              name its platform, as in make wheel PLATFORM=musllinux_1_2_$(ARCH)))
