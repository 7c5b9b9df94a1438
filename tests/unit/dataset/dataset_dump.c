// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Prints a data set for a script to compare: one field a NUL-terminated
 * string, so that names may hold any byte but that one.
 *
 *   dataset_dump PATH [INDEX] [allow_empty]
 *
 * Fields: "ok", nr_classes, nr_samples, nr_skipped, total_bytes, index_rebuilt,
 * index_in_memory, fingerprint; name of each class ("" for none); of each
 * sample path, label, offset, length; of each class its size and members.  On
 * failure: "error", the number, the sentence.
 */
#include "stream/dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_number(int64_t n)
{
	printf("%" PRId64 "%c", n, 0);
}

static void put_text(const char *text)
{
	fwrite(text, 1, strlen(text) + 1, stdout);
}

static int put_samples(const struct dlboost_dataset *dataset, uint64_t nr)
{
	char path[4096 + 256];

	for (uint64_t id = 0; id < nr; id++) {
		struct dlboost_sample sample;
		int ret = dlboost_dataset_sample(dataset, id, path,
						 sizeof(path), &sample);
		int32_t label;

		if (ret || dlb_dataset_label(dataset, id, &label) ||
		    label != sample.label)
			return 1;
		put_text(sample.path);
		put_number(sample.label);
		put_number((int64_t)sample.offset_bytes);
		put_number(sample.len_bytes);
	}
	return 0;
}

static int put_members(const struct dlboost_dataset *dataset, uint32_t nr)
{
	for (uint32_t label = 0; label < nr; label++) {
		uint32_t size = dlb_dataset_class_size(dataset, (int32_t)label);

		put_number(size);
		for (uint32_t i = 0; i < size; i++) {
			uint64_t id;

			if (dlb_dataset_class_member(dataset, (int32_t)label, i,
						     &id))
				return 1;
			put_number((int64_t)id);
		}
	}
	return 0;
}

static int put_dataset(const struct dlboost_dataset *dataset)
{
	struct dlboost_dataset_info info;

	dlboost_dataset_info(dataset, &info);
	put_text("ok");
	put_number(info.nr_classes);
	put_number((int64_t)info.nr_samples);
	put_number((int64_t)info.nr_skipped);
	put_number((int64_t)info.total_bytes);
	put_number(info.index_rebuilt);
	put_number(info.index_in_memory);
	put_text(info.fingerprint);
	for (uint32_t i = 0; i < info.nr_classes; i++) {
		const char *name = dlboost_dataset_class_name(dataset, i);

		put_text(name ? name : "");
	}
	return put_samples(dataset, info.nr_samples) ||
	       put_members(dataset, info.nr_classes);
}

int main(int argc, char **argv)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	char error[DLBOOST_ERROR_BYTES];
	int ret;

	if (argc < 2)
		return 2;
	attr.index_path = argc > 2 && *argv[2] ? argv[2] : NULL;
	attr.allow_empty = argc > 3;
	ret = dlboost_dataset_open(argv[1], &attr, error, sizeof(error),
				   &dataset);
	if (ret) {
		put_text("error");
		put_number(ret);
		put_text(error);
		return 0;
	}
	ret = put_dataset(dataset);
	dlboost_dataset_close(dataset);
	return ret;
}
