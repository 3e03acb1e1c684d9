#!/bin/sh
# Installs into a separate directory, builds programs against it as a user would, and uninstalls. The names of directories
# contain blanks and characters that are special to a shell, to make, to sed or to pkg-config.
# Usage: tests/sh/check_install.sh BUILD_DIRECTORY CC [RUN ...]
set -u
build=$1 cc=$2
shift 2

passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
have() { command -v "$1" >/dev/null 2>&1; }

work=$(cd "$build" && pwd)/tests/install
root="$work/root & branch" prefix="/opt/simd net | it's & more"
rm -rf "$work"
mkdir -p "$work"
cp examples/01_pooling.c "$work/program.c"
cp tests/simd_program.c "$work/simd_program.c"
cd "$work" || exit 1

make_it() { # make_it TARGET VARIABLE=VALUE...; the make that called this has flags of its own
    MAKEFLAGS='' make -C "$OLDPWD" --no-print-directory CC="$cc" BUILD="${build%/*}" VARIANT="${build##*/}" \
        PREFIX="$prefix" DESTDIR="$root" "$@" > "$1.log" 2>&1
}
if make_it install; then good; else bad "make install: $(tail -n 3 install.log)"; fi
lines=$(grep -c '^installed /' install.log) commands=$(grep -c 'sed -e' install.log)
if [ "$lines $commands" = '9 0' ]; then good; else bad "make install prints $lines names and $commands long commands"; fi
make_it install V=1
if grep -q 'sed -e' install.log; then good; else bad 'make install V=1 prints no commands'; fi

expected='include/simdnet.h
include/simdnet_simd.h
lib/cmake/simdnet/simdnetConfig.cmake
lib/cmake/simdnet/simdnetConfigVersion.cmake
lib/libsimdnet.a
lib/libsimdnet.so
lib/libsimdnet.so.MINOR
lib/libsimdnet.so.VERSION
lib/pkgconfig/simdnet.pc'
version=$(sed -n 's/^#define SIMDNET_VERSION "\(.*\)"/\1/p' "$root$prefix/include/simdnet.h")
found=$(cd "$root$prefix" && find . ! -type d | sed 's|^\./||' | sed -e "s/so\.$version\$/so.VERSION/" -e "s/so\.${version%.*}\$/so.MINOR/" | LC_ALL=C sort)
if [ "$found" = "$expected" ]; then good; else bad "installed are $found"; fi
for file in libsimdnet.so libsimdnet.a; do
    bytes=$(wc -c < "$root$prefix/lib/$file")
    if [ "$bytes" -lt 12000000 ]; then good; else bad "$file has $bytes bytes: is it not stripped?"; fi
done

# With pkg-config as in a distribution, whose packages are built below another directory than the one where they are installed.
if have pkg-config; then
    export PKG_CONFIG_LIBDIR="$root$prefix/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
    flags=$(pkg-config --cflags --libs simdnet) # quoted as a shell needs it
    static=$(pkg-config --static --libs-only-other --libs-only-l simdnet | sed 's/-lsimdnet//')
    if [ "$(pkg-config --modversion simdnet)" = "$version" ]; then good; else bad "simdnet.pc has another version than $version"; fi
else
    echo 'skipped: no pkg-config, flags by hand'
    flags="\"-I$root$prefix/include\" \"-L$root$prefix/lib\" -lsimdnet"
    static=$(sed -n 's/^Libs.private: //p' "$root$prefix/lib/pkgconfig/simdnet.pc")
fi
# shellcheck disable=SC2086
try() { # try NAME ARGUMENTS...: compiles the program with them, runs it, and checks that it prints something
    name=$1
    shift
    if $cc -std=c99 program.c "$@" -o "$name" 2> "$name.log" && $run ./"$name" > "$name.txt" 2>> "$name.log" && [ -s "$name.txt" ]; then
        good
    else
        bad "a program with the $name library: $(tail -n 3 "$name.log")"
    fi
}
run=$*
eval "try shared $flags \"-Wl,-rpath,\$root\$prefix/lib\""
# shellcheck disable=SC2086
try static "-I$root$prefix/include" "$root$prefix/lib/libsimdnet.a" $static
# Programs written for the Simd Library, with the other header.
case $cc in
*clang*) cxx=$(echo "$cc" | sed 's/clang/clang++/') ;;
*gcc*) cxx=$(echo "$cc" | sed 's/gcc/g++/') ;;
*) cxx=c++ ;;
esac
cp simd_program.c simd_program.cpp
# shellcheck disable=SC2086
try_simd() { # try_simd FILE COMPILER...: for both years
    file=$1
    shift
    for year in 2020 2026; do
        if "$@" -Wall -Wextra -Wconversion -Werror -pedantic-errors -DSIMDNET_SIMD_YEAR=$year "-I$root$prefix/include" "$file" \
                "$root$prefix/lib/libsimdnet.so" "-Wl,-rpath,$root$prefix/lib" -o simd 2> simd.log && $run ./simd > simd.txt; then
            good
        else
            bad "$file of $year by $*: $(cat simd.log simd.txt)"
        fi
    done
}
# shellcheck disable=SC2086
try_simd simd_program.c $cc -std=c99
# shellcheck disable=SC2086
if have "${cxx%% *}"; then try_simd simd_program.cpp $cxx -std=c++98; else echo "skipped: no $cxx"; fi
# With the arguments of the other year, the error says what to define.
cat > other_year.c << 'END'
#include <simdnet_simd.h>
int main(void)
{
#if SIMDNET_SIMD_YEAR == 2020
    SimdSynetConvolution32fInit(1, 0);
    SimdSynetConvolution8iInit(1, 0, SimdSynetCompatibilityDefault);
    SimdSynetScaleLayerForward(0, 0, 0, 2, 2, 2, 0, SimdTensorFormatNhwc, SimdSynetCompatibilityDefault);
#else
    SimdSynetConvolution32fInit(1, 0, 0);
    SimdSynetConvolution8iInit(1, 0);
    SimdSynetScaleLayerForward(0, 0, 0, 2, 2, 0, SimdTensorFormatNhwc);
#endif
}
END
for years in '2020 2026' '2026 2020'; do
    # shellcheck disable=SC2086
    $cc -std=c99 -DSIMDNET_SIMD_YEAR="${years% *}" "-I$root$prefix/include" -fsyntax-only other_year.c 2> other_year.log
    if [ "$(grep -c "define SIMDNET_SIMD_YEAR as ${years#* }" other_year.log)" = 3 ]; then
        good
    else
        bad "arguments of ${years#* } with those of ${years% *} declared: $(cat other_year.log)"
    fi
done
# In the build folder, where the loader finds it by its SONAME; also one folder above, if that has a link to this library.
built=${work%/tests/install}
for directory in "$built" "${built%/*}"; do
    if [ "$directory/libsimdnet.so" -ef "$built/libsimdnet.so" ]; then
        try built "-I$OLDPWD/include" "-L$directory" -lsimdnet "-Wl,-rpath,$directory"
    fi
done
if cmp -s shared.txt static.txt; then good; else bad 'the shared and the static library print different results'; fi

# With CMake, which finds everything where it was moved to. Its makefiles have no names with |.
cmake_programs() { # cmake_programs FOLDER: builds and runs with the CMake files of that folder, in cmake/
    rm -rf cmake
    CC=$cc cmake -S "$OLDPWD/tests/cmake" -B cmake -DFOLDER="$1" -DPROGRAM="$work/program.c" &&
        MAKEFLAGS='' cmake --build cmake &&
        for library in simdnet static; do
            $run cmake/with_$library > cmake/$library.txt && cmp cmake/$library.txt shared.txt || return
        done
}
try_cmake() { # try_cmake FOLDER
    if ! have cmake; then
        echo 'skipped: no cmake'
    elif cmake_programs "$1" > cmake.log 2>&1; then
        good
    else
        bad "CMake with the files in $1: $(tail -n 5 cmake.log)"
    fi
}
try_uninstall() { # try_uninstall VARIABLE=VALUE...
    if make_it uninstall "$@"; then good; else bad "make uninstall: $(tail -n 3 uninstall.log)"; fi
    left=$(find "$root" ! -type d)
    if [ -z "$left" ]; then good; else bad "uninstall left $left"; fi
}
mv "$root$prefix" "moved & it's"
try_cmake "$PWD/moved & it's/lib/cmake/simdnet"
mv "moved & it's" "$root$prefix"
try_uninstall

# With the libraries elsewhere than below the prefix.
prefix=/usr elsewhere="/usr/lib/it's elsewhere"
if make_it install LIBDIR="$elsewhere"; then good; else bad "make install LIBDIR=...: $(tail -n 3 install.log)"; fi
try_cmake "$root$elsewhere/cmake/simdnet"
try_uninstall LIBDIR="$elsewhere"

echo "$passed passed, $failed failed"
exit $((failed != 0))
