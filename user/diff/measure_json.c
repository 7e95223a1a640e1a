// SPDX-License-Identifier: BSD-2-Clause
/* Takes the values of processes and containers out of a report, which may say anything. */
#include "diff/measure_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "diff/measure_gpu.h"
#include "diff/measure_locks.h"
#include "diff/measure_regions.h"
#include "profile/kind_table.h"

/* Those of user/export/json in which what is read here has its meaning. */
#define SCHEMA_VERSION_FIRST 1
#define SCHEMA_VERSION_LAST  2
/* As of functions from recordings. */
#define NAME_BYTES 1024

/* Where the value of a kind stands in a row: the sum of its members. */
static const struct {
	enum pkbpf_profile_kind kind;
	const char *group, *members[2];
} figures[] = {
	{PKBPF_PROFILE_CPU, "cpu", {"total_ns", NULL}},
	{PKBPF_PROFILE_OFFCPU, "offcpu", {"total_ns", NULL}},
	{PKBPF_PROFILE_BLOCKIO, "blockio", {"total_ns", NULL}},
	{PKBPF_PROFILE_FAULTS, "memory", {"minor_faults", "major_faults"}},
};

static double number_of(const json_t *object, const char *name)
{
	double number = json_number_value(json_object_get(object, name));

	return number > 0 ? number : 0;
}

/* 0 when it is no number that can be: beyond a double's whole numbers. */
static uint64_t count_of(const json_t *object, const char *name)
{
	double number = number_of(object, name);

	return number < 9007199254740992.0 ? (uint64_t)number : 0;
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* CPU time that the kernel has counted is no estimate from samples. */
static double samples_of(const json_t *cpu)
{
	return json_object_get(cpu, "user_ns") ? 0 : number_of(cpu, "samples");
}

static bool add_figures(struct measurement *measurement, const json_t *row, enum diff_level level,
			const char *name)
{
	char text[NAME_BYTES];
	uint32_t number;

	snprintf(text, sizeof(text), "%s", name);
	number = string_pool_add(measurement->names->texts, text);
	if (number == STRING_POOL_NONE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		struct diff_key key = {figures[i].kind, level, number};
		const json_t *group = json_object_get(row, figures[i].group);
		double count = figures[i].kind == PKBPF_PROFILE_CPU ? samples_of(group) : 0;
		double value = 0;

		for (size_t j = 0; j < ARRAY_SIZE(figures[i].members); j++)
			value +=
				figures[i].members[j] ? number_of(group, figures[i].members[j]) : 0;
		if (measurement->kinds_mask & 1U << figures[i].kind && value > 0 &&
		    !measurement_add(measurement, &key, value, count))
			return false;
	}
	return true;
}

static uint32_t kinds_of(const json_t *report)
{
	const json_t *name, *events = json_object_get(report, "events");
	uint32_t mask = 0;
	size_t i;

	json_array_foreach(events, i, name)
	{
		for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
			if (json_is_string(name) &&
			    strcmp(json_string_value(name), kind_ops_of(kind)->name) == 0)
				mask |= 1U << kind;
	}
	return mask;
}

/* Values of before are of another report of the same side. */
static void describe(struct measurement *measurement, const json_t *report)
{
	const json_t *samples = json_object_get(report, "samples");
	const json_t *start = json_object_get(json_object_get(report, "time"), "start_unix_ns");
	bool is_command = strncmp(text_of(report, "targets"), "command ", 8) == 0;
	bool is_first = measurement->slices.count == 1;

	if (is_first) {
		snprintf(measurement->host, sizeof(measurement->host), "%s",
			 text_of(json_object_get(report, "host"), "name"));
		snprintf(measurement->targets, sizeof(measurement->targets), "%s",
			 text_of(report, "targets"));
		measurement->start_unix_ns = json_integer_value(start);
	}
	measurement->is_command = is_command && (is_first || measurement->is_command);
	measurement->kinds_mask |= kinds_of(report);
	measurement->sampled_mask |= measurement->kinds_mask & profile_kinds_expected();
	measurement->lost += count_of(samples, "lost") + count_of(samples, "lost_other");
}

static int add_rows(struct measurement *measurement, const json_t *report)
{
	bool by_container = strcmp(text_of(report, "by"), "container") == 0;
	const json_t *row, *rows = json_object_get(report, "rows");
	bool added = add_figures(measurement, json_object_get(report, "total"), DIFF_ALL, "");
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (!by_container)
			added = added &&
				add_figures(measurement, row, DIFF_PROCESS, text_of(row, "comm"));
		if (by_container || *text_of(row, "container"))
			added = added && add_figures(measurement, row, DIFF_CONTAINER,
						     text_of(row, "container"));
	}
	return added ? 0 : -ENOMEM;
}

/* Of a report made with --regions or --function; their histograms are not there. */
static bool add_regions(struct measurement *measurement, const json_t *report)
{
	const json_t *region, *regions = json_object_get(report, "regions_by_name");
	bool added = true;
	size_t i;

	json_array_foreach(regions, i, region)
	{
		const json_t *calls = json_object_get(region, "calls");

		added = added &&
			measure_region(
				measurement,
				&(struct region_figures){
					.name = text_of(region, "name"),
					.time_ns = number_of(region, "wall_ns"),
					.calls = number_of(region, calls ? "calls" : "count"),
					.measured = number_of(region, "count"),
					.is_let_go =
						json_is_true(json_object_get(region, "let_go")),
				});
	}
	return added;
}

/* Rows of a report have no waits for locks: those of processes add up. */
static bool add_lock_wait(struct measurement *measurement, enum diff_level level, const char *name,
			  double wait_ns)
{
	struct diff_key key = {PKBPF_PROFILE_LOCKS, level,
			       string_pool_add(measurement->names->texts, name)};

	return key.name != STRING_POOL_NONE &&
	       (wait_ns <= 0 || measurement_add(measurement, &key, wait_ns, 0));
}

/* Of a report made with -e locks. */
static bool add_locks(struct measurement *measurement, const json_t *report)
{
	const json_t *lock, *locks = json_object_get(json_object_get(report, "locks"), "locks");
	bool added = add_lock_wait(measurement, DIFF_ALL, "",
				   number_of(json_object_get(report, "locks"), "wait_ns"));
	size_t i;

	if (json_is_array(locks))
		measurement->has_level[DIFF_LOCK] = true;
	json_array_foreach(locks, i, lock)
	{
		const char *symbol = text_of(lock, "symbol");
		double wait_ns = number_of(lock, "wait_ns");

		added = added &&
			measure_lock(measurement, *symbol ? symbol : text_of(lock, "name"),
				     wait_ns) &&
			add_lock_wait(measurement, DIFF_PROCESS, text_of(lock, "comm"), wait_ns);
	}
	return added;
}

/* Of a report made with --gpu-calls; which code allocated is not taken from its stacks. */
static bool add_gpu_calls(struct measurement *measurement, const json_t *report)
{
	const json_t *calls = json_object_get(report, "gpu_calls");
	const json_t *call, *rows = json_object_get(calls, "functions");
	bool added = true;
	size_t i;

	json_array_foreach(rows, i, call)
	{
		added = added && measure_gpu_call(measurement,
						  &(struct gpu_figures){
							  .group = text_of(call, "group"),
							  .function = text_of(call, "function"),
							  .kernel = text_of(call, "kernel"),
							  .direction = text_of(call, "direction"),
							  .calls = number_of(call, "calls"),
							  .blocks = number_of(call, "blocks"),
							  .bytes = number_of(call, "bytes"),
							  .time_ns = number_of(call, "total_ns"),
							  .kernel_ns = number_of(call, "gpu_ns"),
						  });
	}
	return added;
}

static bool is_report(const json_t *report)
{
	return strcmp(text_of(json_object_get(report, "tool"), "name"), "pkbpf") == 0 &&
	       json_is_array(json_object_get(report, "rows")) &&
	       json_is_object(json_object_get(report, "total")) &&
	       json_is_array(json_object_get(report, "events"));
}

static int take_report(struct measurement *measurement, const json_t *report, struct error *error)
{
	json_int_t version = json_integer_value(json_object_get(report, "schema_version"));
	struct diff_slice slice = {
		.length_ns = count_of(json_object_get(report, "time"), "duration_ns"),
		.run = measurement->run_count,
	};

	if (!is_report(report))
		return error_set(error, EBADMSG, "is no report of pkbpf (-o FILE.json)");
	if (version < SCHEMA_VERSION_FIRST || version > SCHEMA_VERSION_LAST)
		return error_set(error, ENOTSUP,
				 "is a report of another version of pkbpf: schema_version %lld, "
				 "known are %d to %d",
				 (long long)version, SCHEMA_VERSION_FIRST, SCHEMA_VERSION_LAST);
	if (!measurement_begin_slice(measurement, &slice))
		return error_set(error, ENOMEM, "cannot be read: out of memory");
	describe(measurement, report);
	return add_rows(measurement, report) || !add_regions(measurement, report) ||
			       !add_locks(measurement, report) ||
			       !add_gpu_calls(measurement, report)
		       ? error_set(error, ENOMEM, "cannot be read: out of memory")
		       : 0;
}

int measure_json(struct measurement *measurement, const char *data, size_t size,
		 struct error *error)
{
	json_error_t reason;
	json_t *report = json_loadb(data, size, JSON_REJECT_DUPLICATES, &reason);
	int err;

	if (!report)
		return error_set(error, EBADMSG, "is no JSON, or cut off: line %d: %s", reason.line,
				 reason.text);
	err = take_report(measurement, report, error);
	json_decref(report);
	return err;
}
