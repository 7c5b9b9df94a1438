#!/bin/sh
# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
#
# The NEON kernels of the reconstruction, proven on another machine:
# cross-compiles them and their test alone (no cmocka, no libjpeg) and runs it
# under qemu-user.  Prints TAP; skipped when a tool is missing, which the line
# names.
#
# usage: neon_qemu.sh [work folder]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
cc=${CROSS_CC:-aarch64-linux-gnu-gcc}
qemu=${QEMU:-qemu-aarch64-static}

for tool in "$cc" "$qemu"; do
	if ! command -v "$tool" >/dev/null; then
		echo "1..0 # SKIP $tool is not installed (gcc-aarch64-linux-gnu, qemu-user-static)"
		exit 0
	fi
done

work=${1:-}
if [ -z "$work" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi

compile() {
	"$cc" -O2 -std=gnu11 -D_GNU_SOURCE -DDLB_VERSION='"test"' \
		-ffp-contract=off -fno-strict-aliasing -Wall -Wextra \
		-Wno-unused-parameter -Wno-type-limits \
		-I"$here/../resample/mini" -I"$root/libdl" \
		-I"$root/libdl/include" "$@"
}

objects=
for source in image/recon image/recon_c image/recon_neon image/arena \
	image/cast image/coeffs image/coeffs_cache image/resample \
	image/resample_c image/resample_dispatch image/resample_plan \
	image/resample_neon base/base; do
	object=$work/$(basename "$source").o
	compile -c -o "$object" "$root/libdl/$source.c"
	objects="$objects $object"
done
# shellcheck disable=SC2086 # a list of names without blanks
compile -static -o "$work/kernels_test" "$here/kernels_test.c" $objects -lm

echo "1..1"
if DLBOOST_SIMD=neon "$qemu" "$work/kernels_test"; then
	echo "ok 1 - neon: kernels_test"
else
	echo "not ok 1 - neon: kernels_test"
	exit 1
fi
