// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The progress line.  Fields leave from the right as a terminal gets narrower,
 * so that it never wraps; colour only on a terminal and not with NO_COLOR.
 * Main thread only.
 */
#include "progress.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#define REDRAW_NS 100000000ull
#define LOG_NS 5000000000ull
#define LINE_BYTES 512
#define BAR_MAX 40
#define BAR_MIN 8

static struct {
	const char *what;
	bool is_drawn;		/* a terminal, and wanted */
	bool is_logged;		/* no terminal, -v */
	bool is_visible;	/* the line stands on the terminal now */
	bool has_colour;
	uint64_t start_ns;
	uint64_t last_ns;
	double rate;		/* things a second, smoothed; 0: not yet known */
	uint64_t rate_done;
	uint64_t rate_ns;
} line;

void progress_start(const struct context *ctx, const char *what,
		    bool is_wanted)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	bool is_tty = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));

	memset(&line, 0, sizeof(line));
	line.what = what;
	line.is_drawn = is_tty && is_wanted;
	line.is_logged = !is_tty && is_wanted && ctx->is_verbose;
	line.has_colour = !(no_colour && *no_colour);
	line.start_ns = now_ns();
	line.last_ns = line.start_ns;
	line.rate_ns = line.start_ns;
}

bool progress_is_drawn(void)
{
	return line.is_drawn || line.is_logged;
}

static unsigned int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	if (columns && atoi(columns) > 0)
		return (unsigned int)atoi(columns);
	return 80;
}

/* A line under construction: bytes and the columns they take */
struct builder {
	char *buf;
	size_t bytes;
	size_t len;
	unsigned int columns;
	unsigned int width;
};

/* Append if it still fits, plain ASCII; true when it did */
static bool append(struct builder *b, const char *colour, const char *fmt, ...)
	TOOL_PRINTF(3, 4);
static bool append(struct builder *b, const char *colour, const char *fmt, ...)
{
	char text[160];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(text) ||
	    b->columns + (unsigned int)n > b->width ||
	    b->len + (size_t)n + 16 > b->bytes)
		return false;
	b->len += (size_t)sprintf(b->buf + b->len, "%s%s%s", colour, text,
				  *colour ? "\033[0m" : "");
	b->columns += (unsigned int)n;
	return true;
}

static void append_bar(struct builder *b, double share, unsigned int columns)
{
	char bar[BAR_MAX + 1];
	unsigned int inner = columns - 3 > BAR_MAX ? BAR_MAX : columns - 3;
	unsigned int full = (unsigned int)(share * inner);

	memset(bar, '.', inner);
	memset(bar, '#', full > inner ? inner : full);
	bar[inner] = '\0';
	append(b, "", "[%s] ", bar);
}

static double overall_rate(const struct progress_state *state, double seconds)
{
	uint64_t done = state->done - state->skipped;

	return seconds > 0 ? (double)done / seconds : 0;
}

/* "2,310/s", "12.3/s", "0.21/s" */
static void format_rate(char *buf, double rate)
{
	if (rate >= 99.5)
		figure_count(buf, (uint64_t)(rate + 0.5));
	else
		snprintf(buf, FIGURE_BYTES, rate < 9.95 ? "%.2f" : "%.1f",
			 rate);
}

static void append_eta(struct builder *b, const struct progress_state *state,
		       double rate)
{
	double left = (double)(state->total - state->done);
	uint64_t seconds;

	if (!state->total || state->done > state->total || rate <= 0)
		return;
	if (left / rate > 99.0 * 3600) {
		append(b, "", "  ETA > 99 h");
		return;
	}
	seconds = (uint64_t)(left / rate + 0.5);
	if (seconds < 3600)
		append(b, "", "  ETA %u:%02u", (unsigned int)(seconds / 60),
		       (unsigned int)(seconds % 60));
	else
		append(b, "", "  ETA %u:%02u:%02u",
		       (unsigned int)(seconds / 3600),
		       (unsigned int)(seconds / 60 % 60),
		       (unsigned int)(seconds % 60));
}

static void append_fields(struct builder *b, const struct progress_state *state,
			  const char *what, double rate, bool has_colour)
{
	char count[FIGURE_BYTES], figure[FIGURE_BYTES];

	if (state->total) {
		double percent = 100.0 * (double)state->done /
				 (double)state->total;

		/* 100 % is the end and nothing before it */
		append(b, "", "%3u %%", percent > 100 ? 100 :
		       (unsigned int)percent);
	} else {
		append(b, "", "%s", figure_count(count, state->done));
	}
	format_rate(figure, rate);
	append(b, "", "  %s/s", figure);
	append_eta(b, state, rate);
	if (state->has_bad && state->nr_bad)
		append(b, has_colour ? "\033[33m" : "", "  %s bad",
		       figure_count(count, state->nr_bad));
	else if (state->has_bad)
		append(b, "", "  0 bad");
	if (state->note)
		append(b, "", "  %s", state->note);
	append(b, "", "  %s %s", figure_count(count, state->done), what);
}

void progress_format(const struct progress_state *state, const char *what,
		     double seconds, unsigned int width, bool has_colour,
		     char *buf, size_t bytes)
{
	double rate = line.rate > 0 ? line.rate : overall_rate(state, seconds);
	char fields[LINE_BYTES];
	struct builder tail = { fields, sizeof(fields), 0, 0, width };
	struct builder b = { buf, bytes, 0, 0, width };

	fields[0] = '\0';
	buf[0] = '\0';
	append_fields(&tail, state, what, rate, has_colour);
	if (state->total && width >= tail.columns + BAR_MIN + 3)
		append_bar(&b, (double)state->done / (double)state->total,
			   width - tail.columns);
	snprintf(buf + b.len, bytes - b.len, "%s", fields);
}

/* Rate over the last second or so, so that a stall shows and an ETA follows */
static void rate_update(const struct progress_state *state, uint64_t now)
{
	double seconds = (double)(now - line.rate_ns) / 1e9, fresh, weight;

	if (seconds < 0.5)
		return;
	fresh = (double)(state->done - line.rate_done) / seconds;
	weight = line.rate > 0 ? seconds / (seconds + 4) : 1;
	if (line.rate_done >= state->skipped && line.rate_done)
		line.rate += weight * (fresh - line.rate);
	line.rate_done = state->done;
	line.rate_ns = now;
}

void progress_update(const struct progress_state *state)
{
	uint64_t now = now_ns();
	char buf[LINE_BYTES];

	if (!progress_is_drawn() ||
	    now - line.last_ns < (line.is_drawn ? REDRAW_NS : LOG_NS))
		return;
	line.last_ns = now;
	rate_update(state, now);
	progress_format(state, line.what, (double)(now - line.start_ns) / 1e9,
			line.is_drawn ? terminal_width() - 1 : 120,
			line.is_drawn && line.has_colour, buf, sizeof(buf));
	if (line.is_drawn)
		fprintf(stderr, "\r%s\033[K", buf);
	else
		fprintf(stderr, "dlboost: %s\n", buf);
	fflush(stderr);
	line.is_visible = line.is_drawn;
}

void progress_hide(void)
{
	if (!line.is_visible)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line.is_visible = false;
	/* Back again with the next update, whenever it comes */
	line.last_ns = 0;
}

void progress_stop(void)
{
	progress_hide();
	memset(&line, 0, sizeof(line));
}
