// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Drafts: orders offered, the best one kept.  Also makes the sequences that
 * most policies begin with.  Belongs to one thread.  Documentation/planning.rst,
 * "Policies".
 */
#include "draft.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

static void draft_find_message_keys(struct dlb_draft *draft)
{
	const struct dlb_cut *cut = &draft->cut;

	for (uint32_t m = 0; m < cut->nr_messages; m++) {
		const struct dlboost_plan_message *message = &cut->messages[m];
		uint32_t lowest = DLB_NONE;

		for (uint32_t i = 0; i < message->nr_slices; i++) {
			uint32_t l = cut->slices[message->first_slice + i].layer;

			l -= draft->net.step->jobs[message->graph].first_layer;
			lowest = l < lowest ? l : lowest;
		}
		draft->message_key[m] = lowest;
	}
}

int dlb_draft_create(const struct dlb_step *step, uint64_t first_bytes,
		     uint64_t bucket_bytes, uint64_t slice_bytes,
		     struct dlb_draft **out)
{
	struct dlb_draft *draft = calloc(1, sizeof(*draft));
	int ret;

	if (!draft)
		return -ENOMEM;
	draft->period_ns = UINT64_MAX;
	draft->least_bytes = UINT64_MAX;
	ret = dlb_cut_init(&draft->cut, step, first_bytes, bucket_bytes,
			   slice_bytes);
	if (!ret)
		ret = dlb_net_init(&draft->net, step, &draft->cut);
	if (!ret)
		ret = dlb_run_init(&draft->run, &draft->net);
	if (!ret)
		ret = dlb_turns_init(&draft->turns, &draft->net);
	if (!ret)
		ret = dlb_turns_init(&draft->trial, &draft->net);
	if (!ret)
		ret = dlb_turns_init(&draft->line, &draft->net);
	draft->item_key = calloc(step->nr_items, sizeof(*draft->item_key));
	draft->message_key = calloc(draft->cut.nr_messages + 1,
				    sizeof(*draft->message_key));
	if (ret || !draft->item_key || !draft->message_key) {
		dlb_draft_destroy(draft);
		return -ENOMEM;
	}
	draft_find_message_keys(draft);
	*out = draft;
	return 0;
}

void dlb_draft_destroy(struct dlb_draft *draft)
{
	if (!draft)
		return;
	free(draft->item_key);
	free(draft->message_key);
	dlb_turns_fini(&draft->line);
	dlb_turns_fini(&draft->trial);
	dlb_turns_fini(&draft->turns);
	dlb_run_fini(&draft->run);
	dlb_net_fini(&draft->net);
	dlb_cut_fini(&draft->cut);
	free(draft);
}

bool dlb_draft_offer(struct dlb_draft *draft, const struct dlb_turns *turns,
		     uint32_t first_k)
{
	uint64_t cap_bytes = draft->net.step->attr->memory_bytes;
	const struct dlb_run *run = &draft->run;

	if (!dlb_run_turns(&draft->run, &draft->net, turns))
		return false;
	if (run->peak_bytes < draft->least_bytes) {
		draft->least_bytes = run->peak_bytes;
		if (draft->period_ns == UINT64_MAX)
			dlb_turns_copy(&draft->turns, turns, &draft->net);
	}
	if (cap_bytes && run->peak_bytes > cap_bytes)
		return false;
	if (run->period_ns > draft->period_ns ||
	    (run->period_ns == draft->period_ns &&
	     run->peak_bytes >= draft->peak_bytes))
		return false;
	draft->period_ns = run->period_ns;
	draft->peak_bytes = run->peak_bytes;
	draft->first_k = first_k;
	dlb_turns_copy(&draft->turns, turns, &draft->net);
	return true;
}

int dlb_draft_try(struct dlb_draft *draft, struct dlb_rule *rule,
		  uint32_t first_k)
{
	int ret = dlb_dispatch(&draft->net, rule, &draft->trial);

	if (ret)
		return ret == -ENOSPC ? 0 : ret;
	dlb_draft_offer(draft, &draft->trial, first_k);
	return 0;
}

uint32_t dlb_step_count_dw(const struct dlb_step *step)
{
	uint32_t nr = 0;

	for (uint32_t l = 0; l < step->nr_layers; l++)
		nr += step->layers[l].has_dw;
	return nr;
}

/**
 * struct line - A sequence under construction
 * @step: the step
 * @out: where it goes
 * @nr: items so far on stream 0 and 1
 * @side: those of stream 1, put behind at the end
 * @has_side: dW go there
 */
struct line {
	const struct dlb_step *step;
	struct dlb_turns *out;
	uint32_t nr[2];
	uint32_t *side;
	bool has_side;
};

static void line_add(struct line *line, uint32_t node)
{
	bool is_dw = node < 4 * line->step->nr_layers &&
		     node % 4 == DLBOOST_PLAN_WEIGHT_GRAD;

	if (!line->step->is_present[node])
		return;
	if (is_dw && line->has_side)
		*--line->side = node;
	else
		line->out->items[line->nr[0]++] = node;
	line->nr[1] += is_dw && line->has_side;
}

/* dW of layer @l is deferred when fewer than @k layers below have one */
static uint32_t deferred_end(const struct dlb_step *step,
			     const struct dlb_job *job, uint32_t k)
{
	uint32_t l = job->first_layer, nr = 0;

	while (l < job->first_layer + job->nr_layers && nr < k)
		nr += step->layers[l++].has_dw;
	return l;
}

/* Tied layers add up in autograd's order, so their dW are never deferred */
static void line_backward(struct line *line, const struct dlb_job *job,
			  uint32_t end, enum dlb_line_kind kind)
{
	for (uint32_t i = job->nr_layers; i-- > 0; ) {
		uint32_t l = job->first_layer + i;

		line_add(line, DLB_NODE_DX(l));
		if (l >= end || line->step->layers[l].is_tied)
			line_add(line, DLB_NODE_DW(l));
	}
	if (kind == DLB_LINE_LATE)
		return;
	for (uint32_t l = job->first_layer; l < end; l++)
		if (!line->step->layers[l].is_tied)
			line_add(line, DLB_NODE_DW(l));
}

static void line_updates(struct line *line, const struct dlb_job *job)
{
	for (uint32_t i = 0; i < job->nr_layers; i++)
		line_add(line, DLB_NODE_UPDATE(job->first_layer + i));
}

static void line_forward(struct line *line, const struct dlb_job *job,
			 uint32_t end, enum dlb_line_kind kind)
{

	for (uint32_t i = 0; i < job->nr_layers; i++) {
		uint32_t l = job->first_layer + i;
		const struct dlb_layer *layer = &line->step->layers[l];

		if (kind == DLB_LINE_LATE && l < end && !layer->is_tied)
			line_add(line, DLB_NODE_DW(l));
		/* A tied layer may stand below the owner of its parameters */
		if (!job->has_sync && layer->lowest == l)
			line_add(line, DLB_NODE_UPDATE(layer->owner));
		line_add(line, DLB_NODE_FORWARD(l));
	}
}

static void line_job(struct line *line, uint32_t j, uint32_t k,
		     enum dlb_line_kind kind)
{
	const struct dlb_job *job = &line->step->jobs[j];
	uint32_t end = deferred_end(line->step, job, k);

	/* With all updates in one place, no dW can come later */
	if (job->has_sync)
		kind = kind == DLB_LINE_LATE ? DLB_LINE_PLAIN : kind;
	line_backward(line, job, end, kind);
	if (kind != DLB_LINE_LATE)
		line_add(line, dlb_node_release(line->step, j));
	if (job->has_sync)
		line_updates(line, job);
	line_forward(line, job, end, kind);
	if (kind == DLB_LINE_LATE)
		line_add(line, dlb_node_release(line->step, j));
}

void dlb_draft_line(struct dlb_draft *draft, uint32_t k,
		    enum dlb_line_kind kind)
{
	struct dlb_turns *out = &draft->line;
	uint32_t nr_work = draft->net.nr_work;
	struct line line = {
		.step = draft->net.step, .out = out,
		.side = out->items + draft->net.nr_work,
		.has_side = kind == DLB_LINE_SIDE && draft->net.nr_streams > 1,
	};

	for (uint32_t j = 0; j < line.step->nr_jobs; j++)
		line_job(&line, j, k, kind);
	/* Stream 1 was filled from the back */
	for (uint32_t i = 0; i < line.nr[1] / 2; i++) {
		uint32_t *a = &out->items[line.nr[0] + i];
		uint32_t *b = &out->items[nr_work - 1 - i];
		uint32_t moved = *a;

		*a = *b;
		*b = moved;
	}
	out->first[0] = 0;
	out->first[1] = line.nr[0];
	for (uint32_t s = 2; s <= DLBOOST_PLAN_MAX_STREAMS; s++)
		out->first[s] = nr_work;
}

void dlb_draft_keys(struct dlb_draft *draft)
{
	for (uint32_t i = 0; i < draft->net.nr_work; i++)
		draft->item_key[draft->line.items[i]] = i;
}
