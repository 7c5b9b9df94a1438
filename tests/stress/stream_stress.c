// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams under random circumstances: worker counts, queue sizes, delays,
 * failures, policies, epochs broken off, states taken and resumed from, batches
 * kept and released by other threads.  Whatever happens, the bytes of an epoch
 * are those of a quiet run with one worker, every sample comes once, and memory
 * and threads go back.
 *
 *	stream_stress [SECONDS [SEED]]
 *
 * Prints the seed of each round; a failing round runs again with that seed.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dlboost/dlboost.h>

#include "fake_engine.h"
#include "tiny_jpeg.h"

#define NR_CLASSES 3
#define PER_CLASS 61
#define N (NR_CLASSES * PER_CLASS)
#define RECIPE "imagenet-train:size=16,dtype=u8"
#define NR_RELEASERS 3
#define QUEUE_ENTRIES 64

static char folder[64];
static uint64_t round_seed;
static struct dlboost_dataset *dataset;

static void __attribute__((format(printf, 1, 2), noreturn))
die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "stream_stress: seed %" PRIu64 ": ", round_seed);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t draw(uint64_t *random, uint64_t below)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random % below;
}

/* Batches on their way to the threads that release them */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct dlboost_batch *batches[QUEUE_ENTRIES];
	unsigned int nr;
	unsigned int nr_busy;
	int is_closed;
} hands = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.moved = PTHREAD_COND_INITIALIZER,
};

static void *release_batches(void *arg)
{
	uint64_t random = (uintptr_t)arg * 77777 + 1;

	pthread_mutex_lock(&hands.lock);
	for (;;) {
		struct dlboost_batch *batch;

		while (!hands.nr && !hands.is_closed)
			pthread_cond_wait(&hands.moved, &hands.lock);
		if (!hands.nr)
			break;
		batch = hands.batches[--hands.nr];
		hands.nr_busy++;
		pthread_mutex_unlock(&hands.lock);
		if (draw(&random, 3) == 0) {
			dlboost_batch_ref(batch);
			dlboost_batch_release(batch);
			dlboost_batch_unref(batch);
		} else {
			dlboost_batch_release(batch);
		}
		pthread_mutex_lock(&hands.lock);
		hands.nr_busy--;
		pthread_cond_broadcast(&hands.moved);
	}
	pthread_mutex_unlock(&hands.lock);
	return NULL;
}

static void hand_over(struct dlboost_batch *batch)
{
	pthread_mutex_lock(&hands.lock);
	hands.batches[hands.nr++] = batch;
	pthread_cond_broadcast(&hands.moved);
	pthread_mutex_unlock(&hands.lock);
}

static void wait_for_a_release(void)
{
	unsigned int before;

	pthread_mutex_lock(&hands.lock);
	before = hands.nr + hands.nr_busy;
	while (before && hands.nr + hands.nr_busy >= before)
		pthread_cond_wait(&hands.moved, &hands.lock);
	pthread_mutex_unlock(&hands.lock);
}

static void wait_until_all_are_released(void)
{
	pthread_mutex_lock(&hands.lock);
	while (hands.nr + hands.nr_busy)
		pthread_cond_wait(&hands.moved, &hands.lock);
	pthread_mutex_unlock(&hands.lock);
}

/* One failure in 16 first tries; a function of the sample, for all engines */
static unsigned int fail_by_content(const struct dlb_job *job,
				    struct dlboost_result *result)
{
	uint64_t hash = fake_pattern(job->src, job->src_bytes, &job->geometry);

	if (hash % 16)
		return DLBOOST_STATUS_OK;
	snprintf(result->message, sizeof(result->message), "stress");
	return DLBOOST_STATUS_CORRUPT;
}

static void make_folder(void)
{
	char path[128];

	snprintf(folder, sizeof(folder), "/tmp/dlb-stress-XXXXXX");
	if (!mkdtemp(folder))
		die("mkdtemp: %s", strerror(errno));
	setenv("XDG_CACHE_HOME", folder, 1);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	for (unsigned int id = 0; id < N; id++) {
		snprintf(path, sizeof(path), "%s/data", folder);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "%s/data/%u", folder,
			 id / PER_CLASS);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "%s/data/%u/%u.jpg", folder,
			 id / PER_CLASS, id);
		if (id % 17 == 5 ? tiny_file_write(path, "<html>", 6) :
				   tiny_jpeg_write(path, id))
			die("%s: %s", path, strerror(errno));
	}
	snprintf(path, sizeof(path), "%s/data", folder);
	if (dlboost_dataset_open(path, NULL, NULL, 0, &dataset))
		die("data set");
}

static struct dlboost_stream *open_stream(const char *engine,
					  struct dlboost_stream_attr *attr)
{
	struct dlboost_stream *stream;
	char error[DLBOOST_ERROR_BYTES] = "";
	const char *engines[2] = { engine, "fake:workers=1" };

	attr->engines = engines;
	if (dlboost_stream_create(dataset, attr, error, sizeof(error), &stream))
		die("%s", error);
	return stream;
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

static uint64_t hash_batch(struct dlboost_batch *batch, uint64_t hash)
{
	struct dlboost_batch_info info;

	dlboost_batch_info(batch, &info);
	hash = mix(hash, info.images, info.images_bytes);
	hash = mix(hash, info.ids, info.count * sizeof(*info.ids));
	hash = mix(hash, info.status, info.count);
	return mix(hash, info.flags, info.count);
}

/*
 * To the end of the epoch or for @max batches; a refused batch is hashed by its
 * error.  False at the end of the epoch.
 */
static int take(struct dlboost_stream *stream, uint64_t *random,
		uint64_t max, uint64_t *hash)
{
	while (max--) {
		struct dlboost_batch *batch = NULL;
		int timeout_ms = draw(random, 4) ? -1 : (int)draw(random, 3);
		int ret = dlboost_stream_next(stream, timeout_ms, &batch);

		if (ret == -ETIMEDOUT || ret == -EINTR) {
			max++;
			continue;
		}
		if (ret == -ENOBUFS) {
			wait_for_a_release();
			max++;
			continue;
		}
		if (ret == -EBADMSG) {
			*hash = mix(*hash, "refused", 7);
			continue;
		}
		if (ret)
			die("next: %d: %s", ret, dlboost_stream_error(stream));
		if (!batch)
			return 0;
		*hash = hash_batch(batch, *hash);
		if (draw(random, 8) == 0)
			dlboost_stream_interrupt(stream);
		hand_over(batch);
	}
	return 1;
}

static struct dlboost_stream_attr draw_attr(uint64_t *random)
{
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;

	attr.recipe = RECIPE;
	attr.batch = (uint32_t)(1 + draw(random, 40));
	attr.seed = draw(random, 1000);
	attr.on_error = (uint32_t)draw(random, 3);
	attr.tail = (uint32_t)draw(random, 3);
	attr.world = (uint32_t)(1 + draw(random, 3));
	attr.rank = (uint32_t)draw(random, attr.world);
	attr.max_bad = 1;
	attr.nr_engines = 1;
	attr.no_stats_page = 1;
	return attr;
}

static uint64_t quiet_hash(struct dlboost_stream_attr attr)
{
	uint64_t hash = 1, random = 1;
	struct dlboost_stream *stream = open_stream("fake:workers=1", &attr);

	take(stream, &random, UINT64_MAX, &hash);
	wait_until_all_are_released();
	dlboost_stream_destroy(stream);
	return hash;
}

static void draw_engine(uint64_t *random, char spec[64])
{
	snprintf(spec, 64, "fake:workers=%u,queue=%u,jitter=%u,spin=%u",
		 (unsigned int)(1 + draw(random, 9)),
		 (unsigned int)(8 + draw(random, 100)),
		 (unsigned int)draw(random, 200),
		 (unsigned int)draw(random, 20));
}

/* The same epoch, disturbed in every way that must not show */
static uint64_t disturbed_hash(struct dlboost_stream_attr attr,
			       uint64_t *random)
{
	struct dlboost_stream *stream;
	uint64_t hash = 1, unused = 0;
	char state[4096], spec[64];
	const char *document = state;

	draw_engine(random, spec);
	attr.nr_engines = (uint32_t)(1 + draw(random, 2));
	attr.hold = (uint32_t)(1 + draw(random, 5));
	attr.no_stats_page = (uint32_t)draw(random, 2);
	stream = open_stream(spec, &attr);
	if (draw(random, 2)) {
		take(stream, random, draw(random, 6), &unused);
		if (dlboost_stream_set_epoch(stream, 9))
			die("set_epoch");
		take(stream, random, draw(random, 3), &unused);
		if (dlboost_stream_set_epoch(stream, 0))
			die("set_epoch");
	}
	while (take(stream, random, draw(random, 8), &hash)) {
		if (draw(random, 3))
			continue;
		wait_until_all_are_released();
		if (dlboost_stream_state(stream, NULL, state, sizeof(state),
					 NULL))
			die("state");
		dlboost_stream_destroy(stream);
		draw_engine(random, spec);
		attr.states = &document;
		attr.nr_states = 1;
		stream = open_stream(spec, &attr);
	}
	/* With batches still in other hands */
	dlboost_stream_destroy(stream);
	wait_until_all_are_released();
	return hash;
}

static unsigned int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int nr = 0;

	while (dir && readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static void run_round(void)
{
	uint64_t random = round_seed * 0x9e3779b97f4a7c15u + 1;
	struct dlboost_stream_attr attr = draw_attr(&random);
	uint64_t quiet;

	/* A sample's fate may hang on its draws, if all engines agree on it */
	fake_hook = draw(&random, 2) ? fail_by_content : NULL;
	quiet = quiet_hash(attr);
	for (int i = 0; i < 2; i++)
		if (disturbed_hash(attr, &random) != quiet)
			die("the bytes differ");
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
	pthread_t threads[NR_RELEASERS];
	unsigned int nr_threads, nr_rounds = 0;
	char command[128];

	round_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	fake_engine_register();
	make_folder();
	for (uintptr_t i = 0; i < NR_RELEASERS; i++)
		if (pthread_create(&threads[i], NULL, release_batches,
				   (void *)i))
			die("pthread_create");
	nr_threads = count_threads();
	do {
		run_round();
		if (count_threads() != nr_threads)
			die("threads are left");
		round_seed++;
		nr_rounds++;
	} while (time(NULL) < end && argc <= 2);
	pthread_mutex_lock(&hands.lock);
	hands.is_closed = 1;
	pthread_cond_broadcast(&hands.moved);
	pthread_mutex_unlock(&hands.lock);
	for (int i = 0; i < NR_RELEASERS; i++)
		pthread_join(threads[i], NULL);
	dlboost_dataset_close(dataset);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		die("%s", command);
	printf("%u rounds\n", nr_rounds);
	return 0;
}
