#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make demo: from nothing to training batches.  Builds, fetches photographs, cuts
# them into an ImageNet-like set, mixes in broken files and streams one epoch.
#
# usage: tools/demo/demo.sh      (MESON, PYTHON as in the Makefile)
#
# What can be used again is kept: photographs and pictures in the user's cache
# folder, the build under build/.  Only the packages come from the network.
set -euo pipefail
cd "$(dirname "$0")/../.."

python=${PYTHON:-/usr/bin/python3}
meson=${MESON:-meson}
nr_pictures=500
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/dlboost
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || cache=$PWD/build/cache
release=build/release
out=build/demo
sheet=$out/contact-sheet.png

say()
{
	printf '\n== %s\n' "$*"
}

# Long output is kept in a file and shown only when its command fails
quietly()
{
	local log=$out/log

	"$@" >"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		echo "make demo: '$*' failed; all of its output: $log" >&2
		exit 1
	}
}

mkdir -p "$out" "$cache"

say "Building the library and the command"
[ -e $release/build.ninja ] || quietly "$meson" setup $release \
	--buildtype=release -Dtools=enabled -Dtests=disabled -Dpython=auto
quietly "$meson" compile -C $release
dlboost=$release/tools/dlboost
$dlboost --version

say "Photographs from Debian's wallpaper packages"
tools/demo/fetch_pictures.sh demo "$cache/photographs" | tee $out/log
photographs=$(tail -n 1 $out/log)

say "$nr_pictures pictures cut out of them, as large as ImageNet's"
"$python" tests/bench/make_picture_set.py --source "$photographs" \
	--out "$cache/demo-pictures" --count $nr_pictures

say "A data set as one meets it: good files and others"
rm -rf $out/pictures
cp -al "$cache/demo-pictures" $out/pictures 2>/dev/null ||
	cp -a "$cache/demo-pictures" $out/pictures
"$python" tools/demo/add_hard_files.py $out/pictures

say "One epoch with the recipe imagenet-train: random crop, 224x224, float32"
$dlboost run $out/pictures --recipe imagenet-train --epochs 1 --batch 64 \
	--on-error skip-replace --max-bad 2% --contact-sheet $sheet

cat <<TEXT

Look at $sheet: the first batch, as a training job would see it.
Next:
  $dlboost info $out/pictures        what this data set holds
  $dlboost verify $out/pictures      every bad file by name, with the reason
  $dlboost run YOUR_FOLDER           the same with your own pictures
TEXT
