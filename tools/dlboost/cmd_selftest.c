// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost selftest: does an engine give the pixels it must?  Any engine runs
 * the same cases.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "progress.h"
#include "selftest.h"
#include "sha256.h"

struct selftest_opts {
	const char *engine;
	const char *golden;
};

void selftest_pass(struct selftest *t)
{
	t->nr_passed++;
}

void selftest_fail(struct selftest *t, const char *what, const char *fmt, ...)
{
	struct selftest_failure *failure = NULL;
	char *reason = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&reason, fmt, ap) < 0)
		reason = NULL;
	va_end(ap);
	if (t->nr_failed < SELFTEST_MAX_FAILURES) {
		failure = &t->failures[t->nr_failed];
		failure->what = strdup(what);
		failure->reason = reason;
	}
	t->nr_failed++;
	progress_hide();
	if (!t->ctx->has_json && failure) {
		printf("FAILED  ");
		text_print_escaped(stdout, what);
		printf(": %s\n", reason ? reason : "?");
	}
	if (!failure)
		free(reason);
}

static size_t tensor_bytes(const struct dlboost_recipe *recipe,
			   const struct dlboost_geometry *geometry)
{
	struct dlboost_tensor_spec spec;

	dlboost_recipe_tensor(recipe, &spec);
	return (size_t)geometry->window_w * geometry->window_h *
	       spec.channels * spec.element_bytes;
}

static void compare(struct selftest *t, const struct selftest_case *c,
		    const uint8_t *tensor, size_t nr_bytes)
{
	char hex[SHA256_HEX_BYTES];
	const uint8_t *wanted = c->expected;
	size_t i = 0;

	if (c->sha256) {
		sha256_hex(tensor, nr_bytes, hex);
		if (strcmp(hex, c->sha256))
			selftest_fail(t, c->what,
				      "other pixels: %.16s..., not %.16s...",
				      hex, c->sha256);
		else
			selftest_pass(t);
		return;
	}
	while (i < nr_bytes && tensor[i] == wanted[i])
		i++;
	if (i < nr_bytes)
		selftest_fail(t, c->what, "other pixels from byte %zu on", i);
	else
		selftest_pass(t);
}

static void decode_and_compare(struct selftest *t,
			       const struct selftest_case *c,
			       const struct dlboost_recipe *recipe)
{
	size_t nr_bytes = tensor_bytes(recipe, c->geometry);
	struct dlboost_result result = { 0 };
	uint8_t *tensor = malloc(nr_bytes);
	int ret = -ENOMEM;

	if (tensor)
		ret = dlboost_engine_decode(t->engine, c->bytes, c->nr_bytes,
					    recipe, DLBOOST_PROFILE_EXACT,
					    c->geometry, tensor, nr_bytes,
					    &result);
	if (ret)
		selftest_fail(t, c->what, "%s", strerror(-ret));
	else if (result.status)
		selftest_fail(t, c->what, "%s: %s",
			      dlboost_status_name(result.status),
			      result.message);
	else if (c->expected_bytes && c->expected_bytes != nr_bytes)
		selftest_fail(t, c->what, "a tensor of %zu bytes, not %zu",
			      nr_bytes, c->expected_bytes);
	else
		compare(t, c, tensor, nr_bytes);
	free(tensor);
}

void selftest_run_case(struct selftest *t, const struct selftest_case *c)
{
	char error[DLBOOST_ERROR_BYTES] = "";
	struct dlboost_recipe *recipe;

	if (dlboost_recipe_parse(c->recipe, error, sizeof(error), &recipe)) {
		selftest_fail(t, c->what, "%s", error);
		return;
	}
	decode_and_compare(t, c, recipe);
	dlboost_recipe_destroy(recipe);
}

static void print_json(const struct selftest *t, const char *engine,
		       const char *golden, uint64_t nr_builtin)
{
	struct json_object *doc = json_document("dlboost-selftest");
	struct json_object *list = json_object_new_array();

	json_add_text(doc, "engine", engine);
	json_add_text(doc, "golden_dir", golden);
	json_add_u64(doc, "nr_builtin", nr_builtin);
	json_add_u64(doc, "nr_golden", t->nr_passed + t->nr_failed -
		     nr_builtin);
	json_add_u64(doc, "nr_passed", t->nr_passed);
	json_add_u64(doc, "nr_failed", t->nr_failed);
	for (uint64_t i = 0; i < t->nr_failed && i < SELFTEST_MAX_FAILURES;
	     i++) {
		struct json_object *row = json_object_new_object();

		json_add_text(row, "case", t->failures[i].what);
		json_add_text(row, "reason", t->failures[i].reason);
		json_object_array_add(list, row);
	}
	json_add(doc, "failures", list);
	json_print(t->ctx, doc);
}

static void print_text(const struct selftest *t, const char *engine,
		       const char *golden, uint64_t nr_builtin)
{
	char a[FIGURE_BYTES], b[FIGURE_BYTES];

	printf("engine %s: %s cases right, %s wrong (%llu built in", engine,
	       figure_count(a, t->nr_passed), figure_count(b, t->nr_failed),
	       (unsigned long long)nr_builtin);
	if (golden) {
		printf(", the others of ");
		text_print_escaped(stdout, golden);
	}
	printf(")\n");
}

static int run_cases(struct selftest *t, const char *engine,
		     const char *golden_option)
{
	char *golden = golden_option ? strdup(golden_option) :
				       selftest_find_golden();
	uint64_t nr_builtin;
	int ret = TOOL_DONE;

	selftest_builtin(t);
	nr_builtin = t->nr_passed + t->nr_failed;
	if (golden)
		ret = selftest_golden(t, golden);
	else
		msg_note("the golden table is not here (DLBOOST_GOLDEN_DIR "
			 "names its folder): only the built-in cases were run");
	if (!ret && t->ctx->has_json)
		print_json(t, engine, golden, nr_builtin);
	else if (!ret)
		print_text(t, engine, golden, nr_builtin);
	free(golden);
	return ret ? ret : t->nr_failed ? TOOL_FAILED : TOOL_DONE;
}

static int run_selftest(const struct context *ctx, void *opts_arg,
			unsigned int nr_args, char **args)
{
	const struct selftest_opts *opts = opts_arg;
	const char *engine = opts->engine ? opts->engine :
			     ctx->device ? ctx->device : "cpu";
	char error[DLBOOST_ERROR_BYTES] = "";
	struct selftest *t = calloc(1, sizeof(*t));
	int ret;

	if (!t) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	t->ctx = ctx;
	ret = dlboost_engine_create(engine, NULL, error, sizeof(error),
				    &t->engine);
	if (ret) {
		msg_error("%s", error[0] ? error : strerror(-ret));
		ret = ret == -EINVAL ? TOOL_USAGE : exit_from_error(ret);
	} else {
		ret = run_cases(t, engine, opts->golden);
	}
	dlboost_engine_destroy(t->engine);
	for (unsigned int i = 0; i < SELFTEST_MAX_FAILURES; i++) {
		free(t->failures[i].what);
		free(t->failures[i].reason);
	}
	free(t);
	return ret;
}

static const struct option_row rows[] = {
	{ .name = "engine", .type = OPTION_TEXT,
	  .metavar = SPEC_METAVAR, .complete = COMPLETE_ENGINE,
	  .offset = offsetof(struct selftest_opts, engine),
	  .help = "the engine to test (default cpu)" },
	{ .name = "golden", .type = OPTION_TEXT, .metavar = "DIR",
	  .complete = COMPLETE_FOLDER,
	  .offset = offsetof(struct selftest_opts, golden),
	  .help = "folder of the golden table\n"
		  "(default: $DLBOOST_GOLDEN_DIR, or as installed)" },
	{ .name = NULL },
};

const struct command cmd_selftest = {
	.name = "selftest",
	.arguments = "",
	.summary = "Prove that an engine gives the right pixels",
	.details = "Runs built-in cases and every line of the golden table,\n"
		   "made with Pillow, through an engine and compares bit for\n"
		   "bit.",
	.options = rows,
	.opts_bytes = sizeof(struct selftest_opts),
	.run = run_selftest,
};
