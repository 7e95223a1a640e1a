// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "diff/clone_name.h"
#include "rows/gpu_calls.h"
#include "rows/heap_place.h"

DEFINE_CLEANUP(struct function_table *, function_table_free)

#define NAME_BYTES 1024
/* The function with the probe, and the one that called it. */
#define PLACE_FUNCTIONS 2

/* What is freed in a later slice than it was allocated makes a value below 0 there. */
static bool add(struct measurement *measurement, enum diff_level level, const char *name,
		double value)
{
	struct diff_key key = {PKBPF_PROFILE_CALLS, level,
			       string_pool_add(measurement->names->texts, name)};

	return key.name != STRING_POOL_NONE &&
	       (value == 0 || measurement_add(measurement, &key, value, 0));
}

/* Handles and addresses of kernels without a name are others in the next run. */
static void name_kernel(char *text, size_t size, const char *kernel)
{
	static const char *const places[] = {"[kernel 0x", "[kernel at 0x"};
	char *handle;

	snprintf(text, size, "%s", kernel);
	handle = strstr(text, "... [0x");

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strncmp(kernel, places[i], strlen(places[i])) == 0)
			snprintf(text, size, "[kernels without a name]");
	/* Behind a name that is cut. */
	if (handle)
		handle[3] = '\0';
}

/* A side without any kernel, copy or wait has none: it can be compared. Times of kernels are there
 * only where a library reports them. */
static void measure_gpu_none(struct measurement *measurement)
{
	static const enum diff_level levels[] = {DIFF_GPU_LAUNCHES, DIFF_GPU_BLOCKS,
						 DIFF_GPU_COPIED, DIFF_GPU_WAIT};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		measurement->has_level[levels[i]] = true;
	measurement->kinds_mask |= 1U << PKBPF_PROFILE_CALLS;
}

bool measure_gpu_call(struct measurement *measurement, const struct gpu_figures *figures)
{
	char kernel[GPU_CALL_TEXT_SIZE];

	name_kernel(kernel, sizeof(kernel), figures->kernel);
	measure_gpu_none(measurement);
	if (strcmp(figures->group, gpu_group_name(PKBPF_GPU_LAUNCH)) == 0)
		return add(measurement, DIFF_GPU_LAUNCHES, kernel, figures->calls) &&
		       add(measurement, DIFF_GPU_BLOCKS, kernel, figures->blocks) &&
		       add(measurement, DIFF_GPU_KERNEL_TIME, kernel, figures->kernel_ns);
	if (strcmp(figures->group, gpu_group_name(PKBPF_GPU_COPY)) == 0)
		return add(measurement, DIFF_GPU_COPIED, figures->direction, figures->bytes);
	if (strcmp(figures->group, gpu_group_name(PKBPF_GPU_WAIT)) == 0)
		return add(measurement, DIFF_GPU_WAIT, figures->function, figures->time_ns);
	return true;
}

static bool add_call(struct measurement *measurement, const struct profile *profile,
		     const struct gpu_call *call)
{
	char kernel[GPU_CALL_TEXT_SIZE];

	return measure_gpu_call(measurement,
				&(struct gpu_figures){
					.group = gpu_group_name(call->group),
					.function = profile_string(profile, call->function),
					.kernel = gpu_call_kernel(kernel, profile, call),
					.direction = gpu_call_way(call),
					.calls = (double)call->count,
					.blocks = (double)call->blocks,
					.bytes = (double)call->bytes,
					.time_ns = (double)call->ns,
					.kernel_ns = (double)call->run_ns,
				});
}

/* Which code allocated: the innermost function of a program, or of Python where it runs. */
static void name_place(const struct profile *profile, const struct function_table *functions,
		       const struct gpu_call *call, char name[NAME_BYTES])
{
	const struct heap_place place = {.stack = call->stack};
	const struct function *found[PLACE_FUNCTIONS];
	size_t count = 0;

	if (call->stack != GPU_CALL_NO_STACK)
		count = heap_place_functions(profile, functions, &place, found, PLACE_FUNCTIONS);
	if (count)
		snprintf(name, NAME_BYTES, "%.*s", (int)clone_name_length(found[count - 1]->name),
			 found[count - 1]->name);
	else
		snprintf(name, NAME_BYTES, "[unknown]");
}

static bool add_allocations(struct measurement *measurement, const struct profile *profile,
			    const struct function_table *functions, const struct gpu_call *call)
{
	char name[NAME_BYTES];

	/* Of those whose end is not seen nothing is known. */
	if (call->group != PKBPF_GPU_ALLOC || call->unmeasured)
		return true;
	name_place(profile, functions, call, name);
	return add(measurement, DIFF_GPU_ALLOCATED, name, (double)call->bytes) &&
	       add(measurement, DIFF_GPU_KEPT, name,
		   (double)call->bytes - (double)call->freed_bytes);
}

int measure_gpu(struct measurement *measurement, const struct profile *profile)
{
	const struct gpu_call_list *list = profile_gpu_calls(profile);
	_cleanup_(function_table_free_cleanup) struct function_table *functions = NULL;
	bool added = true;

	if (profile_info_read(profile)->gpu_calls_ns)
		measure_gpu_none(measurement);
	if (!list->items.count)
		return 0;
	functions = function_table_new(profile, &(struct function_table_options){.merge = true});
	if (!functions)
		return -ENOMEM;
	measurement->has_level[DIFF_GPU_ALLOCATED] = true;
	measurement->has_level[DIFF_GPU_KEPT] = true;
	array_foreach(&list->items, call) {
		if (call->what == PKBPF_GPU_SUM)
			added = added && add_call(measurement, profile, call);
		else if (call->what == PKBPF_GPU_STACK)
			added = added && add_allocations(measurement, profile, functions, call);
	}
	return added ? 0 : -ENOMEM;
}
