/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The engine "fake": the real worker threads, queue and delivery, but instead
 * of pixels a pattern that depends on the encoded bytes and the geometry, so
 * that a test sees which sample with which draws stands where.
 */
#ifndef FAKE_ENGINE_H
#define FAKE_ENGINE_H

#include <stdint.h>

#include "engine/engine.h"

/* Make "fake" known; once a process */
void fake_engine_register(void);

/*
 * Called for each job before the pattern is written, on a worker's thread; a
 * return other than OK is the job's status.  NULL for none.
 */
extern unsigned int (*fake_hook)(const struct dlb_job *job,
				 struct dlboost_result *result);

/*
 * Called before jobs are queued, under the stream's lock; a return below 0 is
 * submit()'s.  NULL for none.
 */
extern int (*fake_submit_hook)(struct dlb_engine *engine, unsigned int nr);

/* Write nothing at all, for measuring what is left */
extern bool fake_is_null;

/* The first 8 bytes of a tensor that "fake" writes for these */
uint64_t fake_pattern(const void *src, size_t src_bytes,
		      const struct dlboost_geometry *geometry);

#endif /* FAKE_ENGINE_H */
