// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * SipHash-2-4-128, written from the paper ("SipHash: a fast short-input PRF",
 * Aumasson and Bernstein, 2012) and its 128-bit variant.  Pure arithmetic; the
 * result does not depend on how the input was cut into updates.
 */
#include "siphash.h"

#include <endian.h>
#include <string.h>

#define ROTL(x, n) (((x) << (n)) | ((x) >> (64 - (n))))

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = ROTL(v[1], 13) ^ v[0];
	v[3] = ROTL(v[3], 16) ^ v[2];
	v[0] = ROTL(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = ROTL(v[1], 17) ^ v[2];
	v[3] = ROTL(v[3], 21) ^ v[0];
	v[2] = ROTL(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

static inline uint64_t load_le64(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/* The @len_bytes < 8 bytes at @p as the low end of a word */
static inline uint64_t load_tail(const uint8_t *p, size_t len_bytes)
{
	uint64_t word = 0;

	for (size_t i = 0; i < len_bytes; i++)
		word |= (uint64_t)p[i] << (8 * i);
	return word;
}

void dlb_siphash_init(struct dlb_siphash *hash,
		      const uint8_t key[DLB_SIPHASH_KEY_BYTES])
{
	uint64_t k0 = load_le64(key), k1 = load_le64(key + 8);

	hash->v[0] = 0x736f6d6570736575u ^ k0;
	hash->v[1] = 0x646f72616e646f6du ^ k1 ^ 0xee;
	hash->v[2] = 0x6c7967656e657261u ^ k0;
	hash->v[3] = 0x7465646279746573u ^ k1;
	hash->tail = 0;
	hash->len_bytes = 0;
}

void dlb_siphash_update(struct dlb_siphash *hash, const void *data,
			size_t len_bytes)
{
	const uint8_t *p = data;
	unsigned int held = hash->len_bytes & 7, shift = 8 * held;
	uint64_t v[4], tail = hash->tail;

	memcpy(v, hash->v, sizeof(v));
	hash->len_bytes += len_bytes;
	for (; len_bytes >= 8; p += 8, len_bytes -= 8) {
		uint64_t word = load_le64(p);

		sip_word(v, tail | word << shift);
		tail = shift ? word >> (64 - shift) : 0;
	}
	if (len_bytes) {
		uint64_t word = load_tail(p, len_bytes);

		tail |= word << shift;
		if (held + len_bytes >= 8) {
			sip_word(v, tail);
			tail = shift ? word >> (64 - shift) : 0;
		}
	}
	memcpy(hash->v, v, sizeof(v));
	hash->tail = tail;
}

static uint64_t sip_finish(uint64_t v[4])
{
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return htole64(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

void dlb_siphash_final(struct dlb_siphash *hash,
		       uint8_t out[DLB_SIPHASH_BYTES])
{
	uint64_t half[2];

	sip_word(hash->v, hash->tail | hash->len_bytes << 56);
	hash->v[2] ^= 0xee;
	half[0] = sip_finish(hash->v);
	hash->v[1] ^= 0xdd;
	half[1] = sip_finish(hash->v);
	memcpy(out, half, sizeof(half));
}

uint64_t dlb_siphash_final_u64(struct dlb_siphash *hash)
{
	uint8_t out[DLB_SIPHASH_BYTES];

	dlb_siphash_final(hash, out);
	return load_le64(out);
}

uint64_t dlb_siphash_u64(const uint8_t key[DLB_SIPHASH_KEY_BYTES],
			 const void *data, size_t len_bytes)
{
	struct dlb_siphash hash;

	dlb_siphash_init(&hash, key);
	dlb_siphash_update(&hash, data, len_bytes);
	return dlb_siphash_final_u64(&hash);
}
