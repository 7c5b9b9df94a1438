// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Asks the library; knows no right answers.  Shared by the vector test and by
 * order_answer, which the independent script and the portability test drive.
 */
#include "order_row.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "image/draw.h"
#include "stream/order.h"

#define MAX_GIVEN 8

struct question {
	char *given[MAX_GIVEN];
	int nr_given;
	char *out;
	size_t len;
};

static void say(struct question *q, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct question *q, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	q->len += (size_t)vsnprintf(q->out + q->len, ORDER_ROW_BYTES - q->len,
				    fmt, ap);
	va_end(ap);
}

static uint64_t number(const struct question *q, int i)
{
	return strtoull(q->given[i], NULL, 10);
}

static uint64_t hex(const struct question *q, int i)
{
	return strtoull(q->given[i], NULL, 16);
}

static void answer_philox(struct question *q)
{
	uint32_t counter[4], out[4];

	for (int i = 0; i < 4; i++)
		counter[i] = (uint32_t)hex(q, i + 1);
	dlb_philox(hex(q, 0), counter, out);
	for (int i = 0; i < 4; i++)
		say(q, "\t%08" PRIx32, out[i]);
}

static void answer_word(struct question *q)
{
	say(q, "\t%08" PRIx32, dlb_draw_word(number(q, 0),
					     (uint32_t)number(q, 1),
					     number(q, 2),
					     (uint32_t)number(q, 3)));
}

static void answer_order(struct question *q)
{
	struct dlb_order *order;

	if (dlb_order_create(number(q, 0), (uint32_t)number(q, 1), number(q, 2),
			     false, &order))
		return;
	say(q, "\t%" PRIu64, dlb_order_at(order, number(q, 3)));
	dlb_order_destroy(order);
}

static void answer_substitute(struct question *q)
{
	say(q, "\t%" PRIu32,
	    dlb_substitute_member(number(q, 0), (uint32_t)number(q, 1),
				  number(q, 2), (uint32_t)number(q, 3),
				  (uint32_t)number(q, 4)));
}

static void answer_shard(struct question *q)
{
	struct dlb_shard shard = {
		.nr_samples = number(q, 0), .start = number(q, 1),
		.batch = (uint32_t)number(q, 2), .rank = (uint32_t)number(q, 3),
		.world = (uint32_t)number(q, 4),
	};
	uint64_t idx = number(q, 6);
	uint32_t count;

	shard.tail = !strcmp(q->given[5], "drop") ? DLBOOST_TAIL_DROP :
		     !strcmp(q->given[5], "pad") ? DLBOOST_TAIL_PAD :
						   DLBOOST_TAIL_PARTIAL;
	count = dlb_shard_batch_count(&shard, idx);
	say(q, "\t%" PRIu64 "\t%" PRIu32 "\t%s", dlb_shard_nr_batches(&shard),
	    count, count ? "" : "-");
	for (uint32_t i = 0; i < count; i++) {
		bool is_duplicate;
		uint64_t position = dlb_shard_position(&shard, idx, i,
						       &is_duplicate);

		say(q, "%s%" PRIu64 "%s", i ? "," : "", position,
		    is_duplicate ? "*" : "");
	}
}

static void answer_log(struct question *q)
{
	uint32_t bits = (uint32_t)hex(q, 0);
	uint64_t out;
	double y;
	float x;

	memcpy(&x, &bits, sizeof(x));
	y = dlb_draw_log(x);
	memcpy(&out, &y, sizeof(out));
	say(q, "\t%016" PRIx64, out);
}

static void answer_exp(struct question *q)
{
	uint64_t bits = hex(q, 0);
	double x;

	memcpy(&x, &bits, sizeof(x));
	x = dlb_draw_exp(x);
	memcpy(&bits, &x, sizeof(bits));
	say(q, "\t%016" PRIx64, bits);
}

static void answer_draw(struct question *q)
{
	struct dlboost_geometry g;
	struct dlboost_recipe *recipe;

	if (dlboost_recipe_parse(q->given[0], NULL, 0, &recipe))
		return;
	if (!dlboost_recipe_draw(recipe, (uint32_t)number(q, 1),
				 (uint32_t)number(q, 2), number(q, 3),
				 (uint32_t)number(q, 4), number(q, 5), &g))
		say(q, "\t%u\t%u\t%u\t%u\t%u\t%u\t%d\t%d\t%u\t%u\t%u", g.crop_x,
		    g.crop_y, g.crop_w, g.crop_h, g.resize_w, g.resize_h,
		    g.window_x, g.window_y, g.window_w, g.window_h, g.flip);
	dlboost_recipe_destroy(recipe);
}

static const struct {
	const char *kind;
	int nr_given;
	void (*answer)(struct question *q);
} kinds[] = {
	{ "philox", 5, answer_philox },
	{ "word", 4, answer_word },
	{ "order", 4, answer_order },
	{ "substitute", 5, answer_substitute },
	{ "shard", 7, answer_shard },
	{ "log", 1, answer_log },
	{ "exp", 1, answer_exp },
	{ "draw", 6, answer_draw },
};

int order_row_answer(const char *line, char out[ORDER_ROW_BYTES])
{
	struct question q = { .out = out };
	char copy[ORDER_ROW_BYTES], *next = copy, *part;
	const char *kind;

	snprintf(copy, sizeof(copy), "%s", line);
	kind = strsep(&next, "\t");
	say(&q, "%s", kind);
	while ((part = strsep(&next, "\t")) && strcmp(part, "=") &&
	       q.nr_given < MAX_GIVEN) {
		say(&q, "\t%s", part);
		q.given[q.nr_given++] = part;
	}
	say(&q, "\t=");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i].kind) ||
		    q.nr_given != kinds[i].nr_given)
			continue;
		kinds[i].answer(&q);
		return 0;
	}
	return -1;
}
