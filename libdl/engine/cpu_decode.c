// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The "cpu" engine: worker threads around libdl/image.  Owns one decoder a
 * worker and the lane their large pictures share.
 */
#include "cpu.h"

#include <errno.h>

#include "../image/decoder.h"
#include "../image/resample.h"

static size_t lane_bytes(const struct dlb_engine_attr *attr)
{
	return attr->limits.big_scratch_bytes == DLBOOST_NO_BIG_SCRATCH ?
	       0 : attr->limits.big_scratch_bytes;
}

static int decode_engine_init(const struct dlb_engine_attr *attr, void **engine)
{
	struct dlb_big_lane *lane = NULL;
	int ret = 0;

	if (lane_bytes(attr))
		ret = dlb_big_lane_create(lane_bytes(attr), &lane);
	if (!ret)
		*engine = lane;
	return ret;
}

static void decode_engine_fini(void *engine)
{
	if (engine)
		dlb_big_lane_destroy(engine);
}

static int decode_worker_init(void *engine, const struct dlb_engine_attr *attr,
			      void **worker)
{
	struct dlboost_decoder_attr decoder_attr = DLBOOST_DECODER_ATTR_INIT;
	struct dlboost_decoder *decoder;
	int ret;

	decoder_attr.limits = attr->limits;
	decoder_attr.reject_warnings = attr->reject_warnings;
	ret = dlb_decoder_create(&decoder_attr, engine, &decoder);
	if (!ret)
		*worker = decoder;
	return ret;
}

static void decode_worker_fini(void *worker)
{
	dlboost_decoder_destroy(worker);
}

static int decode_run(void *worker, const struct dlb_job *job,
		      struct dlboost_result *result, uint64_t *resample_ns)
{
	struct dlb_picture picture = {
		.bytes = job->src,
		.len_bytes = job->src_bytes,
		.info = job->info.type == DLBOOST_IMAGE_UNKNOWN ?
			NULL : &job->info,
		.recipe = job->recipe,
		.profile = job->profile,
		.geometry = job->geometry,
		.dst = job->dst,
		.dst_bytes = job->dst_bytes,
	};

	return dlb_decoder_run(worker, &picture, result, resample_ns);
}

static size_t decode_worker_bytes(const struct dlb_engine_attr *attr)
{
	return attr->limits.scratch_bytes + DLB_DECODER_TABLE_BYTES;
}

static const struct dlb_cpu_backend decode_backend = {
	.name = "cpu",
	.engine_init = decode_engine_init,
	.engine_fini = decode_engine_fini,
	.worker_init = decode_worker_init,
	.worker_fini = decode_worker_fini,
	.run = decode_run,
	.worker_bytes = decode_worker_bytes,
	.engine_bytes = lane_bytes,
};

static void decode_info(struct dlboost_engine_info *out)
{
	*out = (struct dlboost_engine_info){
		.name = "cpu",
		.description = "decodes on threads of this process",
		.is_available = 1,
		.nr_workers = dlb_cpu_nr_allowed(),
		.simd = dlb_resample_simd_name(),
		.decoder = dlb_decoder_library(),
	};
}

static int decode_create(const struct dlb_engine_attr *attr, char *error,
			 size_t error_bytes, struct dlb_engine **out)
{
	return dlb_cpu_create(&decode_backend, &dlb_cpu_engine_ops, attr, error,
			      error_bytes, out);
}

const struct dlb_engine_ops dlb_cpu_engine_ops = {
	.name = "cpu",
	.description = "decodes on threads of this process",
	.info = decode_info,
	.create = decode_create,
	.destroy = dlb_cpu_destroy,
	.submit = dlb_cpu_submit,
	.cancel = dlb_cpu_cancel,
	.counters = dlb_cpu_counters,
	.nr_workers = dlb_cpu_nr_workers,
	.queue_entries = dlb_cpu_queue_entries,
	.memory_bytes = dlb_cpu_memory_bytes,
};
