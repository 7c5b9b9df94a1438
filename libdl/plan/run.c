// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * From an order to its times and its memory: the innermost loop of the planner.
 * Where streams and links do not slow each other down, a time is the larger of
 * two, and one pass does; else remaining work is counted down from event to
 * event.  Knows no policy.  Belongs to one thread.  Documentation/planning.rst,
 * "What an order gives".
 */
#include "run.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

int dlb_turns_init(struct dlb_turns *turns, const struct dlb_net *net)
{
	memset(turns, 0, sizeof(*turns));
	turns->items = calloc(net->nr_work + 1, sizeof(*turns->items));
	turns->messages = calloc(net->cut->nr_messages + 1,
				 sizeof(*turns->messages));
	if (turns->items && turns->messages)
		return 0;
	dlb_turns_fini(turns);
	return -ENOMEM;
}

void dlb_turns_fini(struct dlb_turns *turns)
{
	free(turns->items);
	free(turns->messages);
	memset(turns, 0, sizeof(*turns));
}

void dlb_turns_copy(struct dlb_turns *to, const struct dlb_turns *from,
		    const struct dlb_net *net)
{
	memcpy(to->items, from->items, net->nr_work * sizeof(*to->items));
	memcpy(to->messages, from->messages,
	       net->cut->nr_messages * sizeof(*to->messages));
	memcpy(to->first, from->first, sizeof(to->first));
}

int dlb_memory_init(struct dlb_memory *memory, const struct dlb_net *net)
{
	memset(memory, 0, sizeof(*memory));
	memory->is_open = calloc(net->nr_buffers + 1, 1);
	memory->nr_left = calloc(net->nr_buffers + 1,
				 sizeof(*memory->nr_left));
	if (!memory->is_open || !memory->nr_left) {
		dlb_memory_fini(memory);
		return -ENOMEM;
	}
	dlb_memory_reset(memory, net);
	return 0;
}

void dlb_memory_fini(struct dlb_memory *memory)
{
	free(memory->is_open);
	free(memory->nr_left);
	memset(memory, 0, sizeof(*memory));
}

void dlb_memory_reset(struct dlb_memory *memory, const struct dlb_net *net)
{
	memcpy(memory->is_open, net->is_live, net->nr_buffers);
	memcpy(memory->nr_left, net->nr_closers,
	       net->nr_buffers * sizeof(*memory->nr_left));
	memory->now_bytes = dlb_net_live_bytes(net);
	memory->peak_bytes = memory->now_bytes;
}

uint64_t dlb_memory_need(const struct dlb_memory *memory,
			 const struct dlb_net *net, uint32_t node)
{
	uint64_t bytes = 0;

	for (uint32_t i = net->opens.first[node];
	     i < net->opens.first[node + 1]; i++)
		if (!memory->is_open[net->opens.entries[i]])
			bytes += net->buffer_bytes[net->opens.entries[i]];
	return bytes;
}

void dlb_memory_open(struct dlb_memory *memory, const struct dlb_net *net,
		     uint32_t node)
{
	for (uint32_t i = net->opens.first[node];
	     i < net->opens.first[node + 1]; i++) {
		uint32_t buffer = net->opens.entries[i];

		if (memory->is_open[buffer])
			continue;
		memory->is_open[buffer] = 1;
		memory->now_bytes += net->buffer_bytes[buffer];
	}
	if (memory->now_bytes > memory->peak_bytes)
		memory->peak_bytes = memory->now_bytes;
}

void dlb_memory_close(struct dlb_memory *memory, const struct dlb_net *net,
		      uint32_t node)
{
	for (uint32_t i = net->closes.first[node];
	     i < net->closes.first[node + 1]; i++) {
		uint32_t buffer = net->closes.entries[i];

		if (!--memory->nr_left[buffer])
			memory->now_bytes -= net->buffer_bytes[buffer];
	}
}

int dlb_run_init(struct dlb_run *run, const struct dlb_net *net)
{
	uint32_t nr_messages = net->cut->nr_messages + 1;

	memset(run, 0, sizeof(*run));
	run->start_ns = calloc(net->nr_nodes, sizeof(*run->start_ns));
	run->end_ns = calloc(net->nr_nodes, sizeof(*run->end_ns));
	run->ready_ns = calloc(net->nr_nodes, sizeof(*run->ready_ns));
	run->nr_left = calloc(net->nr_nodes, sizeof(*run->nr_left));
	run->local_start_ns = calloc(nr_messages, sizeof(*run->local_start_ns));
	run->local_end_ns = calloc(nr_messages, sizeof(*run->local_end_ns));
	if (run->start_ns && run->end_ns && run->ready_ns && run->nr_left &&
	    run->local_start_ns && run->local_end_ns &&
	    !dlb_memory_init(&run->memory, net))
		return 0;
	dlb_run_fini(run);
	return -ENOMEM;
}

void dlb_run_fini(struct dlb_run *run)
{
	free(run->start_ns);
	free(run->end_ns);
	free(run->ready_ns);
	free(run->nr_left);
	free(run->local_start_ns);
	free(run->local_end_ns);
	dlb_memory_fini(&run->memory);
	memset(run, 0, sizeof(*run));
}

/* Joints end with their last predecessor, and never lead to each other */
static void run_finish(struct dlb_run *run, const struct dlb_net *net,
		       uint32_t node)
{
	uint64_t end_ns = run->end_ns[node];

	for (uint32_t i = net->next.first[node]; i < net->next.first[node + 1];
	     i++) {
		uint32_t next = net->next.entries[i];

		if (run->ready_ns[next] < end_ns)
			run->ready_ns[next] = end_ns;
		if (--run->nr_left[next] || next < net->first_joint)
			continue;
		run->end_ns[next] = run->ready_ns[next];
		run_finish(run, net, next);
	}
}

static void run_reset(struct dlb_run *run, const struct dlb_net *net)
{
	memset(run->ready_ns, 0, net->nr_nodes * sizeof(*run->ready_ns));
	memcpy(run->nr_left, net->nr_before,
	       net->nr_nodes * sizeof(*run->nr_left));
	/* A joint that waits for nothing is over before the step begins */
	for (uint32_t node = net->first_joint; node < net->nr_nodes; node++) {
		run->end_ns[node] = 0;
		if (!net->nr_before[node])
			run_finish(run, net, node);
	}
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* As far as one stream comes; true when it came anywhere */
static bool run_stream(struct dlb_run *run, const struct dlb_net *net,
		       const uint32_t *items, uint32_t *at, uint32_t end,
		       uint64_t *free_ns)
{
	uint32_t begin = *at;

	while (*at < end && !run->nr_left[items[*at]]) {
		uint32_t node = items[(*at)++];

		run->start_ns[node] = max_u64(*free_ns, run->ready_ns[node]);
		run->end_ns[node] = run->start_ns[node] + net->ns[node];
		*free_ns = run->end_ns[node];
		run_finish(run, net, node);
	}
	return *at > begin;
}

struct link_state {
	uint32_t at;
	uint64_t local_free_ns;
	uint64_t free_ns;
};

static bool run_link(struct dlb_run *run, const struct dlb_net *net,
		     const uint32_t *messages, struct link_state *link)
{
	uint32_t begin = link->at;

	while (link->at < net->cut->nr_messages &&
	       !run->nr_left[net->first_message + messages[link->at]]) {
		uint32_t m = messages[link->at++];
		uint32_t node = net->first_message + m;
		uint64_t ready_ns = run->ready_ns[node];

		if (net->local_ns) {
			run->local_start_ns[m] = max_u64(link->local_free_ns,
							 ready_ns);
			ready_ns = run->local_start_ns[m] + net->local_ns[m];
			run->local_end_ns[m] = ready_ns;
			link->local_free_ns = ready_ns;
		}
		run->start_ns[node] = max_u64(link->free_ns, ready_ns);
		run->end_ns[node] = run->start_ns[node] + net->ns[node];
		link->free_ns = run->end_ns[node];
		run_finish(run, net, node);
	}
	return link->at > begin;
}

static bool run_plain(struct dlb_run *run, const struct dlb_net *net,
		      const struct dlb_turns *turns)
{
	uint64_t free_ns[DLBOOST_PLAN_MAX_STREAMS] = { 0 };
	struct link_state link = { 0 };
	uint32_t at[DLBOOST_PLAN_MAX_STREAMS];
	bool has_moved;

	memcpy(at, turns->first, sizeof(at));
	do {
		has_moved = run_link(run, net, turns->messages, &link);
		for (uint32_t s = 0; s < net->nr_streams; s++)
			has_moved |= run_stream(run, net, turns->items, &at[s],
						turns->first[s + 1],
						&free_ns[s]);
	} while (has_moved);
	run->period_ns = link.free_ns;
	for (uint32_t s = 0; s < net->nr_streams; s++) {
		run->period_ns = max_u64(run->period_ns, free_ns[s]);
		if (at[s] < turns->first[s + 1])
			return false;
	}
	return link.at == net->cut->nr_messages;
}

/* The streams, the local link and the last one */
#define MAX_PLACES	(DLBOOST_PLAN_MAX_STREAMS + 2)
#define PLACE_LOCAL	DLBOOST_PLAN_MAX_STREAMS
#define PLACE_LINK	(DLBOOST_PLAN_MAX_STREAMS + 1)
#define FULL_RATE	1000

/**
 * struct shared - A run in which rates change
 * @node: what each place works on, or DLB_NONE
 * @left: work left there, in 1/FULL_RATE ns at full rate
 * @at: next entry of each stream's list, and of the messages for both links
 * @now_ns: time
 */
struct shared {
	uint32_t node[MAX_PLACES];
	uint64_t left[MAX_PLACES];
	uint32_t at[MAX_PLACES];
	uint64_t now_ns;
};

static void shared_begin(struct shared *s, uint32_t place, uint32_t node,
			 uint64_t ns)
{
	s->node[place] = node;
	s->left[place] = ns * FULL_RATE;
}

static void shared_begin_links(struct shared *s, struct dlb_run *run,
			       const struct dlb_net *net,
			       const struct dlb_turns *turns)
{
	uint32_t nr = net->cut->nr_messages, m, node;

	if (net->local_ns && s->node[PLACE_LOCAL] == DLB_NONE &&
	    s->at[PLACE_LOCAL] < nr) {
		m = turns->messages[s->at[PLACE_LOCAL]];
		node = net->first_message + m;
		if (!run->nr_left[node]) {
			run->local_start_ns[m] = s->now_ns;
			shared_begin(s, PLACE_LOCAL, node, net->local_ns[m]);
		}
	}
	if (s->node[PLACE_LINK] != DLB_NONE || s->at[PLACE_LINK] == nr)
		return;
	m = turns->messages[s->at[PLACE_LINK]];
	node = net->first_message + m;
	if (net->local_ns ? s->at[PLACE_LINK] < s->at[PLACE_LOCAL] :
			    !run->nr_left[node]) {
		run->start_ns[node] = s->now_ns;
		shared_begin(s, PLACE_LINK, node, net->ns[node]);
	}
}

static void shared_begin_streams(struct shared *s, struct dlb_run *run,
				 const struct dlb_net *net,
				 const struct dlb_turns *turns)
{
	for (uint32_t i = 0; i < net->nr_streams; i++) {
		uint32_t node;

		if (s->node[i] != DLB_NONE || s->at[i] == turns->first[i + 1])
			continue;
		node = turns->items[s->at[i]];
		if (run->nr_left[node])
			continue;
		run->start_ns[node] = s->now_ns;
		shared_begin(s, i, node, net->ns[node]);
	}
}

static uint64_t stream_rate(const struct shared *s, const struct dlb_net *net)
{
	const struct dlboost_plan_attr *attr = net->step->attr;
	uint64_t rate = FULL_RATE;
	uint32_t nr_busy = 0;

	for (uint32_t i = 0; i < net->nr_streams; i++)
		nr_busy += s->node[i] != DLB_NONE;
	if (nr_busy > 1 && attr->overlap_permille / nr_busy < rate)
		rate = attr->overlap_permille / nr_busy;
	if (s->node[PLACE_LOCAL] != DLB_NONE || s->node[PLACE_LINK] != DLB_NONE)
		rate = rate * 1000 / (1000 + attr->interference_permille);
	return rate ? rate : 1;
}

static void shared_end(struct shared *s, struct dlb_run *run,
		       const struct dlb_net *net, uint32_t place)
{
	uint32_t node = s->node[place];

	s->node[place] = DLB_NONE;
	s->at[place]++;
	if (place == PLACE_LOCAL) {
		run->local_end_ns[node - net->first_message] = s->now_ns;
		return;
	}
	run->end_ns[node] = s->now_ns;
	run_finish(run, net, node);
}

/* On to the next end of anything; false when nothing is under way */
static bool shared_advance(struct shared *s, struct dlb_run *run,
			   const struct dlb_net *net)
{
	uint64_t rate = stream_rate(s, net), dt = UINT64_MAX;

	for (uint32_t i = 0; i < MAX_PLACES; i++) {
		uint64_t r = i < PLACE_LOCAL ? rate : FULL_RATE;

		if (s->node[i] != DLB_NONE && (s->left[i] + r - 1) / r < dt)
			dt = (s->left[i] + r - 1) / r;
	}
	if (dt == UINT64_MAX)
		return false;
	s->now_ns += dt;
	for (uint32_t i = 0; i < MAX_PLACES; i++) {
		uint64_t done = dt * (i < PLACE_LOCAL ? rate : FULL_RATE);

		if (s->node[i] == DLB_NONE)
			continue;
		s->left[i] -= s->left[i] < done ? s->left[i] : done;
		if (!s->left[i])
			shared_end(s, run, net, i);
	}
	return true;
}

static bool run_shared(struct dlb_run *run, const struct dlb_net *net,
		       const struct dlb_turns *turns)
{
	struct shared s = { .now_ns = 0 };

	for (uint32_t i = 0; i < MAX_PLACES; i++)
		s.node[i] = DLB_NONE;
	memcpy(s.at, turns->first, net->nr_streams * sizeof(s.at[0]));
	do {
		shared_begin_links(&s, run, net, turns);
		shared_begin_streams(&s, run, net, turns);
	} while (shared_advance(&s, run, net));
	run->period_ns = s.now_ns;
	for (uint32_t i = 0; i < net->nr_streams; i++)
		if (s.at[i] < turns->first[i + 1])
			return false;
	return s.at[PLACE_LINK] == net->cut->nr_messages;
}

/* The stream whose next item begins first; of those, one without length */
static uint32_t next_stream(const struct dlb_run *run,
			    const struct dlb_net *net,
			    const struct dlb_turns *turns, const uint32_t *at)
{
	uint32_t best = DLB_NONE, best_node = 0;

	for (uint32_t s = 0; s < net->nr_streams; s++) {
		uint32_t node;

		if (at[s] == turns->first[s + 1])
			continue;
		node = turns->items[at[s]];
		if (best == DLB_NONE ||
		    run->start_ns[node] < run->start_ns[best_node] ||
		    (run->start_ns[node] == run->start_ns[best_node] &&
		     run->end_ns[node] == run->start_ns[node] &&
		     run->end_ns[best_node] > run->start_ns[best_node])) {
			best = s;
			best_node = node;
		}
	}
	return best;
}

/* Memory by replay: whatever ended by the time an item begins is gone */
static void run_memory(struct dlb_run *run, const struct dlb_net *net,
		       const struct dlb_turns *turns)
{
	uint32_t at[DLBOOST_PLAN_MAX_STREAMS], stream;
	uint32_t open[DLBOOST_PLAN_MAX_STREAMS];

	dlb_memory_reset(&run->memory, net);
	memcpy(at, turns->first, sizeof(at));
	memset(open, 0xff, sizeof(open));
	while ((stream = next_stream(run, net, turns, at)) != DLB_NONE) {
		uint32_t node = turns->items[at[stream]++];

		for (uint32_t s = 0; s < net->nr_streams; s++) {
			if (open[s] == DLB_NONE ||
			    run->end_ns[open[s]] > run->start_ns[node])
				continue;
			dlb_memory_close(&run->memory, net, open[s]);
			open[s] = DLB_NONE;
		}
		dlb_memory_open(&run->memory, net, node);
		open[stream] = node;
	}
	run->peak_bytes = run->memory.peak_bytes;
}

bool dlb_run_turns(struct dlb_run *run, const struct dlb_net *net,
		   const struct dlb_turns *turns)
{
	run_reset(run, net);
	if (!(net->is_shared ? run_shared(run, net, turns) :
			       run_plain(run, net, turns)))
		return false;
	run_memory(run, net, turns);
	return true;
}
