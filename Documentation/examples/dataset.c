// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What is in a data set: classes, samples, and where the first ones stand.
 * usage: dataset FOLDER|MANIFEST
 */
#include <inttypes.h>
#include <stdio.h>

#include <dlboost/dlboost.h>

int main(int argc, char **argv)
{
	struct dlboost_dataset_info info;
	struct dlboost_dataset *dataset;
	char error[DLBOOST_ERROR_BYTES];
	struct dlboost_sample sample;
	const char *class_name;
	char path[4096 + 256];
	uint64_t id;

	if (argc != 2)
		return 2;
	if (dlboost_dataset_open(argv[1], NULL, error, sizeof(error),
				 &dataset)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	dlboost_dataset_info(dataset, &info);
	printf("%" PRIu64 " samples, %u classes, fingerprint %s\n",
	       info.nr_samples, info.nr_classes, info.fingerprint);
	for (id = 0; id < info.nr_samples && id < 10; id++) {
		if (dlboost_dataset_sample(dataset, id, path, sizeof(path),
					   &sample))
			break;
		class_name = sample.label < 0 ? NULL :
			dlboost_dataset_class_name(dataset,
						   (uint32_t)sample.label);
		printf("%" PRIu64 ": %s, class %s\n", id, sample.path,
		       class_name ? class_name : "none");
	}
	dlboost_dataset_close(dataset);
	return 0;
}
