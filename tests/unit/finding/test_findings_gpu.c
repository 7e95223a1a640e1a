// SPDX-License-Identifier: BSD-2-Clause
/* Tests the rules about GPUs, each with a twin that lacks what they need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu_finding_fixture.h"

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
		cmocka_unit_test(an_idle_gpu_is_explained_by_its_process),
		cmocka_unit_test(full_memory_names_who_has_it),
		cmocka_unit_test(throttling_by_heat_is_an_alarm),
		cmocka_unit_test(a_gpu_without_work_beside_a_busy_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
