// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * An epoch that goes on over bad files and names each of them.
 * usage: bad_samples FOLDER
 */
#include <stdio.h>

#include <dlboost/dlboost.h>

static void report(const struct dlboost_dataset *dataset,
		   const struct dlboost_batch *batch)
{
	struct dlboost_batch_info info;
	struct dlboost_sample sample;
	struct dlboost_result why;
	char path[4096 + 256];
	uint32_t i;

	dlboost_batch_info(batch, &info);
	for (i = 0; info.nr_bad && i < info.count; i++) {
		if (info.status[i] == DLBOOST_STATUS_OK ||
		    dlboost_batch_sample_error(batch, i, &why) ||
		    dlboost_dataset_sample(dataset,
					   (uint64_t)info.wanted_ids[i], path,
					   sizeof(path), &sample))
			continue;
		printf("%s: %s: %s\n", sample.path,
		       dlboost_status_name(why.status), why.message);
	}
}

int main(int argc, char **argv)
{
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;
	struct dlboost_dataset *dataset = NULL;
	struct dlboost_stream *stream = NULL;
	char error[DLBOOST_ERROR_BYTES] = "usage: bad_samples FOLDER";
	struct dlboost_batch *batch = NULL;
	int ret = 1;

	attr.recipe = "imagenet-eval";
	attr.batch = 16;
	attr.on_error = DLBOOST_ON_ERROR_ZERO;
	attr.max_bad = 1.0;
	if (argc != 2 ||
	    dlboost_dataset_open(argv[1], NULL, error, sizeof(error),
				 &dataset) ||
	    dlboost_stream_create(dataset, &attr, error, sizeof(error),
				  &stream)) {
		fprintf(stderr, "%s\n", error);
		goto out;
	}
	while (!(ret = dlboost_stream_next(stream, -1, &batch)) && batch) {
		report(dataset, batch);
		dlboost_batch_release(batch);
	}
	if (ret)
		fprintf(stderr, "%s\n", dlboost_stream_error(stream));
out:
	dlboost_stream_destroy(stream);
	dlboost_dataset_close(dataset);
	return ret ? 1 : 0;
}
