// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost bench: how fast pictures in memory become tensors here.  Each case
 * runs in short rounds that alternate, so that a noisy machine hits all alike;
 * the figure is the median of its rounds.  No storage, no order, no batches:
 * "dlboost run" measures those.  Comparisons with other libraries are in
 * tests/bench.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "builtin.h"
#include "cmd.h"
#include "json.h"
#include "progress.h"
#include "recipe_text.h"
#include "source.h"

#define NR_ROUNDS 5
#define NR_SYNTHETIC 16
#define MAX_MEMORY_BYTES ((size_t)256 << 20)
#define MAX_CASES 4

struct bench_opts {
	const char *recipe;
	struct number pictures;
	struct number seconds;
	struct number jobs;
	const char *index;
	bool no_progress;
};

struct bench_picture {
	uint8_t *bytes;
	size_t nr_bytes;
	uint32_t width;
	uint32_t height;
};

struct bench_case {
	unsigned int profile;
	unsigned int nr_threads;
	double rates[NR_ROUNDS];	/* pictures a second */
	double cpu_rates[NR_ROUNDS];	/* pictures a CPU-second */
};

struct bench {
	const struct context *ctx;
	const struct bench_opts *opts;
	struct dlboost_recipe *recipe;
	size_t sample_bytes;
	struct bench_picture *pictures;
	unsigned int nr_pictures;
	unsigned int nr_left_out;
	bool is_synthetic;
	struct bench_case cases[MAX_CASES];
	unsigned int nr_cases;
};

struct bench_thread {
	struct bench *bench;
	const struct bench_case *c;
	unsigned int first;
	uint64_t end_ns;
	uint64_t nr_done;
	double cpu_s;
	int error;
	pthread_t thread;
};

static double thread_cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int decode_one(struct bench_thread *me, struct dlboost_decoder *decoder,
		      uint64_t nr, uint8_t *tensor)
{
	struct bench *bench = me->bench;
	const struct bench_picture *p =
		&bench->pictures[(me->first + nr) % bench->nr_pictures];
	struct dlboost_geometry geometry;
	struct dlboost_result result;

	return dlboost_recipe_draw(bench->recipe, p->width, p->height, 0, 0,
				   me->first + nr, &geometry) ?:
	       dlboost_decode(decoder, p->bytes, p->nr_bytes, bench->recipe,
			      me->c->profile, &geometry, tensor,
			      bench->sample_bytes, &result);
}

static void *bench_thread_main(void *arg)
{
	struct bench_thread *me = arg;
	uint8_t *tensor = malloc(me->bench->sample_bytes);
	struct dlboost_decoder *decoder = NULL;
	double start;

	me->error = tensor ? dlboost_decoder_create(NULL, &decoder) : -ENOMEM;
	/* Once through the pictures' pages and the decoder's memory */
	if (!me->error)
		me->error = decode_one(me, decoder, 0, tensor);
	start = thread_cpu_s();
	while (!me->error && now_ns() < me->end_ns)
		me->error = decode_one(me, decoder, me->nr_done++, tensor);
	me->cpu_s = thread_cpu_s() - start;
	dlboost_decoder_destroy(decoder);
	free(tensor);
	return NULL;
}

static int run_round(struct bench *bench, struct bench_case *c,
		     unsigned int round, double seconds)
{
	struct bench_thread *threads = calloc(c->nr_threads, sizeof(*threads));
	uint64_t start_ns = now_ns(), nr_done = 0;
	unsigned int nr = 0;
	double cpu_s = 0, wall_s;
	int ret = threads ? 0 : -ENOMEM;

	for (; !ret && nr < c->nr_threads; nr += !ret) {
		threads[nr].bench = bench;
		threads[nr].c = c;
		threads[nr].first = nr * bench->nr_pictures / c->nr_threads;
		threads[nr].end_ns = start_ns + (uint64_t)(seconds * 1e9);
		ret = -pthread_create(&threads[nr].thread, NULL,
				      bench_thread_main, &threads[nr]);
	}
	for (unsigned int i = 0; i < nr; i++) {
		pthread_join(threads[i].thread, NULL);
		ret = ret ? ret : threads[i].error;
		nr_done += threads[i].nr_done;
		cpu_s += threads[i].cpu_s;
	}
	wall_s = (double)(now_ns() - start_ns) / 1e9;
	c->rates[round] = (double)nr_done / wall_s;
	c->cpu_rates[round] = cpu_s > 0 ? (double)nr_done / cpu_s : 0;
	free(threads);
	return ret;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values)
{
	double sorted[NR_ROUNDS];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, NR_ROUNDS, sizeof(*sorted), compare_doubles);
	return sorted[NR_ROUNDS / 2];
}

static int run_rounds(struct bench *bench)
{
	double seconds = (double)bench->opts->seconds.value / NR_ROUNDS;
	struct progress_state progress = {
		.total = (uint64_t)NR_ROUNDS * bench->nr_cases,
	};
	int ret = 0;

	progress_start(bench->ctx, "rounds", !bench->opts->no_progress);
	for (unsigned int round = 0; !ret && round < NR_ROUNDS; round++)
		for (unsigned int i = 0; !ret && i < bench->nr_cases; i++) {
			if (signals_caught())
				ret = -EINTR;
			else
				ret = run_round(bench, &bench->cases[i], round,
						seconds);
			progress.done++;
			progress_update(&progress);
		}
	progress_stop();
	if (!ret)
		return TOOL_DONE;
	if (ret != -EINTR)
		msg_error("bench: %s", strerror(-ret));
	return exit_from_error(ret);
}

static int make_pictures(struct bench *bench)
{
	bench->is_synthetic = true;
	bench->pictures = calloc(NR_SYNTHETIC, sizeof(*bench->pictures));
	if (!bench->pictures)
		return TOOL_FAILED;
	while (bench->nr_pictures < NR_SYNTHETIC) {
		struct bench_picture *p = &bench->pictures[bench->nr_pictures];

		p->width = 500;
		p->height = 375;
		if (synth_jpeg(p->width, p->height, bench->nr_pictures,
			       &p->bytes, &p->nr_bytes)) {
			msg_error("out of memory");
			return TOOL_FAILED;
		}
		bench->nr_pictures++;
	}
	return TOOL_DONE;
}

/* Does the whole decode work?  Bad pictures have no place in a rate. */
static bool is_good(struct bench *bench, struct dlboost_decoder *decoder,
		    struct bench_picture *p, uint8_t *tensor)
{
	struct dlboost_image_info info;
	struct dlboost_geometry geometry;
	struct dlboost_result result = { 0 };

	if (dlboost_probe(p->bytes, p->nr_bytes, NULL, &info, NULL))
		return false;
	p->width = info.width;
	p->height = info.height;
	return !dlboost_recipe_draw(bench->recipe, p->width, p->height, 0, 0,
				    0, &geometry) &&
	       !dlboost_decode(decoder, p->bytes, p->nr_bytes, bench->recipe,
			       DLBOOST_PROFILE_EXACT, &geometry, tensor,
			       bench->sample_bytes, &result) && !result.status;
}

static int load_all(struct bench *bench, const struct source *source,
		    struct dlboost_decoder *decoder, uint8_t *tensor)
{
	uint64_t nr = bench->opts->pictures.value, step;
	size_t total_bytes = 0;

	if (nr > source->nr_items)
		nr = source->nr_items;
	step = nr ? source->nr_items / nr : 1;
	bench->pictures = calloc(nr ? nr : 1, sizeof(*bench->pictures));
	if (!bench->pictures)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr && total_bytes < MAX_MEMORY_BYTES; i++) {
		struct bench_picture *p = &bench->pictures[bench->nr_pictures];
		struct file_buffer file = { 0 };
		struct dlboost_result result;
		unsigned int status;

		if (signals_caught())
			return -EINTR;
		/* Spread over the set: neighbours are of one class */
		status = source_load(source, i * step, &file, &result);
		p->bytes = file.bytes;
		p->nr_bytes = file.len_bytes;
		if (status || !is_good(bench, decoder, p, tensor)) {
			bench->nr_left_out++;
			free(p->bytes);
		} else {
			/* Without the room for larger ones */
			p->bytes = realloc(file.bytes, p->nr_bytes) ?:
				   file.bytes;
			total_bytes += p->nr_bytes;
			bench->nr_pictures++;
		}
	}
	return bench->nr_pictures ? 0 : -ENODATA;
}

static int load_pictures(struct bench *bench, char **paths)
{
	struct source_options options = {
		.index_path = bench->opts->index, .allow_empty = true,
		.no_progress = bench->opts->no_progress,
	};
	struct dlboost_decoder *decoder = NULL;
	uint8_t *tensor = malloc(bench->sample_bytes);
	struct source source;
	int ret = source_open(bench->ctx, 1, paths, &options, &source);

	if (ret) {
		free(tensor);
		return ret;
	}
	ret = tensor ? dlboost_decoder_create(NULL, &decoder) : -ENOMEM;
	if (!ret)
		ret = load_all(bench, &source, decoder, tensor);
	dlboost_decoder_destroy(decoder);
	source_close(&source);
	free(tensor);
	if (!ret)
		return TOOL_DONE;
	if (ret == -ENODATA)
		msg_error("%s: none of the pictures tried can be decoded",
			  paths[0]);
	else if (ret != -EINTR)
		msg_error("%s: %s", paths[0], strerror(-ret));
	return exit_from_error(ret);
}

static void plan_cases(struct bench *bench)
{
	unsigned int nr_threads = (unsigned int)bench->opts->jobs.value ?:
				  cpus_allowed();

	for (unsigned int profile = 0; profile < 2; profile++) {
		struct bench_case *c = &bench->cases[bench->nr_cases++];

		c->profile = profile;
		c->nr_threads = 1;
		if (nr_threads == 1)
			continue;
		c = &bench->cases[bench->nr_cases++];
		c->profile = profile;
		c->nr_threads = nr_threads;
	}
}

static uint64_t total_bytes(const struct bench *bench)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < bench->nr_pictures; i++)
		sum += bench->pictures[i].nr_bytes;
	return sum;
}

static void print_json(const struct bench *bench, const char *path,
		       const struct dlboost_engine_info *engine)
{
	struct json_object *doc = json_document("dlboost-bench");
	struct json_object *list = json_object_new_array();

	json_add_text(doc, "path", path);
	json_add_bool(doc, "is_synthetic", bench->is_synthetic);
	json_add_u64(doc, "nr_pictures", bench->nr_pictures);
	json_add_u64(doc, "nr_left_out", bench->nr_left_out);
	json_add_u64(doc, "encoded_bytes", total_bytes(bench));
	json_add_text(doc, "recipe", dlboost_recipe_canonical(bench->recipe));
	json_add_text(doc, "simd", engine->simd);
	json_add_text(doc, "decoder", engine->decoder);
	for (unsigned int i = 0; i < bench->nr_cases; i++) {
		const struct bench_case *c = &bench->cases[i];
		struct json_object *row = json_object_new_object();

		json_add_text(row, "profile", c->profile ? "fast" : "exact");
		json_add_u64(row, "nr_threads", c->nr_threads);
		json_add_real(row, "img_per_s", median(c->rates), 1);
		json_add_real(row, "img_per_cpu_s", median(c->cpu_rates), 1);
		json_add_real(row, "ratio_to_first",
			      median(c->rates) / median(bench->cases[0].rates),
			      3);
		json_object_array_add(list, row);
	}
	json_add(doc, "rows", list);
	json_print(bench->ctx, doc);
}

static void print_text(const struct bench *bench,
		       const struct dlboost_engine_info *engine)
{
	char a[FIGURE_BYTES], b[FIGURE_BYTES];

	printf("%s %spictures in memory, %s a picture; %s, SIMD %s\n",
	       figure_count(a, bench->nr_pictures),
	       bench->is_synthetic ? "synthetic " : "",
	       figure_bytes(b, total_bytes(bench) / bench->nr_pictures),
	       engine->decoder ? engine->decoder : "?",
	       engine->simd ? engine->simd : "?");
	if (bench->nr_left_out)
		printf("%u pictures left out: they cannot be decoded\n",
		       bench->nr_left_out);
	printf("%-8s %8s %14s %18s %8s\n", "profile", "threads", "pictures/s",
	       "pictures/CPU-s", "ratio");
	for (unsigned int i = 0; i < bench->nr_cases; i++) {
		const struct bench_case *c = &bench->cases[i];

		printf("%-8s %8u %14.1f %18.1f %8.2f\n",
		       c->profile ? "fast" : "exact", c->nr_threads,
		       median(c->rates), median(c->cpu_rates),
		       median(c->rates) / median(bench->cases[0].rates));
	}
	if (bench->is_synthetic)
		printf("Synthetic pictures: name a folder of yours for figures "
		       "that matter.\n");
}

static int bench_all(struct bench *bench, unsigned int nr_args, char **args)
{
	struct dlboost_engine_info engine = { .name = NULL };
	int ret = nr_args ? load_pictures(bench, args) : make_pictures(bench);

	if (ret)
		return ret;
	plan_cases(bench);
	ret = run_rounds(bench);
	if (ret)
		return ret;
	dlboost_engine_list(0, &engine);
	if (bench->ctx->has_json)
		print_json(bench, nr_args ? args[0] : NULL, &engine);
	else
		print_text(bench, &engine);
	return TOOL_DONE;
}

static int run_bench(const struct context *ctx, void *opts_arg,
		     unsigned int nr_args, char **args)
{
	const struct bench_opts *opts = opts_arg;
	struct bench bench = { .ctx = ctx, .opts = opts };
	struct dlboost_tensor_spec spec;
	int ret = recipe_open(ctx, opts->recipe ? opts->recipe :
			      "imagenet-train", &bench.recipe);

	if (ret)
		return ret;
	dlboost_recipe_tensor(bench.recipe, &spec);
	bench.sample_bytes = spec.sample_bytes;
	if (spec.sample_bytes)
		ret = bench_all(&bench, nr_args, args);
	else
		ret = usage_error(ctx, "--recipe: a recipe with a size is "
				  "needed, e.g. imagenet-train");
	for (unsigned int i = 0; i < bench.nr_pictures; i++)
		free(bench.pictures[i].bytes);
	free(bench.pictures);
	dlboost_recipe_destroy(bench.recipe);
	return ret;
}

static const struct option_row rows[] = {
	{ .name = "recipe", .type = OPTION_TEXT,
	  .metavar = SPEC_METAVAR, .complete = COMPLETE_RECIPE,
	  .offset = offsetof(struct bench_opts, recipe),
	  .help = "what is done to a picture (default imagenet-train)" },
	{ .name = "pictures", .type = OPTION_NUMBER, .metavar = "N",
	  .min = 1, .max = 100000, .preset = 256,
	  .offset = offsetof(struct bench_opts, pictures),
	  .help = "pictures to load, spread over the set" },
	{ .name = "seconds", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = 3600, .preset = 3,
	  .offset = offsetof(struct bench_opts, seconds),
	  .help = "time for each case" },
	{ .name = "jobs", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = 1024, .has_no_preset = true,
	  .offset = offsetof(struct bench_opts, jobs),
	  .help = "threads beside one (default: one a CPU)" },
	{ .name = "index", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE,
	  .offset = offsetof(struct bench_opts, index),
	  .help = "index file of the data set" },
	{ .name = "no-progress", .type = OPTION_FLAG,
	  .offset = offsetof(struct bench_opts, no_progress),
	  .help = "draw no progress line" },
	{ .name = NULL },
};

const struct command cmd_bench = {
	.name = "bench",
	.arguments = "[PATH]",
	.summary = "Measure decoding rates on this machine",
	.details = "Decodes pictures that lie in memory: exact and fast, one\n"
		   "thread and all CPUs.  Without PATH: synthetic pictures.",
	.options = rows,
	.opts_bytes = sizeof(struct bench_opts),
	.max_arguments = 1,
	.complete = COMPLETE_FILE,
	.run = run_bench,
};
