// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Orders by dispatching: whenever a stream or a link is free, the ready piece
 * of work with the lowest key begins.  Makes orders, and leaves their times to
 * run.c.  Belongs to one thread.  Documentation/planning.rst, "Policies".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "run.h"

/* A binary heap, the lowest (key, node) on top */
struct heap_entry {
	uint64_t key;
	uint32_t node;
};

struct heap {
	struct heap_entry *entries;
	uint32_t nr;
};

static bool is_below(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->key < b->key || (a->key == b->key && a->node < b->node);
}

static void heap_push(struct heap *heap, uint64_t key, uint32_t node)
{
	struct heap_entry entry = { key, node };
	uint32_t i = heap->nr++;

	while (i && is_below(&entry, &heap->entries[(i - 1) / 2])) {
		heap->entries[i] = heap->entries[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap->entries[i] = entry;
}

static struct heap_entry heap_pop(struct heap *heap)
{
	struct heap_entry top = heap->entries[0];
	struct heap_entry last = heap->entries[--heap->nr];
	uint32_t i = 0;

	while (2 * i + 1 < heap->nr) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < heap->nr &&
		    is_below(&heap->entries[child + 1], &heap->entries[child]))
			child++;
		if (!is_below(&heap->entries[child], &last))
			break;
		heap->entries[i] = heap->entries[child];
		i = child;
	}
	heap->entries[i] = last;
	return top;
}

/**
 * struct dispatcher - One dispatching
 * @net: the net
 * @rule: how to choose
 * @out: the order so far
 * @side: items of the streams above 0, stream by stream; copied behind at the
 *	end
 * @nr_on: items of each stream so far
 * @node: what each stream and the links work on, or DLB_NONE
 * @end_ns: until when
 * @nr_left: per node
 * @ready: heaps: what only stream 0 takes, dW, messages
 * @tried: what did not fit below the cap
 * @memory: memory
 * @now_ns: time
 * @nr_arrived: messages that became ready
 * @nr_local: messages that passed the local link
 * @nr_sent: messages that began on the last link
 */
struct dispatcher {
	const struct dlb_net *net;
	const struct dlb_rule *rule;
	struct dlb_turns *out;
	uint32_t *side;
	uint32_t nr_on[DLBOOST_PLAN_MAX_STREAMS];
	uint32_t node[DLBOOST_PLAN_MAX_STREAMS + 2];
	uint64_t end_ns[DLBOOST_PLAN_MAX_STREAMS + 2];
	uint32_t *nr_left;
	struct heap ready[3];
	struct heap tried;
	struct dlb_memory memory;
	uint64_t now_ns;
	uint32_t nr_arrived;
	uint32_t nr_begun;
	uint32_t nr_local;
	uint32_t nr_sent;
};

enum { READY_MAIN, READY_DW, READY_MESSAGE };
enum { ON_LOCAL = DLBOOST_PLAN_MAX_STREAMS, ON_LINK, NR_PLACES };

static void dispatch_ready(struct dispatcher *d, uint32_t node);

static void dispatch_finish(struct dispatcher *d, uint32_t node)
{
	const struct dlb_list *next = &d->net->next;

	for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++)
		if (!--d->nr_left[next->entries[i]])
			dispatch_ready(d, next->entries[i]);
}

static void dispatch_ready(struct dispatcher *d, uint32_t node)
{
	const struct dlb_net *net = d->net;
	const struct dlb_rule *rule = d->rule;

	if (node >= net->first_joint) {
		dispatch_finish(d, node);
	} else if (node >= net->first_message) {
		uint32_t m = node - net->first_message;

		heap_push(&d->ready[READY_MESSAGE], rule->message_key ?
			  rule->message_key[m] : d->nr_arrived, node);
		d->nr_arrived++;
	} else if (net->step->is_present[node] && !rule->fixed) {
		bool is_dw = node < 4 * net->step->nr_layers &&
			     node % 4 == DLBOOST_PLAN_WEIGHT_GRAD;

		heap_push(&d->ready[is_dw ? READY_DW : READY_MAIN],
			  rule->item_key[node], node);
	}
}

static bool fits(const struct dispatcher *d, uint32_t node)
{
	return !d->rule->cap_bytes ||
	       d->memory.now_bytes + dlb_memory_need(&d->memory, d->net, node) <=
	       d->rule->cap_bytes;
}

/* The best ready item that fits, taken from its heap; or DLB_NONE */
static uint32_t choose_item(struct dispatcher *d, uint32_t stream)
{
	struct heap *main = &d->ready[READY_MAIN], *dw = &d->ready[READY_DW];
	uint32_t chosen = DLB_NONE;

	d->tried.nr = 0;
	while (chosen == DLB_NONE && (dw->nr || (!stream && main->nr))) {
		bool is_main = !stream && main->nr &&
			       (!dw->nr || is_below(&main->entries[0],
						    &dw->entries[0]));
		struct heap_entry entry = heap_pop(is_main ? main : dw);

		if (fits(d, entry.node))
			chosen = entry.node;
		else
			d->tried.entries[d->tried.nr++] = entry;
	}
	for (uint32_t i = 0; i < d->tried.nr; i++) {
		uint32_t node = d->tried.entries[i].node;
		bool is_dw = node < 4 * d->net->step->nr_layers &&
			     node % 4 == DLBOOST_PLAN_WEIGHT_GRAD;

		heap_push(is_dw ? dw : main, d->tried.entries[i].key, node);
	}
	return chosen;
}

static uint32_t next_fixed(const struct dispatcher *d, uint32_t stream)
{
	const struct dlb_turns *fixed = d->rule->fixed;
	uint32_t at = fixed->first[stream] + d->nr_on[stream];

	if (at == fixed->first[stream + 1] || d->nr_left[fixed->items[at]] ||
	    !fits(d, fixed->items[at]))
		return DLB_NONE;
	return fixed->items[at];
}

static void begin_items(struct dispatcher *d)
{
	for (uint32_t s = 0; s < d->net->nr_streams; s++) {
		uint32_t node;

		if (d->node[s] != DLB_NONE)
			continue;
		node = d->rule->fixed ? next_fixed(d, s) : choose_item(d, s);
		if (node == DLB_NONE)
			continue;
		dlb_memory_open(&d->memory, d->net, node);
		d->side[s * d->net->nr_work + d->nr_on[s]++] = node;
		d->node[s] = node;
		d->end_ns[s] = d->now_ns + d->net->ns[node];
	}
}

static void begin_messages(struct dispatcher *d)
{
	const struct dlb_net *net = d->net;
	uint32_t first = net->local_ns ? ON_LOCAL : ON_LINK;
	uint32_t m;

	if (d->node[first] == DLB_NONE && d->ready[READY_MESSAGE].nr) {
		uint32_t node = heap_pop(&d->ready[READY_MESSAGE]).node;

		m = node - net->first_message;
		d->out->messages[d->nr_begun++] = m;
		d->node[first] = node;
		d->end_ns[first] = d->now_ns + (net->local_ns ?
						net->local_ns[m] :
						net->ns[node]);
	}
	if (!net->local_ns || d->node[ON_LINK] != DLB_NONE ||
	    d->nr_sent == d->nr_local)
		return;
	m = d->out->messages[d->nr_sent++];
	d->node[ON_LINK] = net->first_message + m;
	d->end_ns[ON_LINK] = d->now_ns + net->ns[net->first_message + m];
}

/* On to the next end of anything; false when nothing is under way */
static bool advance(struct dispatcher *d)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < NR_PLACES; i++)
		if (d->node[i] != DLB_NONE && d->end_ns[i] < next_ns)
			next_ns = d->end_ns[i];
	if (next_ns == UINT64_MAX)
		return false;
	d->now_ns = next_ns;
	for (uint32_t i = 0; i < NR_PLACES; i++) {
		uint32_t node = d->node[i];

		if (node == DLB_NONE || d->end_ns[i] > next_ns)
			continue;
		d->node[i] = DLB_NONE;
		if (i == ON_LOCAL) {
			d->nr_local++;
			continue;
		}
		if (i < ON_LOCAL)
			dlb_memory_close(&d->memory, d->net, node);
		dispatch_finish(d, node);
	}
	return true;
}

static bool dispatch_collect(struct dispatcher *d)
{
	uint32_t nr = 0;

	for (uint32_t s = 0; s < d->net->nr_streams; s++) {
		d->out->first[s] = nr;
		memcpy(d->out->items + nr, d->side + s * d->net->nr_work,
		       d->nr_on[s] * sizeof(*d->side));
		nr += d->nr_on[s];
	}
	for (uint32_t s = d->net->nr_streams; s <= DLBOOST_PLAN_MAX_STREAMS;
	     s++)
		d->out->first[s] = nr;
	return nr == d->net->nr_work && d->nr_begun == d->net->cut->nr_messages;
}

static int dispatcher_init(struct dispatcher *d)
{
	const struct dlb_net *net = d->net;
	bool has_room = true;

	for (uint32_t i = 0; i < NR_PLACES; i++)
		d->node[i] = DLB_NONE;
	d->nr_left = malloc(net->nr_nodes * sizeof(*d->nr_left));
	d->side = malloc(((size_t)net->nr_streams * net->nr_work + 1) *
			 sizeof(*d->side));
	d->tried.entries = malloc(net->nr_nodes * sizeof(*d->tried.entries));
	for (uint32_t i = 0; i < 3; i++) {
		d->ready[i].entries = malloc(net->nr_nodes *
					     sizeof(*d->ready[i].entries));
		has_room &= d->ready[i].entries != NULL;
	}
	if (!has_room || !d->nr_left || !d->side || !d->tried.entries)
		return -ENOMEM;
	memcpy(d->nr_left, net->nr_before,
	       net->nr_nodes * sizeof(*d->nr_left));
	return dlb_memory_init(&d->memory, net);
}

static void dispatcher_fini(struct dispatcher *d)
{
	for (uint32_t i = 0; i < 3; i++)
		free(d->ready[i].entries);
	free(d->tried.entries);
	free(d->nr_left);
	free(d->side);
	dlb_memory_fini(&d->memory);
}

int dlb_dispatch(const struct dlb_net *net, const struct dlb_rule *rule,
		 struct dlb_turns *out)
{
	struct dispatcher d = { .net = net, .rule = rule, .out = out };
	int ret = dispatcher_init(&d);

	if (!ret) {
		for (uint32_t i = 0; i < net->nr_nodes; i++)
			if (!net->nr_before[i])
				dispatch_ready(&d, i);
		do {
			begin_messages(&d);
			begin_items(&d);
		} while (advance(&d));
		if (!dispatch_collect(&d))
			ret = -ENOSPC;
	}
	dispatcher_fini(&d);
	return ret;
}
