// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Any bytes through the entropy decoder, beside libjpeg-turbo: what is taken
 * has libjpeg's coefficients and no complaint of libjpeg's, whichever columns
 * and rows are stored; nothing else is written.
 *
 * Input: 4 bytes of choices, then the file.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/huff/huff_util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct checker *checker;
	uint32_t columns;

	if (!checker)
		checker = checker_create();
	if (len < sizeof(columns))
		return 0;
	memcpy(&columns, data, sizeof(columns));
	/* Only the plain set is built with coverage; the other must agree */
	dlb_huff_simd_set(columns & 1 ? "c" : NULL);
	if (checker_run(checker, data + sizeof(columns), len - sizeof(columns),
			columns & 2 ? columns >> 2 : 0) == VERDICT_WRONG)
		abort();
	return 0;
}
