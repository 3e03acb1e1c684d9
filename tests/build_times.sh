#!/usr/bin/env bash
# How long builds take, of a fresh clone of the commit and without ccache. What was edited is touched, which is the same to make.
# Usage: tests/build_times.sh [all demo kernel slot header]: which of them; all but demo, which needs a package index, unless named.
set -euo pipefail
cd "$(dirname "$0")/.."
unset CC CFLAGS LDFLAGS MAKEFLAGS MAKELEVEL
export CCACHE_DISABLE=1 TIMEFORMAT='%R s, by processors %U s'
which=" ${*:-all kernel slot header} "

clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git -c safe.directory='*' clone --quiet . "$clone"
cd "$clone"

timed() { # timed WHAT COMMAND...
    printf '%-50s ' "$1"
    { time "${@:2}" > log 2>&1; } 2>&1 || { tail -n 20 log; exit 1; }
}
touched() { # touched WHICH WHAT FILE...
    [[ $which == *" $1 "* ]] || return 0
    touch "${@:3}"
    timed "$2" make
}

echo "$(cc --version | head -n 1), $(nproc) processors"
if [[ $which == *' demo '* ]]; then
    timed 'make demo' make demo
    make clean > log
fi
if [[ $which == *' all '* ]]; then timed 'make' make; else make > log 2>&1; fi
largest=$(basename "$(find build -path '*/kernels/*.o' -printf '%s %p\n' | sort -n | tail -n 1)" .o)
touched kernel "make after kernels/$largest.c, the largest" "libsrc/kernels/$largest.c"
touched slot 'make after a slot of pooling' libsrc/{contract,kernels,reference}/pooling.[ch]
touched header 'make after a comment in simdnet.h' include/simdnet.h
