// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Opens a manifest of 1.3 million samples: prints how long the first and a
 * later opening take, and fails when an open data set holds memory that grows
 * with its samples.  Time is the machine's affair, memory is a promise
 * (Documentation/datasets.rst, "Cost").
 */
#include "stream/dataset.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#define IS_SANITIZED \
	(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED 0
#endif

#define NR_SAMPLES 1300000u
#define NR_CLASSES 1000u
/* Beyond what dlb_dataset_memory_bytes() declares: the allocator's slack */
#define SLACK_BYTES (1 << 20)

static long rss_anon_bytes(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (status)
		fclose(status);
	return kib * 1024;
}

static int manifest_write(const char *path)
{
	FILE *file = fopen(path, "w");

	for (unsigned int i = 0; file && i < NR_SAMPLES; i++) {
		unsigned int label = i * 2654435761u % NR_CLASSES;

		fprintf(file, "train/n%08u/n%08u_%u.JPEG\t%u\n", label * 7919,
			label * 7919, i, label);
	}
	return !file || fclose(file);
}

static struct dlboost_dataset *open_timed(const char *path, const char *index,
					  bool want_rebuilt)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	struct dlboost_dataset_info info;
	char error[DLBOOST_ERROR_BYTES];
	uint64_t start = dlb_now_ns();

	attr.index_path = index;
	if (dlboost_dataset_open(path, &attr, error, sizeof(error),
				 &dataset)) {
		printf("not ok - %s\n", error);
		return NULL;
	}
	dlboost_dataset_info(dataset, &info);
	printf("# opened in %.1f ms, index %s, %.1f MB\n",
	       (double)(dlb_now_ns() - start) / 1e6,
	       info.index_rebuilt ? "made" : "used",
	       (double)info.index_bytes / 1e6);
	if (info.nr_samples != NR_SAMPLES || info.nr_classes != NR_CLASSES ||
	    info.index_rebuilt != want_rebuilt) {
		printf("not ok - wrong number of samples, or index not used\n");
		dlboost_dataset_close(dataset);
		return NULL;
	}
	return dataset;
}

static int run(const char *manifest, const char *index)
{
	struct timespec old[2] = { { .tv_sec = 1000000000 },
				   { .tv_sec = 1000000000 } };
	struct dlboost_dataset *first, *second;
	long before, grown;
	size_t declared;

	if (manifest_write(manifest) ||
	    utimensat(AT_FDCWD, manifest, old, 0)) {
		printf("not ok - no room for the manifest\n");
		return 1;
	}
	before = rss_anon_bytes();
	first = open_timed(manifest, index, true);
	second = first ? open_timed(manifest, index, false) : NULL;
	if (!second) {
		dlboost_dataset_close(first);
		return 1;
	}
	grown = rss_anon_bytes() - before;
	declared = dlb_dataset_memory_bytes(first) +
		   dlb_dataset_memory_bytes(second);
	printf("# two open: RssAnon grew by %ld bytes, %zu declared\n", grown,
	       declared);
	if (IS_SANITIZED)
		printf("ok - # SKIP a sanitizer keeps freed memory\n");
	else
		printf("%s - memory of an open data set does not grow with it\n",
		       grown <= (long)declared + SLACK_BYTES &&
		       declared < 2 * 64 * NR_CLASSES ? "ok" : "not ok");
	dlboost_dataset_close(first);
	dlboost_dataset_close(second);
	return 0;
}

int main(void)
{
	const char *base = getenv("TMPDIR");
	char folder[256], manifest[300], index[300];
	int ret;

	snprintf(folder, sizeof(folder), "%s/dlboost-open-XXXXXX",
		 base ? base : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	snprintf(manifest, sizeof(manifest), "%s/train.tsv", folder);
	snprintf(index, sizeof(index), "%s/train.index", folder);
	printf("1..1\n");
	ret = run(manifest, index);
	unlink(index);
	unlink(manifest);
	rmdir(folder);
	return ret;
}
