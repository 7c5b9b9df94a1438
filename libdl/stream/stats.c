// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Counters, the sliding window and the verdict on what limits a stream.  Owns
 * no thread: brought up to date by next() and by completions, at most ten times
 * a second.  Lock: pool->lock.  Documentation/streams.rst, "Statistics".
 */
#include "stats.h"

#include <string.h>

#include "../base/base.h"
#include "stream.h"

DLB_EXPORT const char *dlboost_limit_stage_name(unsigned int stage)
{
	static const char *const names[] = {
		"unknown", "storage", "decode-cpu", "device", "transfer",
		"consumer",
	};

	return stage < ARRAY_SIZE(names) ? names[stage] : names[0];
}

static uint64_t since(uint64_t later, uint64_t earlier)
{
	return later > earlier ? later - earlier : 0;
}

void dlb_stats_count_completion(struct dlb_stats *stats,
				const struct dlb_completion *c)
{
	struct dlboost_stream_stats *total = &stats->total;

	total->encoded_bytes += c->src_bytes;
	total->read_ns += since(c->read_done_ns, c->start_ns);
	total->decode_ns += since(since(c->end_ns, c->read_done_ns),
				  c->resample_ns);
	total->resample_ns += c->resample_ns;
}

static void add_engines(struct dlboost_stream *stream,
			struct dlboost_stream_stats *out)
{
	out->idle_ns = 0;
	out->worker_cpu_ns = 0;
	out->queued_samples = 0;
	for (unsigned int i = 0; i < stream->nr_engines; i++) {
		struct dlb_engine *engine = stream->engines[i].engine;
		struct dlb_engine_counters counters;

		engine->ops->counters(engine, &counters);
		out->idle_ns += counters.idle_ns;
		out->worker_cpu_ns += counters.cpu_ns;
		out->queued_samples += stream->engines[i].nr_in_flight;
	}
}

static uint64_t wait_ns(const struct dlb_stats *stats, uint64_t now_ns)
{
	uint64_t now_waiting = stats->waiting_since_ns ?
			       since(now_ns, stats->waiting_since_ns) : 0;

	return stats->total.wait_ns + now_waiting;
}

static void take_mark(struct dlboost_stream *stream, uint64_t now_ns,
		      const struct dlboost_stream_stats *now,
		      struct dlb_stats_mark *out)
{
	*out = (struct dlb_stats_mark){
		.at_ns = now_ns,
		.idle_ns = now->idle_ns,
		.read_ns = now->read_ns,
		.decode_ns = now->decode_ns + now->resample_ns,
		.wait_ns = wait_ns(&stream->stats, now_ns),
	};
}

static double clamp_share(double share)
{
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

uint32_t dlb_stats_verdict(const struct dlb_stats_mark *from,
			   const struct dlb_stats_mark *to,
			   unsigned int nr_workers, double *share)
{
	double wall = (double)since(to->at_ns, from->at_ns);
	double workers, idle, wait, read, decode;

	*share = 0;
	if (wall <= 0 || !nr_workers)
		return DLBOOST_LIMIT_UNKNOWN;
	workers = wall * nr_workers;
	idle = (double)since(to->idle_ns, from->idle_ns) / workers;
	read = (double)since(to->read_ns, from->read_ns) / workers;
	decode = (double)since(to->decode_ns, from->decode_ns) / workers;
	wait = (double)since(to->wait_ns, from->wait_ns) / wall;
	if (idle > wait) {
		*share = clamp_share(1 - wait);
		return DLBOOST_LIMIT_CONSUMER;
	}
	if (read <= 0 && decode <= 0)
		return DLBOOST_LIMIT_UNKNOWN;
	*share = clamp_share(read > decode ? read : decode);
	return read > decode ? DLBOOST_LIMIT_STORAGE : DLBOOST_LIMIT_DECODE_CPU;
}

static void add_verdict(struct dlboost_stream *stream, uint64_t now_ns,
			struct dlboost_stream_stats *out)
{
	struct dlb_stats *stats = &stream->stats;
	uint64_t oldest = stats->nr_marks > DLB_STATS_MARKS ?
			  stats->nr_marks - DLB_STATS_MARKS : 0;
	struct dlb_stats_mark now;

	if (!stats->nr_marks)
		return;
	take_mark(stream, now_ns, out, &now);
	out->limit_stage = dlb_stats_verdict(
		&stats->marks[oldest % DLB_STATS_MARKS], &now,
		stream->nr_workers, &out->limit_share);
}

static void fill_locked(struct dlboost_stream *stream, uint64_t now_ns,
			struct dlboost_stream_stats *out)
{
	struct dlb_stats *stats = &stream->stats;

	*out = stats->total;
	out->elapsed_ns = stats->first_ns ? since(now_ns, stats->first_ns) : 0;
	out->wait_ns = wait_ns(stats, now_ns);
	add_engines(stream, out);
	for (uint32_t i = 0; i < stream->fifo_count; i++)
		out->ready_batches +=
			stream->fifo[(stream->fifo_head + i) %
				     stream->pool->nr_slots]->nr_pending == 0;
	add_verdict(stream, now_ns, out);
}

void dlb_stats_mark_locked(struct dlboost_stream *stream, uint64_t now_ns)
{
	struct dlb_stats *stats = &stream->stats;
	struct dlboost_stream_stats now = stats->total;

	add_engines(stream, &now);
	take_mark(stream, now_ns, &now,
		  &stats->marks[stats->nr_marks++ % DLB_STATS_MARKS]);
}

void dlb_stats_tick(struct dlboost_stream *stream, uint64_t now_ns)
{
	struct dlb_stats *stats = &stream->stats;
	unsigned long long last = atomic_load_explicit(&stats->last_tick_ns,
						       memory_order_relaxed);
	struct dlboost_stream_stats now;

	if (since(now_ns, last) < DLB_STATS_TICK_NS ||
	    !atomic_compare_exchange_strong_explicit(&stats->last_tick_ns,
						     &last, now_ns,
						     memory_order_relaxed,
						     memory_order_relaxed))
		return;
	pthread_mutex_lock(&stream->pool->lock);
	fill_locked(stream, now_ns, &now);
	dlb_stats_mark_locked(stream, now_ns);
	pthread_mutex_unlock(&stream->pool->lock);
	if (stream->page)
		dlb_stats_page_write(stream->page, &now, now_ns);
}

DLB_EXPORT void dlboost_stream_stats(const struct dlboost_stream *stream,
				     struct dlboost_stream_stats *out)
{
	memset(out, 0, sizeof(*out));
	if (dlb_pool_is_foreign(stream->pool))
		return;
	pthread_mutex_lock(&stream->pool->lock);
	fill_locked((struct dlboost_stream *)stream, dlb_now_ns(), out);
	pthread_mutex_unlock(&stream->pool->lock);
}
