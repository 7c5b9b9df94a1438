// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the library itself costs a picture: order, submission, queue, completion
 * and hand-out, with a decode that does nothing.  Reading files is measured
 * alone and taken off, in the same run and alternating, since a file's open and
 * read cost more than all the rest.  Documentation/performance.rst.
 *
 *	stream_overhead [--workers N] [--batch N] [--pictures N] [--spin US]
 *			[--check MAX_US]
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dlboost/dlboost.h>

#include "engine/engine.h"
#include "fake_engine.h"
#include "stream/dataset.h"
#include "tiny_jpeg.h"

#define NR_FILES 64
#define NR_ROUNDS 5
#define RECIPE "imagenet-train:size=8,dtype=u8"

struct setup {
	char folder[64];
	unsigned int nr_workers;
	unsigned int nr_pictures;
	unsigned int spin_us;
	uint32_t batch;
	double check_us;
	struct dlboost_dataset *dataset;
	struct dlboost_recipe *recipe;
};

static void die(const char *what)
{
	fprintf(stderr, "stream_overhead: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double wall_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void make_dataset(struct setup *s)
{
	char path[128];
	FILE *list;

	snprintf(s->folder, sizeof(s->folder), "/tmp/dlb-overhead-XXXXXX");
	if (!mkdtemp(s->folder))
		die("mkdtemp");
	setenv("XDG_CACHE_HOME", s->folder, 1);
	for (unsigned int i = 0; i < NR_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%u.jpg", s->folder, i);
		if (tiny_jpeg_write(path, i))
			die(path);
	}
	snprintf(path, sizeof(path), "%s/list", s->folder);
	list = fopen(path, "w");
	if (!list)
		die(path);
	for (unsigned int i = 0; i < s->nr_pictures; i++)
		fprintf(list, "%s/%u.jpg\t%u\n", s->folder, i % NR_FILES,
			i % 10);
	fclose(list);
	errno = -dlboost_dataset_open(path, NULL, NULL, 0, &s->dataset);
	if (errno)
		die("data set");
}

static void *grow(void *arg, size_t bytes)
{
	return bytes <= 65536 ? arg : NULL;
}

/* The part of a picture that is not the library's: label, bytes, header, draw */
static double read_us(const struct setup *s)
{
	static char buf[65536];
	double from = cpu_us();

	for (unsigned int i = 0; i < s->nr_pictures; i++) {
		struct dlboost_result result;
		struct dlb_job job = { .recipe = s->recipe };
		int32_t label;

		dlb_dataset_label(s->dataset, i, &label);
		if (dlb_dataset_load(s->dataset, i, grow, buf, &job.src,
				     &job.src_bytes, &result) ||
		    dlboost_probe(job.src, job.src_bytes, NULL, &job.info,
				  &result) ||
		    dlb_job_draw(&job, 1, 0, i, &result))
			die("read");
	}
	return (cpu_us() - from) / s->nr_pictures;
}

static double stream_us(const struct setup *s, double *wall)
{
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;
	struct dlboost_batch *batch;
	struct dlboost_stream *stream;
	char spec[64], error[256];
	const char *engine = spec;
	unsigned int nr = 0;
	double from, wall_from;

	snprintf(spec, sizeof(spec), "fake:workers=%u,spin=%u", s->nr_workers,
		 s->spin_us);
	attr.recipe = RECIPE;
	attr.batch = s->batch;
	attr.engines = &engine;
	attr.nr_engines = 1;
	attr.no_stats_page = 1;
	if (dlboost_stream_create(s->dataset, &attr, error, sizeof(error),
				  &stream))
		die(error);
	from = cpu_us();
	wall_from = wall_us();
	while (!dlboost_stream_next(stream, -1, &batch) && batch) {
		struct dlboost_batch_info info;

		dlboost_batch_info(batch, &info);
		nr += info.count;
		dlboost_batch_release(batch);
	}
	*wall = (wall_us() - wall_from) / nr;
	from = (cpu_us() - from) / nr;
	dlboost_stream_destroy(stream);
	if (nr != s->nr_pictures)
		die("pictures are missing");
	return from;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, NR_ROUNDS, sizeof(*values), compare);
	return values[NR_ROUNDS / 2];
}

static void parse(struct setup *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "batch", required_argument, NULL, 'b' },
		{ "pictures", required_argument, NULL, 'n' },
		{ "spin", required_argument, NULL, 's' },
		{ "check", required_argument, NULL, 'c' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'w')
			s->nr_workers = (unsigned int)atoi(optarg);
		else if (c == 'b')
			s->batch = (uint32_t)atoi(optarg);
		else if (c == 'n')
			s->nr_pictures = (unsigned int)atoi(optarg);
		else if (c == 's')
			s->spin_us = (unsigned int)atoi(optarg);
		else if (c == 'c')
			s->check_us = atof(optarg);
		else
			exit(2);
	}
}

static void remove_dataset(const struct setup *s)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", s->folder);
	if (system(command))
		die(command);
}

int main(int argc, char **argv)
{
	struct setup s = { .nr_workers = 1, .batch = 256, .nr_pictures = 20000 };
	double whole[NR_ROUNDS], reading[NR_ROUNDS], wall[NR_ROUNDS], own;

	parse(&s, argc, argv);
	fake_engine_register();
	fake_is_null = true;
	errno = -dlboost_recipe_parse(RECIPE, NULL, 0, &s.recipe);
	if (errno)
		die("recipe");
	make_dataset(&s);
	for (int i = 0; i < NR_ROUNDS; i++) {
		reading[i] = read_us(&s);
		whole[i] = stream_us(&s, &wall[i]);
	}
	own = median(whole) - median(reading);
	printf("{\"workers\": %u, \"batch\": %u, \"pictures\": %u, \"stream_cpu_us\": %.3f, \"read_cpu_us\": %.3f, \"library_cpu_us\": %.3f, \"wall_us\": %.3f}\n",
	       s.nr_workers, s.batch, s.nr_pictures, median(whole),
	       median(reading), own, median(wall));
	dlboost_dataset_close(s.dataset);
	dlboost_recipe_destroy(s.recipe);
	remove_dataset(&s);
	return s.check_us > 0 && own > s.check_us;
}
