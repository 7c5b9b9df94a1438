/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (FIPS 180-4), for digests that any other tool can check. */
#ifndef DLBOOST_TOOL_SHA256_H
#define DLBOOST_TOOL_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX_BYTES 65

struct sha256 {
	uint32_t state[8];
	uint64_t nr_bytes;
	uint8_t block[64];
};

void sha256_init(struct sha256 *ctx);
void sha256_update(struct sha256 *ctx, const void *data, size_t nr_bytes);
/* Lower-case hexadecimal, NUL at the end */
void sha256_finish(struct sha256 *ctx, char hex[SHA256_HEX_BYTES]);
void sha256_hex(const void *data, size_t nr_bytes, char hex[SHA256_HEX_BYTES]);

#endif /* DLBOOST_TOOL_SHA256_H */
