// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Tables of the entropy decoder, from DHT's counts and symbols.  Whether those
 * make a prefix code was tested by jpeg_head.c; any symbol may stand in them.
 *
 * A table is kept from picture to picture and built again only when its source
 * differs.  Knows nothing of files.  No lock.  ITU-T T.81, annex C and F.2.2.
 */
#include "huff_int.h"

#include <string.h>

const uint8_t dlb_huff_place[HUFF_NR_PLACES] = {
	0,  1,	8,  16, 9,  2,	3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,	7,  14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* Code lengths and symbols of what the lookahead decides; length 0: not */
struct look {
	uint8_t len[HUFF_LOOK_SIZE];
	uint8_t symbol[HUFF_LOOK_SIZE];
};

/* @nr codes of @len bits from @first on, in the lookahead or in the tail */
static void code_spread(struct huff_code *code, struct look *look,
			uint32_t len, uint32_t first, const uint8_t *symbols)
{
	uint32_t nr = code->spec[len - 1], shift;

	if (len <= HUFF_LOOK_BITS) {
		shift = HUFF_LOOK_BITS - len;
		memset(look->len + (first << shift), (int)len, nr << shift);
		for (uint32_t i = 0; i < nr; i++)
			memset(look->symbol + ((first + i) << shift),
			       symbols[i], 1u << shift);
		return;
	}
	shift = HUFF_MAX_CODE_BITS - len;
	for (uint32_t at = first << shift; at < (first + nr) << shift; at++)
		if (at >= HUFF_TAIL_FROM)
			code->tail[at - HUFF_TAIL_FROM] = (uint16_t)(len |
				symbols[(at >> shift) - first] << 8);
}

/* False: @code is that of @spec already */
static bool code_build(struct huff_code *code, const uint8_t *spec,
		       struct look *look)
{
	uint32_t first = 0, symbol_idx = 0, bytes = DLB_HUFF_COUNTS;

	for (uint32_t i = 0; i < DLB_HUFF_COUNTS; i++)
		bytes += spec[i];
	if (code->is_valid && !memcmp(code->spec, spec, bytes))
		return false;
	memset(code, 0, sizeof(*code));
	memcpy(code->spec, spec, bytes);
	code->is_valid = true;
	memset(look->len, 0, sizeof(look->len));
	for (uint32_t len = 1; len <= HUFF_MAX_CODE_BITS; len++, first <<= 1) {
		code->offset[len] = (int32_t)symbol_idx - (int32_t)first;
		code_spread(code, look, len, first,
			    spec + DLB_HUFF_COUNTS + symbol_idx);
		symbol_idx += spec[len - 1];
		first += spec[len - 1];
		code->limit[len] = first << (HUFF_MAX_CODE_BITS - len);
	}
	return true;
}

/* T.81, F.12: the value of @bits bits */
static int32_t extend(uint32_t value, uint32_t bits)
{
	return bits && value < 1u << (bits - 1) ?
	       (int32_t)value - (int32_t)(1u << bits) + 1 : (int32_t)value;
}

static bool is_end(uint32_t symbol)
{
	return !(symbol & 15) && symbol != 0xf0;
}

static uint32_t step_of(uint32_t symbol)
{
	return is_end(symbol) ? HUFF_END : (symbol >> 4) + 1;
}

/* An entry of a last symbol of @len bits behind @before others */
static uint64_t entry(uint32_t before, uint32_t len, uint32_t symbol)
{
	uint32_t size = symbol & 15;

	return (before + len + size) | (before + len) << 8 |
	       (64 - size) % 64 << 16;
}

static uint64_t steps(uint32_t first, uint32_t last)
{
	return (uint64_t)first << 24 | (uint64_t)last << 54;
}

static uint64_t ac_entry(const struct look *look, uint32_t idx)
{
	uint32_t len = look->len[idx], symbol = look->symbol[idx];
	uint32_t size = symbol & 15, used = len + size, rest, next, value;
	uint64_t e;

	if (!len)
		return steps(HUFF_END, HUFF_SPECIAL);
	if (is_end(symbol))
		return entry(0, len, symbol) | steps(HUFF_END, HUFF_END);
	e = size ? entry(0, len, symbol) |
		   steps(step_of(symbol), step_of(symbol)) :
		   steps(HUFF_END, HUFF_SPECIAL);
	if (used >= HUFF_LOOK_BITS)
		return e;
	rest = idx << used & (HUFF_LOOK_SIZE - 1);
	next = look->symbol[rest];
	if (!look->len[rest] || look->len[rest] > HUFF_LOOK_BITS - used ||
	    next == 0xf0)
		return e;
	value = idx >> (HUFF_LOOK_BITS - used) & ((1u << size) - 1);
	return entry(used, look->len[rest], next) |
	       steps(step_of(symbol), step_of(symbol) + step_of(next)) |
	       (uint64_t)(uint16_t)extend(value, size) << 32 |
	       (uint64_t)(look->len[rest] + (next & 15)) << 48;
}

void dlb_huff_ac_build(struct huff_ac *ac, const uint8_t *spec)
{
	struct look look;

	if (!code_build(&ac->code, spec, &look))
		return;
	for (uint32_t i = 0; i < HUFF_LOOK_SIZE; i++)
		ac->look[i] = ac_entry(&look, i);
}

void dlb_huff_dc_build(struct huff_dc *dc, const uint8_t *spec)
{
	struct look look;

	if (!code_build(&dc->code, spec, &look))
		return;
	for (uint32_t i = 0; i < HUFF_LOOK_SIZE; i++) {
		uint32_t len = look.len[i], size = look.symbol[i];

		dc->look[i] = len ? HUFF_DC_ENTRY(len, size) : 0;
	}
}
