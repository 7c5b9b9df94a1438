/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Names of files inside sentences, and growing arrays: the two small helpers
 * that all of the data set code shares.
 */
#ifndef DLB_STREAM_TEXT_H
#define DLB_STREAM_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Make a name of any bytes fit for a sentence: control characters, backslashes
 * and bytes that are no UTF-8 become \n, \t, \\ or \xHH; what does not fit
 * @buf_bytes is cut from the left, behind "...".  Returns @buf.
 */
const char *dlb_text_quote(char *buf, size_t buf_bytes, const char *name,
			   size_t name_bytes);

/* Length of the UTF-8 sequence at @p (1..4), 0 when it is none */
size_t dlb_text_utf8(const char *p, size_t len_bytes);

/**
 * struct dlb_buffer - Bytes that grow; all zero is an empty one
 * @data: the bytes
 * @len_bytes: bytes in use
 * @cap_bytes: bytes allocated
 */
struct dlb_buffer {
	char *data;
	size_t len_bytes;
	size_t cap_bytes;
};

/* Room for @len_bytes more at the end, in use from now on; NULL: no memory */
void *dlb_buffer_extend(struct dlb_buffer *buffer, size_t len_bytes);
/* 0 or -ENOMEM */
int dlb_buffer_append(struct dlb_buffer *buffer, const void *data,
		      size_t len_bytes);
void dlb_buffer_free(struct dlb_buffer *buffer);

#endif /* DLB_STREAM_TEXT_H */
