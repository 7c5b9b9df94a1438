#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gate: what make install puts where, and that a program and a Python script can
# use it through pkg-config and PYTHONPATH alone.
set -u
cd "$(dirname "$0")/../.." || exit 1

root=$PWD/build/check/root
log=$PWD/build/check/install-steps.log
nr=0
failed=0

# check NAME COMMAND...: one TAP line, output only on failure
check()
{
	local name=$1

	nr=$((nr + 1))
	shift
	if "$@" >"$log" 2>&1; then
		echo "ok $nr - install: $name"
	else
		sed 's/^/# /' "$log" | tail -n 20
		echo "not ok $nr - install: $name"
		failed=1
	fi
}

mkdir -p build/check
rm -rf "$root"
check "make install DESTDIR=... PREFIX=/usr" \
	make install DESTDIR="$root" PREFIX=/usr

libdir=$(dirname "$(find "$root/usr/lib" -name 'libdlboost.so.0' | head -n 1)")
for file in bin/dlboost include/dlboost/dlboost.h share/man/man7/dlboost.7 \
	share/man/man3/dlboost_stream.3 share/man/man3/dlboost_stream_next.3 \
	share/man/man1/dlboost.1 share/bash-completion/completions/dlboost.bash; do
	check "usr/$file is there" test -e "$root/usr/$file"
done
check "the library has its soname" sh -c \
	"readelf -d '$libdir/libdlboost.so' | grep -q 'soname: .libdlboost.so.0.'"

export PKG_CONFIG_PATH=$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export LD_LIBRARY_PATH=$libdir
flags=$(pkg-config --cflags --libs dlboost 2>&1) || flags=
check "pkg-config knows dlboost" test -n "$flags"
# shellcheck disable=SC2086 # flags are words
check "a program compiles and links by pkg-config" gcc -Wall -Werror \
	Documentation/examples/log.c -o build/check/installed $flags
check "and runs" build/check/installed
check "dlboost --version" "$root/usr/bin/dlboost" --version

package=$(find "$root/usr" -type d -path '*/dlboost' -name dlboost \
	-path '*python3*' | head -n 1)
check "the Python package imports" env PYTHONPATH="$(dirname "$package")" \
	/usr/bin/python3 -c 'import dlboost; print(dlboost.__version__)'
echo "1..$nr"
exit $failed
