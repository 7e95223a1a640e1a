// SPDX-License-Identifier: BSD-2-Clause
// A database server, a host with hostile names, a frame-pointer run, a run in which nothing
// happened.
#include "golden_scenario.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

#define POSTGRES "/usr/lib/postgresql/15/bin/postgres"
#define LIBC	 "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define STRIPPED "/opt/vendor/libclosed.so.2"

#define NAME(first, text)                                                                          \
	{                                                                                          \
		.space = FRAME_FILE, .path = POSTGRES, .start = (first), .end = (first) + 0x100,   \
		.lines = {                                                                         \
			{.function = text}                                                         \
		}                                                                                  \
	}
#define LIBC_NAME(first, text)                                                                     \
	{                                                                                          \
		.space = FRAME_FILE, .path = LIBC, .start = (first), .end = (first) + 0x100,       \
		.lines = {                                                                         \
			{.function = text}                                                         \
		}                                                                                  \
	}
#define KERNEL_NAME(first, text)                                                                   \
	{                                                                                          \
		.space = FRAME_KERNEL, .start = (first), .end = (first) + 0x100,                   \
		.flags = SYMBOL_IS_KERNEL, .lines = {                                              \
			{.function = text}                                                         \
		}                                                                                  \
	}

static const struct fake_symbol symbols[] = {
	NAME(0x1000, "_start"),
	NAME(0x1100, "main"),
	NAME(0x1200, "PostmasterMain"),
	NAME(0x1300, "PostgresMain"),
	NAME(0x1400, "exec_simple_query"),
	NAME(0x1500, "standard_ExecutorRun"),
	NAME(0x1600, "ExecSeqScan"),
	NAME(0x1700, "heap_getnextslot"),
	NAME(0x1800, "XLogFlush"),
	NAME(0x1900, "expression_tree_walker"),
	{.space = FRAME_FILE,
	 .path = POSTGRES,
	 .start = 0x1a00,
	 .end = 0x1b00,
	 .lines = {{.function = "pg_atomic_read_u32",
		    .file = "src/include/port/atomics.h",
		    .line = 239,
		    .inlined = true},
		   {.function = "ReadBuffer_common",
		    .file = "src/backend/storage/buffer/bufmgr.c",
		    .line = 812}}},
	LIBC_NAME(0x28000, "__libc_start_call_main"),
	LIBC_NAME(0x28100, "memcpy"),
	LIBC_NAME(0x28200, "fdatasync"),
	LIBC_NAME(0x28300, "start_thread"),
	{.space = FRAME_FILE,
	 .path = STRIPPED,
	 .start = 0,
	 .end = 0x100000,
	 .result = SYMBOL_STRIPPED},
	KERNEL_NAME(0xffffffff81000000, "entry_SYSCALL_64_after_hwframe"),
	KERNEL_NAME(0xffffffff81000100, "do_syscall_64"),
	KERNEL_NAME(0xffffffff81000200, "ext4_sync_file"),
	KERNEL_NAME(0xffffffff81000300, "submit_bio_noacct"),
	KERNEL_NAME(0xffffffff81000400, "kthread"),
	{.space = FRAME_ANONYMOUS,
	 .start = 0x3000000,
	 .end = 0x3000100,
	 .flags = SYMBOL_IS_JIT,
	 .lines = {{.function = "Interpreter"}}},
};

static void map_postgres(struct fake_machine *machine, uint32_t pid)
{
	fake_map(machine, pid, 0x401000, 0x480000, 0x1000, POSTGRES);
	fake_map(machine, pid, 0x7f1000028000, 0x7f1000180000, 0x28000, LIBC);
}

static void repeat(struct fake_machine *machine, unsigned int times, uint32_t pid,
		   struct fake_ips kernel, struct fake_ips user)
{
	while (times--)
		fake_sample(machine, pid, pid, kernel, user);
}

static void cut(struct fake_machine *machine, uint32_t pid, enum pkbpf_stack_end end,
		struct fake_ips user)
{
	struct sample_view sample = {
		.pid = pid,
		.tid = pid,
		.count = 1,
		.weight = 1,
		.user_end = end,
		.user_ips = user.items,
		.user_count = user.count,
	};

	fake_sample_view(machine, &sample);
}

#define BELOW_MAIN 0x401310, 0x401210, 0x401110, 0x7f1000028010, 0x401010

static void play_postgres(struct fake_machine *machine)
{
	uint64_t recursion[64];

	fake_process(machine, 812, 1, "postgres");
	map_postgres(machine, 812);
	fake_process(machine, 900, 812, "postgres");
	map_postgres(machine, 900);
	fake_process(machine, 2, 0, "kthreadd");
	fake_process(machine, 57, 2, "jbd2/vda1-8");

	repeat(machine, 40, 900, FAKE_IPS(),
	       FAKE_IPS(0x401710, 0x401610, 0x401510, 0x401410, BELOW_MAIN));
	repeat(machine, 25, 900, FAKE_IPS(),
	       FAKE_IPS(0x401a10, 0x401710, 0x401610, 0x401510, 0x401410, BELOW_MAIN));
	/* The same functions in another backend, other addresses. */
	repeat(machine, 7, 812, FAKE_IPS(),
	       FAKE_IPS(0x401720, 0x401620, 0x401510, 0x401410, BELOW_MAIN));
	repeat(machine, 12, 900,
	       FAKE_IPS(0xffffffff81000310, 0xffffffff81000210, 0xffffffff81000110,
			0xffffffff81000010),
	       FAKE_IPS(0x7f1000028210, 0x401810, 0x401410, BELOW_MAIN));
	repeat(machine, 3, 57, FAKE_IPS(0xffffffff81000310, 0xffffffff81000410), FAKE_IPS());

	/* Recursion: the walker below itself 60 times. */
	for (size_t i = 0; i < ARRAY_SIZE(recursion); i++)
		recursion[i] = 0x401910;
	recursion[0] = 0x7f1000028110;
	recursion[62] = 0x401410;
	recursion[63] = 0x401110;
	repeat(machine, 9, 812, FAKE_IPS(), (struct fake_ips){recursion, ARRAY_SIZE(recursion)});

	/* A child that lives for a moment, runs another program and ends. */
	fake_fork(machine, 812, 1000);
	repeat(machine, 2, 1000, FAKE_IPS(),
	       FAKE_IPS(0x401210, 0x401110, 0x7f1000028010, 0x401010));
	fake_exec(machine, 1000, "archiver");
	fake_map(machine, 1000, 0x500000, 0x600000, 0, STRIPPED);
	repeat(machine, 4, 1000, FAKE_IPS(), FAKE_IPS(0x500123, 0x500456));
	cut(machine, 1000, PKBPF_END_NO_RULE, FAKE_IPS(0x500124, 0x500789));
	fake_exit(machine, 1000, 1000);

	cut(machine, 900, PKBPF_END_MAX_DEPTH, FAKE_IPS(0x401910, 0x401910, 0x401910));
	cut(machine, 900, PKBPF_END_NO_TABLE, FAKE_IPS(0x401710));
	fake_lost(machine, PKBPF_COUNTER_LOST_RING_FULL, 3);
	fake_lost(machine, PKBPF_COUNTER_LOST_SIDEBAND, 2);
}

static void describe_common(struct profile_info *info)
{
	snprintf(info->host, sizeof(info->host), "db1.example.org");
	snprintf(info->kernel, sizeof(info->kernel), "6.1.0-18-amd64");
	snprintf(info->cpu_event, sizeof(info->cpu_event), "cycles");
	info->frequency_hz = 99;
	info->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	info->start_ns = FAKE_START_NS;
	info->end_ns = FAKE_START_NS + 10 * NS_PER_SECOND;
	info->start_unix_ns = 1700000000LL * (int64_t)NS_PER_SECOND;
	info->cpu_count = 2;
	info->own_cpu_ns = 23 * NS_PER_MS;
	info->bpf_cpu_ns = 410000;
	info->bpf_cpu_known = true;
	info->max_resident_bytes = 23 * 1024 * 1024 + 400 * 1024;
}

static void describe_postgres(struct profile_info *info)
{
	describe_common(info);
	snprintf(info->targets, sizeof(info->targets), "pid 812 and its descendants");
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 108;
	info->counters[PKBPF_COUNTER_CPU_IDLE] = 1776;
	info->machine = (struct machine_figures){
		.known = true,
		.energy_uj = 412500000,
		.energy_ns = 10 * NS_PER_SECOND,
		.energy_source = "package-0, package-1",
		.millicelsius = 71500,
		.temperature_source = "coretemp",
		.throttles_known = true,
		.throttles = 3,
		.frequency_sum_hz = 10 * 2800000000ULL,
		.frequency_readings = 10,
		.min_hz = 1200000000,
		.max_hz = 3500000000,
		.base_hz = 2400000000,
		.counts_known = (1U << MACHINE_COUNT_KINDS) - 1,
		.counts_scaled = 1U << MACHINE_BRANCHES,
		.counts = {13200000, 10000000, 1000000, 31000, 2000000, 16000},
	};
}

static void play_frame_pointers(struct fake_machine *machine)
{
	fake_process(machine, 300, 1, "node");
	map_postgres(machine, 300);
	fake_map(machine, 300, 0x3000000, 0x3100000, 0, "//anon");
	for (size_t i = 0; i < 20; i++)
		cut(machine, 300, PKBPF_END_UNVERIFIED,
		    FAKE_IPS(0x3000010, 0x3000020, 0x401110, 0x401010));
	for (size_t i = 0; i < 5; i++)
		cut(machine, 300, PKBPF_END_UNVERIFIED,
		    FAKE_IPS(0x7f1000028110, 0x6f77206f6c6c6548));
	cut(machine, 300, PKBPF_END_UNVERIFIED, FAKE_IPS(0x3050010, 0x401110));
}

static void describe_frame_pointers(struct profile_info *info)
{
	describe_common(info);
	snprintf(info->targets, sizeof(info->targets), "comm node");
	snprintf(info->cpu_event, sizeof(info->cpu_event), "cpu-clock");
	info->unwind_mode = PKBPF_UNWIND_FP;
	info->bpf_cpu_known = false;
	info->machine = (struct machine_figures){
		.known = true,
		.energy_reason = "no powercap zone measures energy",
		.temperature_source = "thermal_zone0 (cpu-thermal)",
		.millicelsius = 48000,
		.frequency_reason = "no cpufreq driver reports the frequency of the CPUs",
		.counts_reason = "there are none (no PMU)",
	};
	/* One too many, which must be said. */
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 27;
}

#define LONG_NAME                                                                                  \
	"std::unordered_map<std::basic_string<char, std::char_traits<char>, "                      \
	"std::allocator<char>>, "                                                                  \
	"std::vector<std::shared_ptr<ns::detail::widget_base<int, 7>>>>::operator[](key_type "     \
	"const&)"

static const struct fake_symbol hostile_symbols[] = {
	NAME(0x1000, "evil;frame 12"),
	NAME(0x1100, "\x1b[2J\x1b[31mred\x07"),
	NAME(0x1200, LONG_NAME),
	NAME(0x1300, "\xe5\x90\x8d\xe5\x89\x8d\xe3\x81\xae\xe9\x95\xb7\xe3\x81\x84\xe9\x96\xa2\xe6"
		     "\x95\xb0"),
	NAME(0x1400, "broken \xff utf-8"),
	NAME(0x1500, "rtl \xe2\x80\xae override"),
};

static void play_hostile(struct fake_machine *machine)
{
	static const char *const comms[] = {"a b;c", "\x1b]0;x\x07",	  "# comment",
					    "w 1",   "\xc3\xa9t\xc3\xa9", ""};

	for (uint32_t i = 0; i < ARRAY_SIZE(comms); i++) {
		uint32_t pid = 4000 + i;

		fake_process(machine, pid, 1, comms[i]);
		map_postgres(machine, pid);
		repeat(machine, i + 1, pid, FAKE_IPS(),
		       FAKE_IPS(0x401010 + i * 0x100, 0x401510, 0x401410, 0x401310, 0x401210,
				0x401110, 0x401010));
	}
	fake_map(machine, 4000, 0x900000, 0x910000, 0, "/tmp/\x1b[1mlib\nweird;name 3.so");
	repeat(machine, 2, 4000, FAKE_IPS(), FAKE_IPS(0x900100, 0x401210));
}

static void describe_hostile(struct profile_info *info)
{
	describe_common(info);
	snprintf(info->host, sizeof(info->host), "host\x1b[31m");
	snprintf(info->kernel, sizeof(info->kernel), "6.1\n.0");
	memset(info->targets, 'x', 300);
	snprintf(info->targets + 300, 100, ", comm \x1b[0m and more than fits a line");
	info->counters[PKBPF_COUNTER_CPU_EXPECTED] = 23;
	info->machine.known = true;
	snprintf(info->machine.temperature_source, MACHINE_SOURCE_SIZE, "\x1b[5m\"<b>\n");
	snprintf(info->machine.energy_reason, MACHINE_REASON_SIZE, "\x1b]0;x\x07 zone");
}

static void play_nothing(struct fake_machine *machine)
{
	fake_process(machine, 812, 1, "idle");
}

static void describe_nothing(struct profile_info *info)
{
	describe_common(info);
	snprintf(info->targets, sizeof(info->targets), "pid 812");
}

static const struct golden_scenario scenarios[] = {
	{"postgres", play_postgres, describe_postgres, symbols, ARRAY_SIZE(symbols)},
	{"frame_pointers", play_frame_pointers, describe_frame_pointers, symbols,
	 ARRAY_SIZE(symbols)},
	{"hostile", play_hostile, describe_hostile, hostile_symbols, ARRAY_SIZE(hostile_symbols)},
	{"nothing", play_nothing, describe_nothing, NULL, 0},
};

const struct golden_scenario *golden_scenario_at(size_t index)
{
	return index < ARRAY_SIZE(scenarios) ? &scenarios[index] : NULL;
}
