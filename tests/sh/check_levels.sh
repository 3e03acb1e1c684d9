#!/bin/sh
# Builds libraries with other instruction sets, from the existing objects where these are the same, and tests them: make ISAS=...,
# and avxvnni for processors that have its instruction only in the encoding of AVX-512.
# Usage: tests/sh/check_levels.sh BUILD_DIRECTORY CC [RUN ...]
set -u
build=$1 cc=$2
shift 2

passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
skipped() { echo "skipped: $*"; }
expect() { # expect WHAT FOUND EXPECTED
    if [ "$2" = "$3" ]; then good; else bad "$1: $2, expected $3"; fi
}

work=$build/tests/levels
rm -rf "$work"
mkdir -p "$work"
make_it() { # make_it NAME ARGUMENTS OF MAKE...: in a build folder of that name
    name=$1
    shift
    MAKEFLAGS='' make --no-print-directory -j"$(nproc)" CC="$cc" BUILD="$work" VARIANT="$name" "$@"
}
copy_objects() { # copy_objects NAME: the build folder begins with what is there
    mkdir -p "$work/$1/tests"
    cp -Rp "$build/obj" "$build/commands" "$build/bench" "$work/$1/"
    cp -p "$build"/tests/check*.o "$build/tests/families.h" "$work/$1/tests/"
}
run=$*
levels_of() { # levels_of CHECKER: what this machine has of the library's levels
    $run "$1" --function none | sed -n 's/.*levels: //p'
}
sorted() { echo $(printf '%s\n' "$@" | sort); }
here=" $(levels_of "$build/tests/check") "
nm=$($cc -print-prog-name=nm)

# ---- some sets, and those whose kernels they need
case $($cc -dumpmachine) in
x86_64*) some=avx2 expected='base avx2' ;;
*) some=neon expected='base neon' ;;
esac
try_some() {
    programs="$work/some/tests/test_cpu $work/some/tests/test_dispatch $work/some/tests/check"
    if ! copy_objects some || ! make_it some ISAS=$some all $programs > "$work/some.log" 2>&1; then
        bad "make ISAS=$some: $(tail -n 3 "$work/some.log")"
        return
    fi
    # The objects of the other sets are in the same folder, too.
    found=$("$nm" "$work/some/libsimdnet.so" | sed -n 's/.* sn_install_\([a-z0-9]*\)$/\1/p')
    expect "levels in the library of make ISAS=$some" "$(sorted $found)" "$(sorted $expected)"
    case $here in
    *" $some "*) expect "levels that it has here" "$(levels_of "$work/some/tests/check")" "$expected" ;;
    *) skipped "which levels it has here: this machine has$here" ;;
    esac
    for program in $programs; do
        if $run "$program" --quick --test convolution_8i > "$work/some.log" 2>&1; then
            good
        else
            bad "$program: $(tail -n 3 "$work/some.log")"
        fi
    done
}
if [ -n "${ISAS:-}" ]; then skipped "make ISAS=$some: this is make ISAS=$ISAS"; else try_some; fi

# ---- without its parent, a set is built on the nearest one that is there, and needs the features of those between
if [ "$some" = avx2 ]; then
    make_it rows ISAS='sse41 avx512vnni' "$work/rows/obj/dispatch/levels.h" > "$work/rows.log" 2>&1
    rows=$(sed 's/SN_CPU_//g; s/^SN_LEVEL//' "$work/rows/obj/dispatch/levels.h")
    expect 'levels of sse41 avx512vnni' "$(echo $rows)" "(base, base, 0) (sse41, base, SSE3 | SSSE3 | SSE41) \
(avx512, sse41, AVX512F | AVX512BW | AVX512DQ | AVX512VL | AVX2 | FMA | F16C) (avx512vnni, avx512, AVX512VNNI)"
fi

make_it none ISAS='avx2 avx3 neon2' all > "$work/none.log" 2>&1
expect 'status of make with an unknown set' $? 2
expect 'sentences about it' "$(grep -c 'ISAS: no instruction set .*avx3 neon2; there are base ' "$work/none.log")" 1

# ---- avxvnni on a processor that has vpdpbusd only in the encoding of AVX-512: tested with that encoding
try_evex() {
    sed 's/SN_CPU_AVXVNNI/SN_CPU_AVX512VNNI | SN_CPU_AVX512VL/' libsrc/isa/levels.h > "$work/levels.h"
    if copy_objects evex && make_it evex LEVEL_LIST="$work/levels.h" \
        FLAGS_avxvnni='-mavx2 -mfma -mf16c -mavx512vnni -mavx512vl' "$work/evex/tests/check" > "$work/evex.log" 2>&1; then
        if "$work/evex/tests/check" --quick --test convolution_8i --isa avxvnni > "$work/evex.log" 2>&1; then
            good
        else
            bad "avxvnni in the encoding of AVX-512: $(tail -n 30 "$work/evex.log")"
        fi
        expect 'levels compared there' "$(sed -n 's/.*levels: //p' "$work/evex.log")" 'base avxvnni'
    else
        bad "make of avxvnni in the encoding of AVX-512: $(tail -n 3 "$work/evex.log")"
    fi
}
what='avxvnni in the encoding of AVX-512'
case $run:$here in
?*:*) skipped "$what: emulated" ;;
*' avxvnni '*) skipped "$what: this machine has avxvnni itself" ;;
*' avx512vnni '*) try_evex ;;
*) skipped "$what: this machine has$here" ;;
esac

echo "$passed passed, $failed failed"
exit $((failed != 0))
