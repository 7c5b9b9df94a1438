// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What a reduction costs: a ring inside each machine, then rings between the
 * machines, each of them on its share of the bytes.  Whole nanoseconds, so that
 * every machine computes the same.  Documentation/planning.rst, "Links".
 */
#include "net.h"

uint64_t dlb_mul_div_up(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	unsigned __int128 quotient = (product + c - 1) / c;

	return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}

/* One ring of @ranks over @share-th part of the bytes: 2 (p - 1) / p of it */
struct ring {
	uint32_t ranks;
	uint32_t share;
	uint64_t bits_per_s;
	uint64_t hop_ns;
};

static uint64_t ring_bytes_ns(const struct ring *ring, uint64_t bytes,
			      bool is_bound)
{
	uint64_t parts = (uint64_t)ring->ranks * ring->share;
	unsigned __int128 bits_ns, rate;

	if (ring->ranks < 2)
		return 0;
	bits_ns = (unsigned __int128)bytes * 16000000000u * (ring->ranks - 1);
	rate = (unsigned __int128)ring->bits_per_s * parts;
	if (!is_bound)
		bits_ns += rate - 1;
	bits_ns /= rate;
	return bits_ns > INT64_MAX ? INT64_MAX : (uint64_t)bits_ns;
}

static uint64_t ring_latency_ns(const struct ring *ring)
{
	return 2 * (uint64_t)(ring->ranks - 1) * ring->hop_ns;
}

/* A single machine has one ring, and it is called the last link */
static void rings_of(const struct dlboost_plan_attr *attr, struct ring *local,
		     struct ring *last)
{
	uint32_t nr_machines = attr->ranks / attr->local_ranks;

	*local = (struct ring){ attr->local_ranks, 1, attr->local_bits_per_s,
				attr->local_hop_ns };
	*last = (struct ring){ nr_machines, attr->local_ranks,
			       attr->link_bits_per_s, attr->hop_ns };
	if (nr_machines == 1) {
		*last = *local;
		local->ranks = 1;
	}
}

void dlb_cost_bytes(const struct dlboost_plan_attr *attr, uint64_t bytes,
		    uint64_t *local_ns, uint64_t *link_ns)
{
	struct ring local, last;

	rings_of(attr, &local, &last);
	*local_ns = ring_bytes_ns(&local, bytes, true);
	*link_ns = ring_bytes_ns(&last, bytes, true);
}

void dlb_cost_latency(const struct dlboost_plan_attr *attr, uint64_t *local_ns,
		      uint64_t *link_ns)
{
	struct ring local, last;

	rings_of(attr, &local, &last);
	*local_ns = ring_latency_ns(&local);
	*link_ns = ring_latency_ns(&last);
}

void dlb_cost_message(const struct dlboost_plan_attr *attr, uint64_t bytes,
		      uint64_t *local_ns, uint64_t *link_ns)
{
	struct ring local, last;

	rings_of(attr, &local, &last);
	*local_ns = ring_bytes_ns(&local, bytes, false) +
		    ring_latency_ns(&local);
	*link_ns = ring_bytes_ns(&last, bytes, false) + ring_latency_ns(&last);
}
