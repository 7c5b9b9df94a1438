// SPDX-License-Identifier: GPL-2.0-or-later
/* dlboost decode: one picture through one recipe, to .npy or .png. */
#include <errno.h>
#include <string.h>

#include "canvas.h"
#include "cmd.h"
#include "json.h"
#include "npy.h"
#include "picture.h"
#include "recipe_text.h"

struct decode_opts {
	const char *recipe;
	unsigned int profile;
	const char *engine;
	const char *out;
	struct number seed;
	struct number epoch;
	struct number sample;
	struct number max_pixels;
	unsigned int warnings;
};

/* Everything about one decode */
struct decode {
	const struct context *ctx;
	const struct decode_opts *opts;
	const char *path;
	const char *name;		/* of @path, for people */
	struct dlboost_recipe *recipe;
	struct file_buffer input;
	struct dlboost_image_info info;
	struct dlboost_geometry geometry;
	struct dlboost_tensor_spec tensor;
	struct dlboost_result result;
	uint8_t *pixels;
	size_t nr_bytes;
	double seconds;
};

static int open_recipe(struct decode *d)
{
	const char *spec = d->opts->recipe ? d->opts->recipe : "none";
	struct dlboost_recipe *picture;
	int ret = recipe_open(d->ctx, spec, &d->recipe);

	if (ret || !d->opts->out || !file_has_ending(d->opts->out, ".png"))
		return ret;
	/* A picture file holds bytes: the same geometry before the cast */
	dlboost_recipe_tensor(d->recipe, &d->tensor);
	if (d->tensor.dtype != DLBOOST_DTYPE_U8)
		msg_note("%s: pictures hold bytes: written as dtype=u8, before "
			 "mean and std", d->opts->out);
	picture = recipe_as_picture(d->recipe);
	if (!picture)
		return TOOL_FAILED;
	dlboost_recipe_destroy(d->recipe);
	d->recipe = picture;
	return TOOL_DONE;
}

static int read_input(struct decode *d)
{
	int ret = file_buffer_read(&d->input, d->path, 0, -1, SIZE_MAX);

	if (!ret)
		return TOOL_DONE;
	msg_error("%s: %s", d->name, strerror(-ret));
	return exit_from_error(ret);
}

/* Says what is wrong with the picture, in JSON as well when that was asked */
static int refuse_picture(struct decode *d)
{
	char *line = picture_trouble(d->name, &d->result);

	msg_error("%s", line ? line : d->name);
	free(line);
	return TOOL_FAILED;
}

static int probe_input(struct decode *d)
{
	struct dlboost_limits limits = {
		.max_pixels = d->opts->max_pixels.value,
	};
	char orient[16] = "";
	uint32_t width, height;

	if (dlboost_probe(d->input.bytes, d->input.len_bytes, &limits, &d->info,
			  &d->result))
		return refuse_picture(d);
	width = d->info.width;
	height = d->info.height;
	recipe_value(d->recipe, "orient", orient, sizeof(orient));
	if (!strcmp(orient, "exif") && d->info.orientation >= 5) {
		width = d->info.height;
		height = d->info.width;
	}
	if (dlboost_recipe_draw(d->recipe, width, height, d->opts->seed.value,
				(uint32_t)d->opts->epoch.value,
				d->opts->sample.value, &d->geometry)) {
		msg_error("%s: %u x %u pixels are beyond this recipe", d->name,
			  width, height);
		return TOOL_FAILED;
	}
	dlboost_recipe_tensor(d->recipe, &d->tensor);
	d->tensor.width = d->geometry.window_w;
	d->tensor.height = d->geometry.window_h;
	d->nr_bytes = (size_t)d->tensor.width * d->tensor.height *
		      d->tensor.channels * d->tensor.element_bytes;
	d->pixels = malloc(d->nr_bytes);
	if (d->pixels)
		return TOOL_DONE;
	msg_error("%s: no memory for %zu bytes of pixels", d->name,
		  d->nr_bytes);
	return TOOL_FAILED;
}

static int by_engine(struct decode *d, const char *spec)
{
	struct dlboost_limits limits = {
		.max_pixels = d->opts->max_pixels.value,
	};
	char error[DLBOOST_ERROR_BYTES] = "";
	struct dlboost_engine *engine;
	uint64_t start_ns;
	int ret = dlboost_engine_create(spec, &limits, error, sizeof(error),
					&engine);

	if (ret) {
		msg_error("%s", error[0] ? error : strerror(-ret));
		return ret == -EINVAL ? TOOL_USAGE : exit_from_error(ret);
	}
	start_ns = now_ns();
	ret = dlboost_engine_decode(engine, d->input.bytes, d->input.len_bytes,
				    d->recipe, d->opts->profile, &d->geometry,
				    d->pixels, d->nr_bytes, &d->result);
	d->seconds = (double)(now_ns() - start_ns) / 1e9;
	dlboost_engine_destroy(engine);
	if (ret)
		msg_error("%s: %s", d->name, strerror(-ret));
	return ret ? exit_from_error(ret) : TOOL_DONE;
}

static int by_decoder(struct decode *d)
{
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;
	struct dlboost_decoder *decoder;
	uint64_t start_ns;
	int ret;

	attr.limits.max_pixels = d->opts->max_pixels.value;
	attr.reject_warnings = d->opts->warnings;
	ret = dlboost_decoder_create(&attr, &decoder);
	if (ret) {
		msg_error("decoder: %s", strerror(-ret));
		return exit_from_error(ret);
	}
	start_ns = now_ns();
	ret = dlboost_decode(decoder, d->input.bytes, d->input.len_bytes,
			     d->recipe, d->opts->profile, &d->geometry,
			     d->pixels, d->nr_bytes, &d->result);
	d->seconds = (double)(now_ns() - start_ns) / 1e9;
	dlboost_decoder_destroy(decoder);
	if (ret)
		msg_error("%s: %s", d->name, strerror(-ret));
	return ret ? exit_from_error(ret) : TOOL_DONE;
}

static int write_output(const struct decode *d)
{
	const struct dlboost_tensor_spec *t = &d->tensor;
	struct npy_array array = {
		.descr = npy_descr(t->dtype), .nr_axes = 3,
		.data = d->pixels, .nr_bytes = d->nr_bytes,
	};
	int ret;

	if (!d->opts->out)
		return TOOL_DONE;
	if (t->layout == DLBOOST_LAYOUT_CHW)
		memcpy(array.shape, (uint64_t[]){ 3, t->height, t->width },
		       3 * sizeof(uint64_t));
	else
		memcpy(array.shape, (uint64_t[]){ t->height, t->width, 3 },
		       3 * sizeof(uint64_t));
	if (file_has_ending(d->opts->out, ".png"))
		ret = png_write_rgb(d->opts->out, t->width, t->height,
				    d->pixels);
	else
		ret = npy_write(d->opts->out, &array);
	if (!ret)
		return TOOL_DONE;
	msg_error("%s: %s", d->opts->out, strerror(-ret));
	return exit_from_error(ret);
}

static void print_json(const struct decode *d)
{
	const struct dlboost_geometry *g = &d->geometry;
	struct json_object *doc = json_document("dlboost-decode");
	struct json_object *geometry = json_object_new_object();

	json_add_text(doc, "path", d->path);
	json_add_text(doc, "status", dlboost_status_name(d->result.status));
	json_add_bool(doc, "is_warned",
		      d->result.flags & DLBOOST_SAMPLE_F_WARNED);
	json_add_text(doc, "message", d->result.message);
	if (d->result.offset_bytes >= 0)
		json_add_i64(doc, "offset_bytes", d->result.offset_bytes);
	else
		json_add(doc, "offset_bytes", NULL);
	json_add_text(doc, "type", dlboost_image_type_name(d->info.type));
	json_add_u64(doc, "picture_width_pixels", d->info.width);
	json_add_u64(doc, "picture_height_pixels", d->info.height);
	json_add_text(doc, "recipe", dlboost_recipe_canonical(d->recipe));
	json_add_text(doc, "profile", d->opts->profile ? "fast" : "exact");
	json_add(doc, "geometry", geometry);
	json_add_u64(geometry, "crop_x_pixels", g->crop_x);
	json_add_u64(geometry, "crop_y_pixels", g->crop_y);
	json_add_u64(geometry, "crop_w_pixels", g->crop_w);
	json_add_u64(geometry, "crop_h_pixels", g->crop_h);
	json_add_u64(geometry, "resize_w_pixels", g->resize_w);
	json_add_u64(geometry, "resize_h_pixels", g->resize_h);
	json_add_i64(geometry, "window_x_pixels", g->window_x);
	json_add_i64(geometry, "window_y_pixels", g->window_y);
	json_add_u64(geometry, "window_w_pixels", g->window_w);
	json_add_u64(geometry, "window_h_pixels", g->window_h);
	json_add_bool(geometry, "is_flipped", g->flip);
	json_add_text(doc, "dtype", dtype_name(d->tensor.dtype));
	json_add_text(doc, "layout", d->tensor.layout == DLBOOST_LAYOUT_CHW ?
		      "chw" : "hwc");
	json_add_u64(doc, "tensor_bytes", d->nr_bytes);
	json_add_real(doc, "elapsed_s", d->seconds, 6);
	json_add_text(doc, "out", d->opts->out);
	json_print(d->ctx, doc);
}

static void print_text(const struct decode *d)
{
	const struct dlboost_geometry *g = &d->geometry;
	const struct dlboost_tensor_spec *t = &d->tensor;
	FILE *file = d->opts->out && !strcmp(d->opts->out, "-") ? stderr :
								  stdout;

	text_print_escaped(file, d->name);
	fprintf(file, ": %s, %u x %u", dlboost_image_type_name(d->info.type),
		d->info.width, d->info.height);
	fprintf(file, t->layout == DLBOOST_LAYOUT_CHW ?
		" -> 3 x %u x %u (CHW) %s" : " -> %u x %u x 3 (HWC) %s",
		t->height, t->width, dtype_name(t->dtype));
	if (d->result.flags & DLBOOST_SAMPLE_F_WARNED)
		fprintf(file, ", with a warning: %s", d->result.message);
	fprintf(file, "\n");
	if (!d->ctx->is_verbose)
		return;
	fprintf(file, "recipe    %s\n", dlboost_recipe_canonical(d->recipe));
	fprintf(file, "crop      %u x %u at (%u, %u)\n", g->crop_w, g->crop_h,
		g->crop_x, g->crop_y);
	fprintf(file, "resize    %u x %u\n", g->resize_w, g->resize_h);
	fprintf(file, "window    %u x %u at (%d, %d)%s\n", g->window_w,
		g->window_h, g->window_x, g->window_y,
		g->flip ? ", mirrored" : "");
	fprintf(file, "time      %.3f ms\n", d->seconds * 1e3);
}

static int decode_file(struct decode *d)
{
	const char *engine = d->opts->engine ? d->opts->engine : d->ctx->device;
	int ret = open_recipe(d) ?: read_input(d) ?: probe_input(d);

	if (ret)
		return ret;
	ret = engine ? by_engine(d, engine) : by_decoder(d);
	if (ret)
		return ret;
	if (d->result.status)
		return refuse_picture(d);
	ret = write_output(d);
	if (ret)
		return ret;
	if (d->ctx->has_json)
		print_json(d);
	else if (!d->opts->out || strcmp(d->opts->out, "-") ||
		 d->ctx->is_verbose)
		print_text(d);
	return TOOL_DONE;
}

static int run_decode(const struct context *ctx, void *opts_arg,
		      unsigned int nr_args, char **args)
{
	const struct decode_opts *opts = opts_arg;
	struct decode *d;
	int ret;

	if (ctx->has_json && opts->out && !strcmp(opts->out, "-"))
		return usage_error(ctx, "-j and --out - both want standard "
				   "output");
	d = calloc(1, sizeof(*d));
	if (!d) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	d->ctx = ctx;
	d->opts = opts;
	d->path = args[0];
	d->name = strcmp(d->path, "-") ? d->path : "standard input";
	ret = decode_file(d);
	if (ret && ctx->has_json && d->result.status)
		print_json(d);
	dlboost_recipe_destroy(d->recipe);
	free(d->input.bytes);
	free(d->pixels);
	free(d);
	return ret;
}

static const char *const profile_words[] = { "exact", "fast", NULL };
static const char *const warning_words[] = { "accept", "reject", NULL };

static const struct option_row rows[] = {
	{ .name = "recipe", .type = OPTION_TEXT, .metavar = SPEC_METAVAR,
	  .complete = COMPLETE_RECIPE,
	  .offset = offsetof(struct decode_opts, recipe),
	  .help = "what to do with the picture (default none)" },
	{ .name = "profile", .type = OPTION_CHOICE, .choices = profile_words,
	  .offset = offsetof(struct decode_opts, profile),
	  .help = "how exact the pixels are" },
	{ .name = "engine", .type = OPTION_TEXT, .metavar = SPEC_METAVAR,
	  .complete = COMPLETE_ENGINE,
	  .offset = offsetof(struct decode_opts, engine),
	  .help = "decode there (default: in this thread)" },
	{ .name = "out", .short_name = 'o', .type = OPTION_TEXT,
	  .metavar = "FILE", .complete = COMPLETE_FILE,
	  .offset = offsetof(struct decode_opts, out),
	  .help = "write the tensor as .npy, or bytes as .png;\n"
		  "- writes .npy to standard output" },
	{ .name = "seed", .type = OPTION_NUMBER, .metavar = "N",
	  .max = UINT64_MAX, .offset = offsetof(struct decode_opts, seed),
	  .help = "key of the recipe's draws" },
	{ .name = "epoch", .type = OPTION_NUMBER, .metavar = "N",
	  .max = UINT32_MAX, .offset = offsetof(struct decode_opts, epoch),
	  .help = "epoch of the draws" },
	{ .name = "sample", .type = OPTION_NUMBER, .metavar = "N",
	  .max = INT64_MAX, .offset = offsetof(struct decode_opts, sample),
	  .help = "sample number of the draws" },
	{ .name = "warnings", .type = OPTION_CHOICE, .choices = warning_words,
	  .offset = offsetof(struct decode_opts, warnings),
	  .help = "what a decoder warning makes of a file" },
	{ .name = "max-pixels", .type = OPTION_NUMBER, .metavar = "N",
	  .min = 1, .max = 1ull << 32, .preset = DLBOOST_DEFAULT_MAX_PIXELS,
	  .offset = offsetof(struct decode_opts, max_pixels),
	  .help = "larger pictures are TOO_LARGE" },
	{ .name = NULL },
};

const struct command cmd_decode = {
	.name = "decode",
	.arguments = "FILE",
	.summary = "Decode one picture through a recipe",
	.details = "FILE may be -, for standard input.  With the same seed,\n"
		   "epoch and sample number the result is what a run would\n"
		   "deliver.",
	.options = rows,
	.opts_bytes = sizeof(struct decode_opts),
	.min_arguments = 1,
	.max_arguments = 1,
	.complete = COMPLETE_FILE,
	.run = run_decode,
};
