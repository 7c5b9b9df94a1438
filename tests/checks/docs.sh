#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gate: the documentation builds, every warning of Sphinx an error.
set -u
cd "$(dirname "$0")/../.." || exit 1

out=build/doc/check
mkdir -p "$out"
if /usr/bin/python3 -m sphinx -q -W --keep-going -E -b html Documentation \
	"$out" >"$out.log" 2>&1; then
	echo "ok 1 - docs: Sphinx has no warning"
else
	sed 's/^/# /' "$out.log"
	echo "not ok 1 - docs: Sphinx has no warning"
	failed=1
fi
echo "1..1"
exit "${failed:-0}"
