// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost itself in the benchmark: a pass is some epochs of a stream over the
 * folder, files read from the page cache, batches taken and released.  At the
 * end of an epoch no work is under way, so a pass's CPU time is its own.
 *
 * usage: stream_worker FOLDER RECIPE exact|fast ENGINE BATCH
 */
#include "worker.h"

#include <dlboost/dlboost.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One takes a fifth of a second on two cores: too short for a clock */
#define EPOCHS_A_PASS 4

struct epochs {
	struct dlboost_stream *stream;
	uint32_t epoch;
};

static uint64_t epoch_run(struct epochs *e)
{
	struct dlboost_batch *batch;
	uint64_t images = 0;

	if (dlboost_stream_set_epoch(e->stream, e->epoch++))
		exit(1);
	for (;;) {
		struct dlboost_batch_info info;
		int ret = dlboost_stream_next(e->stream, -1, &batch);

		if (ret) {
			fprintf(stderr, "bench: %s\n",
				dlboost_stream_error(e->stream));
			exit(1);
		}
		if (!batch)
			return images;
		dlboost_batch_info(batch, &info);
		images += info.count;
		dlboost_batch_release(batch);
	}
}

static uint64_t stream_pass(void *arg)
{
	uint64_t images = 0;

	for (int i = 0; i < EPOCHS_A_PASS; i++)
		images += epoch_run(arg);
	return images;
}

static void die(const char *error)
{
	fprintf(stderr, "bench: %s\n", error);
	exit(1);
}

int main(int argc, char **argv)
{
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;
	char error[DLBOOST_ERROR_BYTES], about[512];
	struct dlboost_engine_info engine;
	struct dlboost_dataset *dataset;
	struct epochs epochs = { 0 };
	int ret;

	if (argc != 6) {
		fprintf(stderr,
			"usage: %s FOLDER RECIPE exact|fast ENGINE BATCH\n",
			argv[0]);
		return 2;
	}
	if (dlboost_dataset_open(argv[1], NULL, error, sizeof(error), &dataset))
		die(error);
	attr.recipe = argv[2];
	attr.profile = strcmp(argv[3], "fast") ? DLBOOST_PROFILE_EXACT :
						 DLBOOST_PROFILE_FAST;
	attr.engines = (const char *const *)&argv[4];
	attr.nr_engines = 1;
	attr.batch = (uint32_t)strtoul(argv[5], NULL, 10);
	if (dlboost_stream_create(dataset, &attr, error, sizeof(error),
				  &epochs.stream))
		die(error);
	dlboost_dataset_close(dataset);
	dlboost_engine_list(0, &engine);
	snprintf(about, sizeof(about),
		 "{\"version\": \"dlboost %s on %s\", \"simd\": \"%s\"}",
		 dlboost_version(), engine.decoder, engine.simd);
	ret = bench_serve(about, stream_pass, &epochs);
	dlboost_stream_destroy(epochs.stream);
	return ret;
}
