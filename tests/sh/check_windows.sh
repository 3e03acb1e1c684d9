#!/usr/bin/env bash
# check_windows.sh BUILD CC: what simdnet.dll exports and needs, and that AVX registers are only stored at addresses of the stack that
# are aligned. Without objdump nothing is checked.
set -eu
build=$1 cc=$2
command -v objdump > /dev/null && objdump --help | grep -q pei-x86-64 || { echo "skipped: no objdump that reads DLLs"; exit 0; }

failed=0
fail() { echo "FAIL $*"; failed=1; }

declared=$($cc -E -P -x c include/simdnet.h | grep -o '\bSimd[A-Za-z0-9_]*(' | tr -d '(' | sort -u)
exported=$(objdump -p "$build/simdnet.dll" | awk '/Ordinal\/Name Pointer/ { on = 1; next } on && /\[/ { print $NF } on && NF == 0 { exit }' |
    sort)
[ "$declared" = "$exported" ] || fail "simdnet.dll exports other names than the header declares"

needed=$(objdump -p "$build/simdnet.dll" | sed -n 's/.*DLL Name: //p' | tr A-Z a-z)
for dll in $needed; do
    case $dll in
    kernel32.dll | ntdll.dll | api-ms-win-core-synch-l1-2-0.dll | api-ms-win-crt-*.dll | ucrtbase.dll) ;;
    *) fail "simdnet.dll needs $dll" ;;
    esac
done

# A function that aligns its stack may store whole registers by instructions that need alignment; another one may not.
bad=$(find "$build/obj" -name '*.o' -exec objdump -d --no-show-raw-insn {} \; | awk '
    /^[0-9a-f]+ <.*>:/ { name = $2; aligned = 0 }
    /and +\$0xffffffffffffff[ec8]0,%rsp/ { aligned = 1 }
    /vmovap[sd].*%[yz]mm[0-9]+.*\(%r(sp|bp)/ || /vmovap[sd].*\(%r(sp|bp).*%[yz]mm/ { if (!aligned) print name }' | sort -u)
[ -z "$bad" ] || fail "aligned accesses to a stack that is not: $bad"

[ $failed = 0 ] && echo "simdnet.dll: $(wc -w <<< "$exported") names, needs $(wc -w <<< "$needed") libraries of the system"
exit $failed
