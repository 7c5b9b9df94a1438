// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The checker's view of reductions: every byte of every gradient once, one
 * message after the other on each link, each with the time it takes.
 * Documentation/planning.rst, "The proof".
 */
#include <errno.h>

#include "../base/base.h"
#include "check_int.h"

/* A slice and the fact of its layer, for sorting */
struct part {
	uint32_t fact;
	uint64_t offset_bytes;
	uint64_t len_bytes;
};

static int by_place(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->fact != y->fact)
		return x->fact < y->fact ? -1 : 1;
	return (x->offset_bytes > y->offset_bytes) -
	       (x->offset_bytes < y->offset_bytes);
}

static int collect(const struct check *c, struct part *parts)
{
	const struct dlboost_plan_view *view = c->view;
	uint32_t nr = 0;

	for (uint32_t m = 0; m < view->nr_messages; m++) {
		const struct dlboost_plan_message *message =
			&view->messages[m];
		uint64_t bytes = 0;

		if (message->graph >= c->nr_graphs || !message->nr_slices ||
		    message->first_slice != nr ||
		    message->nr_slices > view->nr_slices - nr)
			return wrong(c, "reduction %u has no slices of its own",
				     m);
		for (uint32_t i = 0; i < message->nr_slices; i++, nr++) {
			const struct dlboost_plan_slice *slice =
				&view->slices[nr];
			uint32_t base = c->base[message->graph];

			if (slice->layer >= c->base[message->graph + 1] - base)
				return wrong(c, "reduction %u is of no layer",
					     m);
			parts[nr] = (struct part){ base + slice->layer,
						   slice->offset_bytes,
						   slice->len_bytes };
			bytes += slice->len_bytes;
		}
		if (bytes != message->len_bytes)
			return wrong(c, "reduction %u has another length than "
				     "its slices", m);
	}
	return nr == view->nr_slices ? 0 :
	       wrong(c, "%u slices belong to no reduction",
		     view->nr_slices - nr);
}

/* Sorted parts must tile each trained gradient without gap and overlap */
static int check_tiling(const struct check *c, const struct part *parts)
{
	uint32_t nr = c->view->nr_slices, at = 0;

	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
		const struct fact *fact = &c->facts[i];
		uint64_t want = fact->learns && fact->owner == i ?
				fact->layer->parameter_bytes : 0;
		uint64_t have = 0;

		if (c->attr->ranks == 1)
			want = 0;
		for (; at < nr && parts[at].fact == i; at++) {
			if (parts[at].offset_bytes != have ||
			    !parts[at].len_bytes ||
			    parts[at].len_bytes > want - have)
				return wrong(c, "gradient of layer '%s' is not "
					     "reduced once around byte %llu",
					     fact->layer->name,
					     (unsigned long long)
						parts[at].offset_bytes);
			have += parts[at].len_bytes;
		}
		if (have != want)
			return wrong(c, "gradient of layer '%s': %llu of %llu "
				     "bytes are reduced", fact->layer->name,
				     (unsigned long long)have,
				     (unsigned long long)want);
	}
	return 0;
}

int dlb_check_slices(const struct check *c)
{
	struct part *parts = calloc(c->view->nr_slices + 1, sizeof(*parts));
	int ret;

	if (!parts)
		return -ENOMEM;
	ret = collect(c, parts);
	if (!ret) {
		qsort(parts, c->view->nr_slices, sizeof(*parts), by_place);
		ret = check_tiling(c, parts);
	}
	free(parts);
	return ret;
}

/*
 * An all-reduce in a ring of p: each rank sends 2 (p - 1) pieces of 1/p of the
 * bytes, one hop each.  Rounded up.
 */
static uint64_t ring_ns(uint64_t p, uint64_t bytes, uint64_t bytes_divisor,
			uint64_t bits_per_s, uint64_t hop_ns)
{
	unsigned __int128 dividend, divisor;

	if (p == 1)
		return 0;
	dividend = (unsigned __int128)bytes * 8;
	dividend *= 2 * (p - 1);
	dividend *= 1000000000;
	divisor = (unsigned __int128)p * bytes_divisor;
	divisor *= bits_per_s;
	return (uint64_t)(dividend / divisor) + (dividend % divisor ? 1 : 0) +
	       2 * (p - 1) * hop_ns;
}

int dlb_check_link(const struct check *c)
{
	const struct dlboost_plan_attr *a = c->attr;
	uint64_t nr_machines = a->ranks / a->local_ranks;
	uint64_t local_free_ns = 0, free_ns = 0;

	for (uint32_t i = 0; i < c->view->nr_messages; i++) {
		const struct dlboost_plan_message *m = &c->view->messages[i];
		uint64_t local_ns = ring_ns(a->local_ranks, m->len_bytes, 1,
					    a->local_bits_per_s,
					    a->local_hop_ns);
		uint64_t last_ns = ring_ns(nr_machines, m->len_bytes,
					   a->local_ranks, a->link_bits_per_s,
					   a->hop_ns);

		/* Inside one machine the local link is the only one */
		if (nr_machines == 1) {
			last_ns = local_ns;
			local_ns = 0;
		}
		if (m->local_end_ns - m->local_start_ns != local_ns ||
		    m->end_ns - m->start_ns != last_ns ||
		    m->end_ns < m->start_ns)
			return wrong(c, "reduction %u has not the time that %llu "
				     "bytes take", i,
				     (unsigned long long)m->len_bytes);
		if ((local_ns && m->local_start_ns < local_free_ns) ||
		    m->start_ns < free_ns || m->start_ns < m->local_end_ns)
			return wrong(c, "reduction %u begins before the one in "
				     "front of it ends", i);
		local_free_ns = m->local_end_ns;
		free_ns = m->end_ns;
	}
	return 0;
}
