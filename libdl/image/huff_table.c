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

#define Z8(a, b, c, d, e, f, g, h) a, b, c, d, e, f, g, h
#define X8 Z8(63, 63, 63, 63, 63, 63, 63, 63)
#define X64 X8, X8, X8, X8, X8, X8, X8, X8
#define ZIGZAG_FROM_8                                                          \
	Z8(17, 24, 32, 25, 18, 11, 4, 5), Z8(12, 19, 26, 33, 40, 48, 41, 34),  \
	Z8(27, 20, 13, 6, 7, 14, 21, 28), Z8(35, 42, 49, 56, 57, 50, 43, 36),  \
	Z8(29, 22, 15, 23, 30, 37, 44, 51), Z8(58, 59, 52, 45, 38, 31, 39, 46),\
	Z8(53, 60, 61, 54, 47, 55, 62, 63)
#define ZIGZAG Z8(0, 1, 8, 16, 9, 2, 3, 10), ZIGZAG_FROM_8

/* Indexes past the block go to its last place: it is then lost or mended */
const uint8_t dlb_huff_place[HUFF_NR_PLACES] = {
	ZIGZAG, X64, ZIGZAG, X64, ZIGZAG, X64,
};

/* Code lengths and symbols of what the lookahead decides; length 0: not */
struct look {
	uint8_t len[HUFF_LOOK_SIZE];
	uint8_t symbol[HUFF_LOOK_SIZE];
};

/* False: @code is that of @spec already */
static bool code_build(struct huff_code *code, const uint8_t *spec,
		       struct look *look)
{
	uint32_t next = 0, symbol_idx = 0, bytes = DLB_HUFF_COUNTS;

	for (uint32_t i = 0; i < DLB_HUFF_COUNTS; i++)
		bytes += spec[i];
	if (code->is_valid && !memcmp(code->spec, spec, bytes))
		return false;
	memset(code->spec, 0, sizeof(code->spec));
	memcpy(code->spec, spec, bytes);
	code->is_valid = true;
	memset(look->len, 0, sizeof(look->len));
	for (uint32_t len = 1; len <= HUFF_MAX_CODE_BITS; len++) {
		uint32_t nr = spec[len - 1], shift;

		code->offset[len] = (int32_t)symbol_idx - (int32_t)next;
		if (len <= HUFF_LOOK_BITS) {
			shift = HUFF_LOOK_BITS - len;
			memset(look->len + (next << shift), (int)len,
			       nr << shift);
			for (uint32_t i = 0; i < nr; i++)
				memset(look->symbol + ((next + i) << shift),
				       spec[DLB_HUFF_COUNTS + symbol_idx + i],
				       1u << shift);
		}
		symbol_idx += nr;
		next += nr;
		code->limit[len] = next << (HUFF_MAX_CODE_BITS - len);
		next <<= 1;
	}
	return true;
}

/* T.81, F.12: the value of @bits bits */
static int32_t extend(uint32_t value, uint32_t bits)
{
	return bits && value < 1u << (bits - 1) ?
	       (int32_t)value - (int32_t)(1u << bits) + 1 : (int32_t)value;
}

static uint64_t entry(uint32_t all, uint32_t before, uint32_t value_bits,
		      uint32_t first_step, uint32_t last_step)
{
	return all | before << 8 | (63 - value_bits) << 16 | first_step << 24 |
	       (uint64_t)last_step << 32;
}

static bool is_end(uint32_t symbol)
{
	return !(symbol & 15) && symbol != 0xf0;
}

static uint32_t step_of(uint32_t symbol)
{
	return is_end(symbol) ? HUFF_END + 1 : (symbol >> 4) + 1;
}

static uint64_t ac_entry(const struct look *look, uint32_t idx)
{
	uint32_t len = look->len[idx], symbol = look->symbol[idx];
	uint32_t size = symbol & 15, used = len + size, rest, next, value;
	uint64_t e;

	if (!len)
		return entry(0, 0, 0, 1, HUFF_SPECIAL + 1);
	if (is_end(symbol))
		return entry(len, len, 0, 1, step_of(symbol));
	e = entry(used, len, size, step_of(symbol), step_of(symbol));
	if (used >= HUFF_LOOK_BITS)
		return e;
	rest = idx << used & (HUFF_LOOK_SIZE - 1);
	next = look->symbol[rest];
	if (!look->len[rest] || look->len[rest] > HUFF_LOOK_BITS - used)
		return e;
	value = idx >> (HUFF_LOOK_BITS - used) & ((1u << size) - 1);
	len = look->len[rest] + (next & 15);
	e = entry(used + len, used + look->len[rest], next & 15,
		  step_of(symbol), step_of(symbol) + step_of(next));
	return e | (uint64_t)len << 42 |
	       (uint64_t)(uint16_t)extend(value, size) << 48;
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

		dc->look[i] = len ? (uint32_t)entry(len + size, len, size, 0,
						    0) : 0;
	}
}
