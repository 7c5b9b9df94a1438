// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What a file is, from its first bytes, whatever its name says.
 * usage: probe FILE...
 */
#include <stdio.h>

#include <dlboost/dlboost.h>

int main(int argc, char **argv)
{
	static char head[1 << 20];
	struct dlboost_image_info info;
	struct dlboost_result result;
	unsigned int status;
	size_t len;
	FILE *in;
	int i;

	for (i = 1; i < argc; i++) {
		in = fopen(argv[i], "rb");
		if (!in) {
			perror(argv[i]);
			return 1;
		}
		len = fread(head, 1, sizeof(head), in);
		fclose(in);
		status = dlboost_probe(head, len, NULL, &info, &result);
		printf("%s: %s %ux%u, %s %s\n", argv[i],
		       dlboost_image_type_name(info.type), info.width,
		       info.height, dlboost_status_name(status),
		       result.message);
	}
	return 0;
}
