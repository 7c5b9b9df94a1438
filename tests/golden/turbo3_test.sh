#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The golden table on another libjpeg-turbo than the one built with.
# LD_LIBRARY_PATH leads to it, DLBOOST names the command.  Prints TAP.
set -eu
echo "1..2"
if "$DLBOOST" --version | grep -q '^libjpeg-turbo 3'; then
	echo "ok 1 - the library in use is libjpeg-turbo 3"
else
	echo "not ok 1 - the library in use is libjpeg-turbo 3"
fi
if out=$("$DLBOOST" selftest --engine cpu); then
	echo "ok 2 - $out"
else
	echo "# $out"
	echo "not ok 2 - golden table"
fi
