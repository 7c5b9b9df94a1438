// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Questions on standard input, answered lines on standard output: what
 * tests/golden/order_reference.py --ask and the portability test talk to.
 */
#include "order_row.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	char line[ORDER_ROW_BYTES], answered[ORDER_ROW_BYTES];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (order_row_answer(line, answered)) {
			fprintf(stderr, "order_answer: no question: %s\n",
				line);
			return 1;
		}
		puts(answered);
	}
	return fflush(stdout) || ferror(stdin);
}
