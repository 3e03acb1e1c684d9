#!/usr/bin/env bash
# The packages as users get them: an sdist from a fresh checkout of the commit, and a wheel from the unpacked sdist, offline. The
# contents of both are checked. The wheel, and the checkout by `pip install .`, are each installed in a fresh environment and used
# from another folder. Needs git and a package index. PYTHON is the interpreter. `make check-package` has built the library here:
# if no file differs from the commit, its objects are copied, and make compiles those again for which a header is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset SIMDNET_LIBRARY PYTHONPATH VIRTUAL_ENV
unset MAKEFLAGS MAKELEVEL
export PIP_DISABLE_PIP_VERSION_CHECK=1
PYTHON=${PYTHON:-python3}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/checkout"
if ! git -c safe.directory='*' archive HEAD > "$work/checkout.tar"; then
    echo 'skipped: this is no git checkout'
    exit 0
fi
tar -xf "$work/checkout.tar" -C "$work/checkout"
(cd "$work/checkout" && find . -type f) | sed 's|^\./||' | grep -v -e '^\.ci/' -e '^\.github/' -e '^\.gitignore$' | sort > "$work/expected"

echo '== sdist'
make -s -C "$work/checkout" sdist PYTHON="$PYTHON" > "$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
sdist=$(echo "$work"/checkout/build/dist/pysimd-*.tar.gz)
tar -xzf "$sdist" -C "$work"
source=$(echo "$work"/pysimd-*/)
# It contains the files of the commit, except .ci, .github and .gitignore, which are only for the repository, and those of setuptools.
(cd "$source" && find . -type f) | sed 's|^\./||' | grep -v -x -e PKG-INFO -e setup.cfg -e 'pysimd.egg-info/.*' | sort > "$work/found"
diff "$work/expected" "$work/found" || { echo 'FAIL: < is in the commit alone, > in the sdist alone'; exit 1; }

echo '== wheel, from the unpacked sdist, without an index'
built=$(dirname "$(readlink -f build/libsimdnet.so)")
if [ -d "$built/obj" ] && git -c safe.directory='*' diff --quiet HEAD; then
    mkdir -p "${source}build/${built##*/}"
    cp -a "$built/obj" "$built/commands" "$built"/libsimdnet.* "${source}build/${built##*/}/"
    find "${source}build" -exec touch -h -r "$work/found" {} + # sources have the time of the commit, which may be later
fi
PIP_NO_INDEX=1 make -s -C "$source" wheel TOOLS="$work/checkout/.venv-tools" > "$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
wheel=$(echo "$source"build/dist/pysimd-*.whl)
"$PYTHON" - "$wheel" "$work/expected" <<'END'
import sys, zipfile
from pathlib import Path

wheel, listed = Path(sys.argv[1]), Path(sys.argv[2]).read_text().split()
with zipfile.ZipFile(wheel) as archive:
    names = {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}
    library = archive.getinfo("pysimd/libsimdnet.so").file_size
assert "pysimd/py.typed" in names
expected = {name for name in listed if name.startswith("pysimd/") and not name.endswith(".mk")}
expected |= {f"pysimd/{name}" for name in ("libsimdnet.so", "simdnet.h", "simdnet_simd.h", "_declarations.py")}
assert names == expected, names ^ expected
print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, the library in it {library / 1e6:.1f} MB")
END
"$work/checkout/.venv-tools/bin/python" tests/check_wheel.py "$wheel"

# Libraries that an installed package must refuse: a text, another library, an older one, and one with few of the functions.
libm=$("${CC:-cc}" -print-file-name=libm.so.6)
echo 'not a library' > "$work/text.so"
for library in older:0.0.1 incomplete:"$(sed -n 's/^#define SIMDNET_VERSION "\(.*\)"/\1/p' include/simdnet.h)"; do
    printf 'const char * SimdVersion(void) { return "%s"; }\nconst char * SimdnetLastError(void) { return ""; }\n' \
        "${library#*:}" > "$work/other.c"
    "${CC:-cc}" -shared -fPIC "$work/other.c" -o "$work/${library%:*}.so"
done

# refuses NAME LIBRARY SENTENCE: importing the package installed in NAME with LIBRARY fails with one line that contains SENTENCE
refuses() {
    local said
    said=$(SIMDNET_LIBRARY=$2 "$work/$1/bin/python" -I -c 'import pysimd' 2>&1 | tail -n 1) || true
    [[ $said == "ImportError: "*"$2"* && $said == *"$3"* ]] || { echo "FAIL: with $2 an import says: $said"; exit 1; }
}

# try_package NAME WHAT...: installs it in a fresh environment and uses it in an empty folder
try_package() {
    local name=$1
    shift
    echo "== $name, in a fresh environment"
    "$PYTHON" -m venv "$work/$name"
    "$work/$name/bin/python" -m pip install --quiet "$@" > "$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
    local packages
    packages=$("$work/$name/bin/python" -m pip list --format=freeze | sed 's/[=@ ].*//' | grep -v -x -e pip -e setuptools | sort | tr '\n' ' ')
    [ "$packages" = 'cffi numpy pycparser pysimd ' ] || { echo "FAIL: installed are $packages"; exit 1; }
    mkdir "$work/$name/elsewhere"
    (cd "$work/$name/elsewhere" && ../bin/python - <<'END'
import sys
from pathlib import Path

import numpy as np
import pysimd
from pysimd._library import LIBRARY_PATH

assert Path(LIBRARY_PATH).is_relative_to(Path(sys.prefix).resolve()), LIBRARY_PATH
x = np.arange(16, dtype=np.float32).reshape(4, 4, 1)
assert pysimd.pooling_max(x, kernel=2)[..., 0].tolist() == [[5, 7], [13, 15]]
assert pysimd.convolution(x, np.ones((3, 3, 1, 1), np.float32))[..., 0].tolist() == [[45, 54], [81, 90]]
try:
    pysimd.relu(x.astype(np.float64))
except TypeError as error:
    print(error)
END
    ../bin/python -m pysimd info
    ../bin/python -m pysimd selftest | tail -n 1
    )
    refuses "$name" "$work/missing.so" 'which does not exist'
    refuses "$name" "$work/text.so" 'pysimd could not open'
    refuses "$name" "$libm" 'is not a libsimdnet.so: it has no function SimdnetLastError'
    refuses "$name" "$work/older.so" 'has version 0.0.1, but'
    refuses "$name" "$work/incomplete.so" 'SimdSynetRelu32f'
}
try_package from-wheel "$wheel"
# The checkout and the sdist have the same sources, so the objects are copied, and nothing is compiled twice.
cp -a "$source/build" "$work/checkout/"
try_package from-checkout "$work/checkout"
echo passed
