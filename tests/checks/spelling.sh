#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gate: codespell over everything that is prose or source.
# Words that are right here stand in spelling.txt.
set -u
cd "$(dirname "$0")/../.." || exit 1

if ! command -v codespell >/dev/null; then
	echo "ok 1 - spelling # SKIP codespell is not installed"
	echo "1..1"
	exit 0
fi
mapfile -d '' files < <(git -c safe.directory="$PWD" ls-files -z --cached \
	--others --exclude-standard -- '*.c' '*.h' '*.py' '*.pyi' '*.sh' '*.rst' \
	'*.md' '*.build' Makefile '*.list' '*.svg' .ci)
present=()
for file in "${files[@]}"; do
	[ -f "$file" ] && present+=("$file")
done
if out=$(codespell --ignore-words tests/checks/spelling.txt "${present[@]}" 2>&1); then
	echo "ok 1 - spelling"
else
	printf '%s\n' "$out" | sed 's/^/# /'
	echo "not ok 1 - spelling"
	failed=1
fi
echo "1..1"
exit "${failed:-0}"
