// SPDX-License-Identifier: GPL-2.0-or-later
/* dlboost engine: the kinds of engine, and what each is on this machine. */
#include <string.h>

#include "cmd.h"
#include "json.h"

/*
 * Profile fast against exact, where it is not exact: worst of three seeds over
 * the benchmark's pictures (Documentation/performance.rst, "Profile fast")
 */
#define FAST_PSNR_MEAN_DB 46.8
#define FAST_PSNR_MIN_DB 32.5

static struct json_object *engine_json(const struct dlboost_engine_info *info)
{
	struct json_object *obj = json_object_new_object();

	json_add_text(obj, "name", info->name);
	json_add_text(obj, "description", info->description);
	json_add_bool(obj, "is_available", info->is_available);
	json_add_bool(obj, "is_emulated", info->is_emulated);
	json_add_u64(obj, "nr_workers", info->nr_workers);
	json_add_text(obj, "simd", info->simd);
	json_add_text(obj, "decoder", info->decoder);
	json_add_real(obj, "fast_psnr_mean_db", FAST_PSNR_MEAN_DB, 1);
	json_add_real(obj, "fast_psnr_min_db", FAST_PSNR_MIN_DB, 1);
	return obj;
}

static int list_engines(const struct context *ctx)
{
	struct dlboost_engine_info info;
	struct json_object *doc = NULL, *list = NULL;

	if (ctx->has_json) {
		doc = json_document("dlboost-engines");
		list = json_object_new_array();
		json_add(doc, "engines", list);
	}
	for (unsigned int i = 0; !dlboost_engine_list(i, &info); i++) {
		if (doc)
			json_object_array_add(list, engine_json(&info));
		else
			printf("%-10s%-14s%s\n", info.name,
			       info.is_available ? "available" : "not here",
			       info.description);
	}
	if (doc)
		json_print(ctx, doc);
	return TOOL_DONE;
}

static void print_engine(const struct dlboost_engine_info *info)
{
	printf("name          %s%s\n", info->name,
	       info->is_emulated ? " (emulated)" : "");
	printf("description   %s\n", info->description);
	printf("available     %s\n", info->is_available ? "yes" : "no");
	printf("workers       %u\n", info->nr_workers);
	printf("SIMD          %s\n", info->simd ? info->simd : "-");
	printf("decoder       %s\n", info->decoder ? info->decoder : "-");
	printf("profiles      exact: bit for bit as Pillow and torchvision\n"
	       "              fast: exact where that is quickest, else %.1f dB "
	       "PSNR of exact in\n              the mean and %.1f at least, "
	       "over the benchmark's pictures\n",
	       FAST_PSNR_MEAN_DB, FAST_PSNR_MIN_DB);
}

static int no_engine(const struct context *ctx, const char *name)
{
	struct dlboost_engine_info info;
	const char *names[16], *hint;
	unsigned int nr = 0;

	while (nr < ARRAY_SIZE(names) && !dlboost_engine_list(nr, &info))
		names[nr++] = info.name;
	hint = text_did_you_mean(name, names, nr);
	if (hint)
		return usage_error(ctx, "no engine '%s'; did you mean '%s'?",
				   name, hint);
	return usage_error(ctx, "no engine '%s'; dlboost engine list names "
			   "them", name);
}

static int show_engine(const struct context *ctx, const char *name)
{
	struct dlboost_engine_info info;
	struct json_object *doc;

	for (unsigned int i = 0; !dlboost_engine_list(i, &info); i++) {
		if (strcmp(info.name, name))
			continue;
		if (!ctx->has_json) {
			print_engine(&info);
			return TOOL_DONE;
		}
		doc = json_document("dlboost-engine");
		json_add(doc, "engine", engine_json(&info));
		json_print(ctx, doc);
		return TOOL_DONE;
	}
	return no_engine(ctx, name);
}

static const char *const words[] = { "list", "show", NULL };

static int run_engine(const struct context *ctx, void *opts,
		      unsigned int nr_args, char **args)
{
	if (!nr_args || !strcmp(args[0], "list"))
		return nr_args > 1 ?
		       usage_error(ctx, "list takes no argument") :
		       list_engines(ctx);
	if (strcmp(args[0], "show"))
		return usage_verb(ctx, args[0]);
	if (nr_args < 2)
		return usage_error(ctx, "show needs the name of an engine");
	return show_engine(ctx, args[1]);
}

const struct command cmd_engine = {
	.name = "engine",
	.arguments = "list|show [NAME]",
	.summary = "List the engines, or show one",
	.details = "list          names, whether they work here, descriptions\n"
		   "show NAME     workers, instruction set, decoder library",
	.max_arguments = 2,
	.complete = COMPLETE_WORDS,
	.words = words,
	.run = run_engine,
};
