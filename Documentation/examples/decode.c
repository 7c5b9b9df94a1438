// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * One file to one tensor, as an inference server would do it.
 * usage: decode FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include <dlboost/dlboost.h>

static char file[16 << 20];

static size_t read_file(const char *path)
{
	FILE *in = fopen(path, "rb");
	size_t len = 0;

	if (in) {
		len = fread(file, 1, sizeof(file), in);
		fclose(in);
	}
	return len;
}

int main(int argc, char **argv)
{
	struct dlboost_decoder *decoder = NULL;
	struct dlboost_recipe *recipe = NULL;
	struct dlboost_tensor_spec spec;
	struct dlboost_result result;
	float *tensor = NULL;
	size_t len;
	int ret = 1;

	len = argc == 2 ? read_file(argv[1]) : 0;
	if (dlboost_recipe_parse("imagenet-eval", NULL, 0, &recipe) ||
	    dlboost_decoder_create(NULL, &decoder))
		goto out;
	dlboost_recipe_tensor(recipe, &spec);
	tensor = malloc(spec.sample_bytes);
	if (!tensor)
		goto out;
	if (dlboost_decode(decoder, file, len, recipe, DLBOOST_PROFILE_EXACT,
			   NULL, tensor, spec.sample_bytes, &result))
		goto out;
	if (result.status == DLBOOST_STATUS_OK) {
		printf("%ux%u, first value %.6f\n", result.width, result.height,
		       tensor[0]);
		ret = 0;
	} else {
		printf("%s: %s\n", dlboost_status_name(result.status),
		       result.message);
	}
out:
	free(tensor);
	dlboost_decoder_destroy(decoder);
	dlboost_recipe_destroy(recipe);
	return ret;
}
