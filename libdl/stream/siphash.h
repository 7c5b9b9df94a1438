/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * SipHash-2-4 with 128 bits of output, as published by Aumasson and Bernstein:
 * the fingerprint of a data set and the checksums of its index.
 */
#ifndef DLB_STREAM_SIPHASH_H
#define DLB_STREAM_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define DLB_SIPHASH_KEY_BYTES 16
#define DLB_SIPHASH_BYTES 16

/**
 * struct dlb_siphash - A hash under way
 * @v: state
 * @tail: bytes not yet mixed in, from the low end
 * @len_bytes: bytes taken so far
 */
struct dlb_siphash {
	uint64_t v[4];
	uint64_t tail;
	uint64_t len_bytes;
};

void dlb_siphash_init(struct dlb_siphash *hash,
		      const uint8_t key[DLB_SIPHASH_KEY_BYTES]);
void dlb_siphash_update(struct dlb_siphash *hash, const void *data,
			size_t len_bytes);
void dlb_siphash_final(struct dlb_siphash *hash,
		       uint8_t out[DLB_SIPHASH_BYTES]);

/* The same, cut to its first 8 bytes, read as a little-endian number */
uint64_t dlb_siphash_final_u64(struct dlb_siphash *hash);
/* The whole of it at once */
uint64_t dlb_siphash_u64(const uint8_t key[DLB_SIPHASH_KEY_BYTES],
			 const void *data, size_t len_bytes);

#endif /* DLB_STREAM_SIPHASH_H */
