/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Diagnostics.  The library writes to nothing by itself unless DLBOOST_LOG is
 * set in the environment (error, warn, info, debug), then to stderr.
 */
#ifndef DLBOOST_LOG_H
#define DLBOOST_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum dlboost_log_level - How much a message matters
 * @DLBOOST_LOG_ERROR: something asked for was not done
 * @DLBOOST_LOG_WARN: done, but not as well as it should be
 * @DLBOOST_LOG_INFO: once at a start or an end
 * @DLBOOST_LOG_DEBUG: for those who look for a fault
 *
 * Since: 0.1
 */
enum dlboost_log_level {
	DLBOOST_LOG_ERROR = 0,
	DLBOOST_LOG_WARN = 1,
	DLBOOST_LOG_INFO = 2,
	DLBOOST_LOG_DEBUG = 3,
};

/**
 * dlboost_log_set() - Receive the library's messages
 * @fn: called with level and one line without a newline, from any thread;
 *	NULL restores the default
 * @arg: first argument of @fn
 * @max_level: messages above it are not made
 *
 * Since: 0.1
 *
 * Context: Not while other calls of the library run.
 */
void dlboost_log_set(void (*fn)(void *arg, unsigned int level, const char *msg),
		     void *arg, unsigned int max_level);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_LOG_H */
