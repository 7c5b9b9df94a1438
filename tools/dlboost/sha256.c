// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SHA-256 after FIPS 180-4: plain C, and the SHA instructions of x86 where the
 * CPU has them (a digest over float batches would otherwise cost more than the
 * decoding).  Chosen over a faster hash because sha256sum and every language's
 * standard library can check it.  Used for identity, not for secrets.
 */
#include "sha256.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t x, unsigned int by)
{
	return x >> by | x << (32 - by);
}

static uint32_t load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void expand_words(uint32_t w[64], const uint8_t *block)
{
	for (int t = 0; t < 16; t++)
		w[t] = load_be32(block + 4 * t);
	for (int t = 16; t < 64; t++) {
		uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^
			      w[t - 15] >> 3;
		uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^
			      w[t - 2] >> 10;

		w[t] = w[t - 16] + s0 + w[t - 7] + s1;
	}
}

static void blocks_c(uint32_t state[8], const uint8_t *data, size_t nr_blocks)
{
	for (; nr_blocks; nr_blocks--, data += 64) {
		uint32_t w[64], v[8];

		expand_words(w, data);
		memcpy(v, state, sizeof(v));
		for (int t = 0; t < 64; t++) {
			uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^
				      rotate(v[4], 25);
			uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^
				      rotate(v[0], 22);
			uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^
				      (~v[4] & v[6])) + round_constants[t] +
				      w[t];
			uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^
				      (v[1] & v[2]));

			memmove(v + 1, v, 7 * sizeof(v[0]));
			v[4] += t1;
			v[0] = t1 + t2;
		}
		for (int i = 0; i < 8; i++)
			state[i] += v[i];
	}
}

#if defined(__x86_64__)
/* Two registers hold the state as (A,B,E,F) and (C,D,G,H), high word first */
__attribute__((target("sha,sse4.1,ssse3")))
static void block_rounds_ni(__m128i *abef, __m128i *cdgh, __m128i m[4])
{
	for (int i = 0; i < 16; i++) {
		__m128i k = _mm_loadu_si128((const __m128i *)
					    &round_constants[4 * i]);
		__m128i wk = _mm_add_epi32(m[i & 3], k);

		*cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
		*abef = _mm_sha256rnds2_epu32(*abef, *cdgh,
					      _mm_shuffle_epi32(wk, 0x0e));
		if (i >= 12)
			continue;
		/* Words t + 16 .. t + 19 take the place of t .. t + 3 */
		m[i & 3] = _mm_sha256msg1_epu32(m[i & 3], m[(i + 1) & 3]);
		m[i & 3] = _mm_add_epi32(m[i & 3],
					 _mm_alignr_epi8(m[(i + 3) & 3],
							 m[(i + 2) & 3], 4));
		m[i & 3] = _mm_sha256msg2_epu32(m[i & 3], m[(i + 3) & 3]);
	}
}

__attribute__((target("sha,sse4.1,ssse3")))
static void blocks_ni(uint32_t state[8], const uint8_t *data, size_t nr_blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bll,
					    0x0405060700010203ll);
	__m128i abef = _mm_set_epi32((int)state[0], (int)state[1],
				     (int)state[4], (int)state[5]);
	__m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3],
				     (int)state[6], (int)state[7]);
	uint32_t out[4];

	for (; nr_blocks; nr_blocks--, data += 64) {
		__m128i abef_in = abef, cdgh_in = cdgh, m[4];

		for (int i = 0; i < 4; i++)
			m[i] = _mm_shuffle_epi8(_mm_loadu_si128(
				(const __m128i *)(data + 16 * i)), swap);
		block_rounds_ni(&abef, &cdgh, m);
		abef = _mm_add_epi32(abef, abef_in);
		cdgh = _mm_add_epi32(cdgh, cdgh_in);
	}
	_mm_storeu_si128((__m128i *)out, abef);
	state[5] = out[0];
	state[4] = out[1];
	state[1] = out[2];
	state[0] = out[3];
	_mm_storeu_si128((__m128i *)out, cdgh);
	state[7] = out[0];
	state[6] = out[1];
	state[3] = out[2];
	state[2] = out[3];
}

static int cpu_has_sha(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) ||
	    !(c & bit_SSSE3))
		return 0;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}
#endif

static void blocks(uint32_t state[8], const uint8_t *data, size_t nr_blocks)
{
#if defined(__x86_64__)
	static int has_sha = -1;

	if (has_sha < 0)
		has_sha = cpu_has_sha();
	if (has_sha) {
		blocks_ni(state, data, nr_blocks);
		return;
	}
#endif
	blocks_c(state, data, nr_blocks);
}

void sha256_init(struct sha256 *ctx)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(ctx->state, start, sizeof(start));
	ctx->nr_bytes = 0;
}

void sha256_update(struct sha256 *ctx, const void *data, size_t nr_bytes)
{
	const uint8_t *p = data;
	size_t used = ctx->nr_bytes % 64, room = 64 - used;

	if (!nr_bytes)
		return;
	ctx->nr_bytes += nr_bytes;
	if (used && nr_bytes >= room) {
		memcpy(ctx->block + used, p, room);
		blocks(ctx->state, ctx->block, 1);
		p += room;
		nr_bytes -= room;
		used = 0;
	}
	if (!used) {
		blocks(ctx->state, p, nr_bytes / 64);
		p += nr_bytes / 64 * 64;
		nr_bytes %= 64;
	}
	memcpy(ctx->block + used, p, nr_bytes);
}

void sha256_finish(struct sha256 *ctx, char hex[SHA256_HEX_BYTES])
{
	static const uint8_t padding[64] = { 0x80 };
	uint64_t nr_bits = ctx->nr_bytes * 8;
	size_t used = ctx->nr_bytes % 64;
	uint8_t length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(nr_bits >> (56 - 8 * i));
	sha256_update(ctx, padding, used < 56 ? 56 - used : 120 - used);
	sha256_update(ctx, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", ctx->state[i]);
}

void sha256_hex(const void *data, size_t nr_bytes, char hex[SHA256_HEX_BYTES])
{
	struct sha256 ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, data, nr_bytes);
	sha256_finish(&ctx, hex);
}
