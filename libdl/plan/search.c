// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Local search: single pieces of work and single messages are moved, and a
 * worse order is accepted while the search is young (threshold accepting,
 * Dueck and Scheuer 1990).  As long as no order is below the memory cap, worse
 * means more memory, then more time.  Its budget is a number of moves and its
 * randomness a fixed sequence: the same plan on every machine.
 * Documentation/planning.rst, "Policies".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "policy.h"

/* Nodes visited in all; most and fewest moves that follow from it */
#define DEFAULT_VISITS	40000000
#define MAX_MOVES	20000
#define MIN_MOVES	500
/* One move of so many lets the links follow by themselves */
#define RELINK_MOVES	8
/* How often the best order is taken up again */
#define NR_ROUNDS	4
/* First threshold of round 0, as a part of the period; then half as much */
#define THRESHOLD_PART	8

/**
 * struct search - One search
 * @draft: where the best order goes
 * @now: the order at hand
 * @value: of @now: its period, or its peak while none is below the cap
 * @place: where each item stands in @now
 * @random: state of the generator
 * @cap_bytes: memory cap, or UINT64_MAX
 */
struct search {
	struct dlb_draft *draft;
	struct dlb_turns now;
	uint64_t value;
	uint32_t *place;
	uint64_t random;
	uint64_t cap_bytes;
};

/* SplitMix64 (S. Vigna's public domain generator) */
static uint32_t random_below(struct search *s, uint32_t n)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)(((z >> 32) * n) >> 32);
}

static void find_places(struct search *s)
{
	for (uint32_t i = 0; i < s->draft->net.nr_work; i++)
		s->place[s->now.items[i]] = i;
}

static void move_entry(uint32_t *list, uint32_t from, uint32_t to)
{
	uint32_t entry = list[from];

	if (from < to)
		memmove(list + from, list + from + 1,
			(to - from) * sizeof(*list));
	else
		memmove(list + to + 1, list + to, (from - to) * sizeof(*list));
	list[to] = entry;
}

static uint32_t stream_at(const struct dlb_turns *turns, uint32_t at)
{
	uint32_t s = 0;

	while (at >= turns->first[s + 1])
		s++;
	return s;
}

/* Where the item at @at may stand, given its neighbours in the same stream */
static void find_range(const struct search *s, uint32_t at, uint32_t *low,
		       uint32_t *high)
{
	const struct dlb_net *net = &s->draft->net;
	uint32_t node = s->now.items[at], stream = stream_at(&s->now, at);

	*low = s->now.first[stream];
	*high = s->now.first[stream + 1] - 1;
	for (uint32_t i = net->before.first[node];
	     i < net->before.first[node + 1]; i++) {
		uint32_t other = net->before.entries[i];

		if (other < net->first_message && s->place[other] < at &&
		    s->place[other] >= *low)
			*low = s->place[other] + 1;
	}
	for (uint32_t i = net->next.first[node];
	     i < net->next.first[node + 1]; i++) {
		uint32_t other = net->next.entries[i];

		if (other < net->first_message && s->place[other] > at &&
		    s->place[other] <= *high)
			*high = s->place[other] - 1;
	}
}

static bool is_above_cap(const struct search *s)
{
	return s->draft->period_ns == UINT64_MAX;
}

static void keep_best(struct search *s)
{
	struct dlb_draft *draft = s->draft;
	const struct dlb_run *run = &draft->run;

	if (run->peak_bytes <= s->cap_bytes) {
		if (run->period_ns > draft->period_ns ||
		    (run->period_ns == draft->period_ns &&
		     run->peak_bytes >= draft->peak_bytes))
			return;
		draft->period_ns = run->period_ns;
		draft->peak_bytes = run->peak_bytes;
	} else if (run->peak_bytes >= draft->least_bytes) {
		return;
	}
	if (run->peak_bytes < draft->least_bytes)
		draft->least_bytes = run->peak_bytes;
	dlb_turns_copy(&draft->turns, &s->now, &draft->net);
}

/* Is the order at hand allowed, and no more than @threshold worse? */
static bool accept(struct search *s, uint64_t threshold)
{
	struct dlb_run *run = &s->draft->run;
	uint64_t value;

	if (!dlb_run_turns(run, &s->draft->net, &s->now) ||
	    (!is_above_cap(s) && run->peak_bytes > s->cap_bytes))
		return false;
	value = is_above_cap(s) ? run->peak_bytes : run->period_ns;
	if (value > s->value + threshold)
		return false;
	s->value = value;
	keep_best(s);
	return true;
}


static void move_message(struct search *s, uint64_t threshold)
{
	uint32_t nr = s->draft->cut.nr_messages;
	uint32_t from = random_below(s, nr), to = random_below(s, nr);

	/* Mostly to a place nearby */
	if (random_below(s, 4))
		to = from + to % 3 < nr - 1 ? from + to % 3 + 1 : from / 2;
	if (from == to)
		return;
	move_entry(s->now.messages, from, to);
	if (!accept(s, threshold))
		move_entry(s->now.messages, to, from);
}

/*
 * As accept(), with the links as they would go by themselves for the items at
 * hand: by need, or as things come.
 */
static bool accept_relinked(struct search *s, uint64_t threshold)
{
	struct dlb_draft *draft = s->draft;
	struct dlb_rule rule = {
		.fixed = &s->now,
		.message_key = random_below(s, 2) ? draft->message_key : NULL,
	};
	uint32_t *messages = s->now.messages;

	if (dlb_dispatch(&draft->net, &rule, &draft->trial))
		return false;
	s->now.messages = draft->trial.messages;
	draft->trial.messages = messages;
	if (accept(s, threshold))
		return true;
	draft->trial.messages = s->now.messages;
	s->now.messages = messages;
	return false;
}

static void move_item(struct search *s, uint64_t threshold)
{
	uint32_t from = random_below(s, s->draft->net.nr_work), to, low, high;
	bool has_links = s->draft->cut.nr_messages > 1, is_accepted;

	find_range(s, from, &low, &high);
	if (low >= high)
		return;
	to = low + random_below(s, high - low);
	to += to >= from;
	move_entry(s->now.items, from, to);
	is_accepted = has_links && random_below(s, RELINK_MOVES) == 0 ?
		      accept_relinked(s, threshold) : accept(s, threshold);
	if (is_accepted) {
		uint32_t begin = from < to ? from : to;

		for (uint32_t i = begin; i <= from + to - begin; i++)
			s->place[s->now.items[i]] = i;
	} else {
		move_entry(s->now.items, to, from);
	}
}

static void take_up_best(struct search *s)
{
	dlb_turns_copy(&s->now, &s->draft->turns, &s->draft->net);
	s->value = is_above_cap(s) ? s->draft->least_bytes :
				     s->draft->period_ns;
	find_places(s);
}

static void search_round(struct search *s, uint32_t round, uint32_t nr_moves,
			 uint64_t bound_ns)
{
	bool was_above = is_above_cap(s);
	uint64_t first;

	take_up_best(s);
	/* Peaks change in large steps, so that the way down leads far up */
	first = (was_above ? s->value - dlb_net_live_bytes(&s->draft->net) :
			     s->value / THRESHOLD_PART) >> round;
	for (uint32_t i = 0; i < nr_moves; i++) {
		uint64_t threshold = first * (nr_moves - i) / nr_moves;

		/* The last third goes downhill only */
		threshold = i > nr_moves * 2ull / 3 ? 0 : threshold;
		/* Below the cap: the next round takes up the order found */
		if (s->draft->period_ns <= bound_ns ||
		    was_above != is_above_cap(s))
			break;
		if (s->draft->cut.nr_messages > 1 && random_below(s, 4) == 0)
			move_message(s, threshold);
		else
			move_item(s, threshold);
	}
}

static uint32_t default_moves(const struct dlb_net *net)
{
	uint32_t moves = DEFAULT_VISITS / net->nr_nodes;

	return moves > MAX_MOVES ? MAX_MOVES :
	       moves < MIN_MOVES ? MIN_MOVES : moves;
}

int dlb_search(struct dlb_draft *draft, uint32_t max_moves, uint64_t bound_ns)
{
	uint64_t cap_bytes = draft->net.step->attr->memory_bytes;
	struct search s = { .draft = draft,
			    .cap_bytes = cap_bytes ? cap_bytes : UINT64_MAX };
	uint32_t moves = max_moves ? max_moves : default_moves(&draft->net);
	int ret;

	s.place = malloc(draft->net.step->nr_items * sizeof(*s.place));
	ret = s.place ? dlb_turns_init(&s.now, &draft->net) : -ENOMEM;
	for (uint32_t i = 0; !ret && i < NR_ROUNDS; i++)
		search_round(&s, i, moves / NR_ROUNDS, bound_ns);
	dlb_turns_fini(&s.now);
	free(s.place);
	return ret;
}
