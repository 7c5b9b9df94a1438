// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Stop after one batch, go on in a new stream, lose and repeat nothing.
 * usage: resume FOLDER
 */
#include <inttypes.h>
#include <stdio.h>

#include <dlboost/dlboost.h>

/* Takes at most @max batches; returns the samples in them, or -1 */
static int64_t take(struct dlboost_stream *stream, unsigned int max)
{
	struct dlboost_batch_info info;
	struct dlboost_batch *batch;
	int64_t samples = 0;

	while (max--) {
		if (dlboost_stream_next(stream, -1, &batch)) {
			fprintf(stderr, "%s\n", dlboost_stream_error(stream));
			return -1;
		}
		if (!batch)
			break;
		dlboost_batch_info(batch, &info);
		samples += info.count;
		/* A released batch counts as consumed */
		dlboost_batch_release(batch);
	}
	return samples;
}

int main(int argc, char **argv)
{
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;
	struct dlboost_dataset *dataset = NULL;
	struct dlboost_stream *stream = NULL;
	char error[DLBOOST_ERROR_BYTES] = "usage: resume FOLDER";
	char state[4096];
	const char *states[] = { state };
	int64_t before = -1, after = -1;

	attr.recipe = "imagenet-train:size=64";
	attr.batch = 8;
	if (argc != 2 ||
	    dlboost_dataset_open(argv[1], NULL, error, sizeof(error),
				 &dataset) ||
	    dlboost_stream_create(dataset, &attr, error, sizeof(error),
				  &stream))
		goto out;
	before = take(stream, 1);
	if (dlboost_stream_state(stream, NULL, state, sizeof(state), NULL))
		goto out;
	dlboost_stream_destroy(stream);
	stream = NULL;

	attr.states = states;
	attr.nr_states = 1;
	if (dlboost_stream_create(dataset, &attr, error, sizeof(error),
				  &stream))
		goto out;
	after = take(stream, UINT32_MAX);
	printf("%" PRId64 " samples before, %" PRId64 " after\n", before, after);
out:
	if (before < 0 || after < 0)
		fprintf(stderr, "%s\n", error);
	dlboost_stream_destroy(stream);
	dlboost_dataset_close(dataset);
	return before < 0 || after < 0;
}
