# A model as a program in C: its calls are written down, and need nothing but the library.
set -eu
cd "$(dirname "$0")/.."
command -v "${CC:-cc}" > /dev/null || { echo "skipped: no C compiler"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-.venv/bin/python}

make --silent install PREFIX="$work/usr" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$python" -m pysimd compile examples/digits/digits.simdnet --shape images:1,1,8,8 --name digits -o "$work/program" > "$work/log"
sed 's/.*\///' "$work/log"

cd "$work/program"
make --silent CC="${CC:-cc}" CPPFLAGS="-I$work/usr/include" LDFLAGS="-L$work/usr/lib -Wl,-rpath,$work/usr/lib"

# The first of the held-out images: its bytes behind a header and the labels, as floats.
"$OLDPWD/$python" - "$OLDPWD/examples/digits/images.bin" > image.raw << 'END' || exit 1
import sys
import numpy as np
data = open(sys.argv[1], "rb").read()
count = int.from_bytes(data[8:12], "little")
sys.stdout.buffer.write(np.frombuffer(data, np.uint8, 64, 20 + count).astype(np.float32).tobytes())
END
./digits_example digits.bin image.raw

# Output:
#
#   digits.c
#   digits.h
#   main.c
#   Makefile
#   digits.bin
#   probabilities: ...
