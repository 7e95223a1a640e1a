// SPDX-License-Identifier: BSD-2-Clause
#include "account_scenario.h"

#include <pkbpf/blockio.h>
#include <pkbpf/offcpu.h>

#include "base/array.h"

#define SECOND	      1000000000ULL
#define MS	      1000000ULL
#define CGROUP_UNIT   41
#define CGROUP_DOCKER 42
#define CGROUP_ROOT   1

static void play_database(struct fake_profile *fake)
{
	account_process(fake, &(struct account_process){.pid = 812,
							.comm = "postgres",
							.cgroup_id = CGROUP_UNIT,
							.run_ns = 900 * MS,
							.system_permille = 400,
							.voluntary = 4000,
							.involuntary = 12,
							.minor = 300,
							.major = 3,
							.read_bytes = 1 << 20,
							.written_bytes = 400 << 20,
							.start_rss_bytes = 60 << 20,
							.rss_bytes = 61 << 20});
	account_on_cpu(fake, 812, "postgres", 900 * MS);
	account_waits(fake, 812, "postgres", PKBPF_WAIT_DISK, 450, 14 * MS, 1,
		      FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_waits(fake, 812, "postgres", PKBPF_WAIT_SLEEP, 10, 280 * MS, 2, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_requests(fake, 812, "postgres", PKBPF_BLOCKIO_WRITE | PKBPF_BLOCKIO_SYNC, 450, 8192,
			 13 * MS, 40000);
	account_requests(fake, 812, "postgres", PKBPF_BLOCKIO_READ, 30, 4096, 2 * MS, 1000);
	account_slow_io(fake, &(struct account_slow_io){.pid = 812,
							.tid = 812,
							.comm = "postgres",
							.operation = PKBPF_BLOCKIO_WRITE |
								     PKBPF_BLOCKIO_SYNC,
							.stack_id = 1,
							.cgroup_id = CGROUP_UNIT,
							.at_ns = 3210 * MS,
							.queue_ns = 40000,
							.device_ns = 13 * MS,
							.bytes = 8192,
							.sector = 123456,
							.fua = true});
	account_samples(fake, 812, "postgres", 89, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
}

/* Busy for a third of the time; a device says why it has no figures. */
static void play_gpus(struct fake_profile *fake)
{
	const struct profile_info *info = profile_info(fake->profile);
	const uint64_t length_ns = info->end_ns - info->start_ns;
	const struct gpu_device devices[] = {
		{.id = "0000:03:00.0",
		 .driver = "amdgpu",
		 .name = ACCOUNT_HOSTILE,
		 .busy_ns = length_ns / 3,
		 .busy_of_ns = length_ns,
		 .memory_kib = {3 * 1024ULL * 1024 * 10000, 10000},
		 .memory_peak = 4ULL << 30,
		 .memory_total = 8ULL << 30,
		 .energy_uj = 610 * 1000000ULL,
		 .energy_ns = 10 * SECOND,
		 .millicelsius = 64500,
		 .temperature_readings = 10,
		 .clock_mhz = {1900 * 10000, 10000},
		 .throttled_power_ms = 1200,
		 .throttle_of_ms = 10000},
		{.id = "nvidia", .driver = "nvidia", .reason = "NVML does not answer"},
	};
	struct gpu_process python = {
		.pid = 9120,
		.comm = "python3",
		.begin_ns = info->start_ns,
		.end_ns = info->start_ns + length_ns / 2,
		.busy_ns = length_ns / 4,
		.busy_of_ns = length_ns / 2,
		.memory_kib = {1024ULL * (length_ns / 2 / MS), length_ns / 2 / MS},
		.memory_peak = 2 << 20};

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		gpu_list_add_device(profile_gpus(fake->profile), &devices[i]);
	gpu_list_add_process(profile_gpus(fake->profile), &python);
}

void account_scenario_init(struct fake_profile *fake)
{
	account_begin(fake,
		      1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU |
			      1U << PKBPF_PROFILE_BLOCKIO | 1U << PKBPF_PROFILE_FAULTS,
		      19400 * MS, 600 * MS);
	account_cgroup(fake, CGROUP_UNIT,
		       "/system.slice/system-postgresql.slice/postgresql@15-main.service");
	account_cgroup(fake, CGROUP_DOCKER,
		       "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	account_cgroup(fake, CGROUP_ROOT, "/");
	profile_set_device_name(fake->profile, ACCOUNT_DEVICE, "vda");
	play_database(fake);
	account_process(fake, &(struct account_process){.pid = 9120,
							.comm = "python3",
							.cgroup_id = CGROUP_DOCKER,
							.run_ns = 6 * SECOND,
							.minor = 9000,
							.start_rss_bytes = 40 << 20,
							.rss_bytes = 71 << 20});
	account_on_cpu(fake, 9120, "python3", 6 * SECOND);
	account_waits(fake, 9120, "python3", PKBPF_WAIT_RUNQUEUE, 500, 8 * MS, 3, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_SPIN));
	account_samples(fake, 9120, "python3", 400, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_samples(fake, 9120, "python3", 194, FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
	account_faults(fake, 9120, "python3", 8500, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_faults(fake, 9120, "python3", 500, FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
	account_process(fake, &(struct account_process){.pid = 88,
							.comm = "nginx",
							.run_ns = 7 * SECOND,
							.system_permille = 700,
							.voluntary = 90000,
							.involuntary = 20000,
							.start_rss_bytes = 9 << 20,
							.rss_bytes = 9 << 20});
	account_on_cpu(fake, 88, "nginx", 7 * SECOND);
	account_waits(fake, 88, "nginx", PKBPF_WAIT_RUNQUEUE, 100, 22 * MS, 4, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_waits(fake, 88, "nginx", PKBPF_WAIT_SLEEP, 100, 8 * MS, 5, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_samples(fake, 88, "nginx", 693, FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
	account_process(fake, &(struct account_process){.pid = 77,
							.comm = ACCOUNT_HOSTILE,
							.run_ns = 10 * MS,
							.start_rss_bytes = 1 << 20,
							.rss_bytes = 1 << 20,
							.cgroup_id = CGROUP_ROOT});
	account_process(fake, &(struct account_process){.pid = 66,
							.comm = "idle",
							.rss_bytes = 1 << 20,
							.start_rss_bytes = 1 << 20});
	for (uint32_t i = 0; i < ACCOUNT_SHORT_LIVED; i++)
		account_short(fake, 20000 + i, "true", 9 * MS);
	account_end(fake);
	play_gpus(fake);
}
