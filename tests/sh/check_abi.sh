#!/bin/sh
# Compares the interface of the library with that of the same minor version when it was released, as programs in machine code
# see it: functions, their parameters, structs, enumerators. Usage: tests/sh/check_abi.sh [--write]
#
# tests/abi/ has a description for each minor version. Functions may be added; what is removed or changed is a failure, since
# programs that were linked with this minor version would break. --write writes the description of the library as it is now,
# when a minor version begins, or after a change that is compatible although abidiff cannot know it (members appended to a struct
# with a member `size`).
set -u
cd "$(dirname "$0")/../.." || exit 1

version=$(sed -n 's/^#define SIMDNET_VERSION "\([0-9]*\.[0-9]*\).*"/\1/p' include/simdnet.h)
machine=$(uname -m)
released=tests/abi/libsimdnet-$version-$machine.abi
build=build/$machine-abi
so=$build/libsimdnet.so

passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
skipped() {
    echo "skipped: $*"
    exit 0
}

for tool in abidiff abidw readelf; do
    command -v $tool > /dev/null || skipped "the interface in machine code: no $tool (packages abigail-tools, binutils)"
done
if [ ! -e "$released" ] && ls tests/abi/*-"$machine".abi > /dev/null 2>&1 && [ "${1-}" != --write ]; then
    bad "no $released: run tests/sh/check_abi.sh --write if version $version is a new one"
    exit 1
fi
[ -e "$released" ] || [ "${1-}" = --write ] || skipped "no interface of $machine has been written down"

# Types of parameters are in the debug information of -g, which the usual -g1 leaves out. They do not depend on instruction sets,
# so the smallest library is enough. A make that calls this script shares neither its flags nor its jobs.
if ! env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS make ISAS=base VARIANT="$machine-abi" CFLAGS='-O0 -g' "$so" > "$build.log" 2>&1; then
    tail -n 20 "$build.log"
    exit 1
fi

if [ "${1-}" = --write ]; then
    # Without what changes when only the sources move: places, folders, names of parameters.
    abidw --headers-dir include --drop-private-types --drop-undefined-syms --exported-interfaces-only --type-id-style hash \
        --no-show-locs --no-corpus-path --no-comp-dir-path --no-parameter-names --no-write-default-sizes --no-elf-needed \
        --out-file "$released" "$so"
    exit
fi

# compare DESCRIPTION: the differences that programs notice. Of abidiff's status, 4 is a change, 8 one that is incompatible, and
# 1 and 2 are its own faults. With --headers-dir2 it would take all structs for private, because descriptions have no places.
compare() { abidiff --no-added-syms "$1" "$so" 2>&1; }

# ---- the library of all instruction sets exports the same names as the small one
exports() { readelf --dyn-syms -W "$1" | awk '$5 != "LOCAL" && $7 ~ /^[0-9]+$/ {print $8}' | sort; }
exports "$so" > "$build/exports"
functions=$(wc -l < "$build/exports")
if [ "$functions" -gt 0 ] && exports build/libsimdnet.so | cmp -s - "$build/exports"; then
    good
else
    bad "the library with all instruction sets exports other names than the one without: $functions names"
fi

# ---- the interface
changes=$(compare "$released")
status=$?
if [ $status = 0 ]; then good; else bad "the interface differs from $released (abidiff's status $status):" && echo "$changes"; fi
added=$(abidiff "$released" "$so" | grep -c "^ *\[A\] 'function")

# ---- differences are seen: descriptions of libraries that differ in one thing
changed() { # changed WHAT SED-SCRIPT
    sed "$2" "$released" > "$build/changed.abi"
    compare "$build/changed.abi" > "$build/changed.txt"
    case $? in
    4 | 12) good ;;
    *) bad "not noticed: $1" ;;
    esac
}
type_of() { sed -n "s/.*<type-decl name='$1' .* id='\([0-9a-f]*\)'.*/\1/p" "$released" | head -n 1; } # its number
changed 'a function that the library lacks' 's/\bSimdSynetRelu32f\b/SimdSynetRelu33f/g'
changed 'a result of another type' "/function-decl name='SimdSynetRelu32f'/,/<return/s/<return type-id='[0-9a-f]*'/<return type-id='$(type_of float)'/"
changed 'a parameter of another type' "/function-decl name='SimdSynetRelu32f'/{n;s/type-id='[0-9a-f]*'/type-id='$(type_of float)'/;}"
changed 'another value of an enumerator' "s/name='SimdTensorFormatNhwc' value='1'/name='SimdTensorFormatNhwc' value='2'/"
changed 'a member at another place' "/class-decl name='SimdConvolutionParameters'/,/<\/class-decl>/s/in-bits='64'/in-bits='96'/"
changed 'a larger struct' "s/class-decl name='SimdConvolutionParameters' size-in-bits='1280'/class-decl name='SimdConvolutionParameters' size-in-bits='1344'/"
changed 'one parameter less' "/function-decl name='SimdSynetRelu32f'/{n;d;}"

echo "scorecard: {\"functions\": $functions, \"added\": $added}"
echo "$passed passed, $failed failed"
exit $((failed != 0))
