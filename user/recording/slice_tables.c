// SPDX-License-Identifier: BSD-2-Clause
/* The columns of the tables of a block, those of accounts aside. Numbers are for good: a column
 * that is not written any more keeps its own. */
#include "recording/slice_tables.h"

#define FLAG(number, type, member)   RECORDED_AS(RECORDED_FLAG, number, type, member)
#define SIGNED(number, type, member) RECORDED_AS(RECORDED_SIGNED, number, type, member)
#define STEP(number, type, member)   RECORDED_AS(RECORDED_STEP, number, type, member)
#define TEXT(number, type, member)   RECORDED_AS(RECORDED_TEXT, number, type, member)
#define STRING(number, type, member) RECORDED_AS(RECORDED_STRING, number, type, member)

#define TABLE(name, number, type)                                                                  \
	const struct recorded_table slice_##name = RECORDED_TABLE(number, type, name##_columns)

#define F struct recorded_facts
static const struct recorded_column facts_columns[] = {
	RECORDED(1, F, info.start_ns),
	RECORDED(2, F, info.end_ns),
	SIGNED(3, F, info.start_unix_ns),
	TEXT(4, F, info.host),
	TEXT(5, F, info.kernel),
	TEXT(6, F, info.targets),
	FLAG(7, F, info.has_targets),
	TEXT(8, F, info.cpu_event),
	RECORDED(9, F, info.frequency_hz),
	RECORDED(10, F, info.kinds_mask),
	RECORDED(11, F, info.unwind_mode),
	RECORDED(12, F, info.cpu_count),
	RECORDED(13, F, info.own_pid),
	RECORDED(131, F, info.keeper_pid),
	RECORDED(14, F, info.own_cpu_ns),
	RECORDED(15, F, info.own_start_cpu_ns),
	RECORDED(16, F, info.bpf_cpu_ns),
	FLAG(17, F, info.bpf_cpu_known),
	RECORDED(18, F, info.bpf_limit_permille),
	RECORDED(19, F, info.max_resident_bytes),
	RECORDED(20, F, info.bpf_map_bytes),
	RECORDED(21, F, info.sequence),
	RECORDED(112, F, info.trace_ns),
	RECORDED(120, F, info.memory_limit_bytes),
	RECORDED(121, F, info.memory_peak_bytes),
	FLAG(140, F, info.machine.known),
	RECORDED(141, F, info.machine.energy_uj),
	RECORDED(142, F, info.machine.energy_ns),
	TEXT(143, F, info.machine.energy_source),
	TEXT(144, F, info.machine.energy_reason),
	RECORDED(145, F, info.machine.millicelsius),
	TEXT(146, F, info.machine.temperature_source),
	TEXT(147, F, info.machine.temperature_reason),
	FLAG(148, F, info.machine.throttles_known),
	RECORDED(149, F, info.machine.throttles),
	RECORDED(150, F, info.machine.frequency_sum_hz),
	RECORDED(151, F, info.machine.frequency_readings),
	RECORDED(152, F, info.machine.min_hz),
	RECORDED(153, F, info.machine.max_hz),
	RECORDED(154, F, info.machine.base_hz),
	TEXT(155, F, info.machine.frequency_reason),
	RECORDED(156, F, info.machine.counts_known),
	RECORDED(157, F, info.machine.counts_scaled),
	TEXT(158, F, info.machine.counts_reason),
	RECORDED(159, F, info.machine.counts[MACHINE_INSTRUCTIONS]),
	RECORDED(160, F, info.machine.counts[MACHINE_CYCLES]),
	RECORDED(161, F, info.machine.counts[MACHINE_CACHE_REFERENCES]),
	RECORDED(162, F, info.machine.counts[MACHINE_CACHE_MISSES]),
	RECORDED(163, F, info.machine.counts[MACHINE_BRANCHES]),
	RECORDED(164, F, info.machine.counts[MACHINE_BRANCH_MISSES]),
	RECORDED(179, F, info.machine.memory_used_peak_bytes),
	RECORDED(170, F, info.shed_steps),
	TEXT(171, F, info.shed),
	RECORDED(172, F, info.regions_ns),
	RECORDED(190, F, info.gpu_calls_ns),
	TEXT(173, F, info.label_key),
	TEXT(175, F, info.label_keys[0]),
	TEXT(176, F, info.label_keys[1]),
	TEXT(177, F, info.label_keys[2]),
	TEXT(178, F, info.label_keys[3]),
	RECORDED(32, F, guessed_frames),
	RECORDED(33, F, processes_dropped),
	RECORDED(34, F, slow_io_limit),
	RECORDED(130, F, slow_region_limit),
	RECORDED(174, F, slow_request_limit),
	RECORDED(36, F, account_start_ns),
	RECORDED(37, F, account_end_ns),
	RECORDED(38, F, account_missing),
	FLAG(40, F, machine.known),
	RECORDED(41, F, machine.elapsed_ns),
	RECORDED(42, F, machine.busy_ns),
	RECORDED(43, F, machine.idle_ns),
	RECORDED(44, F, machine.iowait_ns),
	RECORDED(45, F, machine.steal_ns),
	RECORDED(46, F, machine.irq_ns),
	RECORDED(47, F, machine.threads_ns),
	RECORDED(48, F, machine.memory_bytes),
	RECORDED(49, F, machine.memory_available_bytes),
	RECORDED(50, F, machine.cpu_ns),
};
ALL_MEMBERS(struct profile_info, 1720 + sizeof(((struct profile_info *)NULL)->counters) +
					 sizeof(struct machine_figures));
ALL_MEMBERS(struct machine_figures, 920);
ALL_MEMBERS(struct resource_machine, 88);
TABLE(facts, SLICE_FACTS, F);
#undef F

#define C struct recorded_counter
static const struct recorded_column counters_columns[] = {
	STRING(1, C, name),
	RECORDED(2, C, count),
};
TABLE(counters, SLICE_COUNTERS, C);
#undef C

#define P struct process
static const struct recorded_column processes_columns[] = {
	RECORDED(1, P, pid),	       RECORDED(2, P, parent_pid), TEXT(3, P, comm),
	STEP(4, P, start_ns),	       STEP(5, P, born_ns),	   STEP(6, P, end_ns),
	FLAG(7, P, started_inside),    FLAG(8, P, execed),	   RECORDED(9, P, cgroup_id),
	RECORDED(10, P, thread_count), RECORDED(11, P, members),   TEXT(12, P, comm_before),
	STEP(13, P, heard_ns),
};
ALL_MEMBERS(P, 120); /* but home, which is of processes of this machine */
TABLE(processes, SLICE_PROCESSES, P);
#undef P

#define F struct recorded_frame
static const struct recorded_column frames_columns[] = {
	RECORDED(1, F, location.space),
	RECORDED(2, F, location.object),
	RECORDED(3, F, location.address),
	FLAG(4, F, location.is_return_address),
	RECORDED(5, F, result),
	RECORDED(6, F, flags),
	STRING(7, F, module),
	STRING(8, F, build_id),
	RECORDED(9, F, module_address),
	RECORDED(10, F, function_address),
	RECORDED(11, F, line_count),
	SIGNED(12, F, address_offset),
};
ALL_MEMBERS(struct frame_location, 24);
ALL_MEMBERS(struct symbol, 56);
TABLE(frames, SLICE_FRAMES, F);
#undef F

#define L struct symbol_line
static const struct recorded_column lines_columns[] = {
	STRING(1, L, function),
	STRING(2, L, file),
	RECORDED(3, L, line),
	FLAG(4, L, inlined),
};
ALL_MEMBERS(L, 24);
TABLE(lines, SLICE_LINES, L);
#undef L

#define N struct recorded_node
static const struct recorded_column nodes_columns[] = {
	RECORDED(1, N, caller),
	RECORDED(2, N, frame),
};
TABLE(nodes, SLICE_NODES, N);
#undef N

#define S struct recorded_stack
static const struct recorded_column stacks_columns[] = {
	RECORDED(1, S, node),
};
TABLE(stacks, SLICE_STACKS, S);
#undef S

#define R struct recorded_row
static const struct recorded_column rows_columns[] = {
	RECORDED(1, R, row.kind),  RECORDED(2, R, row.process), RECORDED(3, R, row.tid),
	STRING(4, R, comm),	   RECORDED(5, R, row.stack),	RECORDED(6, R, row.waker),
	RECORDED(7, R, row.state), RECORDED(8, R, row.count),	RECORDED(9, R, row.weight),
	RECORDED(10, R, row.max),
};
ALL_MEMBERS(struct profile_row, 56);
TABLE(rows, SLICE_ROWS, R);
#undef R

#define E struct recorded_end
static const struct recorded_column ends_columns[] = {
	RECORDED(1, E, process),
	RECORDED(2, E, end),
	RECORDED(3, E, count),
};
TABLE(ends, SLICE_ENDS, E);
#undef E

#define D struct recorded_distribution
static const struct recorded_column distributions_columns[] = {
	RECORDED(1, D, distribution.key.kind),	RECORDED(2, D, distribution.key.process),
	RECORDED(3, D, distribution.key.tid),	RECORDED(4, D, distribution.key.device),
	RECORDED(5, D, distribution.key.state), RECORDED(6, D, distribution.key.measure),
	FLAG(7, D, distribution.estimated),	FLAG(8, D, distribution.open),
	RECORDED(9, D, distribution.count),	RECORDED(10, D, distribution.total),
	RECORDED(11, D, distribution.max),	RECORDED(12, D, distribution.bytes),
	RECORDED(13, D, distribution.variance), RECORDED(14, D, bucket_count),
};
ALL_MEMBERS(struct distribution, 80);
TABLE(distributions, SLICE_DISTRIBUTIONS, D);
#undef D

#define B struct distribution_bucket
static const struct recorded_column buckets_columns[] = {
	RECORDED(1, B, index),
	RECORDED(2, B, count),
};
TABLE(buckets, SLICE_BUCKETS, B);
#undef B

#define D struct recorded_device
static const struct recorded_column devices_columns[] = {
	RECORDED(1, D, device),
	STRING(2, D, name),
};
TABLE(devices, SLICE_DEVICES, D);
#undef D

/* Twelve numbers from `first` on. */
#define COUNTERS(first, type, member)                                                              \
	RECORDED((first), type, member.user_ns), RECORDED((first) + 1, type, member.system_ns),    \
		RECORDED((first) + 2, type, member.run_ns),                                        \
		RECORDED((first) + 3, type, member.run_delay_ns),                                  \
		RECORDED((first) + 4, type, member.voluntary_switches),                            \
		RECORDED((first) + 5, type, member.involuntary_switches),                          \
		RECORDED((first) + 6, type, member.minor_faults),                                  \
		RECORDED((first) + 7, type, member.major_faults),                                  \
		RECORDED((first) + 8, type, member.read_bytes),                                    \
		RECORDED((first) + 9, type, member.written_bytes)

#define P struct resource_process
static const struct recorded_column account_processes_columns[] = {
	RECORDED(1, P, pid),
	RECORDED(2, P, parent_pid),
	STEP(3, P, start_ns),
	STEP(4, P, end_ns),
	FLAG(5, P, started_inside),
	TEXT(6, P, comm),
	RECORDED(7, P, cgroup_id),
	RECORDED(8, P, threads),
	RECORDED(9, P, threads_seen),
	RECORDED(10, P, threads_counted),
	RECORDED(11, P, processes),
	RECORDED(12, P, oom_killed),
	FLAG(13, P, rss_known),
	FLAG(14, P, growth_known),
	RECORDED(15, P, rss_bytes),
	RECORDED(16, P, start_rss_bytes),
	RECORDED(17, P, peak_rss_bytes),
	RECORDED(18, P, anonymous_rss_bytes),
	RECORDED(19, P, start_anonymous_rss_bytes),
	FLAG(20, P, comm_is_known),
	COUNTERS(30, P, used),
};
ALL_MEMBERS(P, 208);
TABLE(account_processes, SLICE_ACCOUNT_PROCESSES, P);
#undef P

#define T struct resource_thread
static const struct recorded_column account_threads_columns[] = {
	RECORDED(1, T, pid),  RECORDED(2, T, tid),     RECORDED(3, T, process),
	STEP(4, T, start_ns), STEP(5, T, end_ns),      FLAG(6, T, started_inside),
	TEXT(7, T, comm),     RECORDED(8, T, threads), COUNTERS(30, T, used),
};
ALL_MEMBERS(T, 136);
TABLE(account_threads, SLICE_ACCOUNT_THREADS, T);
#undef T

#define G struct recorded_cgroup
static const struct recorded_column cgroups_columns[] = {
	RECORDED(1, G, cgroup_id),
	STRING(2, G, text),
	FLAG(3, G, is_container),
};
TABLE(cgroups, SLICE_CGROUPS, G);
#undef G

#define L struct resource_cgroup_limit
static const struct recorded_column cgroup_limits_columns[] = {
	RECORDED(1, L, cgroup_id),     STRING(2, L, path),
	RECORDED(3, L, quota_ns),      RECORDED(4, L, period_ns),
	RECORDED(5, L, periods),       RECORDED(6, L, throttled_periods),
	RECORDED(7, L, throttled_ns),  RECORDED(8, L, memory_limit),
	RECORDED(9, L, memory_high),   RECORDED(10, L, memory_used),
	RECORDED(11, L, memory_peak),  RECORDED(12, L, memory_reached),
	RECORDED(13, L, memory_kills), RECORDED(14, L, memory_pressure_ns),
	RECORDED(15, L, frozen),
};
ALL_MEMBERS(L, 120);
TABLE(cgroup_limits, SLICE_CGROUP_LIMITS, L);
#undef L
