#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Are the two commands of README.md true?  Runs them in a Debian 12 that was made
# a minute ago and has nothing but git, make and certificates, on a clone of what
# is committed here.  Needs root, debootstrap and the mirror that this machine's
# apt is configured for.  Prints TAP.
#
# usage: tests/run/fresh.sh [TARGET...]        default: demo check
#
# FRESH_ROOT keeps the root file system in that folder, to be looked at.
#
# shellcheck disable=SC2016 # apt's own variables, and those of the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

[ $# -gt 0 ] || set -- demo check
for tool in debootstrap unshare; do
	if ! command -v "$tool" >/dev/null || [ "$(id -u)" -ne 0 ]; then
		echo "1..0 # SKIP needs root and debootstrap"
		exit 0
	fi
done

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
	'Codename: bookworm' | head -n 1)
if [ -z "$mirror" ]; then
	echo "1..0 # SKIP apt here knows no mirror of Debian 12"
	exit 0
fi

root=${FRESH_ROOT:-$(mktemp -d /var/tmp/dlboost-fresh.XXXXXX)}
log=$PWD/build/check/fresh-steps.log
mkdir -p build/check "$root"
nr=0
failed=0

# shellcheck disable=SC2317 # called by trap
cleanup()
{
	[ -n "${FRESH_ROOT-}" ] || rm -rf "$root"
}
trap cleanup EXIT

report()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - fresh: $2"
	else
		tail -n 40 "$log" | sed 's/^/# /'
		echo "not ok $nr - fresh: $2"
		failed=1
	fi
}

# Mounts live in a name space of their own and go with it.  The environment is
# that of a login, plus what this machine's network may demand.
inside()
{
	unshare --mount --pid --fork --mount-proc="$root/proc" \
		--kill-child bash -c '
		mount --rbind /dev "$0/dev" && mount --make-rslave "$0/dev" || exit 1
		root=$0
		exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			${http_proxy:+http_proxy="$http_proxy"} \
			${https_proxy:+https_proxy="$https_proxy"} "$@"' \
		"$root" "$@"
}

is_new=
if [ ! -e "$root/etc/debian_version" ]; then
	is_new=1
	debootstrap --variant=minbase --include=git,make,ca-certificates \
		bookworm "$root" "$mirror" >"$log" 2>&1
	report $? "debootstrap"
	[ $failed -eq 0 ] || { echo "1..$nr"; exit 1; }
fi
# What this machine trusts and where it looks, the new one does too
cp /etc/resolv.conf "$root/etc/resolv.conf"
rm -f "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT) $(LABEL)' \
	'Created-By: Packages' | sort -u |
	awk '$5 ~ /^Debian/ { print $1, $2, $3, $4 }' >"$root/etc/apt/sources.list"
for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*proxy*; do
	[ -f "$file" ] && cp "$file" "$root/$file"
done
mkdir -p "$root/usr/local/share/ca-certificates"
cp /usr/local/share/ca-certificates/*.crt \
	"$root/usr/local/share/ca-certificates/" 2>/dev/null &&
	inside update-ca-certificates >"$log" 2>&1

rm -rf "$root/src"
git -c safe.directory='*' clone -q --no-hardlinks . "$root/src" >"$log" 2>&1
report $? "clone"

# Somebody who is not root gets the one command and nothing is installed
if [ -n "$is_new" ]; then
	inside useradd -m -d /srv/visitor visitor >"$log" 2>&1
	inside sh -c 'cp -r /src /srv/visitor && chown -R visitor /srv/visitor' \
		>"$log" 2>&1
	inside su visitor -c 'cd ~/src && ! make demo' >"$log" 2>&1 &&
		grep -q 'sudo .*apt-get install' "$log"
	report $? "make demo without root names the one command and stops"
	rm -rf "$root/srv/visitor/src"
fi

for target in "$@"; do
	begin=$SECONDS
	inside sh -c "cd /src && make $target" >"$log" 2>&1
	report $? "make $target, $((SECONDS - begin)) s"
	cp "$log" "build/check/fresh-$target.log"
done

# With everything there, root is needed no more
if [ -n "$is_new" ] && [ "$1" = demo ] && [ $failed -eq 0 ]; then
	inside sh -c 'cp -r /src /srv/visitor && rm -rf /srv/visitor/src/build &&
		chown -R visitor /srv/visitor && su visitor -c "cd ~/src && make demo"' \
		>"$log" 2>&1
	report $? "make demo without root, nothing missing"
fi
echo "1..$nr"
exit $failed
