// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Quoting of file names for sentences, and growing arrays.  Knows nothing of
 * data sets; no locks.
 */
#include "text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A power of two; the sizes of a buffer are, too */
#define MAP_BYTES ((size_t)128 << 10)

static bool is_continuation(const char *p, size_t len_bytes, size_t i)
{
	return i < len_bytes && ((unsigned char)p[i] & 0xc0) == 0x80;
}

size_t dlb_text_utf8(const char *p, size_t len_bytes)
{
	unsigned char lead = (unsigned char)p[0];
	unsigned char second = len_bytes > 1 ? (unsigned char)p[1] : 0;
	size_t want;

	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	for (size_t i = 1; i < want; i++)
		if (!is_continuation(p, len_bytes, i))
			return 0;
	/* Overlong forms, surrogates, and what lies above U+10FFFF */
	if ((lead == 0xe0 && second < 0xa0) ||
	    (lead == 0xed && second > 0x9f) ||
	    (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
		return 0;
	return want;
}

/* Write one character of @p in its quoted form; returns its bytes in @p */
static size_t quote_one(const char *p, size_t len_bytes, char form[8])
{
	unsigned char c = (unsigned char)p[0];
	size_t n = dlb_text_utf8(p, len_bytes);

	if (c == '\\')
		memcpy(form, "\\\\", 3);
	else if (c == '\n')
		memcpy(form, "\\n", 3);
	else if (c == '\t')
		memcpy(form, "\\t", 3);
	else if (!n || c < 0x20 || c == 0x7f)
		snprintf(form, 8, "\\x%02X", c);
	else {
		memcpy(form, p, n);
		form[n] = '\0';
	}
	return n ? n : 1;
}

static size_t quoted_bytes(const char *name, size_t name_bytes)
{
	char form[8];
	size_t total = 0;

	for (size_t i = 0; i < name_bytes;) {
		i += quote_one(name + i, name_bytes - i, form);
		total += strlen(form);
	}
	return total;
}

const char *dlb_text_quote(char *buf, size_t buf_bytes, const char *name,
			   size_t name_bytes)
{
	size_t left = quoted_bytes(name, name_bytes), i = 0, at = 0;
	char form[8];

	buf[0] = '\0';
	if (buf_bytes < 8)
		return buf;
	if (left > buf_bytes - 1) {
		memcpy(buf, "...", 3);
		at = 3;
		while (left > buf_bytes - 4) {
			i += quote_one(name + i, name_bytes - i, form);
			left -= strlen(form);
		}
	}
	while (i < name_bytes) {
		i += quote_one(name + i, name_bytes - i, form);
		memcpy(buf + at, form, strlen(form));
		at += strlen(form);
	}
	buf[at] = '\0';
	return buf;
}

/*
 * Large arrays come from the system and go back to it at once: an allocator
 * may keep them for later, and the making of an index is no reason for a
 * process to stay large.
 */
static void room_free(struct dlb_buffer *buffer)
{
	if (buffer->cap_bytes >= MAP_BYTES)
		munmap(buffer->data, buffer->cap_bytes);
	else
		free(buffer->data);
}

static void *room_resize(struct dlb_buffer *buffer, size_t cap_bytes)
{
	void *room;

	if (cap_bytes < MAP_BYTES)
		return realloc(buffer->data, cap_bytes);
	room = mmap(NULL, cap_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return NULL;
	if (buffer->len_bytes)
		memcpy(room, buffer->data, buffer->len_bytes);
	room_free(buffer);
	return room;
}

void *dlb_buffer_extend(struct dlb_buffer *buffer, size_t len_bytes)
{
	size_t want, cap = buffer->cap_bytes ? buffer->cap_bytes : 256;
	void *room;

	if (__builtin_add_overflow(buffer->len_bytes, len_bytes, &want) ||
	    want > SIZE_MAX / 2)
		return NULL;
	while (cap < want)
		cap *= 2;
	if (cap != buffer->cap_bytes) {
		room = room_resize(buffer, cap);
		if (!room)
			return NULL;
		buffer->data = room;
		buffer->cap_bytes = cap;
	}
	room = buffer->data + buffer->len_bytes;
	buffer->len_bytes = want;
	return room;
}

int dlb_buffer_append(struct dlb_buffer *buffer, const void *data,
		      size_t len_bytes)
{
	void *room = dlb_buffer_extend(buffer, len_bytes);

	if (!room)
		return -ENOMEM;
	if (len_bytes)
		memcpy(room, data, len_bytes);
	return 0;
}

void dlb_buffer_free(struct dlb_buffer *buffer)
{
	room_free(buffer);
	*buffer = (struct dlb_buffer){ 0 };
}
