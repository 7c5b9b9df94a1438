/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * One question about order version 1 and its answer, as a line of
 * tests/golden/order-v1.tsv: kind, what is given, "=", what comes out.
 */
#ifndef TESTS_UNIT_ORDER_ROW_H
#define TESTS_UNIT_ORDER_ROW_H

#include <stddef.h>

#define ORDER_ROW_BYTES 4096

/*
 * Answer the question at the head of @line (what follows "=" is not looked at)
 * and write the whole line to @out, without a newline.  0, or -1 for a question
 * that is none.
 */
int order_row_answer(const char *line, char out[ORDER_ROW_BYTES]);

#endif /* TESTS_UNIT_ORDER_ROW_H */
