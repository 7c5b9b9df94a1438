// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The library's own messages, in a program's own log.
 */
#include <stdio.h>

#include <dlboost/dlboost.h>

static void to_our_log(void *arg, unsigned int level, const char *msg)
{
	fprintf(arg, "<%u> dlboost: %s\n", level, msg);
}

int main(void)
{
	dlboost_log_set(to_our_log, stderr, DLBOOST_LOG_INFO);
	printf("libdlboost %s, status 2 is %s\n", dlboost_version(),
	       dlboost_status_name(DLBOOST_STATUS_TRUNCATED));
	return 0;
}
