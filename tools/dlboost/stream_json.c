// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys that "run -j" and "stats -j" share, so that they stay the same. */
#include "stream_json.h"

void json_add_stream_info(struct json_object *obj,
			  const struct dlboost_stream_info *info)
{
	json_add_u64(obj, "batch_samples", info->batch);
	json_add_u64(obj, "slots", info->slots);
	json_add_u64(obj, "hold", info->hold);
	json_add_u64(obj, "nr_workers", info->nr_workers);
	json_add_u64(obj, "slot_bytes", info->slot_bytes);
	json_add_u64(obj, "cap_bytes", info->cap_bytes);
	json_add_bool(obj, "has_huge_pages", info->has_huge_pages);
	json_add_u64(obj, "dataset_samples", info->dataset.nr_samples);
	json_add_text(obj, "dataset_fingerprint", info->dataset.fingerprint);
}

uint64_t stream_nr_bad(const struct dlboost_stream_stats *stats)
{
	uint64_t nr = 0;

	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++)
		nr += stats->bad[i];
	return nr;
}

static void add_seconds(struct json_object *obj, const char *key, uint64_t ns)
{
	json_add_real(obj, key, (double)ns / 1e9, 6);
}

void json_add_stream_stats(struct json_object *obj,
			   const struct dlboost_stream_stats *stats)
{
	struct json_object *bad = json_object_new_object();

	json_add_u64(obj, "nr_samples", stats->samples);
	json_add_u64(obj, "nr_batches", stats->batches);
	json_add_u64(obj, "nr_bad", stream_nr_bad(stats));
	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++)
		json_add_u64(bad, dlboost_status_name(i), stats->bad[i]);
	json_add(obj, "bad", bad);
	json_add_u64(obj, "nr_warned", stats->warned);
	json_add_u64(obj, "nr_replaced", stats->replaced);
	json_add_u64(obj, "nr_quarantined", stats->quarantined);
	json_add_u64(obj, "nr_rerouted", stats->rerouted);
	json_add_u64(obj, "encoded_bytes", stats->encoded_bytes);
	add_seconds(obj, "elapsed_s", stats->elapsed_ns);
	add_seconds(obj, "read_s", stats->read_ns);
	add_seconds(obj, "decode_s", stats->decode_ns);
	add_seconds(obj, "resample_s", stats->resample_ns);
	add_seconds(obj, "idle_s", stats->idle_ns);
	add_seconds(obj, "worker_cpu_s", stats->worker_cpu_ns);
	add_seconds(obj, "wait_s", stats->wait_ns);
	json_add_u64(obj, "queued_samples", stats->queued_samples);
	json_add_u64(obj, "ready_batches", stats->ready_batches);
	json_add_text(obj, "limit_stage",
		      dlboost_limit_stage_name(stats->limit_stage));
	json_add_real(obj, "limit_share", stats->limit_share, 4);
}
