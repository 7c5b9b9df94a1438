/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Files for the tests of the entropy decoder: from libjpeg's encoder, and from
 * a writer of entropy-coded data with tables and symbols no encoder uses.
 */
#ifndef HUFF_MAKE_H
#define HUFF_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file {
	uint8_t *bytes;			/* free() it */
	size_t len;
};

enum content {
	CONTENT_NOISE,
	CONTENT_SMOOTH,
	CONTENT_EDGES,
	CONTENT_FLAT,
	NR_CONTENTS,
};

struct encoding {
	uint32_t width, height;
	int components;			/* 1, 3 or 4 */
	uint8_t sampling[4];		/* high nibble horizontal */
	int quality;
	int restart;			/* MCUs */
	bool is_optimised;
	enum content content;
	uint64_t seed;
};

uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t n);

/* Any legal encoding, small */
struct encoding random_encoding(uint64_t *state);
struct file encode(const struct encoding *how);

/*
 * One interleaved scan of random symbols in random prefix codes: codes up to 16
 * bits, runs of zeros before the end, symbols that sequential coding has no
 * use for, values of up to 15 bits.
 */
struct file synthesise(uint64_t seed);

#endif /* HUFF_MAKE_H */
