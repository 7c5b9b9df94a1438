/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line at the bottom of a terminal.  On anything that is no terminal it
 * draws nothing; with -v it then writes a line now and then.
 */
#ifndef DLBOOST_TOOL_PROGRESS_H
#define DLBOOST_TOOL_PROGRESS_H

#include "tool.h"

/**
 * struct progress_state - What the line tells
 * @done: things done since the start of the command
 * @total: things to do, 0 when not known
 * @skipped: of @done, done before this run (a resumed stream): not in the rate
 * @nr_bad: bad samples
 * @has_bad: whether bad samples are counted at all
 * @note: what limits the rate, or another word; NULL for none
 */
struct progress_state {
	uint64_t done;
	uint64_t total;
	uint64_t skipped;
	uint64_t nr_bad;
	bool has_bad;
	const char *note;
};

/* @what: "pictures", "headers"; @is_wanted: false for --no-progress */
void progress_start(const struct context *ctx, const char *what,
		    bool is_wanted);
/* Cheap to call for each thing done; draws at most ten times a second */
void progress_update(const struct progress_state *state);
/* Wipe the line so that something else can be printed */
void progress_hide(void);
void progress_stop(void);
/* True when the line is drawn, so that waiting must not last too long */
bool progress_is_drawn(void);

/* Formats the line for a terminal of @width columns; for progress_update() */
void progress_format(const struct progress_state *state, const char *what,
		     double seconds, unsigned int width, bool has_colour,
		     char *buf, size_t bytes);

#endif /* DLBOOST_TOOL_PROGRESS_H */
