// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Reading a manifest: one sample a line, in the order of the lines.  Takes any
 * bytes; a line that does not obey is refused with its number and column, never
 * guessed at.  Holds one piece of the file and the declared classes in memory.
 * No locks: one thread.  Documentation/datasets.rst, "Manifests".
 */
#include "stream/listing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define PIECE_BYTES 262144
/* An escaped path of 4095 bytes, and three numbers */
#define MAX_LINE_BYTES 32768
#define QUOTE_BYTES 300
#define CLASS_LINE "#class\t"
#define CLASS_LINE_BYTES (sizeof(CLASS_LINE) - 1)

/**
 * struct declared - A "#class" line
 * @label: the label it names
 * @name_bytes: length of the name
 * @name_offset: of the name in struct manifest.names
 * @line: where it stands
 */
struct declared {
	uint32_t label;
	uint32_t name_bytes;
	size_t name_offset;
	uint64_t line;
};

/**
 * struct manifest - A manifest being read
 * @listing: where samples and sentences go
 * @line: number of the line in hand, from 1
 * @line_start: its first byte
 * @declared: struct declared, sorted from the first sample on
 * @names: names of classes
 * @has_samples: a sample was read
 * @name: path of the sample in hand, unescaped
 */
struct manifest {
	struct dlb_listing *listing;
	uint64_t line;
	const char *line_start;
	struct dlb_buffer declared;
	struct dlb_buffer names;
	bool has_samples;
	char name[DLB_INDEX_NAME_BYTES];
};

/* "train.tsv, line 3, column 7: no label"; returns -EINVAL */
static int fail_at(struct manifest *m, const char *at, const char *what)
{
	struct dlb_listing *listing = m->listing;
	char quoted[QUOTE_BYTES];

	dlb_text_quote(quoted, sizeof(quoted), listing->path,
		       strlen(listing->path));
	dlb_sentence(listing->error, listing->error_bytes,
		     "%s, line %llu, column %llu: %s", quoted,
		     (unsigned long long)m->line,
		     (unsigned long long)(at - m->line_start) + 1, what);
	return -EINVAL;
}

static int fail_errno(struct dlb_listing *listing, int err, const char *what)
{
	char quoted[QUOTE_BYTES];

	dlb_text_quote(quoted, sizeof(quoted), listing->path,
		       strlen(listing->path));
	dlb_sentence(listing->error, listing->error_bytes, "%s: %s", quoted,
		     what ? what : strerror(err));
	return -err;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character behind a backslash at @p; its bytes, or 0 for no escape */
static size_t unescape_one(const char *p, size_t len_bytes, char *out)
{
	int high, low;

	if (len_bytes < 2)
		return 0;
	switch (p[1]) {
	case 't':
		*out = '\t';
		return 2;
	case 'n':
		*out = '\n';
		return 2;
	case '\\':
		*out = '\\';
		return 2;
	case 'x':
		high = len_bytes < 4 ? -1 : hex_digit(p[2]);
		low = len_bytes < 4 ? -1 : hex_digit(p[3]);
		if (high < 0 || low < 0 || !(high | low))
			return 0;
		*out = (char)(high * 16 + low);
		return 4;
	default:
		return 0;
	}
}

/* The name from @p to @end, as bytes, into m->name */
static int take_name(struct manifest *m, const char *p, const char *end,
		     size_t *name_bytes)
{
	size_t len = 0;

	if (p == end)
		return fail_at(m, p, "an empty name");
	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((stop ? stop : end) - p), n;

		if (len + plain + (stop != NULL) >= sizeof(m->name))
			return fail_at(m, p, "a name longer than 4095 bytes");
		memcpy(m->name + len, p, plain);
		len += plain;
		p += plain;
		if (!stop)
			break;
		n = unescape_one(p, (size_t)(end - p), &m->name[len]);
		if (!n)
			return fail_at(m, p,
				       "a backslash that begins none of \\t, \\n, \\\\, \\xHH (not \\x00)");
		len++;
		p += n;
	}
	m->name[len] = '\0';
	*name_bytes = len;
	return 0;
}

/* Digits alone, up to @max */
static int take_number(struct manifest *m, const char *p, const char *end,
		       uint64_t max, uint64_t *out, const char *what)
{
	uint64_t n = 0;

	if (p == end)
		return fail_at(m, p, what);
	for (; p < end; p++) {
		unsigned int digit = (unsigned char)*p - '0';

		if (digit > 9)
			return fail_at(m, p, what);
		if (n > (max - digit) / 10)
			return fail_at(m, p, "the number is too large");
		n = n * 10 + digit;
	}
	*out = n;
	return 0;
}

static int take_label(struct manifest *m, const char *p, const char *end,
		      int32_t *label)
{
	uint64_t n = 0;
	int ret;

	if (end - p == 2 && p[0] == '-' && p[1] == '1') {
		*label = -1;
		return 0;
	}
	ret = take_number(m, p, end, INT32_MAX, &n,
			  "the label is no number (-1 for none, or 0 to 2147483647)");
	*label = (int32_t)n;
	return ret;
}

static const char *field_end(const char *p, const char *end)
{
	const char *tab = memchr(p, '\t', (size_t)(end - p));

	return tab ? tab : end;
}

static int declared_compare(const void *a, const void *b)
{
	const struct declared *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Hand the declared classes to the writer, before its first sample */
static int declared_close(struct manifest *m)
{
	struct declared *all = (struct declared *)m->declared.data;
	size_t nr = m->declared.len_bytes / sizeof(*all);
	int ret = 0;

	if (nr)
		qsort(all, nr, sizeof(*all), declared_compare);
	for (size_t i = 0; i < nr && !ret; i++) {
		if (i && all[i].label == all[i - 1].label) {
			m->line = all[i].line;
			return fail_at(m, m->line_start,
				       "this class was declared before");
		}
		ret = dlb_index_writer_name_class(m->listing->writer,
						  all[i].label,
						  m->names.data +
						  all[i].name_offset,
						  all[i].name_bytes);
	}
	return ret;
}

/* Where classes are declared, all that occur must be */
static bool label_is_declared(const struct manifest *m, int32_t label)
{
	const struct declared *all = (const struct declared *)m->declared.data;
	size_t low = 0, high = m->declared.len_bytes / sizeof(*all);

	if (!high || label < 0)
		return true;
	/* Nearly always 0, 1, 2, ... without a gap */
	if ((size_t)label < high && all[label].label == (uint32_t)label)
		return true;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (all[mid].label < (uint32_t)label)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->declared.len_bytes / sizeof(*all) &&
	       all[low].label == (uint32_t)label;
}

static int take_class(struct manifest *m, const char *p, const char *end)
{
	const char *stop = field_end(p, end);
	struct declared class = {
		.name_offset = m->names.len_bytes,
		.line = m->line,
	};
	uint64_t label = 0;
	size_t name_bytes;
	int ret;

	if (m->has_samples)
		return fail_at(m, m->line_start,
			       "classes are declared before the first sample");
	ret = take_number(m, p, stop, INT32_MAX, &label,
			  "the class has no number (0 to 2147483647)");
	if (ret)
		return ret;
	if (stop == end)
		return fail_at(m, stop, "no name (#class TAB label TAB name)");
	ret = take_name(m, stop + 1, end, &name_bytes);
	if (ret)
		return ret;
	class.label = (uint32_t)label;
	class.name_bytes = (uint32_t)name_bytes;
	ret = dlb_buffer_append(&m->names, m->name, name_bytes);
	if (!ret)
		ret = dlb_buffer_append(&m->declared, &class, sizeof(class));
	return ret;
}

/* Offset and length behind the label, both optional */
static int take_extent(struct manifest *m, const char *p, const char *end,
		       struct dlb_index_entry *entry)
{
	const char *stop = field_end(p, end);
	uint64_t len = 0;
	int ret;

	ret = take_number(m, p, stop, INT64_MAX, &entry->offset_bytes,
			  "the offset is no number of bytes");
	if (ret || stop == end)
		return ret;
	p = stop + 1;
	stop = field_end(p, end);
	if (stop != end)
		return fail_at(m, stop,
			       "more than path, label, offset and length");
	ret = take_number(m, p, stop, INT64_MAX - entry->offset_bytes, &len,
			  "the length is no number of bytes");
	if (!ret)
		entry->len_bytes = (int64_t)len;
	return ret;
}

static int take_sample(struct manifest *m, const char *p, const char *end)
{
	const char *stop = field_end(p, end), *label = stop + 1;
	struct dlb_index_entry entry = { .name = m->name, .len_bytes = -1 };
	int ret;

	if (stop == end)
		return fail_at(m, stop,
			       "no label (one TAB between path and label, blanks do not part them)");
	ret = take_name(m, p, stop, &entry.name_bytes);
	if (ret)
		return ret;
	stop = field_end(label, end);
	ret = take_label(m, label, stop, &entry.label);
	if (!ret && stop != end)
		ret = take_extent(m, stop + 1, end, &entry);
	if (ret)
		return ret;
	if (!label_is_declared(m, entry.label))
		return fail_at(m, label, "no #class line declares this label");
	return dlb_index_writer_add(m->listing->writer, &entry);
}

static int take_line(struct manifest *m, const char *p, const char *end)
{
	const char *nul = memchr(p, '\0', (size_t)(end - p));
	int ret = 0;

	m->line_start = p;
	m->line++;
	if (m->line == 1 && end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	if (nul)
		return fail_at(m, nul, "a byte 0: this is no manifest");
	if (end > p && end[-1] == '\r')
		end--;
	if (p == end)
		return 0;
	if (*p == '#') {
		if ((size_t)(end - p) >= CLASS_LINE_BYTES &&
		    !memcmp(p, CLASS_LINE, CLASS_LINE_BYTES))
			return take_class(m, p + CLASS_LINE_BYTES, end);
		return 0;
	}
	if (!m->has_samples)
		ret = declared_close(m);
	m->has_samples = true;
	if (!ret)
		ret = take_sample(m, p, end);
	if (!ret && !(m->line % DLB_LISTING_STEP))
		ret = dlb_listing_progress(m->listing);
	return ret;
}

/* Whole lines of the piece; returns the bytes taken, or -errno */
static ssize_t take_piece(struct manifest *m, const char *piece, size_t len,
			  bool is_last)
{
	const char *p = piece, *end = piece + len;

	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		int ret;

		if (stop - p > MAX_LINE_BYTES) {
			m->line_start = p;
			m->line++;
			return fail_at(m, p + MAX_LINE_BYTES,
				       "the line is longer than 32768 bytes");
		}
		if (!newline && !is_last)
			break;
		ret = take_line(m, p, stop);
		if (ret)
			return ret;
		p = newline ? newline + 1 : end;
	}
	return p - piece;
}

static int read_pieces(struct manifest *m, int fd, char *piece)
{
	size_t held = 0;
	uint64_t offset = 0;

	for (;;) {
		ssize_t n = pread(fd, piece + held, PIECE_BYTES - held,
				  (off_t)offset), taken;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(m->listing, errno, NULL);
		offset += (uint64_t)n;
		held += (size_t)n;
		taken = take_piece(m, piece, held, n == 0);
		if (taken < 0)
			return (int)taken;
		held -= (size_t)taken;
		memmove(piece, piece + taken, held);
		if (!n)
			return 0;
	}
}

/* The same file, not written to while it was read? */
static int check_unchanged(struct manifest *m, int fd,
			   const struct stat *before)
{
	struct stat after;

	if (fstat(fd, &after))
		return fail_errno(m->listing, errno, NULL);
	if (after.st_size != before->st_size ||
	    after.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	    after.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
		return fail_errno(m->listing, EAGAIN,
				  "it was written to while it was read; try again");
	return 0;
}

static int read_all(struct manifest *m, int fd)
{
	_cleanup_free_ char *piece = malloc(PIECE_BYTES);
	struct stat before;
	int ret;

	if (!piece)
		return -ENOMEM;
	if (fstat(fd, &before))
		return fail_errno(m->listing, errno, NULL);
	ret = dlb_index_writer_stamp(m->listing->writer, &before, "");
	if (!ret)
		ret = read_pieces(m, fd, piece);
	if (!ret)
		ret = check_unchanged(m, fd, &before);
	if (!ret && !m->has_samples)
		ret = fail_errno(m->listing, ENODATA, "no sample in it");
	return ret ? ret : dlb_listing_progress(m->listing);
}

int dlb_manifest_read(struct dlb_listing *listing, int fd)
{
	struct manifest m = { .listing = listing };
	int ret = read_all(&m, fd);

	dlb_buffer_free(&m.declared);
	dlb_buffer_free(&m.names);
	return ret;
}
