// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promise tested: Documentation/order.rst, "Test vectors": every line of the
 * committed file, which an independent script wrote, is what the library says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "order_row.h"

static void every_vector_is_met(void **state)
{
	char line[ORDER_ROW_BYTES], answered[ORDER_ROW_BYTES];
	const char *path = getenv("DLBOOST_TEST_ORDER_VECTORS");
	unsigned int nr = 0;
	FILE *file;

	(void)state;
	assert_non_null(path);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		assert_int_equal(order_row_answer(line, answered), 0);
		assert_string_equal(answered, line);
		nr++;
	}
	fclose(file);
	assert_true(nr >= 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vector_is_met),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
