// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The permutation of an epoch, and substitutes for bad samples: order version
 * 1.  Small data sets have a shuffled table, whose orders are all equally
 * likely (a network's are not); large ones a keyed Feistel network, so that
 * nothing grows with their size and every position is reached at once.
 * Arithmetic only, no I/O; an order never changes once made, so there are no
 * locks.  Documentation/order.rst is the definition; whatever changes a result
 * here is a new order version.
 */
#include "order.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/philox.h"

#define MAX_TABLE_SAMPLES	65536
#define NR_ROUNDS		8
#define MAX_WALKS		64
#define WORD_SUBSTITUTE		256

/*
 * Fourth counter word of what is drawn for an epoch, not for a sample.  The
 * draws of samples stay below 2^30 there, so the two never share a block, also
 * when both seeds are equal.
 */
enum {
	COUNTER_TABLE = 0x80000000,
	COUNTER_ROUND_KEYS = 0x80000001,
};

struct dlb_order {
	uint64_t nr_samples;
	uint64_t round_key[NR_ROUNDS];
	uint32_t left_bits, right_bits;
	bool no_shuffle;
	uint16_t *table;	/* or NULL: the network */
};

/* The @idx-th 64-bit number of one kind for an epoch, low word first */
static uint64_t epoch_number(uint64_t seed, uint32_t epoch, uint32_t kind,
			     uint32_t idx)
{
	const uint32_t counter[4] = { idx / 2, 0, epoch, kind };
	uint32_t words[4];

	dlb_philox(seed, counter, words);
	return words[idx % 2 * 2] | (uint64_t)words[idx % 2 * 2 + 1] << 32;
}

/* floor(@x * @n / 2^64) for @n <= 65536, without 128-bit arithmetic */
static uint32_t scale_below(uint64_t x, uint32_t n)
{
	uint64_t low = (x & 0xffffffff) * n;

	return (uint32_t)(((x >> 32) * n + (low >> 32)) >> 32);
}

static int order_make_table(struct dlb_order *order, uint64_t seed,
			    uint32_t epoch)
{
	uint32_t n = (uint32_t)order->nr_samples;
	uint16_t *table = malloc(n * sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		table[i] = (uint16_t)i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint64_t number = epoch_number(seed, epoch, COUNTER_TABLE, i);
		uint32_t j = scale_below(number, i + 1);
		uint16_t moved = table[i];

		table[i] = table[j];
		table[j] = moved;
	}
	order->table = table;
	return 0;
}

static void order_make_network(struct dlb_order *order, uint64_t seed,
			       uint32_t epoch)
{
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(order->nr_samples - 1);

	order->left_bits = bits / 2;
	order->right_bits = bits - bits / 2;
	for (uint32_t i = 0; i < NR_ROUNDS; i++)
		order->round_key[i] = epoch_number(seed, epoch,
						   COUNTER_ROUND_KEYS, i);
}

int dlb_order_create(uint64_t seed, uint32_t epoch, uint64_t nr_samples,
		     bool no_shuffle, struct dlb_order **out)
{
	struct dlb_order *order;
	int ret = 0;

	if (!nr_samples || nr_samples > INT64_MAX)
		return -EINVAL;
	order = calloc(1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	order->nr_samples = nr_samples;
	order->no_shuffle = no_shuffle;
	if (!no_shuffle && nr_samples <= MAX_TABLE_SAMPLES)
		ret = order_make_table(order, seed, epoch);
	else if (!no_shuffle)
		order_make_network(order, seed, epoch);
	if (ret) {
		free(order);
		return ret;
	}
	*out = order;
	return 0;
}

void dlb_order_destroy(struct dlb_order *order)
{
	if (!order)
		return;
	free(order->table);
	free(order);
}

/* The finaliser of SplitMix64 (D. Stafford's variant 13) */
static inline uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline uint64_t network_pass(const struct dlb_order *order, uint64_t x)
{
	const uint32_t left_shift = 64 - order->left_bits;
	const uint32_t right_shift = 64 - order->right_bits;
	uint64_t left = x >> order->right_bits;
	uint64_t right = x & (UINT64_MAX >> right_shift);

	for (int i = 0; i < NR_ROUNDS; i += 2) {
		left ^= mix(right ^ order->round_key[i]) >> left_shift;
		right ^= mix(left ^ order->round_key[i + 1]) >> right_shift;
	}
	return left << order->right_bits | right;
}

uint64_t dlb_order_at(const struct dlb_order *order, uint64_t position)
{
	uint64_t x = position;

	if (position >= order->nr_samples)
		return DLB_ORDER_NONE;
	if (order->no_shuffle)
		return position;
	if (order->table)
		return order->table[position];
	for (int i = 0; i < MAX_WALKS; i++) {
		x = network_pass(order, x);
		if (x < order->nr_samples)
			return x;
	}
	return DLB_ORDER_NONE;
}

uint32_t dlb_substitute_member(uint64_t augment_seed, uint32_t epoch,
			       uint64_t sample_id, uint32_t attempt,
			       uint32_t nr_members)
{
	return dlb_draw_below(dlb_draw_word(augment_seed, epoch, sample_id,
					    WORD_SUBSTITUTE + attempt),
			      nr_members);
}
