#!/bin/sh
# Runs the other scripts that test a build. Each of them mostly uses one processor, and check_levels.sh takes as long as all others,
# so it runs beside them unless JOBS is 1; its output comes last.
# Usage: tests/sh/check_scripts.sh BUILD_DIRECTORY CC [RUN ...]
set -u

script() { # script NAME ARGUMENTS...
    echo "== tests/sh/$1.sh"
    "tests/sh/$1.sh" "$2" "$3" $4
}
try() { script "$1" "$build" "$cc" "$run" || failed=1; }

build=$1 cc=$2
shift 2
run=$*
failed=0
log=$build/tests/check_levels.log
if [ "${JOBS:-1}" != 1 ]; then
    script check_levels "$build" "$cc" "$run" > "$log" 2>&1 &
    levels=$!
fi
for name in check_library check_install check_build; do try $name; done
if [ "${JOBS:-1}" = 1 ]; then
    try check_levels
else
    wait "$levels" || failed=1
    cat "$log"
fi
exit $failed
