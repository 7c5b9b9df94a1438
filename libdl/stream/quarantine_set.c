// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Quarantine lists as text and as a set.  Pure: no files, no locks.  The text
 * may be hostile.  Documentation/errors.rst, "Quarantine list".
 */
#include "quarantine.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <dlboost/status.h>

#include "../base/base.h"
#include "siphash.h"
#include "text.h"

#define MAX_PATH_BYTES 4352
#define FIRST_TABLE_ENTRIES 64

void dlb_quarantine_set_fini(struct dlb_quarantine_set *set)
{
	free(set->entries);
	free(set->table);
	free(set->bytes);
	memset(set, 0, sizeof(*set));
}

static uint64_t hash_of(const char *path, size_t path_bytes,
			uint64_t offset_bytes, int64_t len_bytes)
{
	static const uint8_t key[DLB_SIPHASH_KEY_BYTES] = { 'q' };
	struct dlb_siphash h;

	dlb_siphash_init(&h, key);
	dlb_siphash_update(&h, &offset_bytes, sizeof(offset_bytes));
	dlb_siphash_update(&h, &len_bytes, sizeof(len_bytes));
	dlb_siphash_update(&h, path, path_bytes);
	return dlb_siphash_final_u64(&h);
}

/* Where the entry is in the table, or the free place where it would go */
static size_t place_of(const struct dlb_quarantine_set *set, const char *path,
		       size_t path_bytes, uint64_t offset_bytes,
		       int64_t len_bytes)
{
	size_t mask = set->table_entries - 1;
	size_t at = hash_of(path, path_bytes, offset_bytes, len_bytes) & mask;

	for (; set->table[at]; at = (at + 1) & mask) {
		const struct dlb_quarantine_entry *e =
			&set->entries[set->table[at] - 1];

		if (e->path_bytes == path_bytes &&
		    e->offset_bytes == offset_bytes &&
		    e->len_bytes == len_bytes &&
		    !memcmp(set->bytes + e->path_offset, path, path_bytes))
			break;
	}
	return at;
}

const struct dlb_quarantine_entry *
dlb_quarantine_set_find(const struct dlb_quarantine_set *set, const char *path,
			uint64_t offset_bytes, int64_t len_bytes)
{
	size_t at;

	if (!set->nr)
		return NULL;
	at = place_of(set, path, strlen(path), offset_bytes, len_bytes);
	return set->table[at] ? &set->entries[set->table[at] - 1] : NULL;
}

static int grow_table(struct dlb_quarantine_set *set)
{
	size_t entries = set->table_entries ? set->table_entries * 2 :
					      FIRST_TABLE_ENTRIES;
	uint32_t *table;

	if (set->nr * 2 < set->table_entries)
		return 0;
	table = calloc(entries, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(set->table);
	set->table = table;
	set->table_entries = entries;
	for (size_t i = 0; i < set->nr; i++) {
		const struct dlb_quarantine_entry *e = &set->entries[i];

		table[place_of(set, set->bytes + e->path_offset, e->path_bytes,
			       e->offset_bytes, e->len_bytes)] =
			(uint32_t)(i + 1);
	}
	return 0;
}

static int reserve(void **p, size_t *cap, size_t want, size_t unit)
{
	size_t n = *cap ? *cap * 2 : 64;
	void *grown;

	if (want <= *cap)
		return 0;
	if (n < want)
		n = want;
	grown = realloc(*p, n * unit);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = n;
	return 0;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int dlb_quarantine_set_add(struct dlb_quarantine_set *set, const char *path,
			   const struct dlb_quarantine_entry *entry)
{
	size_t path_bytes = strlen(path);
	struct dlb_quarantine_entry *e;
	size_t at;

	if (set->used_bytes + path_bytes + 1 > DLB_QUARANTINE_MAX_BYTES)
		return -EFBIG;
	if (grow_table(set))
		return -ENOMEM;
	at = place_of(set, path, path_bytes, entry->offset_bytes,
		      entry->len_bytes);
	if (set->table[at]) {
		e = &set->entries[set->table[at] - 1];
		e->count = add_capped(e->count, entry->count);
		e->status = entry->status;
		return 0;
	}
	if (reserve((void **)&set->entries, &set->cap, set->nr + 1,
		    sizeof(*set->entries)) ||
	    reserve((void **)&set->bytes, &set->cap_bytes,
		    set->used_bytes + path_bytes + 1, 1))
		return -ENOMEM;
	e = &set->entries[set->nr];
	*e = *entry;
	e->path_offset = set->used_bytes;
	e->path_bytes = (uint32_t)path_bytes;
	memcpy(set->bytes + set->used_bytes, path, path_bytes + 1);
	set->used_bytes += path_bytes + 1;
	set->table[at] = (uint32_t)++set->nr;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* One character of an escaped name; bytes used, 0 when malformed */
static size_t unescape_one(const char *p, size_t len, char *out)
{
	int high, low;

	*out = p[0];
	if (p[0] != '\\')
		return p[0] ? 1 : 0;
	if (len < 2)
		return 0;
	switch (p[1]) {
	case '\\':
		*out = '\\';
		return 2;
	case 'n':
		*out = '\n';
		return 2;
	case 't':
		*out = '\t';
		return 2;
	case 'x':
		if (len < 4)
			return 0;
		high = hex_digit(p[2]);
		low = hex_digit(p[3]);
		if (high < 0 || low < 0 || !(high | low))
			return 0;
		*out = (char)(high << 4 | low);
		return 4;
	default:
		return 0;
	}
}

static bool parse_path(const char *p, size_t len, char path[MAX_PATH_BYTES])
{
	size_t used = 0;

	while (len) {
		size_t n;

		if (used + 1 >= MAX_PATH_BYTES)
			return false;
		n = unescape_one(p, len, &path[used++]);
		if (!n)
			return false;
		p += n;
		len -= n;
	}
	path[used] = '\0';
	return used > 0;
}

static bool parse_status(const char *p, size_t len, uint32_t *out)
{
	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++) {
		const char *name = dlboost_status_name(i);

		if (strlen(name) == len && !memcmp(name, p, len)) {
			*out = i;
			return true;
		}
	}
	return false;
}

static bool parse_count(const char *p, size_t len, uint64_t *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9' ||
		    n > (UINT64_MAX - (uint64_t)(p[i] - '0')) / 10)
			return false;
		n = n * 10 + (uint64_t)(p[i] - '0');
	}
	*out = n;
	return len > 0;
}

struct field {
	const char *p;
	size_t len;
};

/* Split at tabs; the number of fields, or @max + 1 when there are more */
static unsigned int split(const char *line, size_t len, struct field *fields,
			  unsigned int max)
{
	const char *end = line + len;
	unsigned int nr = 0;

	for (;;) {
		const char *tab = memchr(line, '\t', (size_t)(end - line));

		if (nr == max)
			return max + 1;
		fields[nr].p = line;
		fields[nr++].len = (size_t)((tab ? tab : end) - line);
		if (!tab)
			return nr;
		line = tab + 1;
	}
}

static const char *parse_line(const char *line, size_t len,
			      struct dlb_quarantine_entry *e,
			      char path[MAX_PATH_BYTES])
{
	struct field f[5] = { 0 };
	unsigned int nr = split(line, len, f, 5);
	uint64_t n = 0;

	*e = (struct dlb_quarantine_entry){ .len_bytes = -1 };
	if (nr != 3 && nr != 5)
		return "has neither 3 nor 5 fields";
	if (!parse_path(f[0].p, f[0].len, path))
		return "has a malformed path";
	if (!parse_status(f[1].p, f[1].len, &e->status))
		return "has an unknown status";
	if (!parse_count(f[2].p, f[2].len, &e->count))
		return "has a malformed count";
	if (nr == 3)
		return NULL;
	if (!parse_count(f[3].p, f[3].len, &e->offset_bytes))
		return "has a malformed offset";
	if (f[4].len == 1 && f[4].p[0] == '-')
		return NULL;
	if (!parse_count(f[4].p, f[4].len, &n) || n > INT64_MAX)
		return "has a malformed length";
	e->len_bytes = (int64_t)n;
	return NULL;
}

int dlb_quarantine_parse(const char *text, size_t len_bytes,
			 struct dlb_quarantine_set *set, char *error,
			 size_t error_bytes)
{
	const char *end = text + len_bytes;
	unsigned long long line_nr = 0;
	char path[MAX_PATH_BYTES];

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((eol ? eol : end) - text);
		struct dlb_quarantine_entry entry;
		const char *wrong;
		int ret;

		line_nr++;
		if (len && text[0] != '#') {
			wrong = parse_line(text, len, &entry, path);
			if (wrong) {
				dlb_sentence(error, error_bytes,
					     "line %llu %s", line_nr, wrong);
				return -EINVAL;
			}
			ret = dlb_quarantine_set_add(set, path, &entry);
			if (ret) {
				dlb_sentence(error, error_bytes,
					     "line %llu: the list is too large",
					     line_nr);
				return ret;
			}
		}
		text += len + 1;
	}
	return 0;
}

int dlb_quarantine_print(const struct dlb_quarantine_set *set, FILE *f)
{
	char quoted[4 * MAX_PATH_BYTES + 8];

	errno = 0;
	fputs("# dlboost quarantine: path, status, times met[, offset, length]\n",
	      f);
	for (size_t i = 0; i < set->nr; i++) {
		const struct dlb_quarantine_entry *e = &set->entries[i];

		dlb_text_quote(quoted, sizeof(quoted),
			       set->bytes + e->path_offset, e->path_bytes);
		/* A comment's mark at the start of a name */
		if (quoted[0] == '#')
			fprintf(f, "\\x23%s", quoted + 1);
		else
			fputs(quoted, f);
		fprintf(f, "\t%s\t%" PRIu64, dlboost_status_name(e->status),
			e->count);
		if (e->offset_bytes || e->len_bytes >= 0)
			fprintf(f, "\t%" PRIu64, e->offset_bytes);
		if (e->len_bytes >= 0)
			fprintf(f, "\t%" PRId64, e->len_bytes);
		else if (e->offset_bytes)
			fputs("\t-", f);
		fputc('\n', f);
	}
	if (!fflush(f) && !ferror(f))
		return 0;
	return errno ? -errno : -EIO;
}
