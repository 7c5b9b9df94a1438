/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Philox4x32-10: the counter-based generator behind order and draws.
 * Algorithm: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011.  Documentation/order.rst fixes keys, counters and test vectors.
 */
#ifndef DLB_BASE_PHILOX_H
#define DLB_BASE_PHILOX_H

#include <stdint.h>

/* Four words for one counter; a pure function */
void dlb_philox(uint64_t key, const uint32_t counter[4], uint32_t out[4]);

/*
 * Word @word of the draws of one sample: counter = (sample low, sample high,
 * epoch, @word / 4), word @word % 4 of the result.
 */
uint32_t dlb_draw_word(uint64_t seed, uint32_t epoch, uint64_t sample_id,
		       uint32_t word);

/* [0, 1) with 24 bits */
static inline double dlb_draw_uniform(uint32_t word)
{
	return (double)(word >> 8) * (1.0 / 16777216.0);
}

/* [0, n) */
static inline uint32_t dlb_draw_below(uint32_t word, uint32_t n)
{
	return (uint32_t)(((uint64_t)word * n) >> 32);
}

#endif /* DLB_BASE_PHILOX_H */
