#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The resampling, NEON included, as an arm64 processor runs it: built by Debian's
# cross compiler, run under qemu's user mode.  The tests are those of
# tests/unit/resample.  The arithmetic of order and draws is checked likewise by
# tests/unit/order/portable.sh.  Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

cross=aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
out=build/aarch64
log=$out/log
nr=0
failed=0

for tool in "$cross" "${qemu:-qemu-aarch64}"; do
	if ! command -v "$tool" >/dev/null; then
		echo "1..0 # SKIP no $tool here"
		exit 0
	fi
done
mkdir -p "$out"

sources=(libdl/base/base.c libdl/image/{arena,cast,coeffs,coeffs_cache}.c
	libdl/image/resample{,_c,_dispatch,_neon,_plan}.c)

report()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - aarch64: $2"
	else
		sed 's/^/# /' "$log" | tail -n 30
		echo "not ok $nr - aarch64: $2"
		failed=1
	fi
}

# build NAME SOURCE
build()
{
	"$cross" -static -std=gnu11 -O2 -g -Wall -Wextra -Werror \
		-Wno-unused-parameter -Wno-missing-field-initializers \
		-D_GNU_SOURCE '-DDLB_VERSION="0"' -ffp-contract=off \
		-fno-strict-aliasing -Ilibdl/include -Ilibdl -Itests/run/cross \
		"${sources[@]}" "$2" -lm -o "$out/$1" >"$log" 2>&1
}

for name in kernels_test pillow_test; do
	arguments=()
	[ "$name" = pillow_test ] &&
		arguments=(tests/unit/resample/pillow.tsv)
	build "$name" "tests/unit/resample/$name.c"
	status=$?
	report $status "$name builds"
	[ $status -eq 0 ] || continue
	"$qemu" "$out/$name" "${arguments[@]}" >"$log" 2>&1
	report $? "$name"
done

# The tests go over the sets a machine has: NEON must be the one in use
cat >"$out/simd.c" <<'C'
#include <stdio.h>
#include "image/resample.h"

int main(void)
{
	return puts(dlb_resample_simd_name()) < 0;
}
C
build simd "$out/simd.c" && [ "$("$qemu" "$out/simd" 2>"$log")" = neon ]
report $? "NEON is what runs"
echo "1..$nr"
exit $failed
