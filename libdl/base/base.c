// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Names, sentences and the log.  The log's receiver is process-wide and set
 * before other calls run (see <dlboost/log.h>), so it needs no lock.
 */
#include "base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <dlboost/dlboost.h>

static const char *const status_names[DLBOOST_NR_STATUS] = {
	"OK", "CORRUPT", "TRUNCATED", "UNSUPPORTED", "NOT_AN_IMAGE",
	"TOO_LARGE", "IO", "TIMEOUT", "DEVICE_RESET", "REVOKED", "CANCELLED",
	"INVALID", "ACCESS", "CRC", "EXPIRED", "REMOVED", "STALE",
};

DLB_EXPORT const char *dlboost_status_name(unsigned int status)
{
	return status < DLBOOST_NR_STATUS ? status_names[status] : "UNKNOWN";
}

DLB_EXPORT const char *dlboost_version(void)
{
	return DLB_VERSION;
}

static void log_to_stderr(void *arg, unsigned int level, const char *msg)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };

	(void)arg;
	fprintf(stderr, "libdlboost: %s: %s\n", names[level], msg);
}

static struct {
	void (*fn)(void *arg, unsigned int level, const char *msg);
	void *arg;
	int max_level;		/* -1: nobody listens */
	bool is_set;
} receiver;

static void log_from_environment(void)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	const char *want = getenv("DLBOOST_LOG");

	receiver.fn = log_to_stderr;
	receiver.arg = NULL;
	receiver.max_level = -1;
	for (int i = 0; want && i < (int)ARRAY_SIZE(names); i++)
		if (!strcmp(want, names[i]))
			receiver.max_level = i;
}

__attribute__((constructor)) static void log_init(void)
{
	log_from_environment();
}

DLB_EXPORT void dlboost_log_set(void (*fn)(void *arg, unsigned int level,
					   const char *msg),
				void *arg, unsigned int max_level)
{
	if (!fn) {
		log_from_environment();
		return;
	}
	receiver.fn = fn;
	receiver.arg = arg;
	receiver.max_level = max_level > DLBOOST_LOG_DEBUG ?
			     DLBOOST_LOG_DEBUG : (int)max_level;
}

void dlb_log(unsigned int level, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if ((int)level > receiver.max_level)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	receiver.fn(receiver.arg, level, line);
}

/* Drop a UTF-8 sequence that the end of the buffer cut in two */
static void trim_utf8(char *buf, size_t len)
{
	size_t start = len;

	while (start > 0 && len - start < 3 &&
	       ((unsigned char)buf[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0)
		return;

	unsigned char lead = (unsigned char)buf[start - 1];
	size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;

	if (want > 1 && len - start + 1 < want)
		buf[start - 1] = '\0';
}

void dlb_sentence(char *buf, size_t buf_bytes, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!buf || !buf_bytes)
		return;
	va_start(ap, fmt);
	n = vsnprintf(buf, buf_bytes, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n >= buf_bytes)
		trim_utf8(buf, buf_bytes - 1);
}

#define DISTANCE_MAX_LEN 31

/* Optimal string alignment distance (swap of neighbours counts one) */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned char d[3][DISTANCE_MAX_LEN + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > DISTANCE_MAX_LEN || lb > DISTANCE_MAX_LEN)
		return DISTANCE_MAX_LEN;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned char)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned char *cur = d[i % 3], *up = d[(i - 1) % 3];

		cur[0] = (unsigned char)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1u < best)
				best = up[j] + 1u;
			if (cur[j - 1] + 1u < best)
				best = cur[j - 1] + 1u;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] &&
			    d[(i - 2) % 3][j - 2] + 1u < best)
				best = d[(i - 2) % 3][j - 2] + 1u;
			cur[j] = (unsigned char)best;
		}
	}
	return d[la % 3][lb];
}

const char *dlb_did_you_mean(const char *word, const char *const *names,
			     size_t nr)
{
	const char *best = NULL;
	unsigned int best_distance = 3;

	for (size_t i = 0; i < nr; i++) {
		unsigned int distance = edit_distance(word, names[i]);

		if (distance < best_distance) {
			best_distance = distance;
			best = names[i];
		}
	}
	return best;
}

int dlb_parse_options(const char *text,
		      int (*set)(void *arg, const char *key, const char *value),
		      void *arg)
{
	_cleanup_free_ char *copy = strdup(text ? text : "");
	char *next = copy;

	if (!copy)
		return -ENOMEM;
	while (next && *next) {
		char *item = strsep(&next, ",");
		char *value = strchr(item, '=');
		int ret;

		if (value)
			*value++ = '\0';
		ret = set(arg, item, value ? value : "");
		if (ret)
			return ret;
	}
	return 0;
}
