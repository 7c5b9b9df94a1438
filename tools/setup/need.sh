#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes sure that the Debian packages of the named groups are installed.
#
# usage: tools/setup/need.sh [--list] GROUP...
#
# Nothing missing: silent, no root needed.  Missing and root: one line, then
# apt-get.  Missing and not root: the one command that mends it, and exit 1.
# --list prints package, state and reason and changes nothing.
# The packages stand in packages.list beside this script, nowhere else.
set -eu

list=$(dirname "$0")/packages.list
only_list=
if [ "${1-}" = --list ]; then
	only_list=1
	shift
fi
if [ $# -eq 0 ]; then
	echo "usage: $0 [--list] GROUP..." >&2
	exit 2
fi

# "name|other why" of every package whose groups meet ours
wanted()
{
	awk -v groups="$*" '
		BEGIN { n = split(groups, want, " ") }
		/^#/ || NF == 0 { next }
		{
			why = ""
			for (i = 3; i <= NF; i++)
				why = why (i > 3 ? " " : "") $i
			for (i = 1; i <= n; i++)
				if (("," $2 ",") ~ ("," want[i] ",")) {
					print $1, why
					next
				}
		}' "$list"
}

is_installed()
{
	state=$(dpkg-query -W -f='${db:Status-Status} ' "$1" 2>/dev/null) || return 1
	case " $state" in
	*" installed "*) ;;
	*) return 1 ;;
	esac
}

# the alternative that is installed, else the first that apt could install
choose()
{
	for name in $(echo "$1" | tr '|' ' '); do
		if is_installed "$name"; then
			echo "$name"
			return 0
		fi
	done
	for name in $(echo "$1" | tr '|' ' '); do
		if has_candidate "$name"; then
			echo "$name"
			return 1
		fi
	done
	echo "${1%%|*}"
	return 1
}

has_candidate()
{
	apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'
}

if ! command -v dpkg-query >/dev/null; then
	echo "need.sh: no dpkg here, so nothing is checked; what it takes:" >&2
	wanted "$@" | sed 's/^/  /' >&2
	exit 0
fi

missing=
while read -r names why; do
	[ -n "$names" ] || continue
	if name=$(choose "$names"); then
		state=installed
	else
		state=missing
		missing="$missing $name"
	fi
	if [ -n "$only_list" ]; then
		printf '%-28s %-10s %s\n' "$name" "$state" "$why"
	fi
done <<LIST
$(wanted "$@")
LIST

if [ -n "$only_list" ] || [ -z "$missing" ]; then
	exit 0
fi

groups=$*
# shellcheck disable=SC2086 # a list of words
set -- $missing
no_candidate=
for name in "$@"; do
	has_candidate "$name" || no_candidate=1
done

if [ "$(id -u)" -ne 0 ]; then
	echo "$# Debian packages are missing (tools/setup/packages.list says why). Please run:"
	install="apt-get install -y --no-install-recommends $*"
	echo "  sudo sh -c '${no_candidate:+apt-get update && }$install'"
	exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive

# apt-get without its chatter: the end of it is shown when it fails
quietly()
{
	"$@" >"$log" 2>&1 </dev/null
}

refresh()
{
	quietly apt-get -q update || give_up update
}

install()
{
	quietly apt-get -q install -y --no-install-recommends \
		-o DPkg::Lock::Timeout=300 "$@"
}

give_up()
{
	tail -n 20 "$log" >&2
	echo "need.sh: apt-get $1 failed; its last words are above" >&2
	exit 1
}

[ -n "${DLBOOST_LISTS_FRESH-}" ] || echo "Installing $# Debian packages: $*"
if [ -n "$no_candidate" ] && [ -z "${DLBOOST_LISTS_FRESH-}" ]; then
	# No package lists: alternatives could not be weighed, so begin again
	refresh
	rm -f "$log"
	# shellcheck disable=SC2086
	DLBOOST_LISTS_FRESH=1 exec "$0" $groups
fi
if ! install "$@"; then
	# Lists older than the mirror's present state make a download fail once
	refresh
	install "$@" || give_up install
fi
