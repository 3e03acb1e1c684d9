#!/usr/bin/env bash
# Uses a wheel in the Python of another release of Debian, with its C library, or of another architecture, by emulation. The packages
# of that release are unpacked below build/, nothing is installed. The kernel is this machine's.
# Usage: tests/sh/check_wheel_on_debian.sh SUITE ARCHITECTURE WHEEL, as in bullseye amd64. Needs apt-get, a package index and pip.
set -euo pipefail
suite=$1 architecture=$2 wheel=$3
unset SIMDNET_LIBRARY PYTHONPATH PYTHONHOME
PYTHON=${PYTHON:-python3}
folder=$PWD/build/debian/$suite-$architecture
root=$folder/root site=$folder/site

unpack() {
    rm -rf "$folder"
    mkdir -p "$folder"/{state/lists,cache/archives}/partial "$root"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" > "$folder/sources"
    : > "$folder/status"
    local apt=(apt-get -qq -o Dir::State="$folder/state" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache"
        -o Dir::Etc::sourcelist="$folder/sources" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root
        -o APT::Architecture="$architecture" -o APT::Architectures="$architecture")
    "${apt[@]}" update && "${apt[@]}" install -y --download-only --no-install-recommends python3-minimal libpython3-stdlib libstdc++6 ||
        return 1
    local package
    for package in "$folder"/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
    rm -rf "$folder"/{state,cache}
    touch "$folder/complete"
}

mkdir -p "${folder%/*}"
if [ ! -e "$folder/complete" ] && ! unpack > "$folder.log" 2>&1; then
    echo "skipped: no packages of Debian $suite for $architecture"
    exit 0
fi
python=$(echo "$root"/usr/bin/python3.[0-9]*) # links of the root are absolute, so the program and the loader are named
loader=$(find "$root" -path '*linux-gnu*' -name 'ld-linux-*.so.[0-9]' | head -n 1)
libraries=$(echo "$root"/lib/*-linux-gnu):$(echo "$root"/usr/lib/*-linux-gnu)
case $architecture in
arm64) machine=aarch64 ;;
*) machine=x86_64 ;;
esac
there=("$loader" --library-path "$libraries" "$python")
[ "$machine" = "$(uname -m)" ] || there=("qemu-$machine" "${there[@]}")

# pip refuses a wheel whose tag does not permit the platforms. NumPy's may need a newer glibc.
rm -rf "$site"
"$PYTHON" -m pip install --quiet --disable-pip-version-check --target "$site" --only-binary :all: --python-version "${python##*python}" \
    --platform "manylinux2014_$machine" --platform "manylinux_2_28_$machine" "$wheel"
cd "$folder" # away from the package in the checkout
export PYTHONHOME=$root/usr PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
"${there[@]}" - <<'END'
import os, platform, sys
import numpy as np, pysimd

print(f"Python {sys.version.split()[0]}, {os.confstr('CS_GNU_LIBC_VERSION')}, {platform.machine()}, NumPy {np.__version__}")
x = np.arange(16, dtype=np.float32).reshape(4, 4, 1)
assert pysimd.convolution(x, np.ones((3, 3, 1, 1), np.float32))[..., 0].tolist() == [[45, 54], [81, 90]]
assert "/site/" in pysimd._library.LIBRARY_PATH
try:
    pysimd.relu(x.astype(np.float64))
except TypeError as error:
    print(error)
END
"${there[@]}" -m pysimd selftest | tail -n 1
