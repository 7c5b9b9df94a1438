// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Attributes -> a stream.  Owns every check of what a caller asks for and the
 * formulas for slots and declared memory; starts the engines, does no work.
 * Documentation/streams.rst, "Memory".
 */
#include "stream.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <dlboost/log.h>

#include "../base/base.h"
#include "dataset.h"
#include "resume.h"

#define DEFAULT_BATCH 256
#define DEFAULT_HOLD 2
#define DEFAULT_MAX_BAD 0.001
#define MIN_SLOTS 4
#define MAX_SLOTS 4096
#define MAX_BATCH (1u << 20)
/* Entries of a table order (Documentation/order.rst), 4 bytes each */
#define ORDER_TABLE_ENTRIES 65536

struct opening {
	struct dlboost_stream_attr attr;
	struct dlboost_stream *stream;
	char *error;
	size_t error_bytes;
};

#define refuse(o, ...) \
	(dlb_sentence((o)->error, (o)->error_bytes, __VA_ARGS__), -EINVAL)

/* Callers built against an older or newer header: what is not known must be 0 */
static int copy_attr(struct opening *o, const struct dlboost_stream_attr *attr)
{
	const uint8_t *bytes = (const uint8_t *)attr;
	size_t size = attr->size;

	o->attr = (struct dlboost_stream_attr)DLBOOST_STREAM_ATTR_INIT;
	if (size < offsetof(struct dlboost_stream_attr, limits) || size > 4096)
		return refuse(o, "attr.size is %zu: use DLBOOST_STREAM_ATTR_INIT",
			      size);
	for (size_t i = sizeof(o->attr); i < size; i++)
		if (bytes[i])
			return refuse(o, "attr has members that this library does not know");
	memcpy(&o->attr, attr, size < sizeof(o->attr) ? size : sizeof(o->attr));
	return 0;
}

static int check_attr(struct opening *o)
{
	struct dlboost_stream_attr *a = &o->attr;

	if (!a->batch)
		a->batch = DEFAULT_BATCH;
	if (!a->world)
		a->world = 1;
	if (a->max_bad < 0)
		a->max_bad = DEFAULT_MAX_BAD;
	if (!a->recipe)
		return refuse(o, "no recipe is given, e.g. imagenet-train");
	if (a->profile > DLBOOST_PROFILE_FAST)
		return refuse(o, "profile %u is neither exact nor fast",
			      a->profile);
	if (a->batch > MAX_BATCH)
		return refuse(o, "batch=%u is above %u", a->batch, MAX_BATCH);
	if (a->rank >= a->world)
		return refuse(o, "rank=%u is not below world=%u", a->rank,
			      a->world);
	if (a->tail > DLBOOST_TAIL_PAD)
		return refuse(o, "tail %u is none of partial, drop, pad",
			      a->tail);
	if (a->on_error > DLBOOST_ON_ERROR_ZERO)
		return refuse(o, "on_error %u is none of fail, skip-replace, zero",
			      a->on_error);
	if (isnan(a->max_bad) || a->max_bad > 1)
		return refuse(o, "max_bad=%g is not between 0 and 1",
			      a->max_bad);
	if (a->slots > MAX_SLOTS || a->hold >= MAX_SLOTS)
		return refuse(o, "slots=%u, hold=%u: at most %u slots",
			      a->slots, a->hold, MAX_SLOTS);
	if (a->nr_engines > DLB_MAX_STREAM_ENGINES)
		return refuse(o, "%u engines: at most %u", a->nr_engines,
			      DLB_MAX_STREAM_ENGINES);
	if (a->nr_engines && !a->engines)
		return refuse(o, "engines is NULL though nr_engines is %u",
			      a->nr_engines);
	if (a->nr_states && !a->states)
		return refuse(o, "states is NULL though nr_states is %u",
			      a->nr_states);
	return 0;
}

static int open_recipe(struct opening *o)
{
	struct dlboost_stream *stream = o->stream;
	int ret = dlboost_recipe_parse(o->attr.recipe, o->error,
				       o->error_bytes, &stream->recipe);

	if (ret)
		return ret;
	dlboost_recipe_tensor(stream->recipe, &stream->tensor);
	if (!stream->tensor.width || !stream->tensor.sample_bytes)
		return refuse(o, "recipe %s gives every picture its own size, which makes no batch: say which with size=, e.g. %s%csize=224",
			      o->attr.recipe, o->attr.recipe,
			      strchr(o->attr.recipe, ':') ? ',' : ':');
	return 0;
}

static int open_engine(struct opening *o, const char *spec)
{
	struct dlboost_stream *stream = o->stream;
	struct dlb_stream_engine *e = &stream->engines[stream->nr_engines];
	struct dlb_engine_attr attr = {
		.limits = o->attr.limits,
		.reject_warnings = o->attr.reject_warnings,
		.sink = { dlb_stream_complete, stream },
	};
	const struct dlb_engine_ops *ops;
	int ret;

	ops = dlb_engine_find(spec, &attr.options, o->error, o->error_bytes);
	if (!ops)
		return -EINVAL;
	dlb_engine_limits_fill(&attr.limits);
	ret = ops->create(&attr, o->error, o->error_bytes, &e->engine);
	if (ret)
		return ret;
	e->nr_workers = ops->nr_workers(e->engine);
	stream->nr_workers += e->nr_workers;
	stream->nr_engines++;
	return 0;
}

static int open_engines(struct opening *o)
{
	int ret = 0;

	if (!o->attr.nr_engines)
		return open_engine(o, "cpu");
	for (uint32_t i = 0; i < o->attr.nr_engines && !ret; i++)
		ret = open_engine(o, o->attr.engines[i]);
	return ret;
}

/*
 * Batches on their way, so that no worker starves while the consumer takes one:
 * one that is being finished, two that are ready or begun, and one more for
 * each eight workers, or enough of small batches for two pictures a worker.
 */
static uint32_t window_batches(uint32_t nr_workers, uint32_t batch)
{
	uint32_t by_workers = (nr_workers + 7) / 8;
	uint32_t by_batch = (2 * nr_workers + batch - 1) / batch;

	return 1 + (by_workers > by_batch ? by_workers : by_batch) + 2;
}

static int choose_slots(struct opening *o, uint32_t *slots)
{
	struct dlboost_stream *stream = o->stream;
	uint32_t window = window_batches(stream->nr_workers, o->attr.batch);
	uint32_t hold = o->attr.hold ? o->attr.hold : DEFAULT_HOLD;

	*slots = o->attr.slots ? o->attr.slots : window + hold;
	if (!o->attr.slots && *slots < MIN_SLOTS)
		*slots = MIN_SLOTS;
	/* More slots than the window needs are for the caller to keep */
	if (!o->attr.hold && *slots > window + hold)
		hold = *slots - window;
	if (!o->attr.hold && hold >= *slots)
		hold = *slots > 1 ? *slots - 1 : 1;
	if (hold >= *slots)
		return refuse(o, "slots=%u leaves none to fill while the caller holds %u: at least %u",
			      *slots, hold, hold + 1);
	stream->hold = hold;
	return 0;
}

static int open_pool(struct opening *o)
{
	struct dlboost_stream *stream = o->stream;
	uint32_t slots;
	int ret = choose_slots(o, &slots);

	if (ret)
		return ret;
	ret = dlb_pool_create(stream->dataset, slots, o->attr.batch,
			      stream->tensor.sample_bytes, &stream->pool);
	if (!ret) {
		stream->pool->owner = stream;
		stream->fifo = calloc(slots, sizeof(*stream->fifo));
		ret = stream->fifo ? 0 : -ENOMEM;
	}
	if (!ret)
		return 0;
	dlb_sentence(o->error, o->error_bytes,
		     "no memory for %u slots of %u samples of %zu bytes: use a smaller batch=, or fewer slots=",
		     slots, o->attr.batch, stream->tensor.sample_bytes);
	return -ENOMEM;
}

static void fill_info(struct opening *o)
{
	struct dlboost_stream *stream = o->stream;
	const struct dlb_pool *pool = stream->pool;
	struct dlboost_stream_info *info = &stream->info;
	uint64_t nr_samples = stream->dataset_info.nr_samples;
	uint64_t cap = pool->map_bytes + pool->meta_bytes + sizeof(*stream);

	for (unsigned int i = 0; i < stream->nr_engines; i++) {
		struct dlb_engine *engine = stream->engines[i].engine;

		cap += engine->ops->memory_bytes(engine);
	}
	cap += dlb_dataset_memory_bytes(stream->dataset);
	cap += 4 * (nr_samples < ORDER_TABLE_ENTRIES ? nr_samples :
						       ORDER_TABLE_ENTRIES);
	if (stream->quarantine)
		cap += dlb_quarantine_memory_bytes(stream->quarantine);
	info->tensor = stream->tensor;
	info->batch = o->attr.batch;
	info->slots = pool->nr_slots;
	info->hold = stream->hold;
	info->nr_workers = stream->nr_workers;
	info->slot_bytes = pool->slot_bytes;
	info->cap_bytes = cap;
	info->has_huge_pages = pool->has_huge_pages;
	info->epoch = stream->epoch;
	info->position = stream->shard.start;
	info->dataset = stream->dataset_info;
}

static int open_epoch(struct opening *o)
{
	struct dlboost_stream *stream = o->stream;
	struct dlboost_stream_attr *a = &o->attr;
	struct dlb_resume at = { .epoch = a->epoch };
	struct dlb_order *order;
	int ret = 0;

	stream->seed = a->seed;
	stream->augment_seed = a->has_augment_seed ? a->augment_seed : a->seed;
	stream->no_shuffle = a->no_shuffle;
	stream->shard = (struct dlb_shard){
		.nr_samples = stream->dataset_info.nr_samples,
		.batch = a->batch,
		.rank = a->rank,
		.world = a->world,
		.tail = a->tail,
	};
	if (a->nr_states)
		ret = dlb_resume_read(stream, a, &at, o->error, o->error_bytes);
	if (ret)
		return ret;
	ret = dlb_stream_make_order(stream, at.epoch, &order);
	if (!ret)
		dlb_stream_enter_epoch_locked(stream, order, at.epoch,
					      at.position, at.bad);
	else
		dlb_sentence(o->error, o->error_bytes,
			     "no order for %llu samples: %s",
			     (unsigned long long)stream->shard.nr_samples,
			     strerror(-ret));
	return ret;
}

/* Bad samples an epoch may have; none only where none were asked for */
static uint64_t budget_of(double share, uint64_t nr_samples)
{
	/* 0.29 x 100 is a little below 29, and means it */
	double budget = share * (double)nr_samples * (1 + 1e-12);

	if (share <= 0)
		return 0;
	return budget < 1 ? 1 : (uint64_t)budget;
}

static int open_all(struct opening *o)
{
	struct dlboost_stream *stream = o->stream;
	int ret;

	stream->profile = o->attr.profile;
	stream->on_error = o->attr.on_error;
	stream->max_bad = budget_of(o->attr.max_bad,
				    stream->dataset_info.nr_samples);
	ret = open_recipe(o);
	if (!ret && o->attr.quarantine_path)
		ret = dlb_quarantine_open(o->attr.quarantine_path, o->error,
					  o->error_bytes, &stream->quarantine);
	if (!ret)
		ret = open_engines(o);
	if (!ret)
		ret = open_pool(o);
	if (!ret)
		ret = open_epoch(o);
	return ret;
}

/* Undo a stream that did not come to be: no job was ever submitted */
static void close_all(struct dlboost_stream *stream)
{
	for (unsigned int i = 0; i < stream->nr_engines; i++) {
		struct dlb_engine *engine = stream->engines[i].engine;

		engine->ops->destroy(engine);
	}
	if (stream->pool)
		dlb_pool_disown(stream->pool);
	dlb_quarantine_close(stream->quarantine);
	dlb_order_destroy(stream->order);
	dlboost_recipe_destroy(stream->recipe);
	dlb_dataset_put(stream->dataset);
	free(stream->fifo);
	free(stream);
}

DLB_EXPORT int dlboost_stream_create(struct dlboost_dataset *dataset,
				     const struct dlboost_stream_attr *attr,
				     char *error, size_t error_bytes,
				     struct dlboost_stream **out)
{
	struct opening o = { .error = error, .error_bytes = error_bytes };
	struct dlboost_stream *stream;
	int ret = copy_attr(&o, attr);

	if (!ret)
		ret = check_attr(&o);
	if (ret)
		return ret;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return -ENOMEM;
	o.stream = stream;
	stream->dataset = dlb_dataset_get(dataset);
	dlboost_dataset_info(dataset, &stream->dataset_info);
	stream->last_quarantine_ns = dlb_now_ns();
	ret = open_all(&o);
	if (ret) {
		close_all(stream);
		return ret;
	}
	fill_info(&o);
	if (!o.attr.no_stats_page)
		stream->page = dlb_stats_page_create(
			&stream->info, dlb_dataset_path(dataset),
			dlboost_recipe_canonical(stream->recipe));
	dlb_log(DLBOOST_LOG_INFO,
		"stream: %u slots of %llu bytes, %u workers, at most %llu bytes",
		stream->info.slots, (unsigned long long)stream->info.slot_bytes,
		stream->info.nr_workers,
		(unsigned long long)stream->info.cap_bytes);
	*out = stream;
	return 0;
}
