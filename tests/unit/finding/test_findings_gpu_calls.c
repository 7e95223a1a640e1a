// SPDX-License-Identifier: BSD-2-Clause
/* Tests the rules about calls of GPU libraries, each with a twin that lacks what they need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu_finding_fixture.h"

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
		cmocka_unit_test(memory_of_its_only_device_has_its_place),
		cmocka_unit_test(the_slowest_copy_proves_nothing),
		cmocka_unit_test(many_small_copies_are_found),
		cmocka_unit_test(asynchronous_copies_that_block_are_found),
		cmocka_unit_test(short_kernels_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
