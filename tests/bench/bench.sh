#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make bench: build the contestants, make the picture sets, run bench.py.
#
# usage: tests/bench/bench.sh      (MESON, PYTHON as in the Makefile)
#
#   QUICK=1   300 pictures, 3 rounds: about 5 minutes with the downloads
#   CHECK=1   exit 1 when a target of this machine is missed
#   PEERS=0   dlboost, yardstick and floor alone
#
# Picture sets are kept in the user's cache folder: every machine with the same
# photographs and Pillow makes the same bytes (results.json carries their hash).
set -euo pipefail
cd "$(dirname "$0")/../.."

python=${PYTHON:-/usr/bin/python3}
meson=${MESON:-meson}
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/dlboost
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || cache=$PWD/build/cache
build=build/bench/release
out=build/bench

count=1000 large=24 rounds=9
[ -z "${QUICK-}" ] || { count=300 large=8 rounds=3; }

mkdir -p $out
[ -e $build/build.ninja ] || "$meson" setup $build --buildtype=release \
	-Dbench=true -Dtools=disabled -Dpython=disabled \
	>$out/setup.log
"$meson" compile -C $build stream_worker turbojpeg_worker >$out/compile.log ||
	{ tail -n 30 $out/compile.log >&2; exit 1; }

tools/demo/fetch_pictures.sh all "$cache/photographs" | tee $out/fetch.log
photographs=$(tail -n 1 $out/fetch.log)
for kind in main large; do
	[ $kind = main ] && nr=$count || nr=$large
	"$python" tests/bench/make_picture_set.py --source "$photographs" \
		--kind $kind --count "$nr" --out "$cache/bench-$kind-$nr"
done

export DLBOOST_LIBRARY=$PWD/$build/libdl/libdlboost.so
# What our own decoder takes is exact in both profiles: without SIMD it takes
# nothing, and libjpeg's scaled decoding shows
bound=0
for simd in "" c; do
	DLBOOST_SIMD=$simd "$python" tests/bench/fast_bound.py \
		"$cache/bench-main-$count" || bound=$?
done
status=0
"$python" tests/bench/bench.py --build $build/tests/bench --work $out/work \
	--out $out --set "$cache/bench-main-$count" \
	--large "$cache/bench-large-$large" --rounds $rounds \
	${CHECK:+--check} ${PEERS:+$([ "$PEERS" != 0 ] || echo --no-peers)} ||
	status=$?
[ -z "${CHECK-}" ] || [ $bound -eq 0 ] || status=1
exit $status
