// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost info: what a data set contains, from the headers of all its
 * pictures.  Workers read heads and probe; the main thread adds up.  How it is
 * shown is in info_show.c.
 */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "info.h"
#include "parallel.h"
#include "picture.h"
#include "progress.h"

#define TINY_PIXELS 32
#define HUGE_PIXELS 40000000ull
#define NARROW_RATIO 5

struct info_opts {
	const char *histogram;
	const char *index;
	struct number jobs;
	bool no_progress;
};

/* Reading heads waits for storage more than for a CPU */
#define THREADS_PER_CPU 4

struct probe_result {
	uint64_t idx;
	uint64_t nr_bytes;
	unsigned int status;
	int32_t label;
	struct dlboost_image_info image;
	char message[DLBOOST_MESSAGE_BYTES];
	char path[TOOL_PATH_BYTES];
};

struct prober {
	const struct source *source;
	struct file_buffer buffer;
};

struct info_job {
	struct info *info;
	struct progress_state progress;
};

static void *prober_create(void *arg)
{
	struct prober *prober = calloc(1, sizeof(*prober));

	if (prober)
		prober->source = &((struct info_job *)arg)->info->source;
	return prober;
}

static void prober_destroy(void *arg)
{
	struct prober *prober = arg;

	free(prober->buffer.bytes);
	free(prober);
}

static void probe_work(void *arg, uint64_t idx, void *result_arg)
{
	struct prober *prober = arg;
	struct probe_result *out = result_arg;
	struct dlboost_result result = { 0 };
	struct dlboost_sample sample;
	int ret;

	out->idx = idx;
	out->label = -1;
	ret = source_locate(prober->source, idx, out->path, &sample);
	if (ret) {
		out->status = picture_read_failed(ret, &result);
	} else {
		out->label = sample.label;
		out->status = picture_probe(&prober->buffer, &sample,
					    &out->image, &out->nr_bytes,
					    &result);
	}
	memcpy(out->message, result.message, sizeof(out->message));
}

static void tally_add(struct tally *tally, const char *name)
{
	unsigned int i;

	for (i = 0; i < tally->nr_rows; i++)
		if (!strcmp(tally->rows[i].name, name))
			break;
	if (i == INFO_MAX_NAMES)
		i--;
	if (i == tally->nr_rows) {
		tally->nr_rows++;
		snprintf(tally->rows[i].name, sizeof(tally->rows[i].name), "%s",
			 i + 1 < INFO_MAX_NAMES ? name : "others");
	}
	tally->rows[i].nr++;
}

static void odd_add(struct info *info, enum odd_index kind,
		    const struct probe_result *r, const char *why)
{
	struct odd_kind *odd = &info->odd[kind];

	if (odd->nr < INFO_EXAMPLES &&
	    asprintf(&odd->examples[odd->nr], "%s%s%s", r->path,
		     *why ? ": " : "", why) < 0)
		odd->examples[odd->nr] = NULL;
	odd->nr++;
}

static void odd_check(struct info *info, const struct probe_result *r)
{
	const struct dlboost_image_info *image = &r->image;
	uint32_t longer = image->width > image->height ? image->width :
							 image->height;
	uint32_t shorter = image->width + image->height - longer;
	bool is_png_name = file_has_ending(r->path, ".png");
	char why[64];

	snprintf(why, sizeof(why), "%u x %u", image->width, image->height);
	if (r->status) {
		odd_add(info, ODD_BAD_HEADER, r, r->message);
		return;
	}
	if ((image->type == DLBOOST_IMAGE_PNG) != is_png_name &&
	    file_is_picture_name(r->path))
		odd_add(info, ODD_WRONG_NAME, r,
			dlboost_image_type_name(image->type));
	if (image->type == DLBOOST_IMAGE_JPEG && image->components == 4)
		odd_add(info, ODD_FOUR_COLOURS, r, picture_colour(image));
	if (shorter < TINY_PIXELS)
		odd_add(info, ODD_TINY, r, why);
	if ((uint64_t)image->width * image->height > HUGE_PIXELS)
		odd_add(info, ODD_HUGE, r, why);
	if (longer > (uint64_t)shorter * NARROW_RATIO)
		odd_add(info, ODD_NARROW, r, why);
}

static void add_jpeg(struct info *info, const struct dlboost_image_info *image)
{
	char sampling[PICTURE_NAME_BYTES];

	tally_add(&info->processes, picture_process(image));
	tally_add(&info->samplings, picture_sampling(image, sampling));
	info->nr_restart += image->restart_interval != 0;
}

static void add_picture(struct info *info, const struct probe_result *r)
{
	const struct dlboost_image_info *image = &r->image;
	double pixels = (double)image->width * image->height;

	if (image->type == DLBOOST_IMAGE_JPEG)
		add_jpeg(info, image);
	info->nr_icc += image->has_icc;
	info->nr_interlaced += image->is_interlaced;
	tally_add(&info->colours, picture_colour(image));
	if (image->orientation < ARRAY_SIZE(info->orientations))
		info->orientations[image->orientation]++;
	info->nr_exif_turned += image->orientation > 1;
	histogram_add(&info->width, image->width);
	histogram_add(&info->height, image->height);
	histogram_add(&info->aspect, (double)image->width / image->height);
	histogram_add(&info->pixels, pixels);
	histogram_add(&info->bytes_per_pixel, (double)r->nr_bytes / pixels);
}

static int info_consume(void *arg, const void *result_arg)
{
	const struct probe_result *r = result_arg;
	struct info_job *job = arg;
	struct info *info = job->info;
	const char *type = dlboost_image_type_name(r->image.type);

	tally_add(&info->statuses, dlboost_status_name(r->status));
	tally_add(&info->types, r->status == DLBOOST_STATUS_IO ? "unreadable" :
								 type);
	info->nr_bytes += r->nr_bytes;
	histogram_add(&info->file_bytes, (double)r->nr_bytes);
	if (info->class_counts && r->label >= 0 &&
	    (uint32_t)r->label < info->dataset.nr_classes)
		info->class_counts[r->label]++;
	odd_check(info, r);
	if (!r->status && r->image.width && r->image.height)
		add_picture(info, r);
	info->nr_done++;
	job->progress.done++;
	job->progress.nr_bad += r->status != DLBOOST_STATUS_OK;
	return 0;
}

static void info_tick(void *arg)
{
	progress_update(&((struct info_job *)arg)->progress);
}

static int info_collect(const struct context *ctx, struct info *info,
			const struct info_opts *opts)
{
	struct info_job job = {
		.info = info,
		.progress = { .total = info->source.nr_items, .has_bad = true },
	};
	struct parallel what = {
		.nr_items = info->source.nr_items,
		.nr_threads = (unsigned int)opts->jobs.value ?:
			      cpus_allowed() * THREADS_PER_CPU,
		.result_bytes = sizeof(struct probe_result),
		.worker_create = prober_create,
		.worker_destroy = prober_destroy,
		.work = probe_work, .consume = info_consume,
		.tick = info_tick, .arg = &job,
	};
	int ret;

	if (what.nr_threads > what.nr_items)
		what.nr_threads = (unsigned int)what.nr_items ?: 1;
	progress_start(ctx, "headers", !opts->no_progress);
	ret = parallel_run(&what);
	progress_stop();
	if (!ret)
		return TOOL_DONE;
	if (ret != -EINTR)
		msg_error("info: %s", strerror(-ret));
	return exit_from_error(ret);
}

static int info_show(const struct context *ctx, const struct info *info,
		     const struct info_opts *opts)
{
	int ret;

	if (ctx->has_json)
		info_print_json(ctx, info);
	else
		info_print_text(info);
	if (!opts->histogram)
		return TOOL_DONE;
	ret = info_draw(info, opts->histogram);
	if (!ret) {
		if (!ctx->has_json)
			printf("histogram     %s\n", opts->histogram);
		return TOOL_DONE;
	}
	msg_error("%s: %s", opts->histogram, strerror(-ret));
	return exit_from_error(ret);
}

static const struct odd_kind odd_kinds[NR_ODD] = {
	[ODD_BAD_HEADER] = { "bad_header", "cannot be decoded" },
	[ODD_WRONG_NAME] = { "wrong_name", "another type than the name says" },
	[ODD_FOUR_COLOURS] = { "four_colours", "CMYK or YCCK" },
	[ODD_TINY] = { "tiny", "shorter side below 32 pixels" },
	[ODD_HUGE] = { "huge", "above 40 megapixels" },
	[ODD_NARROW] = { "narrow", "more than five times as long as wide" },
};

static void info_free(struct info *info)
{
	for (unsigned int i = 0; i < NR_ODD; i++)
		for (unsigned int j = 0; j < INFO_EXAMPLES; j++)
			free(info->odd[i].examples[j]);
	source_close(&info->source);
	free(info->class_counts);
	free(info);
}

static int run_info(const struct context *ctx, void *opts_arg,
		    unsigned int nr_args, char **args)
{
	const struct info_opts *opts = opts_arg;
	struct source_options options = {
		.index_path = opts->index, .allow_empty = true,
		.no_progress = opts->no_progress,
	};
	struct info *info = calloc(1, sizeof(*info));
	int ret;

	if (!info) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	info->path = args[0];
	memcpy(info->odd, odd_kinds, sizeof(odd_kinds));
	ret = outputs_check(&opts->histogram, 1) ?:
	      source_open(ctx, 1, args, &options, &info->source);
	if (!ret && info->source.parts[0].dataset)
		dlboost_dataset_info(info->source.parts[0].dataset,
				     &info->dataset);
	if (!ret && info->dataset.nr_classes &&
	    info->dataset.nr_classes <= SOURCE_MAX_CLASSES) {
		info->class_counts = calloc(info->dataset.nr_classes,
					    sizeof(uint64_t));
		if (!info->class_counts) {
			msg_error("out of memory");
			ret = TOOL_FAILED;
		}
	}
	if (!ret)
		ret = info_collect(ctx, info, opts);
	if (!ret)
		ret = info_show(ctx, info, opts);
	info_free(info);
	return ret;
}

static const struct option_row rows[] = {
	{ .name = "histogram", .type = OPTION_TEXT, .metavar = "FILE.png",
	  .complete = COMPLETE_FILE,
	  .offset = offsetof(struct info_opts, histogram),
	  .help = "draw the distributions" },
	{ .name = "index", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE,
	  .offset = offsetof(struct info_opts, index),
	  .help = "index file of the data set" },
	{ .name = "jobs", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = 1024, .has_no_preset = true,
	  .offset = offsetof(struct info_opts, jobs),
	  .help = "threads (default: four a CPU)" },
	{ .name = "no-progress", .type = OPTION_FLAG,
	  .offset = offsetof(struct info_opts, no_progress),
	  .help = "draw no progress line" },
	{ .name = NULL },
};

const struct command cmd_info = {
	.name = "info",
	.arguments = "PATH",
	.summary = "Show what a data set contains",
	.details = "Reads the header of every picture: sizes, samplings, the\n"
		   "share of progressive files, orientations, colours, odd\n"
		   "files.",
	.options = rows,
	.opts_bytes = sizeof(struct info_opts),
	.min_arguments = 1,
	.max_arguments = 1,
	.complete = COMPLETE_FILE,
	.run = run_info,
};
