#!/bin/sh
# Installs the library for Windows into a separate folder and builds programs against it as a user would: with the import library by
# either name, with the static library, and with CMake. Under Wine, each must print what the first one prints.
# Usage: tests/sh/check_windows_install.sh BUILD_DIRECTORY CC [WINE ...]
set -u
build=$1 cc=$2
shift 2

passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

work=$(cd "$build" && pwd)/tests/install prefix="$(cd "$build" && pwd)/tests/install/simd net" sources=$PWD
rm -rf "$work"
mkdir -p "$work"
# Where make has ziglang's C library. Compiling it again takes a minute, as it does for other flags than those of make, -O2 -g1.
case ${ZIG_GLOBAL_CACHE_DIR-} in '' | /*) ;; *) export ZIG_GLOBAL_CACHE_DIR="$PWD/$ZIG_GLOBAL_CACHE_DIR" ;; esac
# The variables of the make that called this, such as ISAS and CC, are in MAKEFLAGS.
make --no-print-directory TARGET=windows PREFIX="$prefix" install > "$work/install.log" 2>&1 || bad "make install: $(tail -n 3 "$work/install.log")"
cp examples/01_pooling.c "$work/program.c"
cd "$work" || exit 1

expected='bin/simdnet.dll
include/simdnet.h
include/simdnet_simd.h
lib/cmake/simdnet/simdnetConfig.cmake
lib/cmake/simdnet/simdnetConfigVersion.cmake
lib/libsimdnet.a
lib/libsimdnet.dll.a
lib/pkgconfig/simdnet.pc
lib/simdnet.lib'
found=$(cd "$prefix" && find . -type f | sed 's|^\./||' | LC_ALL=C sort)
if [ "$found" = "$expected" ]; then good; else bad "installed are $found"; fi
cp "$prefix/bin/simdnet.dll" . # Windows looks for it beside a program

# shellcheck disable=SC2086
run() { # run PROGRAM WINE...: it ends with status 0 and prints what the first program prints
    program=$1
    shift
    if [ $# = 0 ]; then return; fi
    if "$@" ./"$program" > "$program.txt" 2> "$program.log" && [ -s "$program.txt" ]; then good; else
        bad "$program: $(tail -n 3 "$program.log")"
    fi
    if [ -e first.txt ] || cp "$program.txt" first.txt; then cmp first.txt "$program.txt" || bad "$program prints other numbers"; fi
}
libs=$(sed -n 's/^Libs.private: //p' "$prefix/lib/pkgconfig/simdnet.pc")
for program in shared named static; do
    case $program in
    shared) set -- "-L$prefix/lib" -lsimdnet -- "$@" ;;
    named) set -- "$prefix/lib/simdnet.lib" -- "$@" ;;
    # shellcheck disable=SC2086
    static) set -- "$prefix/lib/libsimdnet.a" $libs -- "$@" ;;
    esac
    flags=''
    while [ "$1" != -- ]; do flags="$flags '$1'" && shift; done
    shift
    if eval "$cc -O2 -g1 -std=c99 \"-I\$prefix/include\" program.c $flags -o $program.exe" 2> "$program.log"; then
        good
        run $program.exe "$@"
    else
        bad "linking $program: $(tail -n 3 "$program.log")"
    fi
done

if ! command -v cmake > /dev/null; then
    echo 'skipped: no cmake'
else
    # shellcheck disable=SC2086
    set_compiler() { printf 'set(CMAKE_SYSTEM_NAME Windows)\nset(CMAKE_C_COMPILER %s)\n' "$(printf '%s;' $cc | sed 's/;$//; s/.*/"&"/')"; }
    set_compiler > toolchain.cmake
    if cmake -S "$sources/tests/cmake" -B cmake -DCMAKE_C_FLAGS='-O2 -g1' -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" -DPROGRAM="$work/program.c" \
            -DFOLDER="$prefix/lib/cmake/simdnet" > cmake.log 2>&1 && MAKEFLAGS='' cmake --build cmake >> cmake.log 2>&1; then
        good
        for library in simdnet static; do cp cmake/with_$library.exe . && run with_$library.exe "$@"; done
    else
        bad "CMake: $(tail -n 5 cmake.log)"
    fi
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
