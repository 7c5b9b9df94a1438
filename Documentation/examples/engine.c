// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Which engines this machine has; then one picture through the first of them.
 * usage: engine FILE
 */
#include <stdio.h>

#include <dlboost/dlboost.h>

static float tensor[3 * 224 * 224];

static int decode_with(const char *name, const void *bytes, size_t len)
{
	struct dlboost_engine *engine = NULL;
	struct dlboost_recipe *recipe = NULL;
	char error[DLBOOST_ERROR_BYTES];
	struct dlboost_result result;
	int ret;

	ret = dlboost_engine_create(name, NULL, error, sizeof(error), &engine);
	if (ret) {
		fprintf(stderr, "%s\n", error);
		return ret;
	}
	ret = dlboost_recipe_parse("imagenet-eval", NULL, 0, &recipe);
	if (!ret)
		ret = dlboost_engine_decode(engine, bytes, len, recipe,
					    DLBOOST_PROFILE_EXACT, NULL, tensor,
					    sizeof(tensor), &result);
	if (!ret)
		printf("%s says %s %s\n", name,
		       dlboost_status_name(result.status), result.message);
	dlboost_recipe_destroy(recipe);
	dlboost_engine_destroy(engine);
	return ret;
}

int main(int argc, char **argv)
{
	static char file[16 << 20];
	struct dlboost_engine_info info;
	unsigned int idx;
	size_t len;
	FILE *in;

	for (idx = 0; !dlboost_engine_list(idx, &info); idx++)
		printf("%s: %s (%s, %s)\n", info.name, info.description,
		       info.simd, info.decoder);
	in = argc == 2 ? fopen(argv[1], "rb") : NULL;
	if (!in)
		return 2;
	len = fread(file, 1, sizeof(file), in);
	fclose(in);
	return decode_with("cpu:workers=1", file, len) ? 1 : 0;
}
