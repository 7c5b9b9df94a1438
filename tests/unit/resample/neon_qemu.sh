#!/bin/sh
# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
#
# The NEON kernels, proven on another machine: cross-compiles the resample layer
# and its tests alone (no cmocka, no libjpeg) and runs them under qemu-user.
# cmocka is not there for the other machine, so mini/cmocka.h stands in for it.
# Prints TAP; skipped when a tool is missing, which the line names.
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
		-I"$here/mini" -I"$root/libdl" -I"$root/libdl/include" "$@"
}

objects=
for source in image/cast image/coeffs image/coeffs_cache image/resample \
	image/resample_c image/resample_dispatch image/resample_plan \
	image/resample_neon image/arena base/base; do
	object=$work/$(basename "$source").o
	compile -c -o "$object" "$root/libdl/$source.c"
	objects="$objects $object"
done
for test in kernels pillow cast coeffs stream; do
	# shellcheck disable=SC2086 # a list of names without blanks
	compile -static -o "$work/${test}_test" "$here/${test}_test.c" \
		$objects -lm
done

echo "1..5"
nr=0
failed=0
for test in kernels pillow cast coeffs stream; do
	nr=$((nr + 1))
	args=
	[ "$test" = pillow ] && args=$here/pillow.tsv
	# shellcheck disable=SC2086 # no argument when empty
	if DLBOOST_SIMD=neon "$qemu" "$work/${test}_test" $args; then
		echo "ok $nr - neon: ${test}_test"
	else
		echo "not ok $nr - neon: ${test}_test"
		failed=1
	fi
done
exit $failed
