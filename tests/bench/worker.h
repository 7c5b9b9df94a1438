/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A contestant of the benchmark is a process that bench.py drives over its
 * standard input and output: it prints "ready JSON" once, then for each line
 * "pass" works through the picture set once and prints one JSON line.  While
 * one contestant works the others wait, so all are measured in one run.
 */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <stddef.h>
#include <stdint.h>

/* The picture set in memory: every file named in a list, one path a line */
struct bench_set {
	size_t nr;
	char **paths;
	uint8_t **bytes;
	size_t *len_bytes;
};

/* Exits with a sentence on stderr when a file cannot be read */
void bench_set_load(struct bench_set *set, const char *list_path);
void bench_set_free(struct bench_set *set);

/*
 * Serve until end of input.  @pass works through the set once and returns the
 * number of pictures; @about is a JSON object that names versions.
 */
int bench_serve(const char *about, uint64_t (*pass)(void *arg), void *arg);

#endif /* BENCH_WORKER_H */
