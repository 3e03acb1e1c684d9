#!/usr/bin/env bash
# Builds the same sources twice, in different folders and environments: libraries, wheel and sdist must be equal to the bit. To
# save time, the library has few instruction sets, and the first build begins with the objects of BUILD_DIRECTORY.
# Usage: tests/sh/check_reproducible.sh BUILD_DIRECTORY CC TOOLS, where TOOLS is Python's environment with the packages' tools
set -euo pipefail
unset MAKEFLAGS MAKELEVEL SOURCE_DATE_EPOCH
build=$1 cc=$2 tools=$(cd "$3" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! git -c safe.directory='*' ls-files > "$work/files"; then
    echo 'skipped: this is no git checkout'
    exit 0
fi
case $($cc -dumpmachine) in
x86_64*) some=avx2 ;; # its intrinsics are compiled once
*) some=neon ;;
esac

# copy_sources FOLDER: copies the files that it reads the names of, with the permissions of the umask
copy_sources() {
    mkdir "$work/$1"
    tar -cf - -T - | tar -xf - --no-same-permissions -C "$work/$1"
}
# build_all FOLDER ARGUMENTS OF MAKE...: the libraries and packages of the sources in FOLDER
build_all() {
    local folder=$work/$1
    local call=(make -s -C "$folder" CC="$cc" ISAS="$some" TOOLS="$tools" -o "$tools/package.stamp" "${@:2}")
    { "${call[@]}" -j"$(nproc)" all && "${call[@]}" wheel sdist; } > "$folder.log" 2>&1 || { tail -n 30 "$folder.log"; exit 1; }
}

copy_sources one < "$work/files"
mkdir -p "$work/one/build/first"
cp -Rp "$build/obj" "$build/commands" "$work/one/build/first/"
build_all one VARIANT=first & # packages are made by one process, so that the other build has a processor
first=$!

# Files are created in another order; ccache would return the objects of the first build.
(
    umask 077
    export TZ=Asia/Tokyo LC_ALL=C.UTF-8 LOGNAME=somebody USER=somebody HOME="$work" CCACHE_DISABLE=1
    tac "$work/files" | copy_sources 'two'
    build_all two BUILD="$work/other/folder" VARIANT=second
)
wait "$first"

failed=0
same() { # same FILE FILE
    if [ -s "$1" ] && cmp "$1" "$2"; then echo "equal: ${1##*/}"; else failed=1 && echo "FAIL: ${1##*/} differs"; fi
}
same "$work"/one/build/first/libsimdnet.so "$work/other/folder/second/libsimdnet.so"
same "$work"/one/build/first/libsimdnet.a "$work/other/folder/second/libsimdnet.a"
for package in "$work"/one/build/dist/*; do same "$package" "$work/other/folder/dist/${package##*/}"; done
exit $failed
