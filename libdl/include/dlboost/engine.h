/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Engines: where decoding happens.  A stream makes its own from a text;
 * these calls list them and run single pictures through one.
 */
#ifndef DLBOOST_ENGINE_H
#define DLBOOST_ENGINE_H

#include <dlboost/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct dlboost_engine - A running engine; opaque */
struct dlboost_engine;

/**
 * struct dlboost_engine_info - What an engine is
 * @name: "cpu", ...
 * @description: one sentence
 * @is_available: 1 when it can be created on this machine
 * @is_emulated: 1 when what it reports comes from a model
 * @nr_workers: threads or lanes it would use by default
 * @reserved: 0
 * @simd: instruction set in use: "avx512", "avx2", "sse4.1", "neon", "c"
 * @decoder: name and version of the decoder library
 *
 * Since: 0.1
 */
struct dlboost_engine_info {
	const char *name;
	const char *description;
	uint32_t is_available;
	uint32_t is_emulated;
	uint32_t nr_workers;
	uint32_t reserved;
	const char *simd;
	const char *decoder;
};

/**
 * dlboost_engine_list() - Enumerate the kinds of engine
 * @idx: 0, 1, ...
 * @out: receives what it is
 *
 * Since: 0.1
 *
 * Return:
 * * %0		- success
 * * %-ERANGE	- past the last one
 */
int dlboost_engine_list(unsigned int idx, struct dlboost_engine_info *out);

/**
 * dlboost_engine_create() - Start an engine
 * @spec: "NAME[:key=value,...]", e.g. "cpu:workers=2"
 * @limits: limits, or NULL for the defaults
 * @error: receives one sentence on failure; may be NULL
 * @error_bytes: size of @error
 * @out: receives the engine; stop with dlboost_engine_destroy()
 *
 * Since: 0.1
 *
 * Context: Starts the engine's threads, all signals blocked in them.
 *
 * Return:
 * * %0		- success
 * * %-EINVAL	- unknown engine, key or value
 * * %-ENODEV	- the device is not there
 * * %-ENOMEM, %-EAGAIN - no memory, no threads
 */
int dlboost_engine_create(const char *spec, const struct dlboost_limits *limits,
			  char *error, size_t error_bytes,
			  struct dlboost_engine **out);

/**
 * dlboost_engine_destroy() - Stop an engine
 * @engine: the engine, or NULL
 *
 * Waits for the jobs that run; jobs that wait end as CANCELLED.
 *
 * Since: 0.1
 */
void dlboost_engine_destroy(struct dlboost_engine *engine);

/**
 * dlboost_engine_decode() - Run one picture through an engine and wait
 * @engine: the engine
 * @bytes: the whole file
 * @len_bytes: its length
 * @recipe: what to do with it
 * @profile: exact or fast
 * @geometry: the per-sample part, or NULL as for dlboost_decode()
 * @dst: where the tensor goes
 * @dst_bytes: room at @dst
 * @result: receives status, size, message
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return: as dlboost_decode(); %-EPERM in a child after fork().
 */
int dlboost_engine_decode(struct dlboost_engine *engine, const void *bytes,
			  size_t len_bytes, const struct dlboost_recipe *recipe,
			  enum dlboost_profile profile,
			  const struct dlboost_geometry *geometry, void *dst,
			  size_t dst_bytes, struct dlboost_result *result);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_ENGINE_H */
