# A part of the Makefile: how the library is built and what is installed.

# ---- instruction sets: the tree in isa/levels.h, or the part of it that ISAS names, with the sets whose kernels these need. Only
# the objects of a set are compiled with its flags, in addition to those for every machine of the architecture.
ISAS       ?=
LEVEL_LIST ?= libsrc/isa/levels.h
TREE       := $(shell $(CC) -E -P -x c '-DSN_LEVEL(name, parent, needs)=name:parent' $(LEVEL_LIST))
KNOWN      := $(foreach row,$(TREE),$(firstword $(subst :, ,$(row))))
UNKNOWN    := $(filter-out $(KNOWN),$(ISAS))
$(if $(UNKNOWN),$(error ISAS: no instruction set $(UNKNOWN); there are $(KNOWN)))

parent  = $(patsubst $(1):%,%,$(filter $(1):%,$(TREE)))
include $(patsubst %,libsrc/isa/%/level.mk,$(filter-out base,$(KNOWN)))
# A level that improves some kernels of its parent uses the vocabulary and the other kernels of its parent; only those kernels are
# compiled for it.
folders = $(1) $(if $(KERNELS_$(1)),$(call folders,$(call parent,$(1))))
LEVELS := $(filter-out base,$(filter $(foreach level,$(or $(ISAS),$(KNOWN)),$(call folders,$(level))),$(KNOWN)))

# Inline atomics, because outline atomics need a constructor, and the library has none.
BASE_aarch64   := -march=armv8-a -mno-outline-atomics

# ---- flags that the user cannot change
WARNINGS  := -Wall -Wextra -Wshadow -Wundef -Wvla -Wmissing-prototypes -Wstrict-prototypes
SN_CFLAGS := $(BASE_$(ARCH)) -std=c99 $(PIC) -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-lto $(PTHREAD) $(WARNINGS) \
             -Iinclude -Ilibsrc -MMD -MP
# Unless it is told, clang raises exceptions that the C code does not: it divides several elements at once by divisors of which some
# are 0, and then chooses among the quotients. Kernels of vectors state what is computed, so this is for the other sources. (clang
# 14 has the option for x86-64 alone.)
IS_CLANG   := $(shell $(CC) -dM -E -x c /dev/null | grep __clang__)
EXCEPTIONS := $(if $(filter x86_64,$(ARCH)),$(if $(IS_CLANG),-ffp-exception-behavior=maytrap))
# ---- what is built from what. Sorted: the order of wildcards depends on make's version and on the locale.
sources    = $(sort $(wildcard $(1)))
OTHER      := $(filter-out %/os_$(TARGET).c,$(wildcard libsrc/runtime/os_*.c))
COMMON_SRC := $(filter-out $(OTHER), \
    $(call sources,libsrc/api/*.c libsrc/ops/*.c libsrc/ops/*/*.c libsrc/dispatch/*.c libsrc/runtime/*.c))
# Kernels of instructions that the other levels lack are only for the levels that name them in KERNELS_<level>.
KERNEL_SRC := $(filter-out libsrc/kernels/gemm/blocks_%,$(call sources,libsrc/kernels/*.c libsrc/kernels/*/*.c))
REFERENCE_SRC := $(call sources,libsrc/reference/*.c)
SMALL      := $(patsubst libsrc/%.c,$(B)/obj/%.o,$(COMMON_SRC) $(REFERENCE_SRC))
OBJECTS    := $(SMALL)

# An object's folder also contains what make generates for its source. The folders of sources and builds appear neither in objects,
# so that builds in different folders are equal, nor in commands, so that a moved folder is not built again. $$PWD is what
# compilers write into debug information; $(CURDIR) differs below a symbolic link. CCACHE_HASHDIR: with hash_dir=false ccache leaves
# these flags out of its hash, and would return objects that name another folder. An object gets its name when it is
# complete: make would take what a killed command has left for up to date.
MAPPED    = -ffile-prefix-map="$$PWD"=. -ffile-prefix-map=$(B)=build
TO_OBJECT = -I$(@D) $(MAPPED) -MT $@ -MF $(@:.o=.d) -c $< -o $@.new
export CCACHE_HASHDIR := true

# For gcc on x86, -Os alone copies memory byte by byte in place of calling memcpy(). Structs are copied by words: memcpy() loads
# in one vector what was just stored word by word, and waits for it (one product of 16 <- 72 took 128 ns, now 70).
less_code  = $(if $(filter -O2 -O3,$(CFLAGS)),-Os $(if $(filter x86_64,$(ARCH)),$(if $(IS_CLANG),,-mstringop-strategy=$(1))))
LESS_CODE := $(call less_code,libcall)

COMMAND_compile = $(CC) $(CPPFLAGS) $(CFLAGS) $(SN_CFLAGS)
COMMAND_small   = $(COMMAND_compile) $(EXCEPTIONS)
COMMAND_cold    = $(COMMAND_small) $(LESS_CODE)
COMMAND_structs = $(COMMAND_small) $(call less_code,unrolled_loop)
$(call commands,compile small cold structs)
$(B)/obj/%.o: libsrc/%.c $(B)/commands/small
	@mkdir -p $(@D)
	$(COMMAND_small) $(TO_OBJECT)
	@mv $@.new $@

# Compiled for size: checks of arguments, plans and drivers, whose time is that of the kernels which they call, and the kernels of
# base, which are the definition rather than fast. What every call runs, such as SN_CALL, is SN_INLINE. LOOPS are drivers that have
# loops over numbers; ARRAYS copy or clear arrays by memcpy() or memset(); all others copy structs only.
LOOPS    := $(addprefix libsrc/ops/, copy elementwise/cast elementwise/elementwise gather non_max_suppression pad reduce_integers \
                                     scatter top_k top_k_integers)
ARRAYS   := $(addprefix libsrc/api/, affine call context gather packed parameters scatter) \
            $(addprefix libsrc/ops/, attention gemm gemm_nbits layout packed_32f recurrent recurrent_bytes reduce resize resize_axis \
                roi_align $(addprefix bytes/, quantize_linear quantized_gemm quantized_matrix) \
                $(addprefix elementwise/, binary broadcast pixelwise) \
                $(addprefix convolution/, 32f_choice 32f_depthwise_flat 32f_depthwise_nchw 32f_depthwise_planes 32f_nhwc 8i_choice \
                    8i_flat deconvolution_choice deconvolution_col2im deconvolution_nhwc deconvolution_panels depthwise_rows \
                    dot_band merged_32f merged_dot nchw_band nhwc_band phase_planes plan quantized))
COLD_SRC := $(filter-out $(LOOPS:=.c),$(filter libsrc/api/% libsrc/ops/%,$(COMMON_SRC)))
STRUCTS  := $(filter-out $(ARRAYS:=.c),$(COLD_SRC))
objects   = $(patsubst libsrc/%.c,$(B)/obj/%.o,$(1))
$(call objects,$(ARRAYS:=.c)): $(B)/obj/%.o: libsrc/%.c $(B)/commands/cold
	@mkdir -p $(@D)
	$(COMMAND_cold) $(TO_OBJECT)
	@mv $@.new $@
$(call objects,$(STRUCTS)): $(B)/obj/%.o: libsrc/%.c $(B)/commands/structs
	@mkdir -p $(@D)
	$(COMMAND_structs) $(TO_OBJECT)
	@mv $@.new $@

# gcc copies what follows a condition into both of its arms. Without that these kernels, on all sets, are smaller and no slower.
ONE_COPY := $(if $(filter -O2 -O3,$(CFLAGS)),$(if $(IS_CLANG),,-fno-thread-jumps))
JOINED   := depthwise/nhwc_32f gemm/32f winograd/32f

# Names of local functions end with their level, so that profiles distinguish levels: relu_32f becomes relu_32f_avx2, and
# relu_32f.cold becomes relu_32f_avx2.cold. Without the compiler's nm and objcopy they are not changed.
tool    = $(shell command -v "$$($(CC) -print-prog-name=$(1))")
NM      := $(if $(filter nm,$(BINARY_TOOLS)),$(call tool,nm))
OBJCOPY := $(if $(filter objcopy,$(BINARY_TOOLS)),$(call tool,objcopy))
LD      := $(if $(filter ld,$(BINARY_TOOLS)),$(call tool,ld))
ADD_LEVEL = $$2 == "t" && !seen[$$3]++ { name = $$3; sub(/\.|$$/, "_$(1)&", name); print $$3, name }
RENAME = $(NM) $@.new | awk '$(ADD_LEVEL)' | $(OBJCOPY) --redefine-syms=/dev/stdin $@.new
name_level = @$(if $(and $(NM),$(OBJCOPY)),$(RENAME) && )mv $@.new $@
COMMAND_names = $(NM) $(OBJCOPY) $(value ADD_LEVEL)
$(call commands,names)

# Collects the lines SN_INSTALL(...) of some files for install.c of kernels/ and reference/, and likewise the checker's families.
collect = @mkdir -p $(@D); grep -oh '^$(1)([^)]*)' $(filter %.c,$^) > $@

# gcc reads <immintrin.h> in 0.25 s (AVX2) or 0.15 s (AVX-512), most kernels compile in less: so the header that a level names
# as HEADER_<level> is compiled once, to a file that gcc maps in 0.02 s. It can only replace what comes before all code, hence
# -include. Kernels that are compiled with other options than the header, FOR_SIZE, cannot use the file, and clang would not go on.
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
# Kernels that are compiled for size, COMPACT_<level>.
$(if $(COMPACT_$(1)),$$(filter $(COMPACT_$(1):%=$(B)/obj/$(1)/kernels/%.o),$$(SRC_$(1):libsrc/%.c=$(B)/obj/$(1)/%.o)): \
    FOR_SIZE := $(LESS_CODE))
JOINED_$(1) := $$(filter $(JOINED:%=$(B)/obj/$(1)/kernels/%.o),$$(SRC_$(1):libsrc/%.c=$(B)/obj/$(1)/%.o))
$$(JOINED_$(1)): FOR_SIZE += $(ONE_COPY)
$$(JOINED_$(1)): libsrc/library.mk
$(B)/obj/$(1)/%.o: libsrc/%.c $(B)/commands/$(1) $(B)/commands/names $(HEADER_OF_$(1)) $(if $(COMPACT_$(1)),libsrc/isa/$(1)/level.mk)
	@mkdir -p $$(@D)
	$$(COMMAND_$(1)) $$(FOR_SIZE) $(if $(HEADER_$(1)),$$(if $$(strip $$(FOR_SIZE)),,-include $(B)/obj/$(1)/kernels/intrinsics.h)) \
	    $$(TO_OBJECT)
	$$(call name_level,$(1))
$(B)/obj/$(1)/kernels/installs.h: $$(filter-out %/install.c,$$(SRC_$(1))) $(B)/commands/$(1) $(B)/commands/archive
	$$(call collect,SN_INSTALL)
$(B)/obj/$(1)/kernels/install.o: $(B)/obj/$(1)/kernels/installs.h
endef
$(foreach level,$(LEVELS),$(eval $(call level_rules,$(level))))
$(call commands,$(LEVELS))

$(B)/obj/reference/%.o: libsrc/reference/%.c $(B)/commands/cold $(B)/commands/names
	@mkdir -p $(@D)
	$(COMMAND_cold) $(TO_OBJECT)
	$(call name_level,base)
$(B)/obj/reference/installs.h: $(filter-out %/install.c,$(REFERENCE_SRC)) $(B)/commands/compile $(B)/commands/archive
	$(call collect,SN_INSTALL)
$(B)/obj/reference/install.o: $(B)/obj/reference/installs.h

# The lines of the levels that are built. If the parent of one is not, the nearest that is takes its place, and the features that
# those between them need are needed here.
LEVEL_ROWS = /^SN_LEVEL/ { over[$$2] = $$3; needs[$$2] = $$4 } \
    /^SN_LEVEL/ && index(built, " " $$2 " ") { \
        for (p = $$3; !index(built, " " p " "); p = over[p]) $$4 = $$4 " | " needs[p]; \
        print "SN_LEVEL(" $$2 ", " p ", " $$4 ")" }
COMMAND_levels = $(LEVEL_LIST): base $(LEVELS)
$(call commands,levels)
$(B)/obj/dispatch/levels.h: $(LEVEL_LIST) $(B)/commands/levels
	@mkdir -p $(@D); awk -F '[(,)] *' -v built=' base $(LEVELS) ' '$(LEVEL_ROWS)' $< > $@
$(B)/obj/dispatch/dispatch.o: $(B)/obj/dispatch/levels.h

COMMAND_link    = $(CC) $(CFLAGS) $(SO_FLAGS) $(LDFLAGS) $(OBJECTS) $(SN_LIBS)
COMMAND_archive = $(AR) rcsD $(B)/internal.a $(OBJECTS)
COMMAND_static  = $(if $(LD),$(LD) -r $(OBJECTS) -o $(B)/simdnet.o $(if $(OBJCOPY),&& $(OBJCOPY) --localize-hidden $(B)/simdnet.o))
$(call commands,link archive static)
# Kernels first: behind objects of a second or two, those of 0.1 s keep all processors busy to the end.
$(B)/$(LIBRARY): $(filter-out $(SMALL),$(OBJECTS)) $(SMALL) libsrc/simdnet.map $(B)/commands/link
	$(COMMAND_link) -o $@
	$(if $(filter linux,$(TARGET)),@ln -sf libsimdnet.so $(B)/$(SONAME))

# The names that a DLL exports: those of the header, as on Linux.
$(B)/simdnet.def: include/simdnet.h
	@mkdir -p $(@D)
	@{ echo LIBRARY simdnet.dll; echo EXPORTS; $(CC) -E -P -x c $< | grep -o '\bSimd[A-Za-z0-9_]*(' | tr -d '(' | sort -u; } > $@
$(B)/simdnet.dll: $(B)/simdnet.def

# The link to the library of the last plain make, even if that had nothing to build.
ifneq ($(shell readlink $(BUILD)/libsimdnet.so),$(VARIANT)/libsimdnet.so)
.PHONY: $(BUILD)/libsimdnet.so
endif
$(BUILD)/libsimdnet.so: | $(B)/libsimdnet.so
	@ln -sfn $(VARIANT)/libsimdnet.so $@ && ln -sfn libsimdnet.so $(BUILD)/$(SONAME)

# The static library is one object in which internal names are local, so that they cannot clash with those of a program or of
# another library. A program that calls one function has all of the library; with an archive of all objects it would be only a
# few percent smaller, since the tables of kernels refer to most of them. Without the compiler's ld, as for Windows, it is an archive.
$(B)/libsimdnet.a: $(OBJECTS) $(B)/commands/static
	$(COMMAND_static)
	@rm -f $@
	$(AR) rcsD $@ $(if $(LD),$(B)/simdnet.o,$(OBJECTS))
	@rm -f $(B)/simdnet.o

# Tests link internal functions.
$(B)/internal.a: $(OBJECTS) $(B)/commands/archive
	@rm -f $@
	$(COMMAND_archive)

# ---- installing. PREFIX, LIBDIR and DESTDIR may contain blanks and characters that are special to a shell or to sed.
TO_LIB     = $(call quote,$(DESTDIR)$(LIBDIR))
TO_INCLUDE = $(call quote,$(DESTDIR)$(PREFIX)/include)
INSTALLED  = $(INSTALLED_LIBRARY) $(addprefix $(TO_LIB)/,libsimdnet.a pkgconfig/simdnet.pc \
                 $(CMAKE_FILES)/simdnetConfig.cmake $(CMAKE_FILES)/simdnetConfigVersion.cmake) \
             $(addprefix $(TO_INCLUDE)/,simdnet.h simdnet_simd.h)
Q          = $(if $(V),,@)
in_sed     = $(call quote,s|$(1)|$(subst |,\|,$(subst &,\&,$(subst \,\\,$(2))))|)

# The files for pkg-config and CMake are templates. Those for CMake have the path from their own folder to the header's, so that
# an installed tree can be moved.
CMAKE_FILES := cmake/simdnet
from_cmake   = $(shell realpath -ms --relative-to=$(call quote,$(LIBDIR)/$(CMAKE_FILES)) $(call quote,$(1)))
FILL_IN      = sed -e $(call in_sed,@PREFIX@,$(PREFIX)) -e $(call in_sed,@LIBDIR@,$(LIBDIR)) -e $(call in_sed,@LIBS@,$(SN_LIBS)) \
               -e $(call in_sed,@VERSION@,$(VERSION)) -e $(call in_sed,@SONAME@,$(SONAME)) \
               -e $(call in_sed,@INCLUDE@,$(call from_cmake,$(PREFIX)/include)) -e $(call in_sed,@BIN@,$(call from_cmake,$(PREFIX)/bin))
