/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same work for many items on several threads, results to the main thread
 * one by one in the order in which they are ready.
 */
#ifndef DLBOOST_TOOL_PARALLEL_H
#define DLBOOST_TOOL_PARALLEL_H

#include "tool.h"

/**
 * struct parallel - What to do
 * @nr_items: items, numbered from 0
 * @nr_threads: threads
 * @result_bytes: size of one result
 * @worker_create: state of one worker, or NULL without memory; main thread
 * @worker_destroy: drops it; main thread
 * @work: item @idx -> @result (zeroed); a worker's thread
 * @consume: takes a result; a return other than 0 ends everything; main thread
 * @tick: called ten times a second or more; main thread
 * @arg: first argument of all but @work and @worker_destroy
 */
struct parallel {
	uint64_t nr_items;
	unsigned int nr_threads;
	size_t result_bytes;
	void *(*worker_create)(void *arg);
	void (*worker_destroy)(void *worker);
	void (*work)(void *worker, uint64_t idx, void *result);
	int (*consume)(void *arg, const void *result);
	void (*tick)(void *arg);
	void *arg;
};

/*
 * 0; -EINTR after a signal; -ENOMEM, -EAGAIN when no thread could be had; or
 * what @consume returned.
 */
int parallel_run(const struct parallel *what);

#endif /* DLBOOST_TOOL_PARALLEL_H */
