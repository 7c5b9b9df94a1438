// SPDX-License-Identifier: GPL-2.0-or-later
/* dlboost recipe: the built-in recipes, and the canonical form of any. */
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "npy.h"
#include "recipe_text.h"

static int list_recipes(const struct context *ctx)
{
	struct json_object *doc = NULL, *list = NULL;
	const char *name, *description;

	if (ctx->has_json) {
		doc = json_document("dlboost-recipes");
		list = json_object_new_array();
		json_add(doc, "recipes", list);
	}
	for (unsigned int i = 0; (name = dlboost_recipe_name(i, &description));
	     i++) {
		struct json_object *row;

		if (!doc) {
			printf("%-16s%s\n", name, description);
			continue;
		}
		row = json_object_new_object();
		json_add_text(row, "name", name);
		json_add_text(row, "description", description);
		json_object_array_add(list, row);
	}
	if (doc)
		json_print(ctx, doc);
	return TOOL_DONE;
}

static struct json_object *tensor_json(const struct dlboost_tensor_spec *spec)
{
	struct json_object *obj = json_object_new_object();

	json_add_text(obj, "dtype", dtype_name(spec->dtype));
	json_add_text(obj, "layout",
		      spec->layout == DLBOOST_LAYOUT_CHW ? "chw" : "hwc");
	json_add_u64(obj, "width_pixels", spec->width);
	json_add_u64(obj, "height_pixels", spec->height);
	json_add_u64(obj, "channels", spec->channels);
	json_add_u64(obj, "sample_bytes", spec->sample_bytes);
	return obj;
}

static void print_tensor(const struct dlboost_tensor_spec *spec)
{
	char bytes[FIGURE_BYTES];

	if (!spec->width)
		printf("tensor: size of the picture, %s, %s\n",
		       spec->layout == DLBOOST_LAYOUT_CHW ? "CHW" : "HWC",
		       dtype_name(spec->dtype));
	else if (spec->layout == DLBOOST_LAYOUT_CHW)
		printf("tensor: 3 x %u x %u (CHW), %s, %s a sample\n",
		       spec->height, spec->width, dtype_name(spec->dtype),
		       figure_bytes(bytes, spec->sample_bytes));
	else
		printf("tensor: %u x %u x 3 (HWC), %s, %s a sample\n",
		       spec->height, spec->width, dtype_name(spec->dtype),
		       figure_bytes(bytes, spec->sample_bytes));
}

static int show_recipe(const struct context *ctx, const char *spec)
{
	struct dlboost_recipe *recipe;
	struct dlboost_tensor_spec tensor;
	int ret = recipe_open(ctx, spec, &recipe);

	if (ret)
		return ret;
	dlboost_recipe_tensor(recipe, &tensor);
	if (ctx->has_json) {
		struct json_object *doc = json_document("dlboost-recipe");

		json_add_text(doc, "canonical",
			      dlboost_recipe_canonical(recipe));
		json_add(doc, "tensor", tensor_json(&tensor));
		json_print(ctx, doc);
	} else {
		printf("%s\n", dlboost_recipe_canonical(recipe));
		if (ctx->is_verbose)
			print_tensor(&tensor);
	}
	dlboost_recipe_destroy(recipe);
	return TOOL_DONE;
}

static const char *const verbs[] = { "list", "show", NULL };

static int run_recipe(const struct context *ctx, void *opts,
		      unsigned int nr_args, char **args)
{
	if (!nr_args || !strcmp(args[0], "list"))
		return nr_args > 1 ?
		       usage_error(ctx, "list takes no argument") :
		       list_recipes(ctx);
	if (strcmp(args[0], "show"))
		return usage_verb(ctx, args[0]);
	if (nr_args < 2)
		return usage_error(ctx, "show needs the name of a recipe");
	return show_recipe(ctx, args[1]);
}

const struct command cmd_recipe = {
	.name = "recipe",
	.arguments = "list|show [NAME]",
	.summary = "List the recipes, or show the full form of one",
	.details = "list          names and descriptions\n"
		   "show NAME     every key with its value; NAME may carry\n"
		   "              keys, e.g. imagenet-train:size=160,dtype=f16",
	.max_arguments = 2,
	.complete = COMPLETE_WORDS,
	.words = verbs,
	.run = run_recipe,
};
