// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Diagnostics and figures as people read them.  Everything that is not ours
 * (file names, library sentences) passes text_escape() on its way to a
 * terminal, so that a file name can neither move the cursor nor fake a line.
 * Knows no command.  No locks: only the main thread prints.
 */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "progress.h"

size_t text_utf8_length(const unsigned char *s)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		     s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		     s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/* C0 and C1 control characters and DEL */
static bool is_control(const unsigned char *s, size_t len)
{
	return (len == 1 && (s[0] < 0x20 || s[0] == 0x7f)) ||
	       (len == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

char *text_escape(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char *out = malloc(4 * strlen(text) + 1), *p = out;

	while (out && *s) {
		size_t len = text_utf8_length(s);

		if (*s == '\n') {
			p += sprintf(p, "\\n");
			s++;
		} else if (!len || is_control(s, len)) {
			p += sprintf(p, "\\x%02x", *s++);
		} else {
			memcpy(p, s, len);
			p += len;
			s += len;
		}
	}
	if (out)
		*p = '\0';
	return out;
}

void text_print_escaped(FILE *file, const char *text)
{
	char *escaped = text_escape(text);

	fputs(escaped ? escaped : "?", file);
	free(escaped);
}

TOOL_PRINTF(1, 0)
static void msg_print(const char *fmt, va_list ap)
{
	char *line = NULL;

	progress_hide();
	if (vasprintf(&line, fmt, ap) >= 0) {
		fputs("dlboost: ", stderr);
		text_print_escaped(stderr, line);
		fputc('\n', stderr);
	}
	free(line);
}

void msg_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	msg_print(fmt, ap);
	va_end(ap);
}

void msg_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	msg_print(fmt, ap);
	va_end(ap);
}

int exit_from_error(int error)
{
	switch (error < 0 ? -error : error) {
	case ENODEV:
	case ENXIO:
		return TOOL_NO_DEVICE;
	case EACCES:
	case EPERM:
		return TOOL_NO_PERMISSION;
	case EDQUOT:
		return TOOL_PARTLY;
	default:
		return TOOL_FAILED;
	}
}

char *figure_count(char buf[FIGURE_BYTES], uint64_t count)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu",
			   (unsigned long long)count);
	char *p = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

char *figure_bytes(char buf[FIGURE_BYTES], uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(buf, FIGURE_BYTES, "%u bytes", (unsigned int)bytes);
		return buf;
	}
	for (; value >= 1023.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	snprintf(buf, FIGURE_BYTES, value < 99.5 ? "%.1f %s" : "%.0f %s", value,
		 units[unit]);
	return buf;
}

char *figure_duration(char buf[FIGURE_BYTES], double seconds)
{
	uint64_t whole = seconds > 0 ? (uint64_t)(seconds + 0.5) : 0;

	if (seconds < 0.0995)
		snprintf(buf, FIGURE_BYTES, "%.1f ms", seconds * 1e3);
	else if (seconds < 59.95)
		snprintf(buf, FIGURE_BYTES, "%.1f s", seconds);
	else if (whole < 3600)
		snprintf(buf, FIGURE_BYTES, "%u:%02u min",
			 (unsigned int)(whole / 60), (unsigned int)(whole % 60));
	else
		snprintf(buf, FIGURE_BYTES, "%u:%02u:%02u h",
			 (unsigned int)(whole / 3600),
			 (unsigned int)(whole / 60 % 60),
			 (unsigned int)(whole % 60));
	return buf;
}

#define WORD_MAX 31

/* Optimal string alignment: a swap of neighbours counts one */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[3][WORD_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= lb; j++)
		row[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int *cur = row[i % 3], *up = row[(i - 1) % 3];

		cur[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int best = up[j - 1] + (a[i - 1] != b[j - 1]);

			best = up[j] + 1 < best ? up[j] + 1 : best;
			best = cur[j - 1] + 1 < best ? cur[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] &&
			    row[(i - 2) % 3][j - 2] + 1 < best)
				best = row[(i - 2) % 3][j - 2] + 1;
			cur[j] = best;
		}
	}
	return row[la % 3][lb];
}

const char *text_did_you_mean(const char *word, const char *const *names,
			      size_t nr)
{
	size_t len = strlen(word);
	unsigned int best_distance = len < 3 ? 2 : 3;
	const char *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		unsigned int distance = edit_distance(word, names[i]);

		/* "verif" is the beginning of "verify", however short */
		if (len >= 3 && !strncmp(word, names[i], len))
			distance = 1;
		if (distance < best_distance) {
			best_distance = distance;
			best = names[i];
		}
	}
	return best;
}

int stdout_finish(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	msg_error("standard output: %s", strerror(errno ? errno : EIO));
	return code ? code : TOOL_FAILED;
}
