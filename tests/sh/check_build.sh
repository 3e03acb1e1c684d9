#!/bin/sh
# Tests the tools for developers of the library: which files make builds again, and which cases the checker leaves out.
# Usage: tests/sh/check_build.sh BUILD_DIRECTORY CC [RUN ...]
set -u
build=$1 cc=$2
shift 2

passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
expect() { # expect WHAT FOUND EXPECTED
    if [ "$2" = "$3" ]; then good; else bad "$1: $2, expected $3"; fi
}

work=$build/tests/build
rm -rf "$work"
mkdir -p "$work"
make_it() { MAKEFLAGS='' make --no-print-directory CC="$cc" BUILD="${build%/*}" VARIANT="${build##*/}" "$@"; }

# ---- the commands that make would run for the library that was just built
compiled() { # compiled ARGUMENTS OF MAKE...: leaves the commands in $work/commands, prints how many files would be compiled
    make_it -n "$@" all > "$work/commands" 2>&1
    grep -c -e ' -c libsrc/' "$work/commands"
}
linked() { grep -c -e ' -o [^ ]*\.so$' "$work/commands"; } # of the same commands
# objects_of FOLDER...: the number of objects below obj/ whose source still exists
objects_of() {
    (cd "$build/obj" && find "$@" -name '*.o' 2> /dev/null) | while read -r object; do
        source=${object#./} source=${source%.o}.c
        [ -f "libsrc/$source" ] || [ -f "libsrc/${source#*/}" ] && echo "$object"
    done | wc -l
}
objects=$(objects_of .)
level=$(objects_of sse41 neon)
case $($cc -dumpmachine) in
x86_64*) name=sse41 flags='-msse4.1' ;;
*) name=neon flags= ;;
esac
other="${CFLAGS:--O2} -DOTHER"
make_it -q all
expect 'status of make -q with the same flags' $? 0
expect 'files compiled with other CFLAGS' "$(compiled CFLAGS="$other")" "$objects"
expect 'files compiled with other CPPFLAGS' "$(compiled CPPFLAGS="${CPPFLAGS:-} -DOTHER")" "$objects"
expect 'files compiled by another compiler' "$(compiled CC="env $cc")" "$objects"
expect "files compiled with other flags of $name" "$(compiled "FLAGS_$name=$flags -DOTHER")" "$level"
expect 'files compiled with other LDFLAGS' "$(compiled LDFLAGS="${LDFLAGS:-} -s")" 0
expect 'libraries linked with other LDFLAGS' "$(linked)" 1
sed "s|libsrc/library.mk|$work/library.mk|; s|libsrc/\$(TARGET).mk|$work/linux.mk|" Makefile > "$work/Makefile"
cp libsrc/linux.mk "$work/linux.mk"
sed 's/^WARNINGS *:=/& -Wextra/' libsrc/library.mk > "$work/library.mk"
expect 'files compiled after a change to the Makefile' "$(compiled -f "$work/Makefile")" "$objects"
cp libsrc/library.mk "$work/library.mk"
sed 's/-z,relro/-z,norelro/' libsrc/linux.mk > "$work/linux.mk"
expect 'files compiled after a change to how is linked' "$(compiled -f "$work/Makefile")" 0
expect 'libraries linked after it' "$(linked)" 1
make_it -q all
expect 'status of make -q behind make -n' $? 0

# ---- the number of make's jobs: the default, and as requested
jobs() { # jobs WORD... of env and make: what a recipe finds in JOBS
    env -u MAKELEVEL -u MAKEFLAGS "$@" -s CC="$cc" --eval='jobs:; @echo $(JOBS)' jobs
}
expect 'jobs of make' "$(jobs make)" "$(nproc)"
expect 'jobs of make -j3' "$(jobs make -j3)" 3
expect 'jobs of make in MAKEFLAGS=-j3' "$(jobs MAKEFLAGS=-j3 make)" 3
expect 'jobs of a make for several targets' "$(jobs make help | tail -n 1)" 1
expect 'jobs of a make that another one calls' "$(jobs MAKELEVEL=1 make)" 1

# ---- one object: it is built again once after its flags change
object=$work/variant/obj/runtime/text.o
build_object() { make_it BUILD="$work" VARIANT=variant CFLAGS="$1" "$object" 2>&1 | grep -c -e ' -c libsrc/'; }
expect 'a first build' "$(build_object -O1)" 1
expect 'a second build' "$(build_object -O1)" 0
expect 'a build with a word in quotes' "$(build_object "-O1 -DWORD='\"it is\"'")" 1
expect 'a second build with a word in quotes' "$(build_object "-O1 -DWORD='\"it is\"'")" 0
expect 'a build with the first flags' "$(build_object -O1)" 1

# ---- what an interrupted build leaves: the object whose local functions could not be renamed is built again
object=$work/variant/obj/reference/eltwise.o
objcopy=$($cc -print-prog-name=objcopy)
cat > "$work/objcopy" << END
#!/bin/sh
[ -e "$work/full" ] && exit 1
exec $objcopy "\$@"
END
chmod +x "$work/objcopy"
named() { make_it BUILD="$work" VARIANT=variant OBJCOPY="$work/objcopy" "$object" 2>&1 | grep -c -e ' -c libsrc/'; }
if command -v "$objcopy" > /dev/null; then
    touch "$work/full"
    expect 'files compiled before a failure' "$(named)" 1
    rm "$work/full"
    expect 'files compiled after a failure' "$(named)" 1
    expect 'files compiled after that' "$(named)" 0
fi
make_it --eval="$work/half:; echo half > \$@; false" "$work/half" > /dev/null 2>&1
expect 'what a failed command leaves' "$(ls "$work/half" 2> /dev/null)" ''

# ---- the link to the library of the last make without VARIANT and ISAS. -o: the library itself is not built.
variant() { echo "$(uname -m)-$(basename "${1%% *}")"; } # variant CC
link_after() { # link_after CC: its target
    links=$work/links folder=$(variant "$1")
    mkdir -p "$links/$folder"
    : > "$links/$folder/libsimdnet.so"
    MAKEFLAGS='' make -s CC="$1" ISAS= BUILD="$links" -o "$links/$folder/libsimdnet.so" "$links/libsimdnet.so" > "$work/links.log" 2>&1
    readlink "$links/libsimdnet.so"
}
case $(uname -m) in
"$($cc -dumpmachine | cut -d- -f1)")
    printf '#!/bin/sh\nexec %s "$@"\n' "$cc" > "$work/other-cc"
    chmod +x "$work/other-cc"
    expect 'the link after make' "$(link_after "$cc")" "$(variant "$cc")/libsimdnet.so"
    expect 'the link after make by another compiler' "$(link_after "$work/other-cc")" "$(variant other-cc)/libsimdnet.so"
    expect 'the link after the first make again' "$(link_after "$cc")" "$(variant "$cc")/libsimdnet.so"
    ;;
*) echo 'skipped: the link to the library: built for another machine' ;;
esac

# ---- a build folder outside the sources, with copies of the objects: the folder of the sources does not change
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
mkdir -p "$outside/build/other/tests"
cp -Rp "$build/obj" "$build/commands" "$build/bench" "$outside/build/other/"
cp -p "$build"/tests/check*.o "$build/tests/families.h" "$outside/build/other/tests/"
: > "$outside/begin"
programs="$outside/build/other/tests/check $outside/build/other/examples/01_pooling"
if make_it BUILD="$outside/build" VARIANT=other PREFIX="$outside/usr" install $programs > "$outside/log" 2>&1; then
    good
else
    bad "make BUILD=$outside/build: $(tail -n 3 "$outside/log")"
fi
expect 'a program built there' "$("$@" "$outside/build/other/examples/01_pooling" > /dev/null; echo $?)" 0
written=$(find . -path "./${build%/*}" -prune -o -path ./.git -prune -o -newer "$outside/begin" -print | tr '\n' ' ')
expect 'files written beside the sources' "$written" ''
make_it BUILD="$outside/with blank" all > "$outside/log" 2>&1
expect 'status of make with a blank in BUILD' $? 2
expect 'messages about it' "$(grep -c 'BUILD must be one folder whose name has no blanks' "$outside/log")" 1

# ---- the checker: cases that are left out take no time. No function that it calls has the name "none". Several processes find
# the same as one. A process that died is a failure: here all die, because their stack is too small.
if [ $# -gt 0 ]; then
    echo 'skipped: time of cases that are left out, processes of the checker: emulated'
else
    (
        ulimit -t 2
        "$build/tests/check" --function none > "$work/check.log" 2>&1
    )
    expect 'status of a checker without cases' $? 1
    expect 'last line of a checker without cases' "$(tail -n 1 "$work/check.log")" '0 passed, 0 failed'
    some() { "$build/tests/check" --case 'size=9' --quick --seed 1 "$@" | tail -n 1; }
    expect 'what three processes find' "$(some --jobs 3)" "$(some)"
    "$build/tests/check" --test activation --jobs 2 --stack 1 > "$work/check.log" 2>&1
    expect 'status of a checker whose processes died' $? 1
    expect 'its last line' "$(tail -n 1 "$work/check.log")" '0 passed, 2 failed'
fi

echo "$passed passed, $failed failed"
exit $((failed != 0))
