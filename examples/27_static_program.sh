# One file that classifies pictures and needs no library: the program, the model in C, its weights, and libsimdnet.a.
set -eu
cd "$(dirname "$0")/.."
cc=${CC:-cc}
command -v "$cc" > /dev/null || { echo "skipped: no C compiler"; exit 77; }
[ -z "${RUN:-}" ] || { echo "skipped: the program is for another processor than Python"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-$PWD/.venv/bin/python}

make --silent install PREFIX="$work/usr" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$python" -m pysimd compile examples/digits/digits.simdnet --shape images:1,1,8,8 --name digits --embed -o "$work" \
    > /dev/null
cp examples/digits/compiled/classify.c "$work"

# Two of the held-out images, magnified: one in gray, one in colours.
"$python" - "$work" << 'END'
import sys
from pathlib import Path

import numpy as np

sys.path.append("examples/digits")
import digits_files

images, labels = digits_files.read_images("examples/digits/images.bin")
magnified = [np.kron(np.minimum(image * 16.0, 255).astype(np.uint8), np.ones((20, 30), np.uint8)) for image in images[:2]]
print(f"pictures of {labels[0]} and {labels[1]}")
Path(sys.argv[1], "first.pgm").write_bytes(b"P5 240 160 255\n" + magnified[0].tobytes())
Path(sys.argv[1], "second.ppm").write_bytes(b"P6 240 160 255\n" + np.repeat(magnified[1], 3).tobytes())
END

cd "$work"
if ! "$cc" -std=c99 -O2 -static -Iusr/include classify.c digits.c digits_weights.c usr/lib/libsimdnet.a -pthread -lm \
    -o classify 2> log; then
    cat log
    exit 1
fi
strip classify
./classify first.pgm second.ppm
echo "$(wc -c < classify | tr -d ' ') bytes, with the C library"

# Output:
#
#   pictures of 7 and 6
#   first.pgm: 7 (...)
#   second.ppm: 6 (...)
#   ... bytes, with the C library
