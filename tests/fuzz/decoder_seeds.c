// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Seeds for decoder_fuzz: one small file a coding and colour form, behind
 * neutral choices.  Usage: decoder_seeds FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../unit/decode/decode_util.h"

static int put(const char *folder, const char *name, uint8_t recipe,
	       struct blob file)
{
	uint8_t choices[12] = { recipe, 1, 30, 30, 128, 128, 1, 1, 0, 0, 80,
				80 };
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
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
	static const struct make forms[] = {
		{ .sampling = { 0x22, 0x11, 0x11 } },
		{ .sampling = { 0x21, 0x11, 0x11 }, .restart = 2 },
		{ .sampling = { 0x12, 0x11, 0x11 },
		  .coding = CODING_PROGRESSIVE },
		{ .coding = CODING_SEPARATE_SCANS },
		{ .coding = CODING_ARITHMETIC },
		{ .components = 1, .coding = CODING_ARITHMETIC_PROGRESSIVE },
		{ .components = 4, .space = JCS_YCCK },
		{ .coding = CODING_PROGRESSIVE, .nr_scans = 3 },
	};
	char name[32];
	int bad = 0;

	if (argc != 2)
		return 2;
	mkdir(argv[1], 0777);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct make how = forms[i];

		how.width = 40;
		how.height = 30;
		how.quality = 60;
		snprintf(name, sizeof(name), "jpeg%zu", i);
		bad |= put(argv[1], name, (uint8_t)i, make_jpeg(&how));
	}
	bad |= put(argv[1], "png0", 1, make_png(20, 12, 6, 8, false, 1));
	bad |= put(argv[1], "png1", 3, make_png(20, 12, 3, 4, true, 1));
	return bad;
}
