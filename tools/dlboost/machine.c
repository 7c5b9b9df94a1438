// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the operating system says about this process: clock, CPU time, memory,
 * CPUs it may use.  Memory is what cannot be given back without losing data
 * (anonymous, shared, huge pages), as the memory cap of a stream counts it.
 */
#include "tool.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

double cpu_seconds(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

uint64_t memory_now_bytes(void)
{
	static const char *const keys[] = { "RssAnon:", "RssShmem:",
					    "HugetlbPages:" };
	FILE *file = fopen("/proc/self/status", "re");
	uint64_t sum = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (!strncmp(line, keys[i], strlen(keys[i])))
				sum += strtoull(line + strlen(keys[i]), NULL,
						10) << 10;
	if (file)
		fclose(file);
	return sum;
}

unsigned int cpus_allowed(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned int)CPU_COUNT(&set);
	return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}
