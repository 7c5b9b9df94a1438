#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gate: every public header compiles alone, as C11 and as C++11, pedantically.
set -u
cd "$(dirname "$0")/../.." || exit 1

nr=0
failed=0
for header in libdl/include/dlboost/*.h; do
	name=dlboost/${header##*/}
	for language in "c -std=c11" "c++ -std=c++11"; do
		nr=$((nr + 1))
		# shellcheck disable=SC2086 # language and standard are two words
		if out=$(echo "#include <$name>" | "${CC:-gcc}" -x $language \
			-fsyntax-only -Wall -Wextra -Wpedantic -Werror \
			-Ilibdl/include - 2>&1); then
			echo "ok $nr - headers: <$name> as ${language%% *}"
		else
			printf '%s\n' "$out" | sed 's/^/# /'
			echo "not ok $nr - headers: <$name> as ${language%% *}"
			failed=1
		fi
	done
done
echo "1..$nr"
exit $failed
