// SPDX-License-Identifier: BSD-2-Clause
/* Tests the rules about GPUs, each with a twin that lacks what they need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "event/gpu_call_event.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define GIB    (1ULL << 30)
#define PID    5
#define KINDS  (1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU)
#define NAME   "train"

static struct fake_profile fake;
static uint64_t run_leaf = ACCOUNT_APPEND;

/* A program that computes for so long, as many samples in a call that waits for a GPU, and sleeps
 * there; the rest it waits for a disk. */
static void begin(uint64_t run_ns, uint64_t spin_ns, uint64_t sleep_ns, uint64_t disk_ns)
{
	account_begin(&fake, KINDS, 5 * SECOND, 15 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake, &(struct account_process){
				       .pid = PID, .comm = NAME, .run_ns = run_ns + spin_ns});
	account_on_cpu(&fake, PID, NAME, run_ns + spin_ns);
	account_samples(&fake, PID, NAME, run_ns / (10 * MS) * 99 / 100,
			FAKE_IPS(run_leaf, ACCOUNT_MAIN));
	account_samples(&fake, PID, NAME, spin_ns / (10 * MS) * 99 / 100,
			FAKE_IPS(ACCOUNT_GPU_WAIT, ACCOUNT_QUERY, ACCOUNT_MAIN));
	if (sleep_ns)
		account_waits(&fake, PID, NAME, PKBPF_WAIT_SLEEP, 100, sleep_ns / 100, 1,
			      FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(ACCOUNT_GPU_WAIT, ACCOUNT_MAIN));
	if (disk_ns)
		account_waits(&fake, PID, NAME, PKBPF_WAIT_DISK, 100, disk_ns / 100, 2,
			      FAKE_IPS(ACCOUNT_IO_SLEEP), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
}

static struct gpu_device device_of(const char *id, unsigned int busy_percent)
{
	struct gpu_device device = {.busy_ns = busy_percent * SECOND / 10,
				    .busy_of_ns = 10 * SECOND};

	snprintf(device.id, sizeof(device.id), "%s", id);
	snprintf(device.driver, sizeof(device.driver), "nvidia");
	return device;
}

static void add_device(struct gpu_device device)
{
	assert_true(gpu_list_add_device(profile_gpus(fake.profile), &device) >= 0);
}

static void add_user(uint32_t pid, uint64_t busy_ns, uint64_t memory)
{
	struct gpu_process process = {.pid = pid,
				      .busy_ns = busy_ns,
				      .busy_of_ns = 10 * SECOND,
				      .begin_ns = ACCOUNT_START_NS,
				      .end_ns = ACCOUNT_START_NS + 10 * SECOND,
				      .memory_kib = {memory >> 10, 1},
				      .memory_peak = memory};

	strcpy(process.comm, NAME);
	assert_int_equal(gpu_list_add_process(profile_gpus(fake.profile), &process), 0);
}

static void send_call(const char *function, struct pkbpf_event_gpu_call call)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);

	call.header.kind = PKBPF_EVENT_GPU_CALL;
	call.header.size = sizeof(call);
	call.header.time_ns = ACCOUNT_START_NS + SECOND;
	call.pid = PID;
	strcpy(call.function, function);
	strcpy(call.comm, NAME);
	assert_int_equal(gpu_call_event_check(&call.header), 0);
	sink.ops->on_other(sink.context, &call.header);
}

static struct findings end(void)
{
	account_end(&fake);
	return findings_of(&fake);
}

static void assert_says(const struct findings *findings, const char *rule, const char *words)
{
	const struct finding *finding = finding_of(findings, rule);

	if (!finding)
		fail_msg("no finding %s", rule);
	else if (!strstr(finding->text, words))
		fail_msg("'%s' is not in: %s", words, finding->text);
}

static void spinning_is_named_with_its_call(void **state)
{
	struct findings findings;

	begin(SECOND, 6 * SECOND, 0, 0);
	findings = end();
	assert_says(&findings, "gpu_spinning", "train 5: spins for its GPU: 60 % of one CPU");
	assert_says(&findings, "gpu_spinning", "cudaStreamSynchronize");
	/* What spins does not compute. */
	assert_null(finding_of(&findings, "cpu_bound"));
	begin(6 * SECOND, SECOND, 0, 0);
	findings = end();
	assert_null(finding_of(&findings, "gpu_spinning"));
	/* The share and the place are those of computing. */
	assert_says(&findings, "cpu_bound", "computes: 60 % of one CPU");
	assert_says(&findings, "cpu_bound", "list_append");
	(void)state;
}

/* Half of the CPU time in each: the place is not where it spins. */
static void computing_is_kept_apart_from_spinning(void **state)
{
	struct findings findings;

	begin(5 * SECOND, 6 * SECOND, 0, 0);
	findings = end();
	assert_says(&findings, "cpu_bound", "list_append");
	assert_null(strstr(finding_of(&findings, "cpu_bound")->text, "cudaStreamSynchronize"));
	(void)state;
}

/* Whatever a CPU does, others wait for it. */
static void spinning_uses_cpus_that_others_want(void **state)
{
	struct findings findings;

	account_begin(&fake, KINDS, 19500 * MS, 500 * MS);
	account_process(&fake,
			&(struct account_process){.pid = PID, .comm = NAME, .run_ns = 4 * SECOND});
	account_on_cpu(&fake, PID, NAME, 4 * SECOND);
	account_samples(&fake, PID, NAME, 297, FAKE_IPS(ACCOUNT_GPU_WAIT, ACCOUNT_MAIN));
	account_waits(&fake, PID, NAME, PKBPF_WAIT_RUNQUEUE, 100, 20 * MS, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	findings = end();
	assert_says(&findings, "cpu_starved", "most of it used by train 5 (100 %)");
	assert_says(&findings, "gpu_spinning", "30 % of one CPU");
	assert_null(finding_of(&findings, "cpu_bound"));
	(void)state;
}

/* Samples of spinning are a part of all: so is their time. */
static void a_part_of_the_samples_is_as_much_of_all_cpu_time(void **state)
{
	struct findings findings;

	account_begin(&fake, KINDS | 1U << PKBPF_PROFILE_FAULTS, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = PID,
							 .comm = NAME,
							 .run_ns = 9 * SECOND,
							 .minor = 900000,
							 .start_rss_bytes = 64 << 20,
							 .rss_bytes = 64 << 20});
	account_kernel_samples(&fake, PID, NAME, 360, FAKE_IPS(ACCOUNT_FAULT),
			       FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_samples(&fake, PID, NAME, 540, FAKE_IPS(ACCOUNT_GPU_WAIT, ACCOUNT_MAIN));
	findings = end();
	assert_non_null(finding_of(&findings, "fault_storm"));
	assert_in_range((int)(finding_of(&findings, "fault_storm")->cost + 0.5), 35, 37);
	(void)state;
}

/* Threads that wake each other for moments of work, beside so much spinning. */
static struct findings handing_over(uint64_t spin_ns)
{
	begin(25 * SECOND / 10, spin_ns, 0, 0);
	account_waits(&fake, PID, NAME, PKBPF_WAIT_SLEEP, 300000, 20000, 3, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	return end();
}

static void switches_cost_a_part_of_all_cpu_time(void **state)
{
	struct findings findings = handing_over(0);

	assert_says(&findings, "handover", "8.3 us on CPU in between");
	findings = handing_over(6 * SECOND);
	assert_null(finding_of(&findings, "handover"));
	(void)state;
}

static void copies_do_not_spin(void **state)
{
	struct findings findings;

	run_leaf = ACCOUNT_GPU_COPY;
	begin(6 * SECOND, 0, 0, 0);
	findings = end();
	run_leaf = ACCOUNT_APPEND;
	assert_null(finding_of(&findings, "gpu_spinning"));
	assert_says(&findings, "cpu_bound", "cudaMemcpy");
	(void)state;
}

static void an_idle_gpu_is_explained_by_its_process(void **state)
{
	struct findings findings;

	begin(SECOND, 0, SECOND, 7 * SECOND);
	add_device(device_of("0000:3b:00.0", 31));
	add_user(PID, 3 * SECOND, GIB);
	findings = end();
	assert_says(&findings, "gpu_idle",
		    "train 5: leaves GPU 0000:3b:00.0 idle for 69 % of the time");
	assert_says(&findings, "gpu_idle",
		    "meanwhile it waits for block I/O: 7.00 s of all its threads");
	assert_says(&findings, "gpu_idle", "exec_query");
	/* The GPU is what it waits for. */
	begin(SECOND, 0, 8 * SECOND, 0);
	add_device(device_of("0000:3b:00.0", 31));
	add_user(PID, 3 * SECOND, GIB);
	findings = end();
	assert_null(finding_of(&findings, "gpu_idle"));
	/* A server without requests: nothing keeps it from giving work. */
	begin(SECOND, 0, SECOND, 0);
	account_waits(&fake, PID, NAME, PKBPF_WAIT_SLEEP, 100, 7 * SECOND / 100, 3,
		      FAKE_IPS(ACCOUNT_EPOLL), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	add_device(device_of("0000:3b:00.0", 31));
	add_user(PID, 3 * SECOND, GIB);
	findings = end();
	assert_null(finding_of(&findings, "gpu_idle"));
	/* Another one uses it, too. */
	begin(SECOND, 0, SECOND, 7 * SECOND);
	add_device(device_of("0000:3b:00.0", 31));
	add_user(PID, 3 * SECOND, GIB);
	add_user(PID + 1, 3 * SECOND, GIB);
	findings = end();
	assert_null(finding_of(&findings, "gpu_idle"));
	(void)state;
}

/* Locks of the driver's library below a call that waits for a GPU are that wait. */
static void a_lock_below_a_gpu_wait_is_none(void **state)
{
	struct findings findings;

	for (int below = 0; below < 2; below++) {
		begin(SECOND, 0, SECOND, 0);
		account_waits(&fake, PID, NAME, PKBPF_WAIT_SLEEP, 100, 7 * SECOND / 100, 3,
			      FAKE_IPS(ACCOUNT_FUTEX),
			      below ? FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_GPU_WAIT, ACCOUNT_MAIN)
				    : FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_QUERY, ACCOUNT_MAIN));
		findings = end();
		if (below)
			assert_null(finding_of(&findings, "lock_bound"));
		else
			assert_non_null(finding_of(&findings, "lock_bound"));
	}
	(void)state;
}

static void full_memory_names_who_has_it(void **state)
{
	struct gpu_device device = device_of("0000:3b:00.0", 90);
	struct findings findings;

	device.memory_total = 16 * GIB;
	device.memory_peak = 16 * GIB - GIB / 4;
	begin(SECOND, 0, 0, 0);
	add_device(device);
	add_user(PID, SECOND, 15 * GIB);
	findings = end();
	assert_says(&findings, "gpu_memory_low",
		    "GPU 0000:3b:00.0: has little memory left: 15.8 GiB of 16.0 GiB in use");
	assert_says(&findings, "gpu_memory_low", "most of it by train 5 (15.0 GiB)");
	device.memory_peak = 15 * GIB;
	begin(SECOND, 0, 0, 0);
	add_device(device);
	findings = end();
	assert_null(finding_of(&findings, "gpu_memory_low"));
	(void)state;
}

static void throttling_by_heat_is_an_alarm(void **state)
{
	struct gpu_device device = device_of("0000:3b:00.0", 90);
	struct findings findings;

	device.throttle_of_ms = 10000;
	device.throttled_heat_ms = 3000;
	device.temperature_readings = 1;
	device.millicelsius = 90000;
	begin(SECOND, 0, 0, 0);
	add_device(device);
	findings = end();
	assert_says(&findings, "gpu_throttled",
		    "is throttled by heat 30 % of the time; at most 90 C");
	assert_true(finding_of(&findings, "gpu_throttled")->is_alarm);
	device.throttled_heat_ms = 0;
	device.throttled_power_ms = 6000;
	begin(SECOND, 0, 0, 0);
	add_device(device);
	findings = end();
	assert_says(&findings, "gpu_throttled", "is throttled by its power limit 60 % of the time");
	assert_false(finding_of(&findings, "gpu_throttled")->is_alarm);
	device.throttled_power_ms = 1000;
	begin(SECOND, 0, 0, 0);
	add_device(device);
	findings = end();
	assert_null(finding_of(&findings, "gpu_throttled"));
	(void)state;
}

static struct gpu_device like(const char *id, unsigned int busy_percent, const char *name,
			      uint64_t memory)
{
	struct gpu_device device = device_of(id, busy_percent);

	snprintf(device.name, sizeof(device.name), "%s", name);
	device.memory_total = memory;
	return device;
}

static struct findings beside(struct gpu_device one, struct gpu_device other)
{
	begin(SECOND, 0, 0, 0);
	add_device(one);
	add_device(other);
	return end();
}

static void a_gpu_without_work_beside_a_busy_one(void **state)
{
	struct findings findings =
		beside(like("0000:3b:00.0", 90, "A100", GIB), like("0000:af:00.0", 4, "A100", GIB));

	assert_says(&findings, "gpu_unused",
		    "GPU 0000:3b:00.0: is 90 % busy while 1 like it is less than 5 % busy");
	findings = beside(like("0000:3b:00.0", 90, "A100", GIB),
			  like("0000:af:00.0", 60, "A100", GIB));
	assert_null(finding_of(&findings, "gpu_unused"));
	/* Nothing shows that they are equal: one in the processor beside a card has no name. */
	findings = beside(like("0000:3b:00.0", 90, "", GIB), like("0000:af:00.0", 0, "", GIB));
	assert_null(finding_of(&findings, "gpu_unused"));
	findings = beside(like("0000:3b:00.0", 90, "A100", GIB),
			  like("0000:af:00.0", 0, "A100", 2 * GIB));
	assert_null(finding_of(&findings, "gpu_unused"));
	findings = beside(like("0000:3b:00.0", 90, "A100", 0), like("0000:af:00.0", 0, "A100", 0));
	assert_null(finding_of(&findings, "gpu_unused"));
	(void)state;
}

/* Each of the same length but for the slowest. */
static void send_slowest(const char *function, uint64_t count, uint64_t each_bytes,
			 uint64_t each_ns, uint64_t max_ns)
{
	send_call(function, (struct pkbpf_event_gpu_call){.group = PKBPF_GPU_COPY,
							  .what = PKBPF_GPU_SUM,
							  .detail = PKBPF_GPU_HOST_TO_DEVICE,
							  .count = count,
							  .bytes = count * each_bytes,
							  .ns = (count - 1) * each_ns + max_ns,
							  .max_ns = max_ns});
}

static void send_alive(const char *function, uint64_t bytes)
{
	send_call(function, (struct pkbpf_event_gpu_call){.group = PKBPF_GPU_ALLOC,
							  .what = PKBPF_GPU_STACK,
							  .count = 1,
							  .samples = 1,
							  .bytes = bytes});
}

static struct findings full(const char *function, unsigned int devices)
{
	struct gpu_device device = device_of("0000:3b:00.0", 90);

	device.memory_total = 16 * GIB;
	device.memory_peak = 16 * GIB - GIB / 4;
	begin(SECOND, 0, 0, 0);
	add_device(device);
	add_user(PID, SECOND, 15 * GIB);
	for (unsigned int i = 1; i < devices; i++) {
		struct gpu_process process = {.pid = PID, .device = i, .busy_of_ns = 1};

		add_device(device_of("0000:af:00.0", 0));
		assert_int_equal(gpu_list_add_process(profile_gpus(fake.profile), &process), 0);
	}
	send_alive(function, 9 * GIB);
	return end();
}

static void memory_of_its_only_device_has_its_place(void **state)
{
	struct findings findings = full("cudaMalloc", 1);

	assert_says(&findings, "gpu_memory_low", "9.00 GiB alive are allocated there");
	/* Memory of the host, or of which device is not known. */
	findings = full("cudaMallocHost", 1);
	assert_non_null(finding_of(&findings, "gpu_memory_low"));
	assert_null(strstr(finding_of(&findings, "gpu_memory_low")->text, "alive"));
	findings = full("cudaMalloc", 2);
	assert_non_null(finding_of(&findings, "gpu_memory_low"));
	assert_null(strstr(finding_of(&findings, "gpu_memory_low")->text, "alive"));
	(void)state;
}

static void send_copies(const char *function, uint64_t count, uint64_t each_bytes, uint64_t each_ns)
{
	send_call(function, (struct pkbpf_event_gpu_call){.group = PKBPF_GPU_COPY,
							  .what = PKBPF_GPU_SUM,
							  .detail = PKBPF_GPU_HOST_TO_DEVICE,
							  .count = count,
							  .bytes = count * each_bytes,
							  .ns = count * each_ns});
}

static void many_small_copies_are_found(void **state)
{
	struct findings findings;

	begin(SECOND, 0, 0, 0);
	send_copies("cudaMemcpy", 50000, 256, 20000);
	findings = end();
	assert_says(&findings, "gpu_small_copies",
		    "train 5: copies little at a time to or from its GPU: 256 B on average");
	assert_says(&findings, "gpu_small_copies", "took 1.00 s");
	begin(SECOND, 0, 0, 0);
	send_copies("cudaMemcpy", 50000, 1 << 20, 20000);
	findings = end();
	assert_null(finding_of(&findings, "gpu_small_copies"));
	assert_null(finding_of(&findings, "gpu_copies_block"));
	(void)state;
}

static void asynchronous_copies_that_block_are_found(void **state)
{
	struct findings findings;

	begin(SECOND, 0, 0, 0);
	send_copies("cudaMemcpyAsync", 1000, 4 << 20, 2 * MS);
	findings = end();
	assert_says(&findings, "gpu_copies_block",
		    "train 5: is blocked by asynchronous copies: 2.00 ms each");
	/* That these wait is what they are for. */
	begin(SECOND, 0, 0, 0);
	send_copies("cudaMemcpy", 1000, 4 << 20, 2 * MS);
	send_copies("cudaMemcpyAsync", 100000, 4 << 20, 10000);
	findings = end();
	assert_null(finding_of(&findings, "gpu_copies_block"));
	(void)state;
}

/* The first call makes the context. */
static void the_slowest_copy_proves_nothing(void **state)
{
	struct findings findings;

	begin(SECOND, 0, 0, 0);
	send_slowest("cudaMemcpyAsync", 1000, 4 << 20, 10000, 2 * SECOND);
	findings = end();
	assert_null(finding_of(&findings, "gpu_copies_block"));
	begin(SECOND, 0, 0, 0);
	send_slowest("cudaMemcpy", 20000, 256, 10000, SECOND);
	findings = end();
	assert_null(finding_of(&findings, "gpu_small_copies"));
	begin(SECOND, 0, 0, 0);
	send_slowest("cudaMemcpyAsync", 1000, 4 << 20, 2 * MS, 2 * SECOND);
	findings = end();
	assert_says(&findings, "gpu_copies_block", "2.00 ms each");
	(void)state;
}

static struct findings launch(uint64_t leaf, uint64_t count, uint64_t gpu_ns, uint64_t sleep_ns)
{
	run_leaf = leaf;
	begin(8 * SECOND, 0, sleep_ns, 0);
	run_leaf = ACCOUNT_APPEND;
	add_device(device_of("0000:3b:00.0", 30));
	add_user(PID, gpu_ns, GIB);
	send_call("cudaLaunchKernel", (struct pkbpf_event_gpu_call){.group = PKBPF_GPU_LAUNCH,
								    .what = PKBPF_GPU_SUM,
								    .count = count,
								    .unmeasured = count,
								    .detail = 7});
	return end();
}

static void short_kernels_are_found(void **state)
{
	struct findings findings = launch(ACCOUNT_GPU_LAUNCH, 400000, 3 * SECOND, 0);

	assert_says(&findings, "gpu_launch_bound",
		    "train 5: cannot launch fast enough for its GPU");
	assert_says(&findings, "gpu_launch_bound", "launches take 80 % of one CPU: 20.0 us");
	assert_says(&findings, "gpu_launch_bound", "and 7.50 us of GPU time");
	/* Few launches, and long ones. */
	findings = launch(ACCOUNT_GPU_LAUNCH, 4000, 3 * SECOND, 0);
	assert_null(finding_of(&findings, "gpu_launch_bound"));
	findings = launch(ACCOUNT_GPU_LAUNCH, 400000, 9 * SECOND, 0);
	assert_null(finding_of(&findings, "gpu_launch_bound"));
	/* It computes something else, or another thread waits for the GPU. */
	findings = launch(ACCOUNT_APPEND, 400000, 3 * SECOND, 0);
	assert_null(finding_of(&findings, "gpu_launch_bound"));
	findings = launch(ACCOUNT_GPU_LAUNCH, 400000, 3 * SECOND, 3 * SECOND);
	assert_null(finding_of(&findings, "gpu_launch_bound"));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spinning_is_named_with_its_call),
		cmocka_unit_test(computing_is_kept_apart_from_spinning),
		cmocka_unit_test(spinning_uses_cpus_that_others_want),
		cmocka_unit_test(a_part_of_the_samples_is_as_much_of_all_cpu_time),
		cmocka_unit_test(switches_cost_a_part_of_all_cpu_time),
		cmocka_unit_test(copies_do_not_spin),
		cmocka_unit_test(a_lock_below_a_gpu_wait_is_none),
		cmocka_unit_test(memory_of_its_only_device_has_its_place),
		cmocka_unit_test(the_slowest_copy_proves_nothing),
		cmocka_unit_test(an_idle_gpu_is_explained_by_its_process),
		cmocka_unit_test(full_memory_names_who_has_it),
		cmocka_unit_test(throttling_by_heat_is_an_alarm),
		cmocka_unit_test(a_gpu_without_work_beside_a_busy_one),
		cmocka_unit_test(many_small_copies_are_found),
		cmocka_unit_test(asynchronous_copies_that_block_are_found),
		cmocka_unit_test(short_kernels_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
