# A part of the Makefile: the programs of examples/.

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

# ---- the demo: without matplotlib it draws no picture, and the next run tries to install it again
DIGITS_SRC := $(wildcard examples/digits/*.c)

$(B)/demo/digits: $(DIGITS_SRC) examples/digits/digits_files.h include/simdnet.h $(B)/libsimdnet.so $(B)/commands/example
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 $(WARNINGS) -Iinclude $(DIGITS_SRC) -L$(B) -lsimdnet -lm -Wl,-rpath,$(abspath $(B)) $(LDFLAGS) -o $@

$(VENV)/demo.stamp: pyproject.toml setup.py | $(VENV)/bin/python $(PROJECT)/setup.py
	$(call pip,$(VENV)) --editable '$(PROJECT)[demo]' && touch $@ || $(call pip,$(VENV)) --editable $(PROJECT)
