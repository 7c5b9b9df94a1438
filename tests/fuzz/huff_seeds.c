// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Seeds for huff_fuzz: small files of each kind, behind neutral choices.
 * Usage: huff_seeds FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../unit/huff/make.h"

static int put(const char *folder, int idx, struct file file)
{
	const uint8_t choices[4] = { 1 };
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", folder, idx);
	f = fopen(path, "wb");
	if (!f)
		return 1;
	fwrite(choices, 1, sizeof(choices), f);
	fwrite(file.bytes, 1, file.len, f);
	free(file.bytes);
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	uint64_t state = 3;
	int bad = 0;

	if (argc != 2)
		return 2;
	mkdir(argv[1], 0777);
	for (int i = 0; i < 24; i++) {
		struct encoding how = random_encoding(&state);

		how.width = how.width % 24 + 1;
		how.height = how.height % 24 + 1;
		bad |= put(argv[1], i, i % 4 ? encode(&how) :
						synthesise((uint64_t)i));
	}
	return bad;
}
