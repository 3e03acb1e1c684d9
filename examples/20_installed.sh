# A program outside of this checkout: the library is installed somewhere, and found through pkg-config.
set -eu
cd "$(dirname "$0")/.."
command -v pkg-config > /dev/null || { echo "skipped: no pkg-config"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make --silent install PREFIX="$work/usr" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
export PKG_CONFIG_PATH="$work/usr/lib/pkgconfig"
echo "simdnet $(pkg-config --modversion simdnet)"

# With the shared library, which the loader finds through the rpath.
${CC:-cc} examples/08_gemm.c $(pkg-config --cflags --libs simdnet) -Wl,-rpath,"$work/usr/lib" -o "$work/shared"
${RUN:-} "$work/shared"

# With the static one: the program runs without the installed library.
${CC:-cc} examples/08_gemm.c $(pkg-config --cflags simdnet) "$work/usr/lib/libsimdnet.a" -lm -lpthread -ldl -o "$work/static"
make --silent uninstall PREFIX="$work/usr" > "$work/log"
${RUN:-} "$work/static" | head -n 1

# Output:
#
#   simdnet ...
#   a fast vehicle: train, 1.60
#   a small animal: mouse, 0.80
#   anything large: house, 0.90
#   a fast vehicle: train, 1.60
