// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What a recipe is in full, and which part of a picture it takes for the first
 * three epochs.  usage: recipe RECIPE WIDTH HEIGHT
 */
#include <stdio.h>
#include <stdlib.h>

#include <dlboost/dlboost.h>

int main(int argc, char **argv)
{
	struct dlboost_tensor_spec spec;
	struct dlboost_geometry geometry;
	struct dlboost_recipe *recipe;
	char error[DLBOOST_ERROR_BYTES];
	uint32_t width, height, epoch;

	if (argc != 4)
		return 2;
	width = (uint32_t)strtoul(argv[2], NULL, 10);
	height = (uint32_t)strtoul(argv[3], NULL, 10);
	if (dlboost_recipe_parse(argv[1], error, sizeof(error), &recipe)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	dlboost_recipe_tensor(recipe, &spec);
	printf("%s\n", dlboost_recipe_canonical(recipe));
	printf("a sample is %ux%ux%u, %zu bytes\n", spec.channels, spec.height,
	       spec.width, spec.sample_bytes);
	for (epoch = 0; epoch < 3; epoch++) {
		if (dlboost_recipe_draw(recipe, width, height, 1, epoch, 7,
					&geometry))
			break;
		printf("epoch %u: %ux%u at %u,%u%s\n", epoch, geometry.crop_w,
		       geometry.crop_h, geometry.crop_x, geometry.crop_y,
		       geometry.flip ? ", mirrored" : "");
	}
	dlboost_recipe_destroy(recipe);
	return epoch == 3 ? 0 : 1;
}
