// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The memory of a stream's slots.  Owns mapping, bookkeeping arrays and their
 * life; knows nothing of order, engines or policies.
 *
 * Images are mapped once, in huge pages where the system grants them, and kept
 * out of children: a fork neither copies nor shares what engines write.  The
 * bookkeeping stays readable in a child, so that a stray release there is
 * harmless.  Lock: pool->lock.  Documentation/streams.rst, "Memory".
 */
#include "pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <dlboost/log.h>

#include "../base/base.h"
#include "dataset.h"

#define HUGE_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)4096)

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/*
 * Touch one huge page in eight places: one fault if it is one, eight if the
 * system gave small pages.
 */
static bool is_backed_by_huge_page(uint8_t *start)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	for (unsigned int i = 0; i < 8; i++)
		*(volatile uint8_t *)(start + i * (HUGE_BYTES / 8)) = 0;
	getrusage(RUSAGE_THREAD, &after);
	return after.ru_minflt - before.ru_minflt < 4;
}

/* Start on a huge page's boundary; what stands out at both ends goes back */
static uint8_t *map_aligned(size_t bytes)
{
	size_t spare = bytes + HUGE_BYTES;
	uint8_t *map = mmap(NULL, spare, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t head;

	if (map == MAP_FAILED)
		return NULL;
	head = round_up((uintptr_t)map, HUGE_BYTES) - (uintptr_t)map;
	if (head)
		munmap(map, head);
	if (spare - head > bytes)
		munmap(map + head + bytes, spare - head - bytes);
	return map + head;
}

static int map_images(struct dlb_pool *pool, size_t bytes)
{
	void *map;

	if (bytes >= HUGE_BYTES) {
		size_t huge_bytes = round_up(bytes, HUGE_BYTES);

		map = mmap(NULL, huge_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		if (map != MAP_FAILED) {
			pool->images = map;
			pool->map_bytes = huge_bytes;
			pool->has_huge_pages = true;
			goto out_advise;
		}
		bytes = huge_bytes;
	}
	pool->map_bytes = round_up(bytes, PAGE_BYTES);
	pool->images = map_aligned(pool->map_bytes);
	if (!pool->images)
		return -ENOMEM;
	if (pool->map_bytes >= HUGE_BYTES &&
	    !madvise(pool->images, pool->map_bytes, MADV_HUGEPAGE))
		pool->has_huge_pages = is_backed_by_huge_page(pool->images);
	if (pool->map_bytes >= HUGE_BYTES && !pool->has_huge_pages)
		dlb_log(DLBOOST_LOG_INFO,
			"stream: no huge pages for %zu bytes of slots",
			pool->map_bytes);
out_advise:
	madvise(pool->images, pool->map_bytes, MADV_DONTFORK);
	return 0;
}

/* Cut the next array out of the bookkeeping; a NULL @base only counts */
static void *carve(uint8_t *base, size_t *used, size_t bytes)
{
	void *p = base ? base + *used : NULL;

	*used += round_up(bytes, 64);
	return p;
}

static size_t lay_out(struct dlb_pool *pool, uint8_t *base)
{
	size_t n = pool->batch;
	size_t used = 0;
	struct dlboost_batch *batches;

	batches = carve(base, &used, pool->nr_slots * sizeof(*batches));
	pool->batches = batches;
	for (uint32_t i = 0; i < pool->nr_slots; i++) {
		struct dlboost_batch b = { .pool = pool, .slot_idx = i };

		b.images = pool->images + i * pool->stride_bytes;
		b.labels = carve(base, &used, n * sizeof(*b.labels));
		b.ids = carve(base, &used, n * sizeof(*b.ids));
		b.wanted_ids = carve(base, &used, n * sizeof(*b.wanted_ids));
		b.status = carve(base, &used, n * sizeof(*b.status));
		b.flags = carve(base, &used, n * sizeof(*b.flags));
		b.samples = carve(base, &used, n * sizeof(*b.samples));
		b.results = carve(base, &used, n * sizeof(*b.results));
		if (base)
			batches[i] = b;
	}
	return used;
}

static int map_meta(struct dlb_pool *pool)
{
	pool->meta_bytes = round_up(lay_out(pool, NULL), PAGE_BYTES);
	pool->meta = mmap(NULL, pool->meta_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool->meta == MAP_FAILED) {
		pool->meta = NULL;
		return -ENOMEM;
	}
	lay_out(pool, pool->meta);
	return 0;
}

void dlb_pool_free(struct dlb_pool *pool)
{
	if (pool->images)
		munmap(pool->images, pool->map_bytes);
	if (pool->meta)
		munmap(pool->meta, pool->meta_bytes);
	dlb_dataset_put(pool->dataset);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

int dlb_pool_create(struct dlboost_dataset *dataset, uint32_t nr_slots,
		    uint32_t batch, size_t sample_bytes, struct dlb_pool **out)
{
	struct dlb_pool *pool;
	size_t bytes;
	int ret;

	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->lock, NULL);
	pool->dataset = dlb_dataset_get(dataset);
	pool->pid = getpid();
	pool->nr_slots = nr_slots;
	pool->batch = batch;
	pool->sample_bytes = sample_bytes;
	ret = -EOVERFLOW;
	if (__builtin_mul_overflow(batch, sample_bytes, &pool->slot_bytes) ||
	    pool->slot_bytes > SIZE_MAX / 4)
		goto err_free;
	pool->stride_bytes = round_up(pool->slot_bytes, PAGE_BYTES);
	if (__builtin_mul_overflow(nr_slots, pool->stride_bytes, &bytes) ||
	    bytes > SIZE_MAX / 4)
		goto err_free;
	ret = map_images(pool, bytes);
	if (ret)
		goto err_free;
	ret = map_meta(pool);
	if (ret)
		goto err_free;
	*out = pool;
	return 0;

err_free:
	dlb_pool_free(pool);
	return ret;
}

bool dlb_pool_is_foreign(const struct dlb_pool *pool)
{
	return pool->pid != getpid();
}

void dlb_pool_disown(struct dlb_pool *pool)
{
	bool is_last;

	pthread_mutex_lock(&pool->lock);
	pool->owner = NULL;
	is_last = pool->nr_held == 0;
	pthread_mutex_unlock(&pool->lock);
	if (is_last)
		dlb_pool_free(pool);
}

struct dlboost_batch *dlb_pool_find_free_locked(struct dlb_pool *pool)
{
	for (uint32_t i = 0; i < pool->nr_slots; i++)
		if (pool->batches[i].state == DLB_SLOT_FREE)
			return &pool->batches[i];
	return NULL;
}
