// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises: the hash is SipHash-2-4-128, and does not depend on how its input
 * was cut.  The expected values are those of OpenSSL 3:
 *   openssl mac -macopt hexkey:000102030405060708090a0b0c0d0e0f \
 *	-macopt size:16 -in FILE SIPHASH
 * for a file of the bytes 0, 1, 2, ...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stream/siphash.h"

static const struct {
	size_t len_bytes;
	const char *hex;
} vectors[] = {
	{ 0, "a3817f04ba25a8e66df67214c7550293" },
	{ 1, "da87c1d86b99af44347659119b22fc45" },
	{ 7, "a1f1ebbed8dbc153c0b84aa61ff08239" },
	{ 8, "3b62a9ba6258f5610f83e264f31497b4" },
	{ 9, "264499060ad9baabc47f8b02bb6d71ed" },
	{ 15, "5493e99933b0a8117e08ec0f97cfc3d9" },
	{ 16, "6ee2a4ca67b054bbfd3315bf85230577" },
	{ 31, "2939b0183223fafc1723de4f52c43d35" },
	{ 63, "5150d1772f50834a503e069a973fbd7c" },
};

static void counting_bytes(uint8_t *buf, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++)
		buf[i] = (uint8_t)i;
}

static void to_hex(struct dlb_siphash *hash, char hex[33])
{
	uint8_t out[DLB_SIPHASH_BYTES];

	dlb_siphash_final(hash, out);
	for (int i = 0; i < DLB_SIPHASH_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", out[i]);
}

static void equals_openssl(void **state)
{
	uint8_t key[DLB_SIPHASH_KEY_BYTES], data[64];

	(void)state;
	counting_bytes(key, sizeof(key));
	counting_bytes(data, sizeof(data));
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct dlb_siphash hash;
		char hex[33];

		dlb_siphash_init(&hash, key);
		dlb_siphash_update(&hash, data, vectors[i].len_bytes);
		to_hex(&hash, hex);
		assert_string_equal(hex, vectors[i].hex);
	}
}

static void does_not_depend_on_cuts(void **state)
{
	uint8_t key[DLB_SIPHASH_KEY_BYTES], data[63];

	(void)state;
	counting_bytes(key, sizeof(key));
	counting_bytes(data, sizeof(data));
	for (size_t a = 0; a <= sizeof(data); a++) {
		for (size_t b = a; b <= sizeof(data); b++) {
			struct dlb_siphash hash;
			char hex[33];

			dlb_siphash_init(&hash, key);
			dlb_siphash_update(&hash, data, a);
			dlb_siphash_update(&hash, data + a, b - a);
			dlb_siphash_update(&hash, data + b, sizeof(data) - b);
			to_hex(&hash, hex);
			assert_string_equal(hex, vectors[8].hex);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_openssl),
		cmocka_unit_test(does_not_depend_on_cuts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
