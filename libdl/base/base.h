/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Small things every part of the library uses: error sentences, log, clock,
 * cleanup.  Knows no other folder.
 */
#ifndef DLB_BASE_BASE_H
#define DLB_BASE_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DLB_EXPORT __attribute__((visibility("default")))
#define DLB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* One sentence into a caller's buffer, cut at a UTF-8 boundary; @buf may be NULL */
void dlb_sentence(char *buf, size_t buf_bytes, const char *fmt, ...)
	DLB_PRINTF(3, 4);

/* The message is made only when somebody listens at @level */
void dlb_log(unsigned int level, const char *fmt, ...) DLB_PRINTF(2, 3);

static inline uint64_t dlb_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Edit distance at most 2 (for "did you mean"): best of @names, or NULL */
const char *dlb_did_you_mean(const char *word, const char *const *names,
			     size_t nr);

/* "key=value,key=value": calls @set for each; stops at its first failure */
int dlb_parse_options(const char *text,
		      int (*set)(void *arg, const char *key, const char *value),
		      void *arg);

static inline void dlb_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void dlb_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_ __attribute__((cleanup(dlb_cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(dlb_cleanup_close)))

#endif /* DLB_BASE_BASE_H */
