#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Brings real photographs: downloads Debian's wallpaper packages with apt and
# unpacks them into a folder of ours.  Nothing is installed, no root is needed.
#
# usage: tools/demo/fetch_pictures.sh demo|all FOLDER
#
# "demo" is 27 MB, "all" 168 MB.  What FOLDER already holds is kept.
# Last line on stdout: the folder that tests/bench/make_picture_set.py reads.
set -eu

case "${1-}/${2-}" in
demo/?*) packages="lomiri-wallpapers-16.04 lomiri-wallpapers-20.04" ;;
all/?*) packages="lomiri-wallpapers-16.04 lomiri-wallpapers-20.04
	mate-backgrounds plasma-workspace-wallpapers" ;;
*)
	echo "usage: $0 demo|all FOLDER" >&2
	exit 2
	;;
esac
mkdir -p "$2"
folder=$(cd "$2" && pwd)

missing=
for package in $packages; do
	[ -e "$folder/$package.unpacked" ] || missing="$missing $package"
done

has_candidate()
{
	apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'
}

# apt-get download takes what the package lists name, so they must be there
need_lists()
{
	for package in $missing; do
		has_candidate "$package" || return 0
	done
	return 1
}

download()
{
	# apt drops root's rights for a download, and then may not write here
	if [ "$(id -u)" -eq 0 ]; then
		set -- -o APT::Sandbox::User=root
	else
		set --
	fi
	# shellcheck disable=SC2086 # a list of words
	(cd "$folder" && apt-get -q "$@" download $missing) >"$folder/log" 2>&1
}

fail()
{
	[ ! -s "$folder/log" ] || tail -n 8 "$folder/log" >&2
	echo "fetch_pictures.sh: $1" >&2
	exit 1
}

if [ -n "$missing" ]; then
	for tool in apt-get apt-cache dpkg-deb; do
		command -v "$tool" >/dev/null ||
			fail "no $tool here: the photographs come from Debian packages"
	done
	if need_lists && [ "$(id -u)" -eq 0 ]; then
		apt-get -q update >"$folder/log" 2>&1 ||
			fail "apt-get update failed"
	fi
	if need_lists; then
		fail "apt knows no$missing; run 'sudo apt-get update' (Debian 12, section main)"
	fi
	echo "Downloading photographs:$missing"
	if ! download; then
		[ "$(id -u)" -eq 0 ] || fail \
			"the download failed; if the package lists are old: sudo apt-get update"
		apt-get -q update >"$folder/log" 2>&1 || fail "apt-get update failed"
		download || fail "the download failed"
	fi
	for package in $missing; do
		for file in "$folder/$package"_*.deb; do
			dpkg-deb -x "$file" "$folder/tree" ||
				fail "$file cannot be unpacked"
			rm "$file"
		done
		touch "$folder/$package.unpacked"
	done
	rm -f "$folder/log"
fi
echo "$folder/tree/usr/share"
