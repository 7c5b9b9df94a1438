#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gate: cppcheck finds nothing in the library and the command (the Python package
# is macros of Python.h, which it cannot follow).
# What it is wrong about stands in cppcheck.txt, each with its reason.
set -u
cd "$(dirname "$0")/../.." || exit 1

if out=$(cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
	-j "$(nproc)" --enable=warning,portability --suppress=missingInclude \
	--suppressions-list=tests/checks/cppcheck.txt \
	-D_GNU_SOURCE -D__linux__ -Ilibdl/include -Ilibdl \
	libdl/base libdl/image libdl/engine libdl/stream libdl/plan \
	tools 2>&1); then
	echo "ok 1 - cppcheck"
else
	printf '%s\n' "$out" | sed 's/^/# /'
	echo "not ok 1 - cppcheck"
	failed=1
fi
echo "1..1"
exit "${failed:-0}"
