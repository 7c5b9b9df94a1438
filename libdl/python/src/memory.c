// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Counted memory behind arrays.  Needs no interpreter lock, since a DLPack
 * consumer may drop its tensor from any thread, even after Python ended; so it
 * must not know Python objects.  Documentation/python.rst, "Lifetimes".
 */
#include "core.h"

#include <stdlib.h>
#include <unistd.h>

#define HEAP_ALIGN_BYTES 64

static struct core_memory *memory_new(void)
{
	struct core_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->nr_refs = 1;
	memory->pid = getpid();
	return memory;
}

struct core_memory *core_memory_of_batch(struct dlboost_batch *batch)
{
	struct core_memory *memory = memory_new();

	if (!memory)
		return NULL;
	dlboost_batch_ref(batch);
	memory->batch = batch;
	return memory;
}

struct core_memory *core_memory_alloc(size_t bytes)
{
	struct core_memory *memory = memory_new();

	if (!memory)
		return NULL;
	if (posix_memalign(&memory->heap, HEAP_ALIGN_BYTES, bytes ? bytes : 1)) {
		free(memory);
		return NULL;
	}
	return memory;
}

struct core_memory *core_memory_get(struct core_memory *memory)
{
	__atomic_add_fetch(&memory->nr_refs, 1, __ATOMIC_RELAXED);
	return memory;
}

void core_memory_put(struct core_memory *memory)
{
	/* The last one to go must see what the others wrote */
	if (!memory || __atomic_sub_fetch(&memory->nr_refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (memory->batch && memory->pid == getpid())
		dlboost_batch_unref(memory->batch);
	free(memory->heap);
	free(memory);
}

int core_check_pid(struct core_state *state, pid_t pid, const char *what)
{
	if (pid == getpid())
		return 0;
	PyErr_Format(state->fork_error, "this %s belongs to process %ld and does not "
		     "survive fork(): make a Loader in the child, or start "
		     "the child with multiprocessing's \"spawn\"",
		     what, (long)pid);
	return -1;
}
