// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Which set of kernels runs: the best this machine has, or the one that
 * DLBOOST_SIMD or dlb_resample_simd_set() names.  One process-wide pointer,
 * written atomically; a picture keeps the set it began with.
 */
#include "resample_int.h"
#include "../base/base.h"

#include <errno.h>
#include <string.h>

#include <dlboost/log.h>

#if defined(__x86_64__)
#include <cpuid.h>

static bool has_sse41(void)
{
	return __builtin_cpu_supports("sse4.1");
}

/* clang 14 has no name for it */
static bool has_f16c(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") &&
	       __builtin_cpu_supports("fma") && has_f16c();
}

/* Ice Lake and Zen 4 on; what is older runs the AVX2 kernels */
static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("avx512vnni");
}
#endif

static bool has_always(void)
{
	return true;
}

/* Best first */
static const struct {
	const struct dlb_kernels *kernels;
	bool (*is_supported)(void);
} sets[] = {
#if defined(__x86_64__)
	{ &dlb_kernels_avx512, has_avx512 },
	{ &dlb_kernels_avx2, has_avx2 },
	{ &dlb_kernels_sse41, has_sse41 },
#elif defined(__aarch64__)
	{ &dlb_kernels_neon, has_always },
#endif
	{ &dlb_kernels_c, has_always },
};

static const struct dlb_kernels *chosen;

static const struct dlb_kernels *find_set(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if ((!name || !strcmp(name, sets[i].kernels->name)) &&
		    sets[i].is_supported())
			return sets[i].kernels;
	return NULL;
}

static const struct dlb_kernels *choose(void)
{
	const char *name = getenv("DLBOOST_SIMD");
	const struct dlb_kernels *set = NULL;

	if (name && *name) {
		set = find_set(name);
		if (!set)
			dlb_log(DLBOOST_LOG_WARN,
				"DLBOOST_SIMD=%s: this machine has no such instruction set; the best one runs. Use avx512, avx2, sse4.1, neon or c",
				name);
	}
	return set ? set : find_set(NULL);
}

const struct dlb_kernels *dlb_kernels_get(void)
{
	/*
	 * The kernels are constant data, so there is nothing to order: two
	 * threads that choose at once choose the same.
	 */
	const struct dlb_kernels *set =
		__atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (!set) {
		set = choose();
		__atomic_store_n(&chosen, set, __ATOMIC_RELAXED);
	}
	return set;
}

const char *dlb_resample_simd_name(void)
{
	return dlb_kernels_get()->name;
}

int dlb_resample_simd_set(const char *name)
{
	const struct dlb_kernels *set = find_set(name);

	if (!set)
		return -EINVAL;
	__atomic_store_n(&chosen, set, __ATOMIC_RELAXED);
	return 0;
}
