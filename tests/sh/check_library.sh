#!/bin/sh
# Checks the build: the header by itself, the symbols, the requirements of the shared library, and the instructions in each
# object. Usage: tests/sh/check_library.sh BUILD_DIRECTORY CC [RUN ...]
set -u
build=$1 cc=$2
shift 2

passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
skipped() { echo "skipped: $*"; }
have() { command -v "$1" >/dev/null 2>&1; }

so=$build/libsimdnet.so
work=$build/tests/library
header=include/simdnet.h
mkdir -p "$work"

# ---- the tools that belong to the compiler; those of a cross compiler have its prefix
family() { # family NAME: the binary utility that belongs to the compiler
    tool=$($cc -print-prog-name="$1" 2>/dev/null)
    if have "$tool"; then echo "$tool"; else echo "$1"; fi
}
objdump=$(family objdump) nm=$(family nm) readelf=$(family readelf)
case $cc in
*clang*) cxx=$(echo "$cc" | sed 's/clang/clang++/') ;;
*gcc*) cxx=$(echo "$cc" | sed 's/gcc/g++/') ;;
*) cxx=c++ ;;
esac
machine=$($cc -dumpmachine)

# ---- the header by itself, with strict flags, as C and C++
printf '#include "simdnet.h"\n#include "simdnet.h"\nint main(void) { return SimdVersion() == 0; }\n' > "$work/alone.c"
cp "$work/alone.c" "$work/alone.cpp"
strict="-Wall -Wextra -Werror -pedantic-errors -Iinclude"
for standard in c99 c11; do
    if $cc -std=$standard $strict -fsyntax-only "$work/alone.c"; then good; else bad "the header as $standard"; fi
done
if have "${cxx%% *}"; then
    for standard in c++98 c++17; do
        if $cxx -std=$standard $strict -fsyntax-only "$work/alone.cpp"; then good; else bad "the header as $standard"; fi
    done
    if $cxx $strict "$work/alone.cpp" "$so" -Wl,-rpath,"$(cd "$build" && pwd)" -o "$work/alone" && "$@" "$work/alone"; then
        good
    else
        bad "a C++ program linked with the library"
    fi
else
    skipped "the header as C++: no $cxx"
fi
includes=$(sed -n 's/^#include <\(.*\)>$/\1/p' $header | sort | tr '\n' ' ')
if [ "$includes" = "stddef.h stdint.h " ] && ! grep -q '^#include "' $header; then good; else bad "the header includes $includes"; fi

for tool in "$objdump" "$nm" "$readelf"; do
    if ! have "$tool"; then
        skipped "symbols and instructions: no $tool"
        echo "$passed passed, $failed failed"
        exit $((failed != 0))
    fi
done

# ---- symbols: the header's functions, all of them, at the version of the interface, and nothing else
version=$(sed -n 's/^#define SIMDNET_VERSION "\([0-9]*\.[0-9]*\).*"/\1/p' $header)
$cc -E -P -x c $header | grep -o '\<Simd[A-Za-z0-9]*(' | tr -d '(' | sort > "$work/declared"
$readelf --dyn-syms -W "$so" | awk '$5 != "LOCAL" && $7 ~ /^[0-9]+$/ {print $8}' | sort > "$work/versions" # a version itself is ABS
sed 's/@.*//' "$work/versions" | sort > "$work/exported"
if [ "$(uniq -d "$work/declared")" = "" ] && [ -s "$work/declared" ]; then good; else bad "declared twice, or nothing declared"; fi
missing=$(comm -23 "$work/declared" "$work/exported" | tr '\n' ' ')
if [ -z "$missing" ]; then good; else bad "declared but not exported: $missing"; fi
extra=$(comm -13 "$work/declared" "$work/exported" | tr '\n' ' ')
if [ -z "$extra" ]; then good; else bad "exported but not declared: $extra"; fi
unversioned=$(grep -v "@@SIMDNET_$version\$" "$work/versions" | head -n 5 | tr '\n' ' ')
if [ -z "$unversioned" ]; then good; else bad "symbols of another version than SIMDNET_$version: $unversioned"; fi

# ---- the static library: no other global names, so a program may have functions with the names of all internal ones
names_of() { $nm --defined-only -g "$build/$1" | awk 'NF == 3 {print $3}' | sort; } # names_of ARCHIVE
names_of internal.a | grep -v '^Simd' > "$work/internal"
strangers=$(grep -v '^sn_' "$work/internal" | tr '\n' ' ')
if [ -z "$strangers" ]; then good; else bad "global names without our prefix: $strangers"; fi
if have "$(family objcopy)"; then
    strangers=$(names_of libsimdnet.a | comm -3 - "$work/declared" | head -n 5 | tr '\n' ' ')
    if [ -z "$strangers" ]; then good; else bad "public or global in the static library alone: $strangers"; fi
    {
        sed 's/.*/int &(void);\nint &(void) { return 7; }/' "$work/internal"
        sed 's/^int main/int same_main/' examples/01_pooling.c
        echo 'int main(void) { return sn_table() == 7 ? same_main() : 1; }'
    } > "$work/same_names.c"
    if $cc -std=c99 -Iinclude "$work/same_names.c" "$build/libsimdnet.a" -lm -lpthread -ldl -o "$work/same_names" &&
        "$@" "$work/same_names" > "$work/same_names.txt" && [ -s "$work/same_names.txt" ]; then
        good
    else
        bad 'a program with functions that have the names of internal ones'
    fi
else
    skipped 'names in the static library: no objcopy'
fi

# ---- local functions: no name in two levels, so that profiles distinguish levels
for folder in "$build"/obj/*/kernels "$build/obj/reference"; do
    find "$folder" -name '*.o' -exec $nm {} + | awk '$2 == "t" {print $3}' | sort -u
done > "$work/local"
twice=$(sort "$work/local" | uniq -d | head -n 5 | tr '\n' ' ')
if ! have "$(family objcopy)"; then
    skipped 'names of local functions: no objcopy'
elif [ -s "$work/local" ] && [ -z "$twice" ]; then
    good
else
    bad "local functions of several levels: $twice..."
fi

# ---- what the shared library requires and provides
soname=$($readelf -dW "$so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$soname" = "libsimdnet.so.$version" ]; then good; else bad "SONAME is '$soname'"; fi
# Since glibc 2.34, threads and dlopen() are in libc.
glibc=$($readelf -VW "$so" | grep -o 'GLIBC_2\.[0-9]*' | sed 's/.*\.//' | sort -n | tail -n 1)
separate='lib\(pthread\.so\.0\|dl\.so\.2\)'
[ "${glibc:-0}" -lt 34 ] || separate=none
needed=$($readelf -dW "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -x -e 'libc\.so\.6' -e 'libm\.so\.6' -e "$separate" -e 'ld-linux-[a-z0-9_-]*\.so\.[0-9]' | tr '\n' ' ')
if [ -z "$needed" ]; then good; else bad "the library needs $needed"; fi
stack=$($readelf -lW "$so" | awk '$1 == "GNU_STACK" {print $7 $8}')
if [ "${stack%0x*}" = "RW" ]; then good; else bad "GNU_STACK is '$stack', an executable stack"; fi
if $readelf -lW "$so" | grep -q GNU_RELRO && $readelf -dW "$so" | grep -q -e BIND_NOW -e 'FLAGS.*NOW'; then good; else bad "not full RELRO"; fi
if $readelf -dW "$so" | grep -q 'NODELETE'; then good; else bad "not NODELETE: threads may outlive dlclose"; fi
if $readelf -dW "$so" | grep -q TEXTREL; then bad "relocations in the text"; else good; fi
unwanted=$($nm -D --undefined-only "$so" | awk '{print $NF}' | sed 's/@.*//' |
    grep -x -e 'f\?printf' -e 'v\?f\?printf' -e '__f\?printf_chk' -e puts -e putchar -e 'fopen.*' -e 'fwrite' -e stdout -e stderr -e stdin \
        -e abort -e exit -e _exit -e '__assert_fail' -e setlocale -e atexit -e system -e 'GOMP.*' -e 'fesetround' | tr '\n' ' ')
if [ -z "$unwanted" ]; then good; else bad "the library calls $unwanted"; fi
# Only the entry of the C runtime: the library has no constructors.
words=$($readelf -SW "$so" | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".init_array" {print $5}')
if [ -z "$words" ] || [ $((0x$words)) -le 8 ]; then good; else bad ".init_array has $((0x$words)) bytes: a constructor"; fi

# ---- thread-local variables: a few bytes of static TLS, nothing that is allocated on first use
bytes=$($readelf -lW "$so" | awk '$1 == "TLS" {print $6}')
if [ $((${bytes:-0})) -le 16 ]; then good; else bad "thread-local storage of $((bytes)) bytes, expected 16 at most"; fi
lazy=$($readelf -rW "$so" | grep -o -m1 -E 'R_[A-Z0-9_]*(DTPMOD|TLSDESC)[A-Z0-9]*|__tls_get_addr')
if [ -z "$lazy" ]; then good; else bad "thread-local storage that is allocated on first use: $lazy"; fi
if $cc -std=c99 -Wall -Wextra -pthread -Iinclude tests/c/opened_late.c -ldl -o "$work/opened_late" && "$@" "$work/opened_late" "$so"; then
    good
else
    bad "a library opened late, by a program without memory"
fi
if "$@" "$work/opened_late" "$so" 5 > "$work/opened_late.txt"; then good; else bad "a library opened 5 times: $(cat "$work/opened_late.txt")"; fi

# ---- instructions
mnemonics() { # mnemonics OBJECT...: instruction and operands, one per line
    $objdump -d --no-show-raw-insn "$@" | sed -n 's/^ *[0-9a-f]*:\t//p'
}
objects_of() { find "$build/obj/$1" -name '*.o' 2>/dev/null; }
case $machine in
x86_64*)
    # An object outside the AVX levels must run on the oldest machine. Mnemonics that begin with v are AVX, with few exceptions.
    for part in api runtime ops reference sse41; do
        objects=$(objects_of $part)
        [ -n "$objects" ] || continue
        if mnemonics $objects | grep -v -e '^ver[rw]' -e '^vm[cxr]' | grep -m1 -e '^v[a-z]' -e '%[yz]mm' -e '%k[0-7]' > "$work/stray"; then
            bad "$part: an AVX instruction: $(cat "$work/stray")"
        else
            good
        fi
    done
    for part in api runtime ops reference; do
        objects=$(objects_of $part)
        [ -n "$objects" ] || continue
        if mnemonics $objects | grep -m1 -w -e 'pshufb' -e 'pmaxs[bd]' -e 'pmaxu[wd]' -e 'pblendvb' -e 'blendvp[sd]' -e 'roundp[sd]' \
            -e 'rounds[sd]' -e 'pinsr[bdq]' -e 'pextr[bdq]' -e 'pmulld' -e 'ptest' -e 'dpp[sd]' -e 'palignr' -e 'pmov[sz]x[a-z]*' > "$work/stray"; then
            bad "$part: an instruction newer than SSE2: $(cat "$work/stray")"
        else
            good
        fi
    done
    for part in avx2 avxvnni; do
        objects=$(objects_of $part)
        [ -n "$objects" ] || continue
        if mnemonics $objects | grep -m1 -e '%zmm' -e '%k[0-7]' -e '%[xy]mm\(1[6-9]\|2[0-9]\|3[01]\)' -e '^vpdp' > "$work/stray"; then
            bad "$part: an AVX-512 instruction: $(cat "$work/stray")"
        else
            good
        fi
    done
    # AVX-512 has a vpdpbusd, too, which the assembler prefers; objdump prints that of AVX-VNNI with the prefix {vex}.
    if [ -d "$build/obj/avxvnni" ] && ! mnemonics $(objects_of avxvnni) | grep -q '^{vex} *vpdpbusd'; then
        bad 'avxvnni: no vpdpbusd of AVX-VNNI'
    else
        good
    fi
    ;;
*) skipped "instructions per object: this is $machine" ;;
esac

echo "$passed passed, $failed failed"
exit $((failed != 0))
