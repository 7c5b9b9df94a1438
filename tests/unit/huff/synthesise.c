// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * A writer of entropy-coded data that no encoder would write but the format
 * allows: random prefix codes, random symbols.  Shared by the tests of this
 * folder.  ITU-T T.81, annexes B, C and F.
 */
#include "make.h"

#include <stdlib.h>
#include <string.h>

struct table {
	uint8_t counts[17];
	uint8_t symbols[256];
	uint32_t nr;
	uint32_t code[256];		/* by place in @symbols */
	uint8_t len[256];
};

struct writer {
	struct file file;
	size_t room;
	uint64_t state;
	uint32_t word, nr_bits;
};

static void put(struct writer *w, uint32_t byte)
{
	if (w->file.len == w->room) {
		w->room = w->room * 2 + 1024;
		w->file.bytes = realloc(w->file.bytes, w->room);
		if (!w->file.bytes)
			abort();
	}
	w->file.bytes[w->file.len++] = (uint8_t)byte;
}

static void put16(struct writer *w, uint32_t value)
{
	put(w, value >> 8);
	put(w, value & 255);
}

static void put_bits(struct writer *w, uint32_t value, uint32_t nr)
{
	while (nr--) {
		w->word = w->word << 1 | (value >> nr & 1);
		if (++w->nr_bits < 8)
			continue;
		put(w, w->word & 255);
		if ((w->word & 255) == 255)
			put(w, 0);
		w->nr_bits = 0;
	}
}

static void put_padding(struct writer *w)
{
	while (w->nr_bits)
		put_bits(w, random_below(&w->state, 2), 1);
}

/* Lengths of a code with as many members as fit, at most @most */
static void table_lengths(struct table *t, uint32_t most, uint64_t *state)
{
	uint32_t room = 1, shortest = 1 + random_below(state, 4);

	memset(t, 0, sizeof(*t));
	for (uint32_t len = 1; len <= 16 && t->nr < most; len++) {
		uint32_t nr;

		room *= 2;
		if (len < shortest)
			continue;
		nr = len == 16 ? room : random_below(state, room / 2 + 1);
		if (nr > 255)
			nr = 255;
		if (nr > most - t->nr)
			nr = most - t->nr;
		/* No code is all ones; and longer ones must find room */
		if (nr && nr == room)
			nr--;
		memset(t->len + t->nr, (int)len, nr);
		t->counts[len] = (uint8_t)nr;
		t->nr += nr;
		room -= nr;
	}
}

static void table_make(struct table *t, uint32_t nr_symbols, uint64_t *state)
{
	uint32_t code = 0, idx = 0;

	do
		table_lengths(t, nr_symbols, state);
	while (t->nr < 2);
	for (uint32_t i = 0; i < nr_symbols; i++)
		t->symbols[i] = (uint8_t)i;
	for (uint32_t i = 0; i < nr_symbols; i++) {
		uint32_t j = i + random_below(state, nr_symbols - i);
		uint8_t symbol = t->symbols[i];

		t->symbols[i] = t->symbols[j];
		t->symbols[j] = symbol;
	}
	for (uint32_t len = 1; len <= 16; len++, code <<= 1)
		for (uint32_t i = 0; i < t->counts[len]; i++)
			t->code[idx++] = code++;
}

static void put_dht(struct writer *w, const struct table *t, uint32_t id)
{
	put16(w, 0xffc4);
	put16(w, 2 + 17 + t->nr);
	put(w, id);
	for (int i = 1; i <= 16; i++)
		put(w, t->counts[i]);
	for (uint32_t i = 0; i < t->nr; i++)
		put(w, t->symbols[i]);
}

static uint32_t put_symbol(struct writer *w, const struct table *t,
			   uint32_t idx)
{
	put_bits(w, t->code[idx], t->len[idx]);
	return t->symbols[idx];
}

static void put_value(struct writer *w, uint32_t size)
{
	put_bits(w, (uint32_t)random_next(&w->state) & ((1u << size) - 1),
		 size);
}

/* A difference that keeps the predictor within 16 bits */
static void put_dc(struct writer *w, const struct table *t, int32_t *dc)
{
	uint32_t idx, size, value;
	int32_t diff;

	for (int tries = 0;; tries++) {
		idx = random_below(&w->state, t->nr);
		size = t->symbols[idx];
		value = (uint32_t)random_next(&w->state) & ((1u << size) - 1);
		diff = (int32_t)value;
		if (size && !(value >> (size - 1)))
			diff -= (1 << size) - 1;
		if ((*dc + diff >= -32768 && *dc + diff <= 32767) ||
		    tries > 1000)
			break;
	}
	*dc += diff;
	put_symbol(w, t, idx);
	put_bits(w, value, size);
}

/* A block that no symbol can carry on ends there: given up by both decoders */
static void put_ac(struct writer *w, const struct table *t)
{
	uint32_t k = 0;

	for (int tries = 0; k < 63 && tries < 5000; tries++) {
		uint32_t idx = random_below(&w->state, t->nr);
		uint32_t symbol = t->symbols[idx], size = symbol & 15;

		if (size || symbol == 0xf0) {
			if (k + (symbol >> 4) + 1 > 63)
				continue;
			k += (symbol >> 4) + 1;
		}
		put_symbol(w, t, idx);
		put_value(w, size);
		if (!size && symbol != 0xf0)
			return;
	}
}

static void put_headers(struct writer *w, uint32_t width, uint32_t height,
			uint32_t nr, uint8_t luma)
{
	put16(w, 0xffd8);
	put16(w, 0xffdb);
	put16(w, 67);
	put(w, 0);
	for (int i = 0; i < 64; i++)
		put(w, 1 + random_below(&w->state, 255));
	put16(w, 0xffc1);
	put16(w, 8 + 3 * nr);
	put(w, 8);
	put16(w, height);
	put16(w, width);
	put(w, nr);
	for (uint32_t i = 0; i < nr; i++) {
		put(w, 10 + i);
		put(w, i ? 0x11 : luma);
		put(w, 0);
	}
}

static void put_sos(struct writer *w, uint32_t nr)
{
	put16(w, 0xffda);
	put16(w, 6 + 2 * nr);
	put(w, nr);
	for (uint32_t i = 0; i < nr; i++) {
		put(w, 10 + i);
		put(w, i ? 0x32 : 0x01);
	}
	put(w, 0);
	put(w, 63);
	put(w, 0);
}

struct file synthesise(uint64_t seed)
{
	static const uint8_t lumas[] = { 0x11, 0x22, 0x21, 0x12, 0x41, 0x42 };
	struct writer w = { .state = seed + 1 };
	struct table dc[2], ac[2];
	uint32_t width = 1 + random_below(&w.state, 60);
	uint32_t height = 1 + random_below(&w.state, 60);
	uint32_t nr = random_below(&w.state, 3) ? 3 : 1;
	uint8_t luma = lumas[random_below(&w.state, 6)];
	uint32_t h = nr == 1 ? 1 : luma >> 4, v = nr == 1 ? 1 : luma & 15;
	uint32_t mcus = ((width + 8 * h - 1) / (8 * h)) *
			((height + 8 * v - 1) / (8 * v));
	uint32_t restart = random_below(&w.state, 3) ? 0 :
			   1 + random_below(&w.state, 6);
	int32_t pred[3] = { 0 };

	put_headers(&w, width, height, nr, luma);
	for (uint32_t i = 0; i < 2; i++) {
		table_make(&dc[i], 16, &w.state);
		table_make(&ac[i], 256, &w.state);
		put_dht(&w, &dc[i], i ? 3 : 0);
		put_dht(&w, &ac[i], i ? 0x12 : 0x11);
	}
	if (restart) {
		put16(&w, 0xffdd);
		put16(&w, 4);
		put16(&w, restart);
	}
	put_sos(&w, nr);
	for (uint32_t m = 0; m < mcus; m++) {
		if (restart && m && m % restart == 0) {
			put_padding(&w);
			put16(&w, 0xffd0 + (m / restart - 1) % 8);
			memset(pred, 0, sizeof(pred));
		}
		for (uint32_t i = 0; i < nr; i++)
			for (uint32_t b = 0; b < (i ? 1 : h * v); b++) {
				put_dc(&w, &dc[i > 0], &pred[i]);
				put_ac(&w, &ac[i > 0]);
			}
	}
	put_padding(&w);
	put16(&w, 0xffd9);
	return w.file;
}
