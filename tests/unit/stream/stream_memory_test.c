// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/streams.rst, "Memory": anonymous memory stays within
 * the declared cap and a constant for a data set of any size, it comes back when
 * the stream ends, and a picture in steady state costs neither an allocation nor
 * a page fault.
 */
#include "stream_util.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_engine.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

#define NR_FILES 40
/* Stacks of threads, the loader's and the C library's own growth */
#define CONSTANT_BYTES (4u << 20)

static struct folder folder;

#if !HAS_SANITIZER
/* Every allocation of this process, libraries included, passes here */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t nr, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);

static atomic_ullong nr_allocations;

void *malloc(size_t bytes)
{
	atomic_fetch_add(&nr_allocations, 1);
	return __libc_malloc(bytes);
}

void *calloc(size_t nr, size_t bytes)
{
	atomic_fetch_add(&nr_allocations, 1);
	return __libc_calloc(nr, bytes);
}

void *realloc(void *p, size_t bytes)
{
	atomic_fetch_add(&nr_allocations, 1);
	return __libc_realloc(p, bytes);
}
#else
static atomic_ullong nr_allocations;
#endif

static int setup(void **state)
{
	(void)state;
	fake_engine_register();
	folder_make(&folder, 1, NR_FILES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

/* RssAnon + RssShmem + HugetlbPages now, bytes */
static uint64_t memory_now(void)
{
	char line[256];
	uint64_t sum = 0, kib;
	FILE *f = fopen("/proc/self/status", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %" SCNu64, &kib) == 1 ||
		    sscanf(line, "RssShmem: %" SCNu64, &kib) == 1 ||
		    sscanf(line, "HugetlbPages: %" SCNu64, &kib) == 1)
			sum += kib * 1024;
	fclose(f);
	return sum;
}

static struct dlboost_dataset *make_manifest(unsigned int nr)
{
	struct dlboost_dataset *dataset;
	char path[192], sample[192];
	FILE *f;

	snprintf(path, sizeof(path), "%s/list-%u.tsv", folder.path, nr);
	f = fopen(path, "w");
	assert_non_null(f);
	for (unsigned int i = 0; i < nr; i++) {
		folder_sample_path(&folder, i % NR_FILES, sample);
		fprintf(f, "%s\t%u\n", sample, i % 10);
	}
	fclose(f);
	dataset = dataset_open(path);
	return dataset;
}

static struct dlboost_stream *open_manifest(struct dlboost_dataset *dataset,
					    const char *recipe)
{
	static const char *const engine = "fake:workers=2,input=1m";
	struct dlboost_stream_attr attr = stream_attr(&engine);
	char error[DLBOOST_ERROR_BYTES] = "";
	struct dlboost_stream *stream;

	attr.recipe = recipe;
	attr.batch = 64;
	if (dlboost_stream_create(dataset, &attr, error, sizeof(error),
				  &stream))
		fail_msg("%s", error);
	return stream;
}

static void take_batches(struct dlboost_stream *stream, unsigned int nr,
			 uint64_t *peak)
{
	struct dlboost_batch *batch;

	for (unsigned int k = 0; k < nr; k++) {
		uint64_t now;

		assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
		if (!batch)
			return;
		now = peak && k % 16 == 0 ? memory_now() : 0;
		if (peak && now > *peak)
			*peak = now;
		dlboost_batch_release(batch);
	}
}

static void memory_stays_within(unsigned int nr_samples)
{
	struct dlboost_dataset *dataset = make_manifest(nr_samples);
	uint64_t before = memory_now(), peak = before, after;
	struct dlboost_stream_info info;
	struct dlboost_stream *stream;

	stream = open_manifest(dataset, "imagenet-train:size=64");
	dlboost_stream_info(stream, &info);
	take_batches(stream, 300, &peak);
	dlboost_stream_destroy(stream);
	after = memory_now();
	dlboost_dataset_close(dataset);
	print_message("# %u samples: cap %" PRIu64 ", used %" PRIu64
		      ", left %" PRId64 " bytes\n", nr_samples, info.cap_bytes,
		      peak - before, (int64_t)(after - before));
	assert_true(peak - before <= info.cap_bytes + CONSTANT_BYTES);
	assert_true(after <= before + CONSTANT_BYTES);
}

static void the_cap_holds_for_any_size(void **state)
{
	(void)state;
	memory_stays_within(100);
	memory_stays_within(100000);
}

static void nothing_is_allocated_in_steady_state(void **state)
{
	struct dlboost_dataset *dataset;
	struct dlboost_stream *stream;
	struct rusage before, after;
	uint64_t allocations;
	long faults;

	(void)state;
	dataset = make_manifest(20000);
	stream = open_manifest(dataset, FAKE_RECIPE);
	take_batches(stream, 50, NULL);
	getrusage(RUSAGE_SELF, &before);
	allocations = nr_allocations;
	take_batches(stream, 200, NULL);
	allocations = nr_allocations - allocations;
	getrusage(RUSAGE_SELF, &after);
	faults = after.ru_minflt - before.ru_minflt;
	print_message("# 12800 pictures: %" PRIu64
		      " allocations, %ld page faults\n", allocations, faults);
	assert_int_equal(allocations, 0);
	/* None a picture; the kernel may take a page away now and then */
	assert_true(faults < 20);
	dlboost_stream_destroy(stream);
	dlboost_dataset_close(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cap_holds_for_any_size),
		cmocka_unit_test(nothing_is_allocated_in_steady_state),
	};

	if (HAS_SANITIZER) {
		puts("1..0 # SKIP a sanitizer has malloc and memory of its own");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
