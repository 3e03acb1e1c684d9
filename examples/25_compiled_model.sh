# A model as a program in C: its calls are written down, and need nothing but the library. The answer has Python's bits.
set -eu
cd "$(dirname "$0")/.."
command -v "${CC:-cc}" > /dev/null || { echo "skipped: no C compiler"; exit 77; }
[ -z "${RUN:-}" ] || { echo "skipped: the program is for another processor than Python"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-$PWD/.venv/bin/python}

make --silent install PREFIX="$work/usr" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$python" -m pysimd compile examples/digits/digits.simdnet --shape images:1,1,8,8 --name digits -o "$work/program" > "$work/log"
sed 's/.*\///' "$work/log"

# The first of the held-out images as floats, and what Python answers.
"$python" - "$work/program" << 'END'
import sys
from pathlib import Path

import numpy as np

import pysimd

sys.path.append("examples/digits")
import digits_files

images, _ = digits_files.read_images("examples/digits/images.bin")
image = images[:1, None].astype(np.float32)
run = pysimd.load("examples/digits/digits.simdnet").prepare({"images": image.shape})
image.tofile(Path(sys.argv[1], "image.raw"))
run({"images": image})["probabilities"].tofile(Path(sys.argv[1], "expected.raw"))
END

cd "$work/program"
make --silent CC="${CC:-cc}" CPPFLAGS="-I$work/usr/include" LDFLAGS="-L$work/usr/lib -Wl,-rpath,$work/usr/lib"
./digits_example digits.bin image.raw
cmp 0.out expected.raw && echo "the same bits as in Python"

# Output:
#
#   digits.c
#   digits.h
#   main.c
#   Makefile
#   digits.bin
#   probabilities: ...
#   the same bits as in Python
