// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * State documents as text.  One table of keys serves writing, reading and
 * comparing.  The reader takes hostile text: it reads nothing past the NUL or
 * DLB_STATE_MAX_BYTES, allocates nothing, and takes every key exactly once.
 * Pure functions, no locks; what a state means for a stream is not known here.  Documentation/order.rst, "State documents".
 */
#include "state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/base.h"
#include "order.h"

#define FIRST_WORD	"dlboost-state "
#define FORMAT_NR	"1"
#define FIRST_LINE	FIRST_WORD FORMAT_NR
#define CHECKSUM_KEY	"checksum"

enum field_kind {
	FIELD_NUMBER,	/* uint32_t or uint64_t, decimal */
	FIELD_WORD,	/* uint32_t, index into @words */
	FIELD_TEXT,	/* char array, percent-encoded */
};

struct field {
	const char *key;
	enum field_kind kind;
	uint16_t offset;
	uint16_t bytes;
	bool may_differ;	/* between the ranks of one stream */
	uint64_t min, max;
	const char *words[4];
};

#define MEMBER(m) offsetof(struct dlb_state, m), \
		  sizeof(((struct dlb_state *)NULL)->m)

static const struct field fields[] = {
	{ "order", FIELD_NUMBER, MEMBER(order_version), false,
	  DLB_ORDER_VERSION, DLB_ORDER_VERSION },
	{ "fingerprint", FIELD_TEXT, MEMBER(fingerprint) },
	{ "samples", FIELD_NUMBER, MEMBER(nr_samples), false, 1, INT64_MAX },
	{ "seed", FIELD_NUMBER, MEMBER(seed), false, 0, UINT64_MAX },
	{ "augment-seed", FIELD_NUMBER, MEMBER(augment_seed), false, 0,
	  UINT64_MAX },
	{ "epoch", FIELD_NUMBER, MEMBER(epoch), true, 0, UINT32_MAX },
	{ "position", FIELD_NUMBER, MEMBER(position), true, 0, INT64_MAX },
	{ "rank", FIELD_NUMBER, MEMBER(rank), true, 0, UINT32_MAX - 1 },
	{ "world", FIELD_NUMBER, MEMBER(world), false, 1, UINT32_MAX },
	{ "batch", FIELD_NUMBER, MEMBER(batch), false, 1, UINT32_MAX },
	{ "tail", FIELD_WORD, MEMBER(tail), false, 0, 0,
	  { "partial", "drop", "pad" } },
	{ "shuffle", FIELD_WORD, MEMBER(no_shuffle), false, 0, 0,
	  { "yes", "no" } },
	{ "bad-samples", FIELD_NUMBER, MEMBER(bad_samples), true, 0,
	  UINT64_MAX },
	{ "profile", FIELD_TEXT, MEMBER(profile) },
	{ "recipe", FIELD_TEXT, MEMBER(recipe) },
	{ "decoder", FIELD_TEXT, MEMBER(decoder), true },
};

/* A text escaped throughout takes three bytes for one */
_Static_assert(3 * (DLBOOST_FINGERPRINT_BYTES + 16 + 512 + 64) +
	       ARRAY_SIZE(fields) * 40 + 64 < DLB_STATE_MAX_BYTES,
	       "every state fits DLB_STATE_MAX_BYTES");

static uint64_t load_number(const struct dlb_state *state,
			    const struct field *field)
{
	const void *p = (const char *)state + field->offset;

	return field->bytes == sizeof(uint64_t) ? *(const uint64_t *)p :
						  *(const uint32_t *)p;
}

static void store_number(struct dlb_state *state, const struct field *field,
			 uint64_t value)
{
	void *p = (char *)state + field->offset;

	if (field->bytes == sizeof(uint64_t))
		*(uint64_t *)p = value;
	else
		*(uint32_t *)p = (uint32_t)value;
}

/* FNV-1a: finds damage and edits, keeps out nobody */
static uint64_t checksum(const char *text, size_t len)
{
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (uint8_t)text[i]) * 0x100000001b3u;
	return sum;
}

struct writer {
	char text[DLB_STATE_MAX_BYTES];
	size_t len;
};

static void put(struct writer *w, const char *fmt, ...) DLB_PRINTF(2, 3);

static void put(struct writer *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	w->len += (size_t)vsnprintf(w->text + w->len,
				    sizeof(w->text) - w->len, fmt, ap);
	va_end(ap);
}

static bool is_plain(char c)
{
	return c > ' ' && c <= '~' && c != '%';
}

/* Spaces stay readable inside a value; at its ends an editor would drop them */
static void put_text(struct writer *w, const char *text, size_t max_bytes)
{
	size_t len = strnlen(text, max_bytes - 1);

	for (size_t i = 0; i < len; i++) {
		bool is_inner = i > 0 && i + 1 < len;

		if (is_plain(text[i]) || (text[i] == ' ' && is_inner))
			put(w, "%c", text[i]);
		else
			put(w, "%%%02X", (unsigned int)(uint8_t)text[i]);
	}
}

size_t dlb_state_format(const struct dlb_state *state, char *buf,
			size_t buf_bytes)
{
	struct writer w = { .len = 0 };

	put(&w, "%s\n", FIRST_LINE);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *field = &fields[i];

		put(&w, "%s: ", field->key);
		if (field->kind == FIELD_NUMBER)
			put(&w, "%" PRIu64, load_number(state, field));
		else if (field->kind == FIELD_WORD)
			put(&w, "%s", field->words[load_number(state, field)]);
		else
			put_text(&w, (const char *)state + field->offset,
				 field->bytes);
		put(&w, "\n");
	}
	put(&w, "%s: %016" PRIx64 "\n", CHECKSUM_KEY, checksum(w.text, w.len));
	if (buf_bytes)
		snprintf(buf, buf_bytes, "%s", w.text);
	return w.len + 1;
}

struct reader {
	const char *text;
	size_t len, at;
	unsigned int line_nr;
	const char *line;	/* not terminated */
	size_t line_len;
	uint32_t seen;		/* a bit for each of fields[] */
	struct dlb_state state;
	char *error;
	size_t error_bytes;
};

static int refuse(struct reader *r, const char *fmt, ...) DLB_PRINTF(2, 3);

static int refuse(struct reader *r, const char *fmt, ...)
{
	char reason[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	dlb_sentence(r->error, r->error_bytes, "state document, line %u: %s",
		     r->line_nr, reason);
	return -EINVAL;
}

/* Part of a hostile line, fit to be printed */
struct excerpt {
	char text[41];
};

static struct excerpt excerpt(const char *bytes, size_t len)
{
	struct excerpt e = { "" };

	for (size_t i = 0; i < len && i < sizeof(e.text) - 1; i++)
		e.text[i] = is_plain(bytes[i]) ? bytes[i] : '?';
	return e;
}

static bool next_line(struct reader *r)
{
	const char *end;

	if (r->at == r->len)
		return false;
	r->line = r->text + r->at;
	end = memchr(r->line, '\n', r->len - r->at);
	r->line_len = end ? (size_t)(end - r->line) : r->len - r->at;
	r->at += r->line_len + (end != NULL);
	r->line_nr++;
	return true;
}

/* Decimal without a leading zero, so that there is one way to write it */
static bool parse_number(const char *value, size_t len, uint64_t *out)
{
	uint64_t number = 0;

	if (!len || (value[0] == '0' && len > 1))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (value[i] < '0' || value[i] > '9' ||
		    __builtin_mul_overflow(number, 10u, &number) ||
		    __builtin_add_overflow(number, (uint8_t)(value[i] - '0'),
					   &number))
			return false;
	}
	*out = number;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_text(const char *value, size_t len, char *out,
		       size_t out_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = value[i];

		if (c == '%') {
			bool is_whole = len - i > 2;
			int high = is_whole ? hex_digit(value[i + 1]) : -1;
			int low = is_whole ? hex_digit(value[i + 2]) : -1;

			if (high < 0 || low < 0 || (!high && !low))
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (!is_plain(c) && c != ' ') {
			return false;
		}
		if (n + 1 >= out_bytes)
			return false;
		out[n++] = c;
	}
	memset(out + n, 0, out_bytes - n);
	return true;
}

static int parse_value(struct reader *r, const struct field *field,
		       const char *value, size_t len)
{
	struct excerpt shown = excerpt(value, len);
	uint64_t number;

	switch (field->kind) {
	case FIELD_NUMBER:
		if (!parse_number(value, len, &number) || number < field->min ||
		    number > field->max)
			return refuse(r, "%s is \"%s\", which is no number from %" PRIu64 " to %" PRIu64,
				      field->key, shown.text, field->min,
				      field->max);
		store_number(&r->state, field, number);
		return 0;
	case FIELD_WORD:
		for (number = 0; field->words[number]; number++) {
			const char *word = field->words[number];

			if (strlen(word) != len || memcmp(word, value, len))
				continue;
			store_number(&r->state, field, number);
			return 0;
		}
		return refuse(r, "%s is \"%s\", which this version does not know",
			      field->key, shown.text);
	case FIELD_TEXT:
		if (!parse_text(value, len, (char *)&r->state + field->offset,
				field->bytes))
			return refuse(r, "%s is longer than %u bytes or not escaped as %%XX",
				      field->key, field->bytes - 1u);
		return 0;
	}
	return -EINVAL;
}

static int parse_field(struct reader *r, size_t key_len)
{
	const char *value = r->line + key_len + 2;
	size_t len = r->line_len - key_len - 2;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *key = fields[i].key;

		if (strlen(key) != key_len || memcmp(key, r->line, key_len))
			continue;
		if (r->seen & (1u << i))
			return refuse(r, "%s is there twice", key);
		r->seen |= 1u << i;
		return parse_value(r, &fields[i], value, len);
	}
	return refuse(r, "unknown key \"%s\"",
		      excerpt(r->line, key_len).text);
}

/* The last line: covers all bytes before it */
static int parse_checksum(struct reader *r, size_t value_at)
{
	char wanted[17];

	snprintf(wanted, sizeof(wanted), "%016" PRIx64,
		 checksum(r->text, (size_t)(r->line - r->text)));
	if (r->line_len - value_at != strlen(wanted) ||
	    memcmp(r->line + value_at, wanted, strlen(wanted)))
		return refuse(r, "the checksum is not that of the text above: the document was damaged or edited");
	if (next_line(r))
		return refuse(r, "something follows the checksum");
	return 0;
}

static int parse_first_line(struct reader *r)
{
	static const size_t word_len = sizeof(FIRST_WORD) - 1;

	if (!next_line(r)) {
		r->line_nr = 1;
		return refuse(r, "the document is empty");
	}
	if (r->line_len == strlen(FIRST_LINE) &&
	    !memcmp(r->line, FIRST_LINE, r->line_len))
		return 0;
	if (r->line_len > word_len && !memcmp(r->line, FIRST_WORD, word_len))
		return refuse(r, "format \"%s\" is not known; this version reads \"%s\"",
			      excerpt(r->line + word_len,
				      r->line_len - word_len).text,
			      FORMAT_NR);
	return refuse(r, "not a state document, which begins with \"%s\"",
		      FIRST_LINE);
}

static int parse_lines(struct reader *r)
{
	while (next_line(r)) {
		const char *colon = memchr(r->line, ':', r->line_len);
		size_t key_len = colon ? (size_t)(colon - r->line) : 0;
		int ret;

		if (!colon || key_len + 1 >= r->line_len || colon[1] != ' ')
			return refuse(r, "\"%s\" is not \"key: value\"",
				      excerpt(r->line, r->line_len).text);
		if (key_len == strlen(CHECKSUM_KEY) &&
		    !memcmp(r->line, CHECKSUM_KEY, key_len))
			return parse_checksum(r, key_len + 2);
		ret = parse_field(r, key_len);
		if (ret)
			return ret;
	}
	return refuse(r, "the document ends without its checksum: its end is missing");
}

static int check_whole(struct reader *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!(r->seen & (1u << i)))
			return refuse(r, "the document has no %s",
				      fields[i].key);
	if (r->state.position > r->state.nr_samples)
		return refuse(r, "position %" PRIu64 " is past the end of %" PRIu64 " samples",
			      r->state.position, r->state.nr_samples);
	if (r->state.rank >= r->state.world)
		return refuse(r, "rank %u does not exist in a world of %u",
			      r->state.rank, r->state.world);
	return 0;
}

int dlb_state_parse(const char *text, struct dlb_state *out, char *error,
		    size_t error_bytes)
{
	struct reader r = {
		.text = text, .error = error, .error_bytes = error_bytes,
	};
	int ret;

	r.len = strnlen(text, DLB_STATE_MAX_BYTES + 1);
	if (r.len > DLB_STATE_MAX_BYTES) {
		dlb_sentence(error, error_bytes,
			     "state document: longer than %d bytes, so it is none",
			     DLB_STATE_MAX_BYTES);
		return -EINVAL;
	}
	ret = parse_first_line(&r);
	if (!ret)
		ret = parse_lines(&r);
	if (!ret)
		ret = check_whole(&r);
	if (!ret)
		*out = r.state;
	return ret;
}

static bool do_states_agree(const struct dlb_state *a,
			    const struct dlb_state *b,
			    const struct field *field)
{
	const char *pa = (const char *)a + field->offset;
	const char *pb = (const char *)b + field->offset;

	if (field->kind == FIELD_TEXT)
		return !strncmp(pa, pb, field->bytes);
	return load_number(a, field) == load_number(b, field);
}

const char *dlb_state_difference(const struct dlb_state *a,
				 const struct dlb_state *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!fields[i].may_differ && !do_states_agree(a, b, &fields[i]))
			return fields[i].key;
	return NULL;
}
