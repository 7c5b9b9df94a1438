// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * A worker's bounded memory of coefficient tables.  Blocks are carved from
 * segments of one allocation in turn; a full circle overwrites the oldest
 * segment, and a block found in one of the two oldest is copied forward first.
 * So there is no list to keep and no allocation in steady state.  Blocks too
 * large for a segment live in a few allocations of their own.
 * One thread at a time, no locks.  Knows nothing of pixels.
 */
#include "coeffs_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_SEGMENTS 8
#define NR_WAYS 4
#define NR_LARGE 4
#define MIN_CAP_BYTES (256u << 10)
#define BLOCK_ALIGN 64u

/* Ahead of every block */
struct block {
	struct dlb_plan_key key;
	size_t bytes;		/* of the payload */
} __attribute__((aligned(BLOCK_ALIGN)));

struct slot {
	uint64_t turn;		/* segments opened when it was made; 0: empty */
	struct block *block;
};

struct large {
	struct block *block;
	size_t room_bytes;
	uint64_t used_at;
};

struct dlb_coeff_cache {
	char *mem;
	size_t segment_bytes;
	size_t used_bytes;	/* of the segment that is being filled */
	uint64_t turn;		/* segments opened so far; from 1 */
	uint64_t clock;
	size_t nr_sets;		/* power of two */
	struct slot *slots;
	struct large large[NR_LARGE];
	void *scratch;
	size_t scratch_bytes;
};

static size_t align_block(size_t bytes)
{
	return (bytes + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
}

int dlb_coeff_cache_create(size_t cap_bytes, struct dlb_coeff_cache **out)
{
	struct dlb_coeff_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	if (cap_bytes < MIN_CAP_BYTES)
		cap_bytes = MIN_CAP_BYTES;
	cache->segment_bytes = (cap_bytes / NR_SEGMENTS) &
			       ~(size_t)(BLOCK_ALIGN - 1);
	cache->turn = 1;
	cache->nr_sets = 64;
	/* Blocks are rarely below 2 KiB: one way for each, twice over */
	while (cache->nr_sets * NR_WAYS * 1024 < cap_bytes)
		cache->nr_sets *= 2;
	cache->slots = calloc(cache->nr_sets * NR_WAYS, sizeof(*cache->slots));
	cache->mem = aligned_alloc(BLOCK_ALIGN,
				   cache->segment_bytes * NR_SEGMENTS);
	if (!cache->slots || !cache->mem) {
		dlb_coeff_cache_destroy(cache);
		return -ENOMEM;
	}
	*out = cache;
	return 0;
}

void dlb_coeff_cache_destroy(struct dlb_coeff_cache *cache)
{
	if (!cache)
		return;
	for (int i = 0; i < NR_LARGE; i++)
		free(cache->large[i].block);
	free(cache->scratch);
	free(cache->slots);
	free(cache->mem);
	free(cache);
}

/* Any mixing will do: the key is compared in full */
static uint64_t hash_key(const struct dlb_plan_key *key)
{
	uint64_t words[sizeof(*key) / sizeof(uint64_t)], hash = 0;

	_Static_assert(sizeof(words) == sizeof(*key), "no tail");
	memcpy(words, key, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

static struct slot *cache_set(struct dlb_coeff_cache *cache,
			      const struct dlb_plan_key *key)
{
	return cache->slots +
	       (hash_key(key) & (cache->nr_sets - 1)) * NR_WAYS;
}

static bool slot_is_live(const struct dlb_coeff_cache *cache,
			 const struct slot *slot)
{
	return slot->turn && cache->turn - slot->turn < NR_SEGMENTS;
}

static struct block *carve(struct dlb_coeff_cache *cache, size_t bytes)
{
	size_t need = align_block(sizeof(struct block) + bytes), at;
	struct block *block;

	if (cache->used_bytes + need > cache->segment_bytes) {
		cache->turn++;
		cache->used_bytes = 0;
	}
	at = (cache->turn - 1) % NR_SEGMENTS * cache->segment_bytes;
	block = (void *)(cache->mem + at + cache->used_bytes);
	cache->used_bytes += need;
	block->bytes = bytes;
	return block;
}

static void *find_large(struct dlb_coeff_cache *cache,
			const struct dlb_plan_key *key)
{
	for (int i = 0; i < NR_LARGE; i++) {
		struct large *large = &cache->large[i];

		if (!large->block || !large->used_at ||
		    memcmp(&large->block->key, key, sizeof(*key)))
			continue;
		large->used_at = ++cache->clock;
		return large->block + 1;
	}
	return NULL;
}

/* A block about to be overwritten moves to the newest segment */
static void *refresh(struct dlb_coeff_cache *cache, struct slot *slot)
{
	struct block *old = slot->block;

	if (cache->turn - slot->turn >= NR_SEGMENTS - 2) {
		/* At most one segment is opened, and it is never this one:
		 * the block is copied before a second one can be
		 */
		if (cache->turn - slot->turn == NR_SEGMENTS - 1 &&
		    cache->used_bytes + align_block(sizeof(*old) + old->bytes) >
		    cache->segment_bytes)
			return NULL;
		slot->block = carve(cache, old->bytes);
		memcpy(slot->block, old, sizeof(*old) + old->bytes);
		slot->turn = cache->turn;
	}
	return slot->block + 1;
}

void *dlb_coeff_cache_find(struct dlb_coeff_cache *cache,
			   const struct dlb_plan_key *key)
{
	struct slot *set = cache_set(cache, key);

	for (int i = 0; i < NR_WAYS; i++)
		if (slot_is_live(cache, &set[i]) &&
		    !memcmp(&set[i].block->key, key, sizeof(*key)))
			return refresh(cache, &set[i]);
	return find_large(cache, key);
}

static void *add_large(struct dlb_coeff_cache *cache,
		       const struct dlb_plan_key *key, size_t bytes)
{
	struct large *large = &cache->large[0];
	size_t need = align_block(sizeof(struct block) + bytes);

	for (int i = 1; i < NR_LARGE; i++)
		if (cache->large[i].used_at < large->used_at)
			large = &cache->large[i];
	/* A huge block does not stay for a small one's sake */
	if (large->room_bytes < need || large->room_bytes / 4 > need) {
		free(large->block);
		large->used_at = 0;
		large->block = aligned_alloc(BLOCK_ALIGN, need);
		large->room_bytes = large->block ? need : 0;
		if (!large->block)
			return NULL;
	}
	large->used_at = ++cache->clock;
	large->block->key = *key;
	large->block->bytes = bytes;
	return large->block + 1;
}

void *dlb_coeff_cache_add(struct dlb_coeff_cache *cache,
			  const struct dlb_plan_key *key, size_t bytes)
{
	struct slot *set = cache_set(cache, key), *slot = set;

	if (sizeof(struct block) + bytes > cache->segment_bytes / 4)
		return add_large(cache, key, bytes);
	for (int i = 0; i < NR_WAYS; i++)
		if (set[i].turn < slot->turn)
			slot = &set[i];
	slot->block = carve(cache, bytes);
	slot->block->key = *key;
	slot->turn = cache->turn;
	return slot->block + 1;
}

void *dlb_coeff_cache_scratch(struct dlb_coeff_cache *cache, size_t bytes)
{
	if (bytes > cache->scratch_bytes) {
		free(cache->scratch);
		cache->scratch = malloc(bytes);
		cache->scratch_bytes = cache->scratch ? bytes : 0;
	}
	return cache->scratch;
}

/* The addresses are made anew each time: the block may have moved */
static const struct dlb_coeffs *place_table(const struct dlb_plan_key *key,
					    void *block, struct dlb_taps *taps)
{
	struct dlb_coeffs *table = block;
	size_t nr = key->axis.out;
	uint32_t *words = (uint32_t *)(table + 1);

	if (taps) {
		table->axis = key->axis;
		table->taps = taps->stride;
		memcpy(words, taps->first, nr * 4);
		memcpy(words + nr, taps->count, nr * 4);
		memcpy(words + 2 * nr, taps->weight, nr * taps->stride * 4);
	}
	table->first = words;
	table->count = words + nr;
	table->weight = (int32_t *)(words + 2 * nr);
	return table;
}

const struct dlb_coeffs *dlb_coeff_cache_get(struct dlb_coeff_cache *cache,
					     const struct dlb_axis *axis)
{
	struct dlb_plan_key key;
	struct dlb_taps taps;
	void *block, *scratch;
	size_t words;

	memset(&key, 0, sizeof(key));
	key.axis.in = axis->in;
	key.axis.out = axis->out;
	key.axis.box0 = axis->box0;
	key.axis.box1 = axis->box1;
	key.axis.filter = axis->filter;
	key.nr = axis->out;
	key.kind = DLB_PLAN_KIND_TABLE;
	block = dlb_coeff_cache_find(cache, &key);
	if (block)
		return place_table(&key, block, NULL);

	scratch = dlb_coeff_cache_scratch(cache,
					  dlb_axis_fill_bytes(axis, axis->out));
	words = (size_t)axis->out * (2 + dlb_axis_max_taps(axis));
	block = scratch ? dlb_coeff_cache_add(cache, &key,
				sizeof(struct dlb_coeffs) + words * 4) : NULL;
	if (!block)
		return NULL;
	dlb_axis_fill(axis, 0, axis->out, scratch, &taps);
	return place_table(&key, block, &taps);
}
