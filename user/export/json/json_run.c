// SPDX-License-Identifier: BSD-2-Clause
/* Writes the machine, the interval, the events, what was lost and what it cost. */
#include <inttypes.h>
#include <time.h>

#include "base/clock.h"
#include "event/counter_table.h"
#include "export/json/json_kind.h"
#include "profile/kind_table.h"
#include "profile/stack_end.h"
#include "rows/cgroup_label.h"
#include "rows/resource_rows.h"

static void write_time(struct json_writer *writer, const char *key, int64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / (int64_t)NS_PER_SECOND);
	char date[64], text[96];
	struct tm calendar;

	if (unix_ns <= 0 || !gmtime_r(&seconds, &calendar) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &calendar)) {
		json_writer_string(writer, key, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%s.%09" PRId64 "Z", date, unix_ns % (int64_t)NS_PER_SECOND);
	json_writer_string(writer, key, text);
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

void json_machine(struct json_writer *writer, const struct resource_rows *rows)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	json_writer_object_begin(writer, "host");
	json_writer_string(writer, "name", info->host);
	json_writer_string(writer, "kernel", info->kernel);
	json_writer_u64(writer, "cpus", info->cpu_count);
	if (rows->machine.known) {
		json_writer_u64(writer, "memory_bytes", rows->machine.memory_bytes);
		json_writer_u64(writer, "memory_available_bytes",
				rows->machine.memory_available_bytes);
		json_writer_u64(writer, "busy_ns", rows->machine.busy_ns);
		json_writer_u64(writer, "idle_ns", rows->machine.idle_ns);
		json_writer_u64(writer, "iowait_ns", rows->machine.iowait_ns);
		json_writer_u64(writer, "steal_ns", rows->machine.steal_ns);
		json_writer_u64(writer, "interrupt_ns", rows->machine.irq_ns);
		if (rows->machine.threads_ns)
			json_writer_u64(writer, "threads_ns", rows->machine.threads_ns);
		if (rows->busy_percent >= 0)
			json_writer_decimal(writer, "busy_percent", rows->busy_percent);
	}
	json_writer_object_end(writer);
	json_writer_object_begin(writer, "time");
	write_time(writer, "start", info->start_unix_ns);
	write_time(writer, "end",
		   info->start_unix_ns > 0 ? info->start_unix_ns + (int64_t)rows->interval_ns : 0);
	json_writer_i64(writer, "start_unix_ns", info->start_unix_ns);
	json_writer_u64(writer, "duration_ns", rows->interval_ns);
	json_writer_object_end(writer);
}

static void write_cpu_limit(struct json_writer *writer, const struct resource_cgroup_limit *limit)
{
	json_writer_u64(writer, "quota_ns", limit->quota_ns);
	json_writer_u64(writer, "period_ns", limit->period_ns);
	json_writer_u64(writer, "periods", limit->periods);
	json_writer_u64(writer, "throttled_periods", limit->throttled_periods);
	json_writer_u64(writer, "throttled_ns", limit->throttled_ns);
}

static void write_memory_limit(struct json_writer *writer,
			       const struct resource_cgroup_limit *limit)
{
	if (limit->memory_limit)
		json_writer_u64(writer, "limit_bytes", limit->memory_limit);
	if (limit->memory_high)
		json_writer_u64(writer, "high_bytes", limit->memory_high);
	json_writer_u64(writer, "used_bytes", limit->memory_used);
	if (limit->memory_peak)
		json_writer_u64(writer, "peak_bytes", limit->memory_peak);
	json_writer_u64(writer, "reached", limit->memory_reached);
	json_writer_u64(writer, "oom_kills", limit->memory_kills);
	json_writer_u64(writer, "pressure_ns", limit->memory_pressure_ns);
}

static void write_limits(struct json_writer *writer, const struct resource_usage *usage,
			 void (*write)(struct json_writer *writer,
				       const struct resource_cgroup_limit *limit))
{
	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++) {
		struct resource_cgroup_limit limit;
		char container[ROW_CONTAINER_SIZE];

		if (!resource_usage_cgroup_limit(usage, i, &limit) ||
		    !(write == write_cpu_limit ? limit.quota_ns : resource_memory_bound(&limit)))
			continue;
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "cgroup", limit.path);
		cgroup_label(usage, limit.cgroup_id, limit.path, container, sizeof(container));
		json_writer_string(writer, "container", container);
		write(writer, &limit);
		json_writer_object_end(writer);
	}
}

void json_cgroup_limits(struct json_writer *writer, const struct profile *profile)
{
	const struct resource_usage *usage = profile_resources(profile);

	if (!resource_usage_known(usage))
		return;
	json_writer_array_begin(writer, "cpu_limits");
	write_limits(writer, usage, write_cpu_limit);
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "memory_limits");
	write_limits(writer, usage, write_memory_limit);
	json_writer_array_end(writer);
}

void json_events(struct json_writer *writer, const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);
	uint64_t complete = 0;

	json_writer_string(writer, "targets", info->targets);
	json_writer_array_begin(writer, "events");
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (info->kinds_mask & 1U << kind)
			json_writer_string(writer, NULL, kind_ops_of(kind)->name);
	json_writer_array_end(writer);
	json_kinds_describe(writer, info);
	json_writer_object_begin(writer, "unwinder");
	json_writer_string(writer, "mode", unwind_name(info->unwind_mode));
	json_writer_object_begin(writer, "stack_ends");
	for (unsigned int end = PKBPF_END_NONE + 1; end < PKBPF_END_COUNT; end++) {
		uint64_t count = profile_end_count(profile, UINT32_MAX, end);

		if (stack_end_is_complete(end))
			complete += count;
		else if (count && end != PKBPF_END_GUESSED)
			json_writer_u64(writer, stack_end_text(end), count);
	}
	json_writer_u64(writer, "complete", complete);
	json_writer_u64(writer, stack_end_text(PKBPF_END_GUESSED),
			profile_end_count(profile, UINT32_MAX, PKBPF_END_GUESSED));
	json_writer_object_end(writer);
	json_writer_u64(writer, "guessed_frames", profile_guessed_frames(profile));
	json_writer_object_end(writer);
}

void json_counters(struct json_writer *writer, const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);
	struct profile_account account = profile_account(profile);

	json_writer_object_begin(writer, "samples");
	json_writer_u64(writer, "expected", account.expected);
	json_writer_u64(writer, "recorded", account.recorded);
	json_writer_u64(writer, "lost", account.lost);
	json_writer_u64(writer, "lost_other", account.lost_other);
	json_writer_object_end(writer);
	json_writer_array_begin(writer, "counters");
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (!info->counters[i])
			continue;
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "name", counter_table[i].name);
		json_writer_string(writer, "text", counter_table[i].text);
		json_writer_bool(writer, "is_loss", PKBPF_IS_LOSS(counter_table[i].loss));
		json_writer_u64(writer, "count", info->counters[i]);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	json_writer_object_begin(writer, "cost");
	json_writer_u64(writer, "cpu_ns", info->own_cpu_ns);
	if (info->own_start_cpu_ns)
		json_writer_u64(writer, "start_cpu_ns", info->own_start_cpu_ns);
	if (info->bpf_cpu_known)
		json_writer_u64(writer, "bpf_cpu_ns", info->bpf_cpu_ns);
	json_writer_u64(writer, "max_resident_bytes", info->max_resident_bytes);
	if (info->bpf_map_bytes)
		json_writer_u64(writer, "bpf_map_bytes", info->bpf_map_bytes);
	if (info->memory_limit_bytes) {
		json_writer_u64(writer, "memory_limit_bytes", info->memory_limit_bytes);
		json_writer_u64(writer, "memory_peak_bytes", info->memory_peak_bytes);
	}
	if (info->shed_steps) {
		json_writer_u64(writer, "shed_steps", info->shed_steps);
		json_writer_string(writer, "left_out", info->shed);
	}
	json_writer_object_end(writer);
	json_writer_object_begin(writer, "percentiles");
	json_writer_decimal(writer, "max_relative_error_percent",
			    100.0 / (2 * PKBPF_HISTOGRAM_SUB));
	json_writer_object_end(writer);
}
