// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Plans as callers see them: arguments checked, a policy run, the result
 * written down in the callers' numbers.  Plans never change, so there are no
 * locks.  Documentation/planning.rst.
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "graph.h"
#include "policy.h"

#define MAX_RANKS	(1u << 20)
#define MAX_GRAPHS	16
#define MAX_HOP_NS	1000000000u
#define MAX_MESSAGES	65536
/* All times together: a thousandth of what fits, for rates in 1/1000 */
#define MAX_TOTAL_NS	((uint64_t)1 << 52)

/**
 * struct dlboost_plan - See <dlboost/plan.h>
 * @view: what it says
 * @items: memory of view.items
 * @messages: memory of view.messages
 * @slices: memory of view.slices
 */
struct dlboost_plan {
	struct dlboost_plan_view view;
	struct dlboost_plan_item *items;
	struct dlboost_plan_message *messages;
	struct dlboost_plan_slice *slices;
};

struct refusal {
	char *error;
	size_t error_bytes;
};

#define refuse(why, code, ...) \
	(dlb_sentence((why)->error, (why)->error_bytes, __VA_ARGS__), (code))

static const char *const policy_names[] = {
	[DLBOOST_PLAN_DDP] = "ddp",
	[DLBOOST_PLAN_DDP_TUNED] = "ddp-tuned",
	[DLBOOST_PLAN_FIFO_SPLIT] = "fifo-split",
	[DLBOOST_PLAN_PRIORITY] = "priority",
	[DLBOOST_PLAN_REVERSE_FIRST_K] = "reverse-first-k",
	[DLBOOST_PLAN_LIST] = "list",
	[DLBOOST_PLAN_INTERLEAVE] = "interleave",
	[DLBOOST_PLAN_EXACT] = "exact",
};

DLB_EXPORT const char *dlboost_plan_policy_name(unsigned int policy)
{
	return policy < ARRAY_SIZE(policy_names) ? policy_names[policy] : NULL;
}

static int check_machine(const struct dlboost_plan_attr *attr,
			 const struct refusal *why)
{
	if (!attr->ranks || attr->ranks > MAX_RANKS)
		return refuse(why, -EINVAL, "%u ranks; 1 to %u are possible",
			      attr->ranks, MAX_RANKS);
	if (!attr->local_ranks || attr->ranks % attr->local_ranks)
		return refuse(why, -EINVAL, "%u ranks do not fill machines of %u",
			      attr->ranks, attr->local_ranks);
	if (!attr->link_bits_per_s || !attr->local_bits_per_s)
		return refuse(why, -EINVAL, "a link without bandwidth");
	if (attr->hop_ns > MAX_HOP_NS || attr->local_hop_ns > MAX_HOP_NS)
		return refuse(why, -EINVAL, "a hop takes more than a second");
	return 0;
}

static int check_attr(const struct dlboost_plan_attr *attr,
		      const struct refusal *why)
{
	if (attr->size != sizeof(*attr))
		return refuse(why, -EINVAL, "attr has %zu bytes, expected %zu",
			      attr->size, sizeof(*attr));
	if (attr->policy >= DLBOOST_PLAN_NR_POLICIES)
		return refuse(why, -EINVAL, "no policy %u", attr->policy);
	if (!attr->nr_streams || attr->nr_streams > DLBOOST_PLAN_MAX_STREAMS)
		return refuse(why, -EINVAL, "%u streams; 1 to %u are possible",
			      attr->nr_streams, DLBOOST_PLAN_MAX_STREAMS);
	if (attr->overlap_permille < 1000 ||
	    attr->overlap_permille > 1000 * attr->nr_streams)
		return refuse(why, -EINVAL, "%u streams do %u/1000 of the work "
			      "of one; 1000 to %u are possible",
			      attr->nr_streams, attr->overlap_permille,
			      1000 * attr->nr_streams);
	if (attr->interference_permille > 10000)
		return refuse(why, -EINVAL, "interference of %u/1000; at most "
			      "10000/1000", attr->interference_permille);
	return check_machine(attr, why);
}

static int check_graphs(uint32_t nr_graphs,
			const struct dlboost_plan_graph *const *graphs,
			const struct dlboost_plan_attr *attr,
			const struct refusal *why)
{
	uint32_t nr_layers = 0;

	if (!nr_graphs || nr_graphs > MAX_GRAPHS)
		return refuse(why, -EINVAL, "%u graphs; 1 to %u are possible",
			      nr_graphs, MAX_GRAPHS);
	for (uint32_t j = 0; j < nr_graphs; j++)
		nr_layers += graphs[j]->nr_layers;
	if (nr_layers > DLBOOST_PLAN_MAX_LAYERS)
		return refuse(why, -EINVAL, "%u layers together; at most %u",
			      nr_layers, DLBOOST_PLAN_MAX_LAYERS);
	if ((nr_graphs > 1) != (attr->policy == DLBOOST_PLAN_INTERLEAVE))
		return refuse(why, -EOPNOTSUPP, nr_graphs > 1 ?
			      "%s plans one graph at a time" :
			      "%s needs two graphs or more",
			      policy_names[attr->policy]);
	if (attr->policy == DLBOOST_PLAN_INTERLEAVE && attr->nr_streams > 1)
		return refuse(why, -EOPNOTSUPP,
			      "interleave plans a single stream");
	return 0;
}

/* Time of everything one after the other, as long as it fits; else too much */
static uint64_t total_ns(const struct dlb_step *step, uint64_t nr_messages)
{
	uint64_t total = 0, local_lag, link_lag, local_ns, link_ns;

	for (uint32_t i = 0; i < step->nr_items; i++)
		total += step->item_ns[i];
	if (step->attr->ranks == 1)
		return total;
	dlb_cost_latency(step->attr, &local_lag, &link_lag);
	if ((local_lag + link_lag) > MAX_TOTAL_NS / nr_messages)
		return UINT64_MAX;
	total += (local_lag + link_lag) * nr_messages;
	for (uint32_t l = 0; l < step->nr_layers && total <= MAX_TOTAL_NS;
	     l++) {
		dlb_cost_bytes(step->attr, step->layers[l].raw->parameter_bytes,
			       &local_ns, &link_ns);
		if (local_ns > MAX_TOTAL_NS || link_ns > MAX_TOTAL_NS)
			return UINT64_MAX;
		total += local_ns + link_ns;
	}
	return total;
}

static int check_total(const struct dlb_step *step, const struct refusal *why)
{
	uint64_t nr_messages = MAX_MESSAGES + step->nr_layers, bytes = 0;

	for (uint32_t l = 0; l < step->nr_layers; l++)
		bytes += step->layers[l].raw->parameter_bytes;
	if (step->attr->slice_bytes &&
	    bytes / step->attr->slice_bytes > MAX_MESSAGES)
		return refuse(why, -EINVAL, "slices of %llu bytes make more than "
			      "%u messages",
			      (unsigned long long)step->attr->slice_bytes,
			      MAX_MESSAGES);
	if (total_ns(step, nr_messages) > MAX_TOTAL_NS)
		return refuse(why, -EOVERFLOW,
			      "a step may take more than %llu days",
			      (unsigned long long)(MAX_TOTAL_NS /
						   86400000000000));
	return 0;
}

static int run_policy(struct dlb_pick *pick, const struct refusal *why)
{
	bool is_proven = true;
	int ret;

	switch (pick->step->attr->policy) {
	case DLBOOST_PLAN_DDP:
		return dlb_policy_ddp(pick);
	case DLBOOST_PLAN_DDP_TUNED:
		return dlb_policy_ddp_tuned(pick);
	case DLBOOST_PLAN_FIFO_SPLIT:
		return dlb_policy_fifo_split(pick);
	case DLBOOST_PLAN_PRIORITY:
		return dlb_policy_priority(pick);
	case DLBOOST_PLAN_REVERSE_FIRST_K:
		return dlb_policy_reverse_first_k(pick);
	case DLBOOST_PLAN_INTERLEAVE:
		return dlb_policy_interleave(pick);
	case DLBOOST_PLAN_EXACT:
		ret = dlb_policy_exact(pick, &is_proven);
		if (ret == -EOPNOTSUPP)
			return refuse(why, ret, "exact plans small graphs (up to "
				      "about 12 layers) on one stream and one "
				      "link without interference");
		if (!ret && !is_proven)
			return refuse(why, -EOPNOTSUPP, "exact gave up; its "
				      "effort is bounded");
		return ret;
	default:
		return dlb_policy_list(pick);
	}
}

static bool policy_has_barrier(const struct dlboost_plan_attr *attr)
{
	return attr->has_barrier || attr->policy == DLBOOST_PLAN_DDP ||
	       attr->policy == DLBOOST_PLAN_DDP_TUNED ||
	       attr->policy == DLBOOST_PLAN_FIFO_SPLIT;
}

static void write_items(struct dlboost_plan *plan, const struct dlb_draft *draft)
{
	const struct dlb_step *step = draft->net.step;
	const struct dlb_turns *turns = &draft->turns;

	for (uint32_t s = 0; s < draft->net.nr_streams; s++)
		for (uint32_t i = turns->first[s]; i < turns->first[s + 1]; i++) {
			uint32_t node = turns->items[i];
			struct dlboost_plan_item *item = &plan->items[i];

			item->stream = s;
			item->start_ns = draft->run.start_ns[node];
			item->end_ns = draft->run.end_ns[node];
			if (node >= 4 * step->nr_layers) {
				item->kind = DLBOOST_PLAN_RELEASE;
				item->graph = node - 4 * step->nr_layers;
				continue;
			}
			item->kind = node % 4;
			item->graph = step->layers[node / 4].graph;
			item->layer = step->layers[node / 4].user_idx;
		}
}

static void write_messages(struct dlboost_plan *plan,
			   const struct dlb_draft *draft)
{
	const struct dlb_net *net = &draft->net;
	struct dlboost_plan_slice *slice = plan->slices;

	for (uint32_t i = 0; i < draft->cut.nr_messages; i++) {
		uint32_t m = draft->turns.messages[i];
		const struct dlboost_plan_message *from =
			&draft->cut.messages[m];
		struct dlboost_plan_message *to = &plan->messages[i];

		*to = *from;
		to->first_slice = (uint32_t)(slice - plan->slices);
		to->start_ns = draft->run.start_ns[net->first_message + m];
		to->end_ns = draft->run.end_ns[net->first_message + m];
		to->local_start_ns = net->local_ns ?
				     draft->run.local_start_ns[m] : to->start_ns;
		to->local_end_ns = net->local_ns ?
				   draft->run.local_end_ns[m] : to->start_ns;
		for (uint32_t j = 0; j < from->nr_slices; j++, slice++) {
			*slice = draft->cut.slices[from->first_slice + j];
			slice->layer =
				net->step->layers[slice->layer].user_idx;
		}
	}
}

/* FNV-1a (G. Fowler, L. Noll, P. Vo) over numbers, low byte first */
static void hash_number(uint64_t *hash, uint64_t number)
{
	for (uint32_t i = 0; i < 8; i++)
		*hash = (*hash ^ (number >> 8 * i & 0xff)) * 0x100000001b3u;
}

static uint64_t plan_hash(const struct dlboost_plan_view *view)
{
	uint64_t hash = 0xcbf29ce484222325u;

	hash_number(&hash, view->has_barrier);
	for (uint32_t i = 0; i < view->nr_items; i++) {
		hash_number(&hash, view->items[i].kind);
		hash_number(&hash, view->items[i].graph);
		hash_number(&hash, view->items[i].layer);
		hash_number(&hash, view->items[i].stream);
	}
	for (uint32_t i = 0; i < view->nr_messages; i++) {
		hash_number(&hash, view->messages[i].graph);
		hash_number(&hash, view->messages[i].nr_slices);
	}
	for (uint32_t i = 0; i < view->nr_slices; i++) {
		hash_number(&hash, view->slices[i].layer);
		hash_number(&hash, view->slices[i].offset_bytes);
		hash_number(&hash, view->slices[i].len_bytes);
	}
	return hash;
}

static int plan_write(struct dlboost_plan *plan, struct dlb_draft *draft)
{
	const struct dlb_step *step = draft->net.step;
	struct dlboost_plan_view *view = &plan->view;

	plan->items = calloc(draft->net.nr_work + 1, sizeof(*plan->items));
	plan->messages = calloc(draft->cut.nr_messages + 1,
				sizeof(*plan->messages));
	plan->slices = calloc(draft->cut.nr_slices + 1, sizeof(*plan->slices));
	if (!plan->items || !plan->messages || !plan->slices)
		return -ENOMEM;
	dlb_run_turns(&draft->run, &draft->net, &draft->turns);
	write_items(plan, draft);
	write_messages(plan, draft);
	view->policy = step->attr->policy;
	view->has_barrier = step->jobs[0].has_barrier;
	view->nr_items = draft->net.nr_work;
	view->nr_messages = draft->cut.nr_messages;
	view->nr_slices = draft->cut.nr_slices;
	view->first_k = view->policy == DLBOOST_PLAN_REVERSE_FIRST_K ?
			draft->first_k : 0;
	view->items = plan->items;
	view->messages = plan->messages;
	view->slices = plan->slices;
	view->bucket_bytes = draft->cut.bucket_bytes;
	view->slice_bytes = draft->cut.slice_bytes;
	view->period_ns = draft->period_ns;
	view->peak_bytes = draft->peak_bytes;
	view->plan_id = plan_hash(view);
	return 0;
}

static int no_room(const struct dlb_pick *pick,
		   const struct dlboost_plan_attr *attr,
		   const struct refusal *why)
{
	if (pick->least_bytes == UINT64_MAX)
		return refuse(why, -ENOSPC, "no order of %s stays below %llu "
			      "bytes", policy_names[attr->policy],
			      (unsigned long long)attr->memory_bytes);
	return refuse(why, -ENOSPC, "%s needs %llu bytes, the cap is %llu",
		      policy_names[attr->policy],
		      (unsigned long long)pick->least_bytes,
		      (unsigned long long)attr->memory_bytes);
}

static int plan_make(const struct dlb_step *step, const struct refusal *why,
		     struct dlboost_plan **out)
{
	struct dlb_pick pick = { .step = step, .least_bytes = UINT64_MAX };
	struct dlboost_plan *plan = calloc(1, sizeof(*plan));
	int ret;

	if (!plan)
		return -ENOMEM;
	ret = check_total(step, why);
	if (!ret)
		ret = dlb_bound(step, &plan->view.bound);
	pick.bound_ns = plan->view.bound.period_ns;
	if (!ret)
		ret = run_policy(&pick, why);
	if (!ret)
		ret = pick.draft ? plan_write(plan, pick.draft) :
		      no_room(&pick, step->attr, why);
	dlb_draft_destroy(pick.draft);
	if (ret) {
		dlboost_plan_destroy(plan);
		return ret;
	}
	*out = plan;
	return 0;
}

DLB_EXPORT int dlboost_plan_create(
	const struct dlboost_plan_graph *const *graphs, uint32_t nr_graphs,
	const struct dlboost_plan_attr *attr, char *error, size_t error_bytes,
	struct dlboost_plan **out)
{
	const struct refusal why = { error, error_bytes };
	struct dlb_step step;
	int ret = check_attr(attr, &why);

	if (!ret)
		ret = check_graphs(nr_graphs, graphs, attr, &why);
	if (!ret)
		ret = dlb_step_init(&step, graphs, nr_graphs, attr,
				    policy_has_barrier(attr));
	if (ret)
		return ret;
	ret = plan_make(&step, &why, out);
	dlb_step_fini(&step);
	return ret;
}

DLB_EXPORT void dlboost_plan_destroy(struct dlboost_plan *plan)
{
	if (!plan)
		return;
	free(plan->items);
	free(plan->messages);
	free(plan->slices);
	free(plan);
}

DLB_EXPORT const struct dlboost_plan_view *dlboost_plan_get_view(
	const struct dlboost_plan *plan)
{
	return &plan->view;
}
