// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SIGINT, SIGTERM and SIGHUP end a command in order: the handler sets a flag
 * and calls one async-signal-safe hook; the command writes what it has to
 * write and the process then ends by that same signal, so that a shell or a
 * scheduler sees what happened.  A second signal kills at once.
 */
#include "tool.h"

#include <signal.h>

static volatile sig_atomic_t caught;
static void (*volatile stop_hook)(void);

static void signals_handle(int signo)
{
	void (*hook)(void) = stop_hook;

	caught = signo;
	if (hook)
		hook();
}

void signals_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = signals_handle }, old;

	sigemptyset(&action.sa_mask);
	action.sa_flags = (int)SA_RESETHAND;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		/* What nohup or a shell's "&" asked to be ignored stays so */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void signals_set_hook(void (*hook)(void))
{
	stop_hook = hook;
}

int signals_caught(void)
{
	return caught;
}

void signals_finish(void)
{
	int signo = caught;

	if (!signo)
		return;
	signal(signo, SIG_DFL);
	raise(signo);
}
