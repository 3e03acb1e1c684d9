#!/bin/bash
# Runs the checker on an emulated processor, whose newest level must be the one given: the library chooses that level, and the
# emulator ends a program that executes an instruction which the processor lacks. Usage:
#
#     tests/sh/check_processor.sh PROCESSOR LEVEL [--part K/N] [options of the checker]
#
# --part: the K-th of N parts of the checker's families, counted from 1.
# For an ARM processor, a checker built by aarch64-linux-gnu-gcc is run. The emulator computes with floating-point numbers up to a
# hundred times slower than a processor. It reads the elements that a masked load excludes, so arrays have no unreadable pages.
set -u
cd "$(dirname "$0")/../.." || exit 1
processor=$1 level=$2
shift 2
part=1 parts=1
if [ "${1-}" = --part ]; then
    part=${2%/*} parts=${2#*/}
    shift 2
fi

skipped() {
    echo "skipped: $processor: $*"
    exit 0
}

case $level in
neon*)
    command -v qemu-aarch64 > /dev/null || skipped 'no qemu-aarch64 (package qemu-user)'
    command -v aarch64-linux-gnu-gcc > /dev/null || skipped 'no aarch64-linux-gnu-gcc (package gcc-aarch64-linux-gnu)'
    check=build/aarch64-aarch64-linux-gnu-gcc/tests/check
    build=(make CC=aarch64-linux-gnu-gcc $check)
    run=(qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu "$processor")
    ;;
*)
    command -v qemu-x86_64 > /dev/null || skipped 'no qemu-x86_64 (package qemu-user)'
    [ "$(uname -m)" = x86_64 ] || skipped 'its checker has not been built: this is not x86-64'
    check=build/x86_64-cc/tests/check
    build=(make $check)
    run=(qemu-x86_64 -cpu "$processor")
    ;;
esac
env -u MAKEFLAGS -u MAKELEVEL "${build[@]}" > build/check_processor.log 2>&1 || { tail -n 20 build/check_processor.log; exit 1; }

# QEMU says which features of the processor it does not emulate.
emulated() {
    "${run[@]}" $check --no-guards "$@" 2>&1 | grep --line-buffered -v "TCG doesn't support"
    return "${PIPESTATUS[0]}"
}

# The checker lists the levels that the library offers, oldest first.
output=$(emulated --test activation --every 1000 --seed 1)
levels=$(sed -n 's/.*levels: //p' <<< "$output")
if [ "${levels##* }" != "$level" ]; then
    echo "FAIL the newest level of $processor should be $level, but the checker printed:"
    echo "$output"
    exit 1
fi

families() { grep -oh '^CHECK_FAMILY([^)]*)' tests/c/check_*.c | sed 's/.*(\(.*\))/\1/' | sort | awk "NR % $parts == $part % $parts"; }

all() {
    local failed=0
    if [ "$parts" = 1 ]; then
        emulated --isa "$level" "$@"
        return
    fi
    for family in $(families); do
        emulated --isa "$level" --test "$family" "$@" || failed=1
    done
    return $failed
}

# The last line of each checker is added up, for the scorecard.
all "$@" | awk '/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; next }
    { print; fflush() }
    END { printf "scorecard: {\"cases\": %d, \"failed\": %d, \"emulated\": 1}\n", passed, failed; exit failed > 0 || passed == 0 }'
[ "${PIPESTATUS[*]}" = '0 0' ]
