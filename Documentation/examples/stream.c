// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Two epochs of training batches from a folder of pictures.
 * usage: stream FOLDER
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <dlboost/dlboost.h>

/* Stands for the training step: adds up what it gets */
static void train(const struct dlboost_batch_info *info, double *sum)
{
	const float *value = info->images;
	size_t nr = info->images_bytes / sizeof(*value);

	while (nr--)
		*sum += *value++;
}

/* 0 at the end of the epoch, else the error number of the stream */
static int run_epoch(struct dlboost_stream *stream, uint32_t epoch)
{
	struct dlboost_batch_info info;
	struct dlboost_batch *batch;
	uint64_t samples = 0;
	double sum = 0.0;
	int ret;

	ret = dlboost_stream_set_epoch(stream, epoch);
	if (ret)
		return ret;
	for (;;) {
		ret = dlboost_stream_next(stream, -1, &batch);
		if (ret == -EBADMSG) {
			/* A bad file: this batch is lost, the stream goes on */
			fprintf(stderr, "%s\n", dlboost_stream_error(stream));
			continue;
		}
		if (ret || !batch)
			break;
		dlboost_batch_info(batch, &info);
		train(&info, &sum);
		samples += info.count;
		dlboost_batch_release(batch);
	}
	if (!ret)
		printf("epoch %u: %" PRIu64 " samples, sum %.3f\n", epoch,
		       samples, sum);
	return ret;
}

int main(int argc, char **argv)
{
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;
	struct dlboost_dataset *dataset = NULL;
	struct dlboost_stream *stream = NULL;
	char error[DLBOOST_ERROR_BYTES] = "usage: stream FOLDER";
	uint32_t epoch;
	int ret = -EINVAL;

	attr.recipe = "imagenet-train:size=96";
	attr.batch = 32;
	attr.seed = 1;
	if (argc == 2)
		ret = dlboost_dataset_open(argv[1], NULL, error, sizeof(error),
					   &dataset);
	if (!ret)
		ret = dlboost_stream_create(dataset, &attr, error,
					    sizeof(error), &stream);
	if (ret) {
		fprintf(stderr, "%s\n", error);
		dlboost_dataset_close(dataset);
		return 1;
	}
	for (epoch = 0; epoch < 2 && !ret; epoch++)
		ret = run_epoch(stream, epoch);
	if (ret)
		fprintf(stderr, "%s\n", dlboost_stream_error(stream));
	dlboost_stream_destroy(stream);
	dlboost_dataset_close(dataset);
	return ret ? 1 : 0;
}
