// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Philox4x32-10, the one source of random numbers.  Pure functions, no state,
 * no locks; knows nothing of orders or pictures.  Definition and known answers:
 * Documentation/order.rst, "Philox".
 */
#include "philox.h"

#define NR_ROUNDS	10
#define MULTIPLIER_0	0xd2511f53u
#define MULTIPLIER_1	0xcd9e8d57u
#define WEYL_0		0x9e3779b9u
#define WEYL_1		0xbb67ae85u

void dlb_philox(uint64_t key, const uint32_t counter[4], uint32_t out[4])
{
	uint32_t c0 = counter[0], c1 = counter[1];
	uint32_t c2 = counter[2], c3 = counter[3];
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);

	for (int i = 0; i < NR_ROUNDS; i++) {
		uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0;
		uint64_t p1 = (uint64_t)MULTIPLIER_1 * c2;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += WEYL_0;
		k1 += WEYL_1;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

uint32_t dlb_draw_word(uint64_t seed, uint32_t epoch, uint64_t sample_id,
		       uint32_t word)
{
	const uint32_t counter[4] = {
		(uint32_t)sample_id, (uint32_t)(sample_id >> 32), epoch,
		word / 4,
	};
	uint32_t out[4];

	dlb_philox(seed, counter, out);
	return out[word % 4];
}
