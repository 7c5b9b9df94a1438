// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The text behind "cpu:", and the placing of worker threads it asks for.
 * Affinity and NUMA are wishes: what the system refuses is logged and the
 * worker runs where it may.  Documentation/streams.rst, "Engines".
 */
#include "cpu.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <dlboost/log.h>

#ifdef DLB_HAVE_NUMA
#include <numa.h>
#endif

#include "../base/base.h"

#define MAX_WORKERS 1024
#define MIN_QUEUE_ENTRIES 8
#define MAX_QUEUE_ENTRIES 65536
#define DEFAULT_QUEUE_ENTRIES 1024
#define DEFAULT_INPUT_BYTES ((size_t)64 << 20)
#define MIN_INPUT_BYTES ((size_t)1 << 16)
#define MAX_INPUT_BYTES ((size_t)2 << 30)
#define MAX_JITTER_US 1000000
#define MAX_SPIN_US 1000

struct parse {
	struct dlb_cpu_options *out;
	const char *name;
	char *error;
	size_t error_bytes;
};

static int parse_number(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno || *end)
		return -EINVAL;
	return 0;
}

static int parse_bytes(const char *text, uint64_t *out)
{
	unsigned int shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*end == 'k' || *end == 'K')
		shift = 10;
	else if (*end == 'm' || *end == 'M')
		shift = 20;
	else if (*end == 'g' || *end == 'G')
		shift = 30;
	if (errno || end[shift ? 1 : 0] || *out > (UINT64_MAX >> shift))
		return -EINVAL;
	*out <<= shift;
	return 0;
}

static int refuse(const struct parse *parse, const char *key, const char *value,
		  const char *wanted)
{
	dlb_sentence(parse->error, parse->error_bytes,
		     "engine %s: %s=%s is not %s", parse->name, key, value,
		     wanted);
	return -EINVAL;
}

static int set_workers(struct parse *parse, const char *value)
{
	uint64_t n;

	if (parse_number(value, &n) || !n || n > MAX_WORKERS)
		return refuse(parse, "workers", value,
			      "a number from 1 to 1024");
	parse->out->nr_workers = (unsigned int)n;
	return 0;
}

static int set_queue(struct parse *parse, const char *value)
{
	uint64_t n;

	if (parse_number(value, &n) || n < MIN_QUEUE_ENTRIES ||
	    n > MAX_QUEUE_ENTRIES)
		return refuse(parse, "queue", value,
			      "a number of jobs from 8 to 65536");
	parse->out->queue_entries = (unsigned int)n;
	return 0;
}

static int set_input(struct parse *parse, const char *value)
{
	uint64_t n;

	if (parse_bytes(value, &n) || n < MIN_INPUT_BYTES || n > MAX_INPUT_BYTES)
		return refuse(parse, "input", value,
			      "a size from 64k to 2g, in bytes or with k, m or g");
	parse->out->input_bytes = n;
	return 0;
}

static int set_jitter(struct parse *parse, const char *value)
{
	uint64_t n;

	if (parse_number(value, &n) || n > MAX_JITTER_US)
		return refuse(parse, "jitter", value,
			      "a number of microseconds up to 1000000");
	parse->out->jitter_us = (unsigned int)n;
	return 0;
}

static int set_spin(struct parse *parse, const char *value)
{
	uint64_t n;

	if (parse_number(value, &n) || n > MAX_SPIN_US)
		return refuse(parse, "spin", value,
			      "a number of microseconds up to 1000");
	parse->out->spin_ns = n * 1000;
	return 0;
}

/* "3", "0-7": append to the list; -EINVAL when malformed or absurd */
static int add_cpu_range(struct dlb_cpu_options *out, char *item)
{
	char *dash = strchr(item, '-');
	uint64_t first, last;

	if (dash)
		*dash = '\0';
	if (parse_number(item, &first) ||
	    parse_number(dash ? dash + 1 : item, &last) || first > last ||
	    last >= CPU_SETSIZE)
		return -EINVAL;
	for (; first <= last; first++) {
		if (out->nr_cpus == CPU_SETSIZE)
			return -EINVAL;
		out->cpus[out->nr_cpus++] = (uint16_t)first;
	}
	return 0;
}

static int set_affinity(struct parse *parse, const char *value)
{
	_cleanup_free_ char *copy = NULL;
	char *next;

	parse->out->has_affinity = strcmp(value, "none") != 0;
	parse->out->nr_cpus = 0;
	if (!strcmp(value, "auto") || !strcmp(value, "none"))
		return 0;
	copy = next = strdup(value);
	if (!copy)
		return -ENOMEM;
	while (next)
		if (add_cpu_range(parse->out, strsep(&next, "+")))
			return refuse(parse, "affinity", value,
				      "auto, none, or CPUs as in 0-3+8");
	return 0;
}

static int set_numa(struct parse *parse, const char *value)
{
	uint64_t n;

	if (!strcmp(value, "auto"))
		parse->out->numa_node = DLB_CPU_NUMA_AUTO;
	else if (!strcmp(value, "none"))
		parse->out->numa_node = DLB_CPU_NUMA_NONE;
	else if (!parse_number(value, &n) && n < 1024)
		parse->out->numa_node = (int)n;
	else
		return refuse(parse, "numa", value,
			      "auto, none, or the number of a node");
	return 0;
}

static const struct {
	const char *key;
	int (*set)(struct parse *parse, const char *value);
} option_table[] = {
	{ "workers", set_workers },
	{ "affinity", set_affinity },
	{ "numa", set_numa },
	{ "input", set_input },
	{ "queue", set_queue },
	{ "spin", set_spin },
	{ "jitter", set_jitter },
};

static int set_option(void *arg, const char *key, const char *value)
{
	const char *names[ARRAY_SIZE(option_table)];
	struct parse *parse = arg;
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++) {
		if (!strcmp(key, option_table[i].key))
			return option_table[i].set(parse, value);
		names[i] = option_table[i].key;
	}
	near = dlb_did_you_mean(key, names, ARRAY_SIZE(names));
	if (near)
		dlb_sentence(parse->error, parse->error_bytes,
			     "engine %s: no option '%s'; did you mean '%s'?",
			     parse->name, key, near);
	else
		dlb_sentence(parse->error, parse->error_bytes,
			     "engine %s: no option '%s'; it knows workers, affinity, numa, input, queue, spin and jitter",
			     parse->name, key);
	return -EINVAL;
}

unsigned int dlb_cpu_nr_allowed(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || !CPU_COUNT(&set)) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		return n > 0 ? (unsigned int)n : 1;
	}
	return (unsigned int)CPU_COUNT(&set);
}

#ifdef DLB_HAVE_NUMA
static bool has_node(int node)
{
	return numa_available() >= 0 && node <= numa_max_node() &&
	       numa_bitmask_isbitset(numa_nodes_ptr, (unsigned int)node);
}
#else
static bool has_node(int node)
{
	return node == 0;
}
#endif

int dlb_cpu_options_parse(const char *text, const char *name,
			  struct dlb_cpu_options *out, char *error,
			  size_t error_bytes)
{
	struct parse parse = { out, name, error, error_bytes };
	int ret;

	memset(out, 0, sizeof(*out));
	out->queue_entries = DEFAULT_QUEUE_ENTRIES;
	out->input_bytes = DEFAULT_INPUT_BYTES;
	out->has_affinity = true;
	out->numa_node = DLB_CPU_NUMA_AUTO;
	ret = dlb_parse_options(text, set_option, &parse);
	if (ret)
		return ret;
	if (out->numa_node >= 0 && !has_node(out->numa_node)) {
		dlb_sentence(error, error_bytes,
			     "engine %s: this machine has no NUMA node %d",
			     name, out->numa_node);
		return -EINVAL;
	}
	if (!out->nr_workers)
		out->nr_workers = out->nr_cpus ? out->nr_cpus :
						 dlb_cpu_nr_allowed();
	if (out->nr_workers > MAX_WORKERS)
		out->nr_workers = MAX_WORKERS;
	return 0;
}

static void bind_to_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		dlb_log(DLBOOST_LOG_WARN,
			"engine: cannot run a worker on CPU %u: %s", cpu,
			strerror(errno));
}

#ifdef DLB_HAVE_NUMA
/* CPUs of @node that this thread may use */
static bool node_cpus(int node, cpu_set_t *out)
{
	struct bitmask *mask = numa_allocate_cpumask();
	cpu_set_t allowed;
	bool ok = false;

	CPU_ZERO(out);
	if (mask && !numa_node_to_cpus(node, mask) &&
	    !sched_getaffinity(0, sizeof(allowed), &allowed)) {
		for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (cpu < mask->size &&
			    numa_bitmask_isbitset(mask, cpu) &&
			    CPU_ISSET(cpu, &allowed))
				CPU_SET(cpu, out);
		ok = CPU_COUNT(out) > 0;
	}
	if (mask)
		numa_free_cpumask(mask);
	return ok;
}

static void bind_to_node(int node)
{
	cpu_set_t set;

	if (node_cpus(node, &set) && !sched_setaffinity(0, sizeof(set), &set))
		numa_set_preferred(node);
	else
		dlb_log(DLBOOST_LOG_WARN,
			"engine: cannot run a worker on NUMA node %d", node);
}

/* Workers go round the nodes on which they may run */
static void spread_over_nodes(unsigned int worker_idx)
{
	int usable[64];
	unsigned int nr = 0;
	cpu_set_t set;

	if (numa_available() < 0 || numa_max_node() == 0)
		return;
	for (int node = 0; node <= numa_max_node(); node++)
		if (nr < ARRAY_SIZE(usable) && has_node(node) &&
		    node_cpus(node, &set))
			usable[nr++] = node;
	if (nr > 1)
		bind_to_node(usable[worker_idx % nr]);
}
#else
static void bind_to_node(int node)
{
	(void)node;
}

static void spread_over_nodes(unsigned int worker_idx)
{
	(void)worker_idx;
}
#endif

void dlb_cpu_place_worker(const struct dlb_cpu_options *options,
			  unsigned int worker_idx)
{
	if (options->nr_cpus)
		bind_to_cpu(options->cpus[worker_idx % options->nr_cpus]);
	else if (options->has_affinity && options->numa_node >= 0)
		bind_to_node(options->numa_node);
	else if (options->has_affinity &&
		 options->numa_node == DLB_CPU_NUMA_AUTO)
		spread_over_nodes(worker_idx);
}
