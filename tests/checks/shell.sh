#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gate: shellcheck over every shell script, known by suffix or first line.
set -u
cd "$(dirname "$0")/../.." || exit 1

if ! command -v shellcheck >/dev/null; then
	echo "ok 1 - shell # SKIP shellcheck is not installed"
	echo "1..1"
	exit 0
fi
mapfile -d '' files < <(git -c safe.directory="$PWD" ls-files -z --cached \
	--others --exclude-standard)
scripts=()
for file in "${files[@]}"; do
	[ -f "$file" ] || continue
	case ${file##*/} in
	*.sh | *.bash) scripts+=("$file") ;;
	*.*) ;;
	*)
		IFS= read -r first <"$file" 2>/dev/null
		[[ ${first-} =~ ^#!.*(/|\ )(ba|da)?sh ]] && scripts+=("$file")
		;;
	esac
done
if out=$(shellcheck "${scripts[@]}" 2>&1); then
	echo "ok 1 - shell: ${#scripts[@]} scripts"
else
	printf '%s\n' "$out" | sed 's/^/# /'
	echo "not ok 1 - shell"
	failed=1
fi
echo "1..1"
exit "${failed:-0}"
