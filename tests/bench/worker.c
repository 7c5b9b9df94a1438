// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driving protocol of the C contestants, and the set in memory.  CPU time
 * is that of the whole process, threads included.
 */
#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "bench: out of memory\n");
		exit(1);
	}
	return p;
}

static uint8_t *read_file(const char *path, size_t *len_bytes)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) {
		perror(path);
		exit(1);
	}
	rewind(f);
	bytes = must(malloc((size_t)size + 1));
	if (fread(bytes, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	*len_bytes = (size_t)size;
	return bytes;
}

void bench_set_load(struct bench_set *set, const char *list_path)
{
	FILE *f = fopen(list_path, "r");
	char line[4096];
	size_t room = 0;

	if (!f) {
		perror(list_path);
		exit(1);
	}
	memset(set, 0, sizeof(*set));
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (set->nr == room) {
			room = room ? 2 * room : 256;
			set->paths = must(realloc(set->paths,
						  room * sizeof(*set->paths)));
			set->bytes = must(realloc(set->bytes,
						  room * sizeof(*set->bytes)));
			set->len_bytes = must(realloc(set->len_bytes,
						      room * sizeof(size_t)));
		}
		set->paths[set->nr] = must(strdup(line));
		set->bytes[set->nr] = read_file(line, &set->len_bytes[set->nr]);
		set->nr++;
	}
	fclose(f);
}

void bench_set_free(struct bench_set *set)
{
	for (size_t i = 0; i < set->nr; i++) {
		free(set->paths[i]);
		free(set->bytes[i]);
	}
	free(set->paths);
	free(set->bytes);
	free(set->len_bytes);
}

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

int bench_serve(const char *about, uint64_t (*pass)(void *arg), void *arg)
{
	char line[64];

	printf("ready %s\n", about);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		double wall = seconds(CLOCK_MONOTONIC);
		double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
		uint64_t images = pass(arg);

		printf("{\"images\": %" PRIu64 ", \"cpu_s\": %.6f, \"wall_s\": %.6f}\n",
		       images, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
		       seconds(CLOCK_MONOTONIC) - wall);
		fflush(stdout);
	}
	return 0;
}
