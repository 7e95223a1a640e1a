// SPDX-License-Identifier: BSD-2-Clause
/* Takes the values of processes, containers, functions and stacks out of a profile. */
#include "diff/measure_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "diff/clone_name.h"
#include "diff/measure_gpu.h"
#include "diff/measure_locks.h"
#include "diff/measure_places.h"
#include "diff/measure_regions.h"
#include "diff/measure_stack.h"
#include "profile/function_table.h"
#include "profile/kind_table.h"
#include "rows/resource_rows.h"

/* Beyond it a name is of no use to a reader, and C++ makes them without end. */
#define NAME_BYTES 1024

struct taking {
	struct measurement *measurement;
	const struct profile *profile;
	const struct function_table *functions;
	double sample_ns;	  /* a CPU sample stands for; 0: unknown */
	ARRAY_OF(uint32_t) names; /* number of a function's text; 0: not yet */
	ARRAY_OF(uint32_t) stack; /* of the row at hand: texts, leaf first, and comm */
	struct stack_measure stacks;
};

/* Kernel functions have namesakes in programs. */
static uint32_t function_text(struct taking *taking, uint32_t function)
{
	uint32_t *text = &taking->names.items[function];
	const struct function *named = function_table_get(taking->functions, function);
	char name[NAME_BYTES];

	if (*text)
		return *text;
	snprintf(name, sizeof(name), "%.*s%s", (int)clone_name_length(named->name), named->name,
		 named->mark == FUNCTION_KERNEL ? "_[k]" : "");
	*text = string_pool_add(taking->measurement->names->texts, name);
	return *text;
}

static double value_of(const struct taking *taking, const struct profile_row *row)
{
	double value = (double)row->weight;

	return row->kind == PKBPF_PROFILE_CPU && taking->sample_ns ? value * taking->sample_ns
								   : value;
}

/* Fills taking->stack: comm, then functions from the root on. */
static bool read_stack(struct taking *taking, const struct profile_row *row)
{
	size_t frame_count, count;
	const uint32_t *frames = profile_stack(taking->profile, row->stack, &frame_count);
	uint32_t *text;

	taking->stack.count = 0;
	text = array_add(&taking->stack);
	if (!text)
		return false;
	*text = string_pool_add(taking->measurement->names->texts,
				profile_string(taking->profile, row->comm));
	for (size_t i = frame_count; i-- > 0;) {
		const uint32_t *list = function_table_frame(taking->functions, frames[i], &count);

		while (count-- > 0) {
			text = array_add(&taking->stack);
			if (!text)
				return false;
			*text = function_text(taking, list[count]);
			if (*text == STRING_POOL_NONE)
				return false;
		}
	}
	return true;
}

static bool add_row(struct taking *taking, const struct profile_row *row)
{
	return read_stack(taking, row) &&
	       stack_measure_add(&taking->stacks, row->kind, taking->stack.items,
				 taking->stack.count, value_of(taking, row), (double)row->count);
}

static bool add_stacks(struct taking *taking)
{
	size_t count;
	const struct profile_row *rows = profile_rows(taking->profile, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind < PKBPF_PROFILE_KINDS && !add_row(taking, &rows[i]))
			return false;
	return true;
}

/* CPU time is that of the kernel's account where there is one; it is not sampled. */
static bool add_figures(struct measurement *measurement, const struct resource_row *row,
			enum diff_level level, const char *name)
{
	uint32_t text = string_pool_add(measurement->names->texts, name);

	if (text == STRING_POOL_NONE)
		return false;
	for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		struct diff_key key = {kind, level, text};
		bool is_cpu = kind == PKBPF_PROFILE_CPU;
		double value = (double)(is_cpu ? row->cpu.total_ns : row->kind_weight[kind]);
		double count =
			is_cpu && !(row->known & ROW_HAS_USAGE) ? (double)row->cpu.samples : 0;

		if (measurement->kinds_mask & 1U << kind && value > 0 &&
		    !measurement_add(measurement, &key, value, count))
			return false;
	}
	return true;
}

static int add_rows(struct measurement *measurement, const struct profile *profile, enum rows_by by,
		    enum diff_level level)
{
	struct resource_rows rows;
	bool added = true;

	if (resource_rows_init(&rows, profile, by))
		return -ENOMEM;
	if (level == DIFF_PROCESS)
		added = add_figures(measurement, &rows.total, DIFF_ALL, "");
	for (size_t i = 0; added && i < rows.all_count; i++) {
		const struct resource_row *row = &rows.items[i];

		added = add_figures(measurement, row, level,
				    level == DIFF_CONTAINER ? row->container : row->name);
	}
	resource_rows_done(&rows);
	return added ? 0 : -ENOMEM;
}

static void describe(struct measurement *measurement, const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);
	struct profile_account account = profile_account(profile);

	if (measurement->slices.count == 1) {
		snprintf(measurement->host, sizeof(measurement->host), "%s", info->host);
		snprintf(measurement->targets, sizeof(measurement->targets), "%s", info->targets);
		measurement->start_unix_ns = info->start_unix_ns;
		measurement->is_command = true;
	}
	measurement->is_command =
		measurement->is_command && strncmp(info->targets, "command ", 8) == 0;
	measurement->kinds_mask |= info->kinds_mask;
	measurement->sampled_mask |= info->kinds_mask & profile_kinds_expected();
	measurement->lost += account.lost + account.lost_other;
}

static int add_functions(struct measurement *measurement, const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);
	struct function_table *functions =
		function_table_new(profile, &(struct function_table_options){.merge = true});
	struct taking taking = {
		.measurement = measurement,
		.stacks = {.measurement = measurement},
		.profile = profile,
		.functions = functions,
		.sample_ns = info->frequency_hz ? (double)NS_PER_SECOND / info->frequency_hz : 0,
	};
	size_t count = functions ? function_table_count(functions) : 0;
	bool added = false;

	if (functions && array_reserve(&taking.names, count + 1)) {
		memset(taking.names.items, 0, (count + 1) * sizeof(*taking.names.items));
		added = add_stacks(&taking);
	}
	array_free(&taking.names);
	array_free(&taking.stack);
	stack_measure_done(&taking.stacks);
	function_table_free(functions);
	return added ? 0 : -ENOMEM;
}

static bool wants_functions(const struct measurement *measurement)
{
	return measurement_wants(measurement, DIFF_SELF) ||
	       measurement_wants(measurement, DIFF_TOTAL) ||
	       measurement_wants(measurement, DIFF_ALL_STACKS) ||
	       measurement_wants(measurement, DIFF_STACK);
}

int measure_profile(struct measurement *measurement, const struct profile *profile, uint32_t run)
{
	const struct profile_info *info = profile_info_read(profile);
	uint64_t length_ns = info->end_ns > info->start_ns ? info->end_ns - info->start_ns : 0;
	int err = 0;

	if (!measurement_begin_slice(measurement,
				     &(struct diff_slice){info->start_ns, info->end_ns, length_ns,
							  run, info->own_pid}))
		return -ENOMEM;
	describe(measurement, profile);
	if (measurement_wants(measurement, DIFF_ALL) ||
	    measurement_wants(measurement, DIFF_PROCESS))
		err = add_rows(measurement, profile, ROWS_BY_COMM, DIFF_PROCESS);
	if (!err && measurement_wants(measurement, DIFF_CONTAINER))
		err = add_rows(measurement, profile, ROWS_BY_CONTAINER, DIFF_CONTAINER);
	if (!err && measurement_wants(measurement, DIFF_REGION_TIME))
		err = measure_regions(measurement, profile);
	if (!err && measurement_wants(measurement, DIFF_LOCK))
		err = measure_locks(measurement, profile);
	if (!err && measurement_wants(measurement, DIFF_GPU_LAUNCHES))
		err = measure_gpu(measurement, profile);
	if (!err && measurement_wants(measurement, DIFF_PLACE))
		err = measure_places(measurement, profile, run);
	if (!err && wants_functions(measurement))
		err = add_functions(measurement, profile);
	return err;
}
