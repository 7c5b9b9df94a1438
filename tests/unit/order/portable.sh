#!/bin/sh
# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
#
# Promise tested: Documentation/order.rst: orders and draws are equal on every
# machine and compiler.  Builds only the arithmetic, in several ways, asks each
# build the same questions and compares the answers byte for byte.
# Usage: portable.sh SOURCE_ROOT
set -u

root=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
nr=0
failed=0

# build NAME COMPILER FLAGS...: $dir/NAME
build() {
	out=$dir/$1
	shift
	"$@" -std=gnu11 -D_GNU_SOURCE -DDLB_VERSION='"0"' -ffp-contract=off \
		-I"$root/libdl/include" -I"$root/libdl" \
		"$root/libdl/base/base.c" "$root/libdl/base/philox.c" \
		"$root/libdl/image/draw.c" "$root/libdl/image/recipe.c" \
		"$root/libdl/stream/order.c" "$root/libdl/stream/shard.c" \
		"$root/tests/unit/order/order_row.c" \
		"$root/tests/unit/order/order_answer.c" -lm -o "$out"
}

# ask NAME PROGRAM...: $dir/NAME.out
ask() {
	name=$1
	shift
	/usr/bin/python3 "$root/tests/golden/order_reference.py" \
		--answers-only --crops 20000 --ask "$@" > "$dir/$name.out"
}

result() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
	fi
}

skipped() {
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

# compare NAME RUNNER COMPILER FLAGS...
compare() {
	name=$1
	runner=$2
	shift 2
	build "$name" "$@" >&2 && ask "$name" ${runner:+"$runner"} "$dir/$name" >&2 &&
		cmp "$dir/gcc-O0.out" "$dir/$name.out" >&2
	result $? "$name"
}

echo 1..5
build gcc-O0 gcc -O0 >&2 && ask gcc-O0 "$dir/gcc-O0" >&2 &&
	[ "$(wc -l < "$dir/gcc-O0.out")" -gt 20000 ]
result $? gcc-O0
compare gcc-O3-native "" gcc -O3 -march=native
if command -v clang > /dev/null; then
	compare clang-O2 "" clang -O2
else
	skipped clang-O2 "no clang"
fi
if ! command -v aarch64-linux-gnu-gcc > /dev/null; then
	skipped aarch64-O2 "no aarch64-linux-gnu-gcc"
elif ! command -v qemu-aarch64-static > /dev/null; then
	skipped aarch64-O2 "no qemu-aarch64-static"
else
	compare aarch64-O2 qemu-aarch64-static aarch64-linux-gnu-gcc -static -O2
fi
build fast-math gcc -O2 -ffast-math 2> "$dir/fast.err"
grep -q "build without -ffast-math" "$dir/fast.err"
result $? "fast-math is refused"
exit $failed
