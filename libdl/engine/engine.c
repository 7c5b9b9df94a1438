// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The table of engines, and the public calls that run single pictures through
 * one.  Knows engines by their ops alone.
 *
 * Lock: dlboost_engine.lock guards the calls that wait; it is taken in the
 * sink, so it is never held over an op that may deliver (cancel, destroy).
 */
#include "engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../base/base.h"

#define MAX_ENGINES 8

static const struct dlb_engine_ops *engine_table[MAX_ENGINES] = {
	&dlb_cpu_engine_ops,
};

static unsigned int nr_engines(void)
{
	unsigned int nr = 0;

	while (nr < MAX_ENGINES && engine_table[nr])
		nr++;
	return nr;
}

int dlb_engine_register(const struct dlb_engine_ops *ops)
{
	unsigned int nr = nr_engines();

	if (nr == MAX_ENGINES)
		return -ENOSPC;
	engine_table[nr] = ops;
	return 0;
}

const struct dlb_engine_ops *dlb_engine_find(const char *spec,
					     const char **options, char *error,
					     size_t error_bytes)
{
	size_t len = strcspn(spec, ":");
	const char *names[MAX_ENGINES];
	unsigned int nr = nr_engines();
	const char *near;
	char word[32];

	for (unsigned int i = 0; i < nr; i++) {
		names[i] = engine_table[i]->name;
		if (strlen(names[i]) != len || memcmp(spec, names[i], len))
			continue;
		*options = spec[len] ? spec + len + 1 : "";
		return engine_table[i];
	}
	snprintf(word, sizeof(word), "%.*s", (int)(len < 31 ? len : 31), spec);
	near = dlb_did_you_mean(word, names, nr);
	if (near)
		dlb_sentence(error, error_bytes,
			     "no engine '%s'; did you mean '%s'?", word, near);
	else
		dlb_sentence(error, error_bytes,
			     "no engine '%s'; 'cpu' is always there", word);
	return NULL;
}

DLB_EXPORT int dlboost_engine_list(unsigned int idx,
				   struct dlboost_engine_info *out)
{
	if (idx >= nr_engines())
		return -ERANGE;
	memset(out, 0, sizeof(*out));
	engine_table[idx]->info(out);
	return 0;
}

struct dlboost_engine {
	struct dlb_engine *impl;
	struct dlboost_limits limits;
	pid_t pid;
	pthread_mutex_t lock;	/* decode_call.is_done of all calls */
	pthread_cond_t changed;	/* some call is done, or the queue has room */
};

struct decode_call {
	struct dlboost_result *result;
	bool is_done;
};

static void deliver_calls(void *arg, const struct dlb_completion *c,
			  unsigned int nr)
{
	struct dlboost_engine *engine = arg;

	pthread_mutex_lock(&engine->lock);
	for (unsigned int i = 0; i < nr; i++) {
		struct decode_call *call = c[i].owner;

		*call->result = *c[i].result;
		call->is_done = true;
	}
	pthread_cond_broadcast(&engine->changed);
	pthread_mutex_unlock(&engine->lock);
}

DLB_EXPORT int dlboost_engine_create(const char *spec,
				     const struct dlboost_limits *limits,
				     char *error, size_t error_bytes,
				     struct dlboost_engine **out)
{
	struct dlboost_engine *engine;
	const struct dlb_engine_ops *ops;
	struct dlb_engine_attr attr;
	const char *options;
	int ret;

	ops = dlb_engine_find(spec, &options, error, error_bytes);
	if (!ops)
		return -EINVAL;
	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	if (limits)
		engine->limits = *limits;
	dlb_engine_limits_fill(&engine->limits);
	engine->pid = getpid();
	pthread_mutex_init(&engine->lock, NULL);
	pthread_cond_init(&engine->changed, NULL);
	attr = (struct dlb_engine_attr){
		.options = options,
		.limits = engine->limits,
		.sink = { deliver_calls, engine },
	};
	ret = ops->create(&attr, error, error_bytes, &engine->impl);
	if (ret) {
		pthread_cond_destroy(&engine->changed);
		pthread_mutex_destroy(&engine->lock);
		free(engine);
		return ret;
	}
	*out = engine;
	return 0;
}

DLB_EXPORT void dlboost_engine_destroy(struct dlboost_engine *engine)
{
	/* A child has the memory, not the threads: nothing to stop or join */
	if (!engine || engine->pid != getpid())
		return;
	engine->impl->ops->destroy(engine->impl);
	pthread_cond_destroy(&engine->changed);
	pthread_mutex_destroy(&engine->lock);
	free(engine);
}

static int submit_and_wait(struct dlboost_engine *engine,
			   const struct dlb_job *job, struct decode_call *call)
{
	int ret;

	pthread_mutex_lock(&engine->lock);
	while ((ret = engine->impl->ops->submit(engine->impl, job, 1)) == 0)
		pthread_cond_wait(&engine->changed, &engine->lock);
	while (ret > 0 && !call->is_done)
		pthread_cond_wait(&engine->changed, &engine->lock);
	pthread_mutex_unlock(&engine->lock);
	return ret > 0 ? 0 : ret;
}

DLB_EXPORT int dlboost_engine_decode(struct dlboost_engine *engine,
				     const void *bytes, size_t len_bytes,
				     const struct dlboost_recipe *recipe,
				     enum dlboost_profile profile,
				     const struct dlboost_geometry *geometry,
				     void *dst, size_t dst_bytes,
				     struct dlboost_result *result)
{
	struct decode_call call = { .result = result };
	struct dlb_job job = {
		.recipe = recipe,
		.profile = profile,
		.src = bytes,
		.src_bytes = len_bytes,
		.dst = dst,
		.dst_bytes = dst_bytes,
		.owner = &call,
	};
	int ret;

	if (engine->pid != getpid())
		return -EPERM;
	if (dlboost_probe(bytes, len_bytes, &engine->limits, &job.info, result))
		return 0;
	if (geometry)
		job.geometry = *geometry;
	else if (dlb_job_draw(&job, 0, 0, 0, result))
		return 0;
	ret = submit_and_wait(engine, &job, &call);
	if (ret)
		return ret;
	if (result->status != DLBOOST_STATUS_INVALID)
		return 0;
	return result->written_bytes > dst_bytes ? -ENOSPC : -EINVAL;
}
