/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The loops of the entropy decoder.  Included by one file for each instruction
 * set, which names HUFF_CORE.
 *
 * What bounds them is the chain from one table look-up to the next (shift,
 * load, shift); so an entry holds two symbols where it can, values are worked
 * out beside the chain, and the only branch is the one that ends a block.  No
 * read is checked here: an MCU begins only where the window has room for the
 * longest one, and whatever bytes are there are decoded within their block.
 */
#include "huff_int.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

/* gcc's second scheduling moves values before the look-up: 3 % slower */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-schedule-insns2")
#endif

#define HUFF_INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

HUFF_INLINE uint64_t load_be64(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/*
 * All 64 bits are then there, though fewer are counted: what is or-ed in twice
 * is the same both times.
 */
HUFF_INLINE void bits_fill(struct huff_bits *b)
{
	b->word |= load_be64(b->at) >> (~b->lack & 63);
	b->at += b->lack >> 3 & 7;
	b->lack &= 7;
}

/* What stands above 6 bits of @nr changes nothing */
HUFF_INLINE void bits_use(struct huff_bits *b, uint64_t nr)
{
	b->word <<= nr & 63;
	b->lack += nr;
}

/* Step back by @nr < 64 bits */
HUFF_INLINE void bits_return(struct huff_bits *b, uint32_t nr)
{
	uint32_t ahead = 63 - (uint32_t)(b->lack & 63) + nr;
	uint32_t bytes = (ahead + 7) / 8;
	uint32_t skip = bytes * 8 - ahead;
	const uint8_t *p = b->at - bytes;

	b->word = load_be64(p) << skip;
	b->at = p + 7;
	b->lack = 7 + skip;
}

/*
 * The value that follows @before bits and has 64 - @shift bits, but not none,
 * as T.81, F.12 reads it: with a leading 0 it is the complement of a magnitude.
 */
HUFF_INLINE uint64_t bits_value(uint64_t word, uint64_t before, uint64_t shift)
{
	uint64_t t = word << (before & 63);
	uint64_t mask = (uint64_t)((int64_t)~t >> 63);

	return (t >> (shift & 63)) - (mask >> (shift & 63));
}

/* The same of 63 - @shift bits, which may be none */
HUFF_INLINE uint64_t bits_value_or_none(uint64_t word, uint64_t before,
					uint64_t shift)
{
	uint64_t t = word << (before & 63);
	uint64_t mask = (uint64_t)((int64_t)~t >> 63);

	return (t >> 1 >> (shift & 63)) - (mask >> 1 >> (shift & 63));
}

/* The next code: length | symbol << 8; 0: there is none */
static __attribute__((noinline)) uint32_t code_find(const struct huff_code *c,
						    uint64_t word)
{
	uint32_t code = (uint32_t)(word >> (64 - HUFF_MAX_CODE_BITS));
	uint32_t len = 1;
	int32_t idx;

	if (LIKELY(code >= HUFF_TAIL_FROM && c->tail[code - HUFF_TAIL_FROM]))
		return c->tail[code - HUFF_TAIL_FROM];
	while (len <= HUFF_MAX_CODE_BITS && code >= c->limit[len])
		len++;
	if (len > HUFF_MAX_CODE_BITS)
		return 0;
	idx = (int32_t)(code >> (HUFF_MAX_CODE_BITS - len)) + c->offset[len];
	return len | (uint32_t)c->spec[DLB_HUFF_COUNTS + (idx & 255)] << 8;
}

/* 0 or -EILSEQ */
HUFF_INLINE int block_dc(struct huff_bits *b, const struct huff_dc *dc,
			 uint32_t *predictor)
{
	uint32_t e;

	e = dc->look[b->word >> (64 - HUFF_LOOK_BITS)];
	bits_fill(b);
	if (UNLIKELY(!e)) {
		uint32_t code = code_find(&dc->code, b->word);
		uint32_t len = code & 255, size = code >> 8;

		if (!code)
			return -EILSEQ;
		e = HUFF_DC_ENTRY(len, size);
	}
	*predictor += (uint32_t)bits_value_or_none(b->word, e >> 8, e >> 16);
	bits_use(b, e);
	return UNLIKELY(*predictor + 32768 > 65535) ? -EILSEQ : 0;
}

/*
 * One symbol that the lookahead does not decide.  The index of its coefficient,
 * or @k + HUFF_END, or HUFF_SPECIAL: damaged
 */
HUFF_INLINE uint32_t block_symbol(struct huff_bits *b,
				  const struct huff_ac *ac, uint32_t k,
				  int16_t *coefs)
{
	uint32_t code, len, symbol, size;

	bits_fill(b);
	code = code_find(&ac->code, b->word);
	len = code & 255;
	symbol = code >> 8;
	size = symbol & 15;
	if (!code)
		return HUFF_SPECIAL;
	if (!size && symbol != 0xf0) {
		bits_use(b, len);
		return k + HUFF_END;
	}
	k += (symbol >> 4) + 1;
	if (k >= DLB_BLOCK_COEFS)
		return HUFF_SPECIAL;
	if (coefs)
		coefs[dlb_huff_place[k]] = (int16_t)bits_value_or_none(
			b->word, len, 63 - size);
	bits_use(b, len + size);
	return k;
}

HUFF_INLINE uint64_t block_look(const struct huff_bits *b,
				const struct huff_ac *ac)
{
	return ac->look[b->word >> (64 - HUFF_LOOK_BITS)];
}

HUFF_INLINE uint32_t block_step(uint64_t e)
{
	return (uint32_t)(e >> 54);
}

/* Both coefficients of entry @e, whose bits are at the top of @word */
HUFF_INLINE void block_put(int16_t *coefs, uint64_t e, uint64_t word,
			   uint32_t k)
{
	uint32_t first = k + ((uint32_t)e >> 24), last = k + block_step(e);

	if (!coefs)
		return;
	coefs[dlb_huff_place[first]] = (int16_t)(e >> 32);
	coefs[dlb_huff_place[last]] =
		(int16_t)bits_value(word, e >> 8, e >> 16);
}

/*
 * The block ended with the first symbol of entry @e, or was overrun.  The
 * second belongs to the next block.
 */
HUFF_INLINE int block_mend(struct huff_bits *b, uint64_t e, uint32_t k)
{
	k += ((uint32_t)e >> 24) - block_step(e);
	if (k != DLB_BLOCK_COEFS - 1)
		return -EILSEQ;
	bits_return(b, e >> 48 & 63);
	return DLB_BLOCK_COEFS - 1;
}

/*
 * Index of the last coefficient, or -EILSEQ.  The next entry is looked up
 * before the one in hand is put.  Two entries use at most 50 of 64 bits: a
 * look-up need not wait for the bits that are filled in behind it.
 */
HUFF_INLINE int block_ac(struct huff_bits *b, const struct huff_ac *ac,
			 int16_t *coefs)
{
	uint64_t e = block_look(b, ac), next, word;
	uint32_t k = 0;

	for (;;) {
		for (;;) {
			bits_fill(b);
			word = b->word;
			bits_use(b, e);
			next = block_look(b, ac);
			block_put(coefs, e, word, k);
			k += block_step(e);
			if (UNLIKELY(k >= DLB_BLOCK_COEFS - 1))
				break;
			e = next;
			word = b->word;
			bits_use(b, e);
			next = block_look(b, ac);
			block_put(coefs, e, word, k);
			k += block_step(e);
			if (UNLIKELY(k >= DLB_BLOCK_COEFS - 1))
				break;
			e = next;
		}
		if (LIKELY(k - HUFF_END < DLB_BLOCK_COEFS - 1))
			return (int)(k - HUFF_END);
		if (k == DLB_BLOCK_COEFS - 1)
			return (int)k;
		if (k < HUFF_SPECIAL)
			return block_mend(b, e, k);
		k = block_symbol(b, ac, k - HUFF_SPECIAL, coefs);
		if (k - HUFF_END < DLB_BLOCK_COEFS - 1)
			return (int)(k - HUFF_END);
		if (k >= HUFF_SPECIAL)
			return -EILSEQ;
		if (k == DLB_BLOCK_COEFS - 1)
			return (int)k;
		e = block_look(b, ac);
	}
}

HUFF_INLINE int block_decode(struct dlb_huff *huff, struct huff_bits *b,
			     const struct huff_unit *unit, uint32_t mcu,
			     bool is_stored)
{
	size_t idx = (size_t)mcu * unit->step;
	int16_t *coefs = NULL;
	int last;

	if (is_stored) {
		coefs = unit->blocks + idx * DLB_BLOCK_COEFS;
		memset(coefs, 0, DLB_BLOCK_COEFS * sizeof(*coefs));
	}
	if (block_dc(b, unit->dc, &huff->predictor[unit->component]))
		return -EILSEQ;
	last = block_ac(b, unit->ac, coefs);
	if (UNLIKELY(last < 0))
		return -EILSEQ;
	if (is_stored) {
		coefs[0] = (int16_t)huff->predictor[unit->component];
		unit->last[idx] = (uint8_t)last;
	}
	return 0;
}

HUFF_INLINE int mcus_decode(struct dlb_huff *huff, uint32_t mcu, uint32_t end,
			    bool is_stored)
{
	const struct huff_unit *units_end = huff->units + huff->nr_units;
	struct huff_bits b = huff->bits;

	bits_fill(&b);
	for (; mcu < end; mcu++) {
		if (UNLIKELY(b.at > huff->limit)) {
			huff->bits = b;
			if (dlb_huff_segment_more(huff))
				return -EILSEQ;
			b = huff->bits;
		}
		for (const struct huff_unit *u = huff->units; u < units_end;
		     u++)
			if (UNLIKELY(block_decode(huff, &b, u, mcu,
						  is_stored)))
				return -EILSEQ;
	}
	huff->bits = b;
	return 0;
}

static int mcus_store(struct dlb_huff *huff, uint32_t mcu, uint32_t end)
{
	return mcus_decode(huff, mcu, end, true);
}

static int mcus_drop(struct dlb_huff *huff, uint32_t mcu, uint32_t end)
{
	return mcus_decode(huff, mcu, end, false);
}

#define STRING(x) #x
#define NAME_STRING(x) STRING(x)
#define KERNELS_OF(x) dlb_huff_kernels_##x
#define KERNELS(x) KERNELS_OF(x)

const struct huff_kernels KERNELS(HUFF_CORE) = {
	.name = NAME_STRING(HUFF_CORE),
	.store = mcus_store,
	.drop = mcus_drop,
};
