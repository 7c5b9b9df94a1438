// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The engine "fake" of the stream's tests: libdl/engine's machinery around a
 * backend that decodes nothing.
 */
#include "fake_engine.h"

#include <string.h>

#include "engine/cpu.h"

unsigned int (*fake_hook)(const struct dlb_job *job,
			  struct dlboost_result *result);

int (*fake_submit_hook)(struct dlb_engine *engine, unsigned int nr);

bool fake_is_null;

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

uint64_t fake_pattern(const void *src, size_t src_bytes,
		      const struct dlboost_geometry *geometry)
{
	return mix(mix(0xcbf29ce484222325u, src, src_bytes), geometry,
		   sizeof(*geometry));
}

static int fake_engine_init(const struct dlb_engine_attr *attr, void **engine)
{
	(void)attr;
	*engine = NULL;
	return 0;
}

static void fake_fini(void *state)
{
	(void)state;
}

static int fake_worker_init(void *engine, const struct dlb_engine_attr *attr,
			    void **worker)
{
	(void)engine;
	(void)attr;
	*worker = NULL;
	return 0;
}

static int fake_run(void *worker, const struct dlb_job *job,
		    struct dlboost_result *result, uint64_t *resample_ns)
{
	uint64_t pattern;
	unsigned int status = fake_hook ? fake_hook(job, result) : 0;

	(void)worker;
	*resample_ns = 0;
	result->status = status;
	if (status)
		return 0;
	result->written_bytes = job->dst_bytes;
	if (fake_is_null)
		return 0;
	pattern = fake_pattern(job->src, job->src_bytes, &job->geometry);
	memset(job->dst, 0x5a, job->dst_bytes);
	memcpy(job->dst, &pattern, sizeof(pattern));
	return 0;
}

static size_t fake_bytes(const struct dlb_engine_attr *attr)
{
	(void)attr;
	return 0;
}

static const struct dlb_cpu_backend fake_backend = {
	.name = "fake",
	.engine_init = fake_engine_init,
	.engine_fini = fake_fini,
	.worker_init = fake_worker_init,
	.worker_fini = fake_fini,
	.run = fake_run,
	.worker_bytes = fake_bytes,
	.engine_bytes = fake_bytes,
};

static void fake_info(struct dlboost_engine_info *out)
{
	out->name = "fake";
	out->description = "writes patterns";
	out->is_available = 1;
	out->is_emulated = 1;
	out->simd = "c";
	out->decoder = "fake 1";
}

static const struct dlb_engine_ops fake_ops;

static int fake_create(const struct dlb_engine_attr *attr, char *error,
		       size_t error_bytes, struct dlb_engine **out)
{
	return dlb_cpu_create(&fake_backend, &fake_ops, attr, error,
			      error_bytes, out);
}

static int fake_submit(struct dlb_engine *engine, const struct dlb_job *jobs,
		       unsigned int nr)
{
	int ret = fake_submit_hook ? fake_submit_hook(engine, nr) : 0;

	return ret ? ret : dlb_cpu_submit(engine, jobs, nr);
}

static const struct dlb_engine_ops fake_ops = {
	.name = "fake",
	.description = "writes patterns",
	.info = fake_info,
	.create = fake_create,
	.destroy = dlb_cpu_destroy,
	.submit = fake_submit,
	.cancel = dlb_cpu_cancel,
	.counters = dlb_cpu_counters,
	.nr_workers = dlb_cpu_nr_workers,
	.queue_entries = dlb_cpu_queue_entries,
	.memory_bytes = dlb_cpu_memory_bytes,
};

void fake_engine_register(void)
{
	dlb_engine_register(&fake_ops);
}
