/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * For the tests of the entropy decoder: its answer to a file beside that of
 * jpeg_read_coefficients(), which shares no code with it.
 */
#ifndef HUFF_UTIL_H
#define HUFF_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/huff.h"

/**
 * enum verdict - What came of one file
 * @VERDICT_EQUAL: taken, coefficients equal, libjpeg has no warning
 * @VERDICT_REFUSED: not taken at its header
 * @VERDICT_BROKEN: given up in its data
 * @VERDICT_SKIPPED: too large for the test
 * @VERDICT_WRONG: a promise is broken; said on stderr
 */
enum verdict {
	VERDICT_EQUAL,
	VERDICT_REFUSED,
	VERDICT_BROKEN,
	VERDICT_SKIPPED,
	VERDICT_WRONG,
	NR_VERDICTS,
};

struct checker;

struct checker *checker_create(void);
void checker_destroy(struct checker *checker);

/*
 * @columns picks the MCU columns that are stored (0: all) and rows that are
 * dropped; those not asked for must stay untouched.
 */
enum verdict checker_run(struct checker *checker, const uint8_t *bytes,
			 size_t len, uint32_t columns);

/* Whether libjpeg warned of the last file, or gave it up */
bool checker_libjpeg_complained(const struct checker *checker);

/* The sets of instructions of this machine; NULL behind the last */
const char *checker_set(int idx);

#endif /* HUFF_UTIL_H */
