// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * A plan with what goes wrong in life: times that vary from rank to rank and
 * step to step, batches that are late.  Lists stay as planned; a reactive
 * stream only pulls weight gradients and updates forward while it would wait.
 * Belongs to one thread.  Documentation/planning.rst, "Simulation".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "../base/philox.h"
#include "run.h"

#define MAX_RANKS	256
#define MAX_STEPS	100000

/**
 * struct rank - What one rank does in a step
 * @ready_ns: per node
 * @nr_left: per node
 * @is_done: per item: pulled forward
 * @at: next entry of each stream
 * @free_ns: when each stream is free
 * @end_ns: when everything so far has ended
 */
struct rank {
	uint64_t *ready_ns;
	uint32_t *nr_left;
	uint8_t *is_done;
	uint32_t at[DLBOOST_PLAN_MAX_STREAMS];
	uint64_t free_ns[DLBOOST_PLAN_MAX_STREAMS];
	uint64_t end_ns;
};

/**
 * struct sim - One simulation
 * @attr: jitter and so on
 * @step: the work
 * @cut: the plan's messages
 * @net: the work with them
 * @turns: the plan's order
 * @ns: planned time of each node
 * @ranks: the ranks
 * @nr_ranks: how many are simulated
 * @step_idx: step under way
 * @nr_sent: messages of this step so far
 * @local_free_ns: when the local link is free
 * @free_ns: when the last link is free
 */
struct sim {
	const struct dlboost_plan_sim_attr *attr;
	struct dlb_step step;
	struct dlb_cut cut;
	struct dlb_net net;
	struct dlb_turns turns;
	uint64_t *ns;
	struct rank *ranks;
	uint32_t nr_ranks;
	uint32_t step_idx;
	uint32_t nr_sent;
	uint64_t local_free_ns;
	uint64_t free_ns;
};

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t jittered_ns(const struct sim *sim, uint32_t rank, uint32_t node,
			    uint64_t ns)
{
	uint32_t jitter = sim->attr->jitter_permille, word;

	if (!jitter)
		return ns;
	word = dlb_draw_word(sim->attr->seed, sim->step_idx,
			     (uint64_t)rank << 32 | node, 0);
	return ns / 1000 * (1000 - jitter + dlb_draw_below(word,
							   2 * jitter + 1));
}

static void rank_finish(const struct sim *sim, struct rank *rank, uint32_t node,
			uint64_t end_ns)
{
	const struct dlb_net *net = &sim->net;

	rank->end_ns = max_u64(rank->end_ns, end_ns);
	for (uint32_t i = net->next.first[node]; i < net->next.first[node + 1];
	     i++) {
		uint32_t next = net->next.entries[i];

		rank->ready_ns[next] = max_u64(rank->ready_ns[next], end_ns);
		if (!--rank->nr_left[next] && next >= net->first_joint)
			rank_finish(sim, rank, next, rank->ready_ns[next]);
	}
}

static bool may_be_pulled(const struct sim *sim, uint32_t node)
{
	return node < 4 * sim->step.nr_layers &&
	       (node % 4 == DLBOOST_PLAN_WEIGHT_GRAD ||
		node % 4 == DLBOOST_PLAN_UPDATE);
}

/* The next such piece of the list that could begin by @by_ns */
static uint32_t find_pulled(const struct sim *sim, const struct rank *rank,
			    uint32_t stream, uint64_t by_ns)
{
	for (uint32_t i = rank->at[stream]; i < sim->turns.first[stream + 1];
	     i++) {
		uint32_t node = sim->turns.items[i];

		if (may_be_pulled(sim, node) && !rank->is_done[node] &&
		    !rank->nr_left[node] && rank->ready_ns[node] <= by_ns)
			return node;
	}
	return DLB_NONE;
}

static void rank_run(const struct sim *sim, uint32_t r, uint32_t stream,
		     uint32_t node)
{
	struct rank *rank = &sim->ranks[r];
	uint64_t *free_ns = &rank->free_ns[stream];

	*free_ns = max_u64(*free_ns, rank->ready_ns[node]) +
		   jittered_ns(sim, r, node, sim->ns[node]);
	rank->is_done[node] = 1;
	rank_finish(sim, rank, node, *free_ns);
}

static bool rank_advance(const struct sim *sim, uint32_t r, uint32_t stream)
{
	struct rank *rank = &sim->ranks[r];
	uint32_t *at = &rank->at[stream];
	bool has_moved = false;

	while (*at < sim->turns.first[stream + 1]) {
		uint32_t node = sim->turns.items[*at], pulled = DLB_NONE;

		if (rank->is_done[node]) {
			(*at)++;
			continue;
		}
		if (rank->nr_left[node])
			break;
		if (sim->attr->is_reactive &&
		    rank->ready_ns[node] > rank->free_ns[stream])
			pulled = find_pulled(sim, rank, stream,
					     rank->free_ns[stream]);
		rank_run(sim, r, stream, pulled == DLB_NONE ? node : pulled);
		has_moved = true;
	}
	return has_moved;
}

static bool links_advance(struct sim *sim)
{
	uint32_t begin = sim->nr_sent;

	for (; sim->nr_sent < sim->cut.nr_messages; sim->nr_sent++) {
		uint32_t m = sim->turns.messages[sim->nr_sent];
		uint32_t node = sim->net.first_message + m;
		uint64_t ready_ns = 0;

		for (uint32_t r = 0; r < sim->nr_ranks; r++) {
			if (sim->ranks[r].nr_left[node])
				return sim->nr_sent > begin;
			ready_ns = max_u64(ready_ns,
					   sim->ranks[r].ready_ns[node]);
		}
		if (sim->net.local_ns) {
			ready_ns = max_u64(ready_ns, sim->local_free_ns) +
				   jittered_ns(sim, UINT32_MAX, node,
					       sim->net.local_ns[m]);
			sim->local_free_ns = ready_ns;
		}
		sim->free_ns = max_u64(ready_ns, sim->free_ns) +
			       jittered_ns(sim, 0, node, sim->ns[node]);
		for (uint32_t r = 0; r < sim->nr_ranks; r++)
			rank_finish(sim, &sim->ranks[r], node, sim->free_ns);
	}
	return sim->nr_sent > begin;
}

/* A rank's step begins when its last one is over: nothing is left by then */
static void rank_begin(const struct sim *sim, struct rank *rank)
{
	const struct dlb_net *net = &sim->net;
	uint64_t begin_ns = rank->end_ns;

	for (uint32_t i = 0; i < net->nr_nodes; i++)
		rank->ready_ns[i] = begin_ns;
	memcpy(rank->nr_left, net->nr_before,
	       net->nr_nodes * sizeof(*rank->nr_left));
	memset(rank->is_done, 0, sim->step.nr_items);
	memcpy(rank->at, sim->turns.first, sizeof(rank->at));
	for (uint32_t s = 0; s < DLBOOST_PLAN_MAX_STREAMS; s++)
		rank->free_ns[s] = begin_ns;
	for (uint32_t i = net->first_joint; i < net->nr_nodes; i++)
		if (!net->nr_before[i])
			rank_finish(sim, rank, i, begin_ns);
	if (!sim->attr->batch_ready_ns)
		return;
	for (uint32_t l = 0; l < sim->step.nr_layers; l++) {
		uint64_t *ready = &rank->ready_ns[DLB_NODE_FORWARD(l)];

		if (!sim->step.layers[l].raw->nr_inputs)
			*ready = max_u64(*ready,
				sim->attr->batch_ready_ns[sim->step_idx]);
	}
}

static int sim_step(struct sim *sim, uint64_t *end_ns)
{
	bool has_moved;

	for (uint32_t r = 0; r < sim->nr_ranks; r++)
		rank_begin(sim, &sim->ranks[r]);
	sim->nr_sent = 0;
	do {
		has_moved = links_advance(sim);
		for (uint32_t r = 0; r < sim->nr_ranks; r++)
			for (uint32_t s = 0; s < sim->net.nr_streams; s++)
				has_moved |= rank_advance(sim, r, s);
	} while (has_moved);
	*end_ns = 0;
	for (uint32_t r = 0; r < sim->nr_ranks; r++) {
		for (uint32_t s = 0; s < sim->net.nr_streams; s++)
			if (sim->ranks[r].at[s] < sim->turns.first[s + 1])
				return -EBADMSG;
		*end_ns = max_u64(*end_ns, sim->ranks[r].end_ns);
	}
	return sim->nr_sent == sim->cut.nr_messages ? 0 : -EBADMSG;
}

/* Our number of a layer of the callers' */
static uint32_t find_layer(const struct dlb_step *step, uint32_t graph,
			   uint32_t user_idx)
{
	const struct dlb_job *job;

	if (graph >= step->nr_jobs)
		return DLB_NONE;
	job = &step->jobs[graph];
	for (uint32_t l = job->first_layer; l < job->first_layer +
					       job->nr_layers; l++)
		if (step->layers[l].user_idx == user_idx)
			return l;
	return DLB_NONE;
}

static int take_cut(struct sim *sim, const struct dlboost_plan_view *view)
{
	struct dlb_cut *cut = &sim->cut;
	uint32_t at = 0;

	cut->messages = calloc(view->nr_messages + 1, sizeof(*cut->messages));
	cut->slices = calloc(view->nr_slices + 1, sizeof(*cut->slices));
	if (!cut->messages || !cut->slices)
		return -ENOMEM;
	cut->nr_messages = view->nr_messages;
	cut->nr_slices = view->nr_slices;
	for (uint32_t m = 0; m < view->nr_messages; m++) {
		cut->messages[m] = view->messages[m];
		if (view->messages[m].first_slice != at ||
		    view->messages[m].nr_slices > view->nr_slices - at)
			return -EBADMSG;
		for (uint32_t i = 0; i < view->messages[m].nr_slices; i++) {
			uint32_t l = find_layer(&sim->step,
						view->messages[m].graph,
						view->slices[at].layer);

			if (l == DLB_NONE || !sim->step.layers[l].is_trained)
				return -EBADMSG;
			cut->slices[at] = view->slices[at];
			cut->slices[at++].layer = l;
		}
	}
	return 0;
}

static int take_items(struct sim *sim, const struct dlboost_plan_view *view)
{
	const struct dlb_step *step = &sim->step;
	uint32_t stream = 0;

	if (view->nr_items != sim->net.nr_work)
		return -EBADMSG;
	for (uint32_t i = 0; i < view->nr_items; i++) {
		const struct dlboost_plan_item *item = &view->items[i];
		bool is_release = item->kind == DLBOOST_PLAN_RELEASE;
		uint32_t l = is_release ? 0 : find_layer(step, item->graph,
							 item->layer);
		uint32_t node;

		if (item->stream >= sim->net.nr_streams ||
		    item->stream < stream || l == DLB_NONE ||
		    item->kind > DLBOOST_PLAN_RELEASE ||
		    item->graph >= step->nr_jobs)
			return -EBADMSG;
		node = is_release ? dlb_node_release(step, item->graph) :
				    4 * l + item->kind;
		if (!step->is_present[node])
			return -EBADMSG;
		while (stream < item->stream)
			sim->turns.first[++stream] = i;
		sim->turns.items[i] = node;
		sim->ns[node] = item->end_ns - item->start_ns;
	}
	while (stream < DLBOOST_PLAN_MAX_STREAMS)
		sim->turns.first[++stream] = view->nr_items;
	for (uint32_t m = 0; m < view->nr_messages; m++) {
		sim->turns.messages[m] = m;
		sim->ns[sim->net.first_message + m] =
			view->messages[m].end_ns - view->messages[m].start_ns;
	}
	return 0;
}

static int rank_init(const struct sim *sim, struct rank *rank)
{
	rank->ready_ns = calloc(sim->net.nr_nodes, sizeof(*rank->ready_ns));
	rank->nr_left = calloc(sim->net.nr_nodes, sizeof(*rank->nr_left));
	rank->is_done = calloc(sim->step.nr_items, 1);
	return rank->ready_ns && rank->nr_left && rank->is_done ? 0 : -ENOMEM;
}

static int sim_init(struct sim *sim,
		    const struct dlboost_plan_graph *const *graphs,
		    uint32_t nr_graphs, const struct dlboost_plan_attr *attr,
		    const struct dlboost_plan_view *view)
{
	int ret = dlb_step_init(&sim->step, graphs, nr_graphs, attr,
				view->has_barrier);

	if (!ret)
		ret = take_cut(sim, view);
	if (!ret)
		ret = dlb_net_init(&sim->net, &sim->step, &sim->cut);
	if (!ret)
		ret = dlb_turns_init(&sim->turns, &sim->net);
	if (ret)
		return ret;
	sim->nr_ranks = attr->ranks < MAX_RANKS ? attr->ranks : MAX_RANKS;
	sim->ns = calloc(sim->net.nr_nodes, sizeof(*sim->ns));
	sim->ranks = calloc(sim->nr_ranks, sizeof(*sim->ranks));
	ret = sim->ns && sim->ranks ? take_items(sim, view) : -ENOMEM;
	for (uint32_t r = 0; !ret && r < sim->nr_ranks; r++)
		ret = rank_init(sim, &sim->ranks[r]);
	return ret;
}

static void sim_fini(struct sim *sim)
{
	for (uint32_t r = 0; sim->ranks && r < sim->nr_ranks; r++) {
		free(sim->ranks[r].ready_ns);
		free(sim->ranks[r].nr_left);
		free(sim->ranks[r].is_done);
	}
	free(sim->ranks);
	free(sim->ns);
	dlb_turns_fini(&sim->turns);
	dlb_net_fini(&sim->net);
	dlb_cut_fini(&sim->cut);
	dlb_step_fini(&sim->step);
}

DLB_EXPORT int dlboost_plan_simulate(
	const struct dlboost_plan_graph *const *graphs, uint32_t nr_graphs,
	const struct dlboost_plan_attr *attr,
	const struct dlboost_plan_view *view,
	const struct dlboost_plan_sim_attr *sim_attr, uint64_t *step_end_ns)
{
	struct sim sim = { .attr = sim_attr };
	int ret;

	if (sim_attr->size != sizeof(*sim_attr) || !sim_attr->nr_steps ||
	    sim_attr->nr_steps > MAX_STEPS || sim_attr->jitter_permille >= 1000)
		return -EINVAL;
	if (sim_attr->is_reactive && attr->nr_streams > 1)
		return -EOPNOTSUPP;
	ret = sim_init(&sim, graphs, nr_graphs, attr, view);
	for (uint32_t i = 0; !ret && i < sim_attr->nr_steps; i++) {
		sim.step_idx = i;
		ret = sim_step(&sim, &step_end_ns[i]);
	}
	sim_fini(&sim);
	return ret;
}
