// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Pipelines of equal stages, to be held against their closed forms: 1F1B, and
 * ZB-H1 (P. Qi et al., "Zero bubble pipeline parallelism", 2023), in which stage
 * s lags s weight gradients behind and so keeps the memory of 1F1B.  Simulated
 * only.  Documentation/planning.rst, "Pipelines".
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <dlboost/plan.h>

#include "../base/base.h"

#define MAX_STAGES		64
#define MAX_MICRO_BATCHES	4096

enum { PIECE_F, PIECE_X, PIECE_W, NR_PIECES };

/**
 * struct pipe - One simulation
 * @attr: the pipeline
 * @ns: time of each kind of piece
 * @list: pieces of each stage in order, kind + NR_PIECES * micro-batch
 * @end_ns: per stage, micro-batch and kind; UINT64_MAX: not yet
 */
struct pipe {
	const struct dlboost_plan_pipeline_attr *attr;
	uint64_t ns[NR_PIECES];
	uint32_t *list;
	uint64_t *end_ns;
};

static size_t list_length(const struct pipe *p)
{
	return (size_t)p->attr->nr_micro_batches * NR_PIECES;
}

static uint32_t piece(uint32_t kind, uint32_t micro_batch)
{
	return kind + NR_PIECES * micro_batch;
}

static void fill_stage(const struct pipe *p, uint32_t stage, uint32_t *list)
{
	uint32_t nr = p->attr->nr_micro_batches, f = 0, w = 0;
	bool is_1f1b = p->attr->schedule == DLBOOST_PLAN_1F1B;

	for (; f < p->attr->nr_stages - 1 - stage; f++)
		*list++ = piece(PIECE_F, f);
	for (uint32_t x = 0; x < nr; x++) {
		bool is_steady = f < nr;

		if (is_steady)
			*list++ = piece(PIECE_F, f++);
		*list++ = piece(PIECE_X, x);
		if (is_1f1b || !is_steady || x >= stage)
			*list++ = piece(PIECE_W, w++);
	}
	for (; w < nr; w++)
		*list++ = piece(PIECE_W, w);
}

static uint64_t *end_of(const struct pipe *p, uint32_t stage, uint32_t entry)
{
	return &p->end_ns[stage * list_length(p) + entry];
}

/* When what a piece waits for has ended; UINT64_MAX: not yet */
static uint64_t ready_ns(const struct pipe *p, uint32_t stage, uint32_t entry)
{
	uint32_t micro_batch = entry / NR_PIECES;
	bool is_1f1b = p->attr->schedule == DLBOOST_PLAN_1F1B;

	switch (entry % NR_PIECES) {
	case PIECE_F:
		return stage ? *end_of(p, stage - 1, entry) : 0;
	case PIECE_X:
		if (stage == p->attr->nr_stages - 1)
			return *end_of(p, stage, piece(PIECE_F, micro_batch));
		/* In 1F1B dX and dW are one piece of work */
		return *end_of(p, stage + 1,
			       piece(is_1f1b ? PIECE_W : PIECE_X, micro_batch));
	default:
		return *end_of(p, stage, piece(PIECE_X, micro_batch));
	}
}

static uint64_t run(struct pipe *p)
{
	uint32_t at[MAX_STAGES] = { 0 };
	uint64_t free_ns[MAX_STAGES] = { 0 }, last_ns = 0;
	bool has_moved;

	do {
		has_moved = false;
		for (uint32_t s = 0; s < p->attr->nr_stages; s++) {
			const uint32_t *list = p->list + s * list_length(p);

			while (at[s] < list_length(p)) {
				uint32_t entry = list[at[s]];
				uint64_t begin = ready_ns(p, s, entry);

				if (begin == UINT64_MAX)
					break;
				begin = begin > free_ns[s] ? begin : free_ns[s];
				free_ns[s] = begin + p->ns[entry % NR_PIECES];
				*end_of(p, s, entry) = free_ns[s];
				at[s]++;
				has_moved = true;
			}
			last_ns = free_ns[s] > last_ns ? free_ns[s] : last_ns;
		}
	} while (has_moved);
	return last_ns;
}

/* Activations live from a micro-batch's forward pass to its dW */
static uint32_t peak_micro_batches(const struct pipe *p)
{
	uint32_t peak = 0;

	for (uint32_t s = 0; s < p->attr->nr_stages; s++) {
		const uint32_t *list = p->list + s * list_length(p);
		uint32_t now = 0;

		for (size_t i = 0; i < list_length(p); i++) {
			now += list[i] % NR_PIECES == PIECE_F;
			peak = now > peak ? now : peak;
			now -= list[i] % NR_PIECES == PIECE_W;
		}
	}
	return peak;
}

static uint64_t closed_form_ns(const struct pipe *p)
{
	uint64_t m = p->attr->nr_micro_batches, others = p->attr->nr_stages - 1;
	uint64_t t = p->ns[PIECE_F] + p->ns[PIECE_X] + p->ns[PIECE_W];

	if (p->attr->schedule == DLBOOST_PLAN_1F1B)
		return (m + others) * t;
	return m * t + others * (p->ns[PIECE_F] + p->ns[PIECE_X]) -
	       others * p->ns[PIECE_W];
}

static int check_attr(const struct dlboost_plan_pipeline_attr *attr)
{
	if (attr->size != sizeof(*attr) ||
	    attr->schedule > DLBOOST_PLAN_ZB_H1 || !attr->nr_stages ||
	    attr->nr_stages > MAX_STAGES ||
	    attr->nr_micro_batches < attr->nr_stages ||
	    attr->nr_micro_batches > MAX_MICRO_BATCHES ||
	    attr->forward_ns > DLBOOST_PLAN_MAX_NS ||
	    attr->input_grad_ns > DLBOOST_PLAN_MAX_NS ||
	    attr->weight_grad_ns > DLBOOST_PLAN_MAX_NS)
		return -EINVAL;
	return 0;
}

DLB_EXPORT int dlboost_plan_run_pipeline(
	const struct dlboost_plan_pipeline_attr *attr,
	struct dlboost_plan_pipeline *out)
{
	struct pipe p = { .attr = attr };
	size_t nr;
	int ret = check_attr(attr);

	if (ret)
		return ret;
	p.ns[PIECE_F] = attr->forward_ns;
	p.ns[PIECE_X] = attr->input_grad_ns;
	p.ns[PIECE_W] = attr->weight_grad_ns;
	nr = attr->nr_stages * list_length(&p);
	p.list = malloc(nr * sizeof(*p.list));
	p.end_ns = malloc(nr * sizeof(*p.end_ns));
	if (!p.list || !p.end_ns) {
		ret = -ENOMEM;
	} else {
		memset(p.end_ns, 0xff, nr * sizeof(*p.end_ns));
		for (uint32_t s = 0; s < attr->nr_stages; s++)
			fill_stage(&p, s, p.list + s * list_length(&p));
		out->makespan_ns = run(&p);
		out->closed_form_ns = closed_form_ns(&p);
		out->peak_micro_batches = peak_micro_batches(&p);
	}
	free(p.list);
	free(p.end_ns);
	return ret;
}
