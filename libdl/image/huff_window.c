// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The window onto entropy-coded data: bytes of one segment (what lies between
 * two restart markers) without the 00 behind each FF, so that the loops need
 * neither look for FF nor for the end.
 *
 * The window is refilled between MCUs while it has less than the longest MCU
 * left.  Behind the last byte of a segment the loops may read whatever is
 * there; that they did is seen when the segment is closed, at the latest.
 * Knows nothing of codes.  No lock.  ITU-T T.81, B.1.1.5.
 */
#include "huff_int.h"

#include <errno.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define MARKER_RST0 0xd0
#define MARKER_EOI 0xd9

#define CHUNK_BYTES 32

/* Copies CHUNK_BYTES; how many of them come before the first FF */
static inline unsigned int copy_chunk(uint8_t *to, const uint8_t *from)
{
#if defined(__SSE2__)
	const __m128i ff = _mm_set1_epi8(-1);
	__m128i low = _mm_loadu_si128((const __m128i *)from);
	__m128i high = _mm_loadu_si128((const __m128i *)(from + 16));
	unsigned int mask;

	_mm_storeu_si128((__m128i *)to, low);
	_mm_storeu_si128((__m128i *)(to + 16), high);
	mask = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(low, ff)) |
	       (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(high, ff)) << 16;
	return mask ? (unsigned int)__builtin_ctz(mask) : CHUNK_BYTES;
#else
	uint8_t found = 0;
	unsigned int nr = 0;

	memcpy(to, from, CHUNK_BYTES);
	for (int i = 0; i < CHUNK_BYTES; i++)
		found |= from[i] == 0xff;
	while (found && from[nr] != 0xff)
		nr++;
	return found ? nr : CHUNK_BYTES;
#endif
}

/*
 * Up to the end of the segment, to @to, or to the last chunk of the file: then
 * what is left goes byte by byte.
 */
static void unstuff_chunks(struct dlb_huff *huff, const uint8_t *to)
{
	const uint8_t *src = huff->src, *end = huff->src_end;
	uint8_t *fill = huff->fill;

	while (end - src > CHUNK_BYTES && fill < to) {
		unsigned int nr = copy_chunk(fill, src);

		fill += nr;
		src += nr;
		if (nr == CHUNK_BYTES)
			continue;
		/* The FF is copied already */
		if (src[1])
			break;
		fill++;
		src += 2;
	}
	huff->src = src;
	huff->fill = fill;
}

/*
 * At @huff->src is an FF.  True: it is data and was copied.  False: a marker,
 * or the file ends: the segment does.  Fill bytes (FF) may come before a
 * marker; a stuffed byte behind them is irregular, as is the end of the file.
 */
static bool take_ff(struct dlb_huff *huff)
{
	const uint8_t *p = huff->src + 1, *end = huff->src_end;

	if (p < end && *p == 0x00) {
		*huff->fill++ = 0xff;
		huff->src = p + 1;
		return true;
	}
	while (p < end && *p == 0xff)
		p++;
	huff->src = p < end ? p + 1 : end;
	huff->marker = p < end && *p ? *p : 0xff;
	return false;
}

/* Fill up to @to and some bytes more, or to the end of the segment */
static void window_unstuff(struct dlb_huff *huff, const uint8_t *to)
{
	unstuff_chunks(huff, to);
	while (huff->fill < to) {
		if (huff->src == huff->src_end) {
			huff->marker = 0xff;
			return;
		}
		if (*huff->src != 0xff)
			*huff->fill++ = *huff->src++;
		else if (!take_ff(huff))
			return;
	}
}

static void window_fill(struct dlb_huff *huff)
{
	window_unstuff(huff, huff->window + HUFF_BACK_BYTES +
			     HUFF_GUARD_BYTES + HUFF_FILL_BYTES);
	huff->limit = huff->fill - HUFF_GUARD_BYTES;
}

/* Bits of the segment that were not used; negative: used beyond its end */
static ptrdiff_t segment_left(const struct dlb_huff *huff)
{
	return (huff->fill - huff->bits.at) * 8 +
	       63 -
	       (ptrdiff_t)(huff->bits.lack & 63);
}

int dlb_huff_segment_open(struct dlb_huff *huff)
{
	huff->fill = huff->window + HUFF_BACK_BYTES;
	huff->bits = (struct huff_bits){ .at = huff->fill, .lack = 63 };
	huff->marker = 0;
	window_fill(huff);
	return 0;
}

int dlb_huff_segment_more(struct dlb_huff *huff)
{
	uint8_t *keep = (uint8_t *)huff->bits.at - HUFF_BACK_BYTES;

	if (huff->marker)
		return segment_left(huff) < 0 ? -EILSEQ : 0;
	memmove(huff->window, keep, (size_t)(huff->fill - keep));
	huff->fill -= keep - huff->window;
	huff->bits.at = huff->window + HUFF_BACK_BYTES;
	window_fill(huff);
	return 0;
}

int dlb_huff_segment_close(struct dlb_huff *huff)
{
	ptrdiff_t left;

	/* What was asked for may have ended with the last byte */
	if (!huff->marker)
		window_unstuff(huff, huff->fill + 1);
	left = segment_left(huff);
	return huff->marker && left >= 0 && left < 8 ? 0 : -EILSEQ;
}

bool dlb_huff_tail_is_clean(const struct dlb_huff *huff)
{
	const uint8_t *p = huff->src;
	uint8_t marker = huff->marker;

	/* The rows decoded may have gone beyond the end of their segment */
	if (marker && segment_left(huff) < 0)
		return false;
	while (!marker || (marker & 0xf8) == MARKER_RST0) {
		if (huff->src_end - p < 2)
			return false;
		p = memchr(p, 0xff, (size_t)(huff->src_end - p) - 1);
		if (!p)
			return false;
		marker = *++p == 0xff ? 0 : *p;
	}
	return marker == MARKER_EOI;
}
