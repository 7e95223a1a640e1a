// SPDX-License-Identifier: BSD-2-Clause
/* Writes the resource report as one JSON document, described by report.schema.json. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "profile/kind_table.h"
#include "profile/stack_end.h"
#include "rows/devices.h"
#include "rows/figure_table.h"
#include "report/json_sections.h"
#include "finding/finding.h"
#include "report/views.h"

/* Rises when a key changes its meaning or goes; not when one is added. */
#define SCHEMA_VERSION 1

static void write_time(struct json_writer *writer, const char *key, int64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / (int64_t)NS_PER_SECOND);
	char date[64], text[96];
	struct tm calendar;

	if (unix_ns <= 0 || !gmtime_r(&seconds, &calendar) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &calendar)) {
		json_string(writer, key, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%s.%09" PRId64 "Z", date, unix_ns % (int64_t)NS_PER_SECOND);
	json_string(writer, key, text);
}

static const char *unwind_name(enum pkbpf_unwind_mode mode)
{
	switch (mode) {
	case PKBPF_UNWIND_AUTO:
		return "auto";
	case PKBPF_UNWIND_DWARF:
		return "dwarf";
	case PKBPF_UNWIND_FP:
		return "fp";
	}
	return "unknown";
}

static void write_machine(struct json_writer *writer, const struct resource_rows *rows)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	json_object_begin(writer, "host");
	json_string(writer, "name", info->host);
	json_string(writer, "kernel", info->kernel);
	json_u64(writer, "cpus", info->cpu_count);
	if (rows->machine.known) {
		json_u64(writer, "memory_bytes", rows->machine.memory_bytes);
		json_u64(writer, "memory_available_bytes", rows->machine.memory_available_bytes);
		json_u64(writer, "busy_ns", rows->machine.busy_ns);
		json_u64(writer, "idle_ns", rows->machine.idle_ns);
		json_u64(writer, "iowait_ns", rows->machine.iowait_ns);
		json_u64(writer, "steal_ns", rows->machine.steal_ns);
		json_u64(writer, "interrupt_ns", rows->machine.irq_ns);
		if (rows->machine.threads_ns)
			json_u64(writer, "threads_ns", rows->machine.threads_ns);
		json_decimal(writer, "busy_percent", rows->busy_percent);
	}
	json_object_end(writer);
	json_object_begin(writer, "time");
	write_time(writer, "start", info->start_unix_ns);
	write_time(writer, "end",
		   info->start_unix_ns > 0 ? info->start_unix_ns + (int64_t)rows->interval_ns : 0);
	json_i64(writer, "start_unix_ns", info->start_unix_ns);
	json_u64(writer, "duration_ns", rows->interval_ns);
	json_object_end(writer);
}

static void write_cpu_limits(struct json_writer *writer, const struct profile *profile)
{
	const struct resource_usage *usage = profile_resources(profile);

	if (!resource_usage_known(usage))
		return;
	json_array_begin(writer, "cpu_limits");
	for (size_t i = 0; i < resource_usage_cpu_limit_count(usage); i++) {
		struct resource_cpu_limit limit;

		if (!resource_usage_cpu_limit(usage, i, &limit))
			continue;
		json_object_begin(writer, NULL);
		json_string(writer, "cgroup", limit.path);
		json_u64(writer, "quota_ns", limit.quota_ns);
		json_u64(writer, "period_ns", limit.period_ns);
		json_u64(writer, "periods", limit.periods);
		json_u64(writer, "throttled_periods", limit.throttled_periods);
		json_u64(writer, "throttled_ns", limit.throttled_ns);
		json_object_end(writer);
	}
	json_array_end(writer);
}

static void write_events(struct json_writer *writer, const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);
	uint64_t complete = 0;

	json_string(writer, "targets", info->targets);
	json_array_begin(writer, "events");
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (info->kinds_mask & 1U << kind)
			json_string(writer, NULL, profile_kind_row(kind)->name);
	json_array_end(writer);
	if (info->kinds_mask & 1U << PKBPF_PROFILE_CPU) {
		json_object_begin(writer, "sampling");
		json_string(writer, "event", info->cpu_event);
		json_u64(writer, "frequency_hz", info->frequency_hz);
		json_object_end(writer);
	}
	json_object_begin(writer, "unwinder");
	json_string(writer, "mode", unwind_name(info->unwind_mode));
	json_object_begin(writer, "stack_ends");
	for (unsigned int end = PKBPF_END_NONE + 1; end < PKBPF_END_COUNT; end++) {
		uint64_t count = profile_end_count(profile, UINT32_MAX, end);

		if (stack_end_is_complete(end))
			complete += count;
		else if (count)
			json_u64(writer, stack_end_text(end), count);
	}
	json_u64(writer, "complete", complete);
	json_object_end(writer);
	json_u64(writer, "guessed_frames", profile_guessed_frames(profile));
	json_object_end(writer);
}

static void write_counters(struct json_writer *writer, const struct profile *profile)
{
	static const struct {
		const char *name, *text;
		bool is_loss;
	} counters[PKBPF_COUNTER_COUNT] = {
#define X(name, loss, words) {#name, words, loss != PKBPF_LOSS_NONE},
		PKBPF_COUNTERS(X)
#undef X
	};
	const struct profile_info *info = profile_info_read(profile);
	struct profile_account account = profile_account(profile);

	json_object_begin(writer, "samples");
	json_u64(writer, "expected", account.expected);
	json_u64(writer, "recorded", account.recorded);
	json_u64(writer, "lost", account.lost);
	json_u64(writer, "lost_other", account.lost_other);
	json_object_end(writer);
	json_array_begin(writer, "counters");
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (!info->counters[i])
			continue;
		json_object_begin(writer, NULL);
		json_string(writer, "name", counters[i].name);
		json_string(writer, "text", counters[i].text);
		json_bool(writer, "is_loss", counters[i].is_loss);
		json_u64(writer, "count", info->counters[i]);
		json_object_end(writer);
	}
	json_array_end(writer);
	json_object_begin(writer, "cost");
	json_u64(writer, "cpu_ns", info->own_cpu_ns);
	if (info->own_start_cpu_ns)
		json_u64(writer, "start_cpu_ns", info->own_start_cpu_ns);
	if (info->bpf_cpu_known)
		json_u64(writer, "bpf_cpu_ns", info->bpf_cpu_ns);
	json_u64(writer, "max_resident_bytes", info->max_resident_bytes);
	if (info->bpf_map_bytes)
		json_u64(writer, "bpf_map_bytes", info->bpf_map_bytes);
	json_object_end(writer);
	json_object_begin(writer, "percentiles");
	json_decimal(writer, "max_relative_error_percent", 100.0 / (2 * PKBPF_HISTOGRAM_SUB));
	json_object_end(writer);
}

static void write_figures(struct json_writer *writer, const struct resource_row *row)
{
	const struct figure *figure;
	const char *group = NULL;
	char key[64];

	for (size_t i = 0; (figure = figure_at(i)); i++) {
		if (!figure_known(figure, row))
			continue;
		if (!group || strcmp(group, figure->group) != 0) {
			if (group)
				json_object_end(writer);
			group = figure->group;
			json_object_begin(writer, group);
		}
		snprintf(key, sizeof(key), "%s%s", figure->name, figure_unit_suffix(figure->unit));
		if (figure->unit == FIGURE_PERCENT) {
			double value = 0;

			figure_value(figure, NULL, row, &value);
			json_decimal(writer, key, value);
		} else if (figure->unit == FIGURE_SIGNED_BYTES) {
			json_i64(writer, key, (int64_t)figure_u64(figure, row));
		} else {
			json_u64(writer, key, figure_u64(figure, row));
		}
	}
	if (group)
		json_object_end(writer);
}

void json_frames(struct json_writer *writer, const struct resource_rows *rows,
		 const uint32_t *functions, size_t count)
{
	json_array_begin(writer, "frames");
	for (size_t i = 0; i < count && i < JSON_FRAMES_MAX; i++) {
		const struct function *function = function_table_get(rows->functions, functions[i]);

		json_object_begin(writer, NULL);
		json_string(writer, "name", function->name);
		if (function->module[0])
			json_string(writer, "module", function->module);
		if (function->mark == FUNCTION_KERNEL)
			json_bool(writer, "kernel", true);
		json_object_end(writer);
	}
	json_array_end(writer);
	if (count > JSON_FRAMES_MAX)
		json_u64(writer, "frames_left_out", count - JSON_FRAMES_MAX);
}

static void write_stacks(struct json_writer *writer, const struct resource_rows *rows,
			 const struct resource_row *row)
{
	json_object_begin(writer, "hottest_stacks");
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		const struct profile_kind_row *names = profile_kind_row(kind);
		const struct row_stack *stack = &row->stacks[kind];
		const uint32_t *functions;
		size_t count;

		if (stack->stack == ROW_NO_STACK || !row->kind_weight[kind])
			continue;
		json_object_begin(writer, names->name);
		json_u64(writer, names->weight == PROFILE_WEIGHT_NS ? "weight_ns" : "weight",
			 stack->weight);
		json_decimal(writer, "share_percent",
			     100 * (double)stack->weight / (double)row->kind_weight[kind]);
		if (stack->max)
			json_u64(writer, names->weight == PROFILE_WEIGHT_NS ? "max_ns" : "max",
				 stack->max);
		functions = resource_rows_stack(rows, stack->stack, &count);
		json_frames(writer, rows, functions, count);
		json_object_end(writer);
	}
	json_object_end(writer);
}

static void write_row(struct json_writer *writer, const struct resource_rows *rows,
		      const struct resource_row *row)
{
	json_object_begin(writer, NULL);
	if (row->pid)
		json_u64(writer, "pid", row->pid);
	if (row->tid)
		json_u64(writer, "tid", row->tid);
	/* A thread may call itself by the empty name. */
	if (rows->by != ROWS_BY_CONTAINER)
		json_string(writer, "comm", row->name);
	if (row->container[0])
		json_string(writer, "container", row->container);
	if (row->cgroup)
		json_string(writer, "cgroup", row->cgroup);
	if (row->no_process)
		json_bool(writer, "no_process", true);
	json_u64(writer, "processes", row->processes);
	json_bool(writer, "started_inside", row->started_inside);
	json_bool(writer, "ended_inside", row->ended_inside);
	json_u64(writer, "lifetime_ns", row->lifetime_ns);
	write_figures(writer, row);
	write_stacks(writer, rows, row);
	json_object_end(writer);
}

static void write_rows(struct json_writer *writer, const struct resource_rows *rows)
{
	json_string(writer, "by", rows_grouping_name(rows->by));
	json_object_begin(writer, "total");
	write_figures(writer, &rows->total);
	write_stacks(writer, rows, &rows->total);
	json_object_end(writer);
	json_u64(writer, rows->by == ROWS_BY_THREAD ? "quiet_threads" : "quiet_processes",
		 rows->quiet_processes);
	json_u64(writer, "threads_missing", rows->missing_threads);
	json_array_begin(writer, "rows");
	for (size_t i = 0; i < rows->count; i++)
		write_row(writer, rows, &rows->items[i]);
	json_array_end(writer);
}

static void write_times(struct json_writer *writer, const char *key,
			const struct device_times *times)
{
	json_object_begin(writer, key);
	json_u64(writer, "total_ns", times->total_ns);
	json_u64(writer, "p50_ns", histogram_percentile(&times->histogram, 500));
	json_u64(writer, "p95_ns", histogram_percentile(&times->histogram, 950));
	json_u64(writer, "p99_ns", histogram_percentile(&times->histogram, 990));
	json_u64(writer, "max_ns", times->max_ns);
	json_array_begin(writer, "histogram");
	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		if (!times->histogram.buckets[i])
			continue;
		json_object_begin(writer, NULL);
		json_u64(writer, "from_ns", histogram_bucket_low(i));
		json_u64(writer, "to_ns", histogram_bucket_high(i));
		json_u64(writer, "count", times->histogram.buckets[i]);
		json_object_end(writer);
	}
	json_array_end(writer);
	json_object_end(writer);
}

static void write_device(struct json_writer *writer, const struct profile *profile,
			 const struct device *device)
{
	char buffer[32];

	json_object_begin(writer, NULL);
	json_string(writer, "name", device_name(profile, device->number, buffer));
	json_u64(writer, "major", device->number >> 20);
	json_u64(writer, "minor", device->number & 0xfffff);
	json_u64(writer, "requests", device->count);
	json_u64(writer, "bytes", device->bytes);
	json_u64(writer, "requests_of_other_devices", device->lower_count);
	json_array_begin(writer, "operations");
	for (unsigned int i = 0; i < PKBPF_BLOCKIO_OPERATIONS; i++) {
		const struct device_operation *operation = &device->operations[i];

		if (!operation->device.count)
			continue;
		json_object_begin(writer, NULL);
		json_string(writer, "operation", device_operation_name(i));
		json_u64(writer, "requests", operation->device.count);
		json_u64(writer, "bytes", operation->bytes);
		write_times(writer, "device_time", &operation->device);
		write_times(writer, "queue_time", &operation->queue);
		json_object_end(writer);
	}
	json_array_end(writer);
	json_object_end(writer);
}

static int write_devices(struct json_writer *writer, const struct profile *profile)
{
	_cleanup_(device_table_done) struct device_table table = {0};
	int err;

	if (!(profile_info_read(profile)->kinds_mask & 1U << PKBPF_PROFILE_BLOCKIO))
		return 0;
	err = device_table_init(&table, profile);
	if (err)
		return err;
	json_array_begin(writer, "devices");
	for (size_t i = 0; i < table.count; i++)
		write_device(writer, profile, table.items[i]);
	json_array_end(writer);
	return 0;
}

static void write_findings(struct json_writer *writer, const struct resource_rows *rows)
{
	struct findings findings;

	findings_find(rows, &findings);
	json_array_begin(writer, "findings");
	for (size_t i = 0; i < findings.count; i++) {
		const struct finding *finding = &findings.findings[i];

		json_object_begin(writer, NULL);
		json_string(writer, "rule", finding->rule);
		json_string(writer, "text", finding->text);
		if (finding->pid)
			json_u64(writer, "pid", finding->pid);
		json_decimal(writer, "severity_percent", finding->severity);
		json_object_end(writer);
	}
	json_array_end(writer);
}

static int json_write(const struct profile *profile, const struct report_options *options,
		      FILE *out)
{
	_cleanup_(resource_rows_done) struct resource_rows rows = {0};
	struct json_writer writer = {.out = out};
	int err = resource_rows_init(&rows, profile, options->by);

	if (err)
		return err;
	json_object_begin(&writer, NULL);
	json_u64(&writer, "schema_version", SCHEMA_VERSION);
	json_object_begin(&writer, "tool");
	json_string(&writer, "name", "pkbpf");
	json_string(&writer, "version", PKBPF_VERSION);
	json_object_end(&writer);
	write_machine(&writer, &rows);
	write_cpu_limits(&writer, profile);
	write_events(&writer, profile);
	write_counters(&writer, profile);
	write_rows(&writer, &rows);
	err = write_devices(&writer, profile);
	err = err ? err : json_slow_io(&writer, &rows);
	write_findings(&writer, &rows);
	json_object_end(&writer);
	fputc('\n', out);
	return err;
}

const struct report_ops report_json = {
	.name = "json",
	.suffix = ".json",
	.summary = "the resource report for programs, described by report.schema.json",
	.write = json_write,
};
