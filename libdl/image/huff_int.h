/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Inside the entropy decoder: tables (huff_table.c), the window of unstuffed
 * bytes (huff_window.c), and the loops that read it (huff_core.h, once for
 * each instruction set).
 */
#ifndef DLB_IMAGE_HUFF_INT_H
#define DLB_IMAGE_HUFF_INT_H

#include "huff.h"
#include "jpeg_head.h"

#define HUFF_LOOK_BITS 10
#define HUFF_LOOK_SIZE (1u << HUFF_LOOK_BITS)
#define HUFF_MAX_CODE_BITS 16
#define HUFF_DC_SYMBOLS 16
#define HUFF_SPEC_BYTES (DLB_HUFF_COUNTS + 256)

/*
 * struct huff_code - A prefix code, for codes longer than the lookahead
 * @limit: codes of up to that length, left aligned to 16 bits, are below it
 * @offset: symbol index - code, for each length
 * @tail: length | symbol << 8 of codes beyond the lookahead, by their 16 bits
 *	from HUFF_TAIL_FROM on; 0: there is none
 */
#define HUFF_TAIL_SIZE 1024u
#define HUFF_TAIL_FROM ((1u << HUFF_MAX_CODE_BITS) - HUFF_TAIL_SIZE)

struct huff_code {
	uint8_t spec[HUFF_SPEC_BYTES];	/* as DHT has it, zero filled */
	bool is_valid;
	uint32_t limit[HUFF_MAX_CODE_BITS + 1];
	int32_t offset[HUFF_MAX_CODE_BITS + 1];
	uint16_t tail[HUFF_TAIL_SIZE];
};

/*
 * What HUFF_LOOK_BITS bits of AC codes mean, in one word:
 *
 *	 0.. 5	bits used by all of it
 *	 8..13	bits before the last symbol's value
 *	16..21	64 - bits of the last symbol's value
 *	24..31	index step to the first coefficient
 *	32..47	value of the first coefficient
 *	48..53	bits used behind the first symbol
 *	54..63	index step to the last coefficient
 *
 * An entry holds two symbols, if the first is there with its value and the
 * second with its code; else one, which then is the last alone.  The end of a
 * block is a last symbol that steps by HUFF_END.  What the lookahead does not
 * decide, and zeros without a coefficient (nothing to put), steps by
 * HUFF_SPECIAL.  Both values are stored whatever the entry holds, the last one
 * later; indexes that are none lead to the place of DC, which is stored when
 * the block is done.
 */
#define HUFF_END 128u
#define HUFF_SPECIAL 256u

struct huff_ac {
	uint64_t look[HUFF_LOOK_SIZE];
	struct huff_code code;
};

/* Bits used, bits of the code, 63 - bits of the value; 0: not decided */
#define HUFF_DC_ENTRY(len, size) \
	(((len) + (size)) | (len) << 8 | (63 - (size)) << 16)

struct huff_dc {
	uint32_t look[HUFF_LOOK_SIZE];
	struct huff_code code;
};

/* Where the coefficient of an index goes, or what only looks like one */
#define HUFF_NR_PLACES 384u
extern const uint8_t dlb_huff_place[HUFF_NR_PLACES];

void dlb_huff_ac_build(struct huff_ac *ac, const uint8_t *spec);
void dlb_huff_dc_build(struct huff_dc *dc, const uint8_t *spec);

#define HUFF_MAX_UNITS 10u
/* One MCU reads at most 10 blocks of 64 symbols of 31 bits */
#define HUFF_GUARD_BYTES (HUFF_MAX_UNITS * DLB_BLOCK_COEFS * 31 / 8 + 64)
/* Bytes kept behind the read position, to step back and to load whole words */
#define HUFF_BACK_BYTES 32u
#define HUFF_FILL_BYTES 16384u
#define HUFF_WINDOW_BYTES \
	(HUFF_BACK_BYTES + 2 * HUFF_GUARD_BYTES + HUFF_FILL_BYTES + 64)

/*
 * struct huff_bits - A read position
 * @word: the next bits, from the top; at least 63 - @lack of them
 * @at: next byte that is not in those bits
 * @lack: in its low 6 bits; what is above is of no meaning
 */
struct huff_bits {
	uint64_t word;
	const uint8_t *at;
	uint64_t lack;
};

/* A block of the MCU */
struct huff_unit {
	const struct huff_dc *dc;
	const struct huff_ac *ac;
	uint32_t component;
	uint32_t step;			/* blocks from MCU to MCU */
	uint32_t first;			/* its block in a row's first MCU */
	int16_t *blocks;		/* of the row under way */
	uint8_t *last;
};

struct dlb_huff {
	struct huff_ac ac[DLB_NR_TABLES];
	struct huff_dc dc[DLB_NR_TABLES];

	struct huff_unit units[HUFF_MAX_UNITS];
	uint32_t nr_units;
	uint32_t nr_components;
	uint32_t predictor[DLB_MAX_COMPONENTS];

	uint32_t mcu_cols, rows_left;
	uint32_t restart_interval, restart_left;
	uint8_t next_restart;		/* RST0 + it */
	bool is_broken;

	/* The file, and the window onto it */
	const uint8_t *src, *src_end;	/* next byte to unstuff */
	uint8_t marker;			/* that ended the segment; 0: not yet */
	struct huff_bits bits;
	const uint8_t *limit;		/* ask for more before an MCU beyond */
	uint8_t *fill;			/* end of what is in the window */
	uint8_t window[HUFF_WINDOW_BYTES];
};

/* A segment begins at @src: unstuff its first bytes.  0 or -EILSEQ */
int dlb_huff_segment_open(struct dlb_huff *huff);
/* Between MCUs with bits.at past limit.  0 or -EILSEQ */
int dlb_huff_segment_more(struct dlb_huff *huff);
/* The segment must be used up to less than a byte.  0 or -EILSEQ */
int dlb_huff_segment_close(struct dlb_huff *huff);

/* Decode MCUs [@mcu, @end) of the row, within one segment.  0 or -EILSEQ */
struct huff_kernels {
	const char *name;
	int (*store)(struct dlb_huff *huff, uint32_t mcu, uint32_t end);
	int (*drop)(struct dlb_huff *huff, uint32_t mcu, uint32_t end);
};

extern const struct huff_kernels dlb_huff_kernels_c;
extern const struct huff_kernels dlb_huff_kernels_bmi2;

#endif /* DLB_IMAGE_HUFF_INT_H */
