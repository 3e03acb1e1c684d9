#!/usr/bin/env bash
# Measures how long builds of a fresh clone of the commit take, without ccache. Files are touched, so that make treats them as
# edited. Usage: tests/sh/build_times.sh [demo]; with demo also `make demo`, which needs a package index.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset CC CFLAGS LDFLAGS MAKEFLAGS MAKELEVEL
export CCACHE_DISABLE=1 TIMEFORMAT='%R s, by processors %U s'

clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git -c safe.directory='*' clone --quiet . "$clone/clone"
cd "$clone/clone"

timed() { # timed WHAT COMMAND...
    printf '%-50s ' "$1"
    { time "${@:2}" > "$clone/log" 2>&1; } 2>&1 || { tail -n 20 "$clone/log"; exit 1; }
}
edited() { # edited WHAT FILE...
    touch "${@:2}"
    timed "make after $1" make
}

echo "$(cc --version | head -n 1), $(nproc) processors"
timed 'make' make
largest=$(find build -path '*/kernels/*.o' -printf '%s %p\n' | sort -n | sed -n '$s|.*/kernels/\(.*\)\.o|\1|p')
edited "kernels/$largest.c, the largest" "libsrc/kernels/$largest.c"
edited 'a slot of pooling' libsrc/{contract/pooling.h,kernels/pooling/max_32f.c,reference/pooling.c}
edited 'a comment in simdnet.h' include/simdnet.h
if [ "${1:-}" = demo ]; then
    git clean -dffqx
    timed 'make demo' make demo
fi
