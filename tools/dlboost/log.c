// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The library's messages: warnings and errors are for everybody, and an error
 * makes the command fail.  Called from any thread, so it knows nothing of the
 * progress line but how to wipe it.
 */
#include "tool.h"

#include <stdatomic.h>
#include <string.h>

static atomic_bool has_errors;

static void log_show(void *arg, unsigned int level, const char *msg)
{
	static const char *const marks[] = { "", "warning: ", "info: ",
					     "debug: " };
	char *escaped = text_escape(msg);

	(void)arg;
	if (level == DLBOOST_LOG_ERROR)
		atomic_store(&has_errors, true);
	fprintf(stderr, "%sdlboost: %s%s\n",
		isatty(STDERR_FILENO) ? "\r\033[K" : "",
		level < ARRAY_SIZE(marks) ? marks[level] : "",
		escaped ? escaped : msg);
	free(escaped);
}

void log_install(void)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	const char *wanted = getenv("DLBOOST_LOG");
	unsigned int level = DLBOOST_LOG_WARN;

	for (unsigned int i = 0; wanted && i < ARRAY_SIZE(names); i++)
		if (!strcmp(wanted, names[i]))
			level = i;
	dlboost_log_set(log_show, NULL, level);
}

bool log_has_errors(void)
{
	return atomic_load(&has_errors);
}
