// SPDX-License-Identifier: BSD-2-Clause
/* Tests how records of GPU calls become rows, and what the reports say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/gpu_call_event.h"
#include "fake_profile.h"
#include "profile/slice/slice.h"
#include "rows/gpu_calls.h"

#define MS     1000000ULL
#define PID    7
#define KERNEL 0x401500
#define CALLER 0x402100

static struct fake_profile fake;
static struct fake_machine *machine;

static const struct fake_symbol symbols[] = {
	FAKE_FUNCTION("/bin/train", 0x1000, 0x2000, "__device_stub__Z5scalePfi"),
	FAKE_FUNCTION("/bin/train", 0x2000, 0x3000, "train_step"),
};

static void send_stack(uint64_t id, uint64_t address)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);
	const struct stack_view stack = {.stack_id = id,
					 .pid = PID,
					 .user_end = PKBPF_END_UNVERIFIED,
					 .user_ips = &address,
					 .user_count = 1};

	sink.ops->on_stack(sink.context, &stack);
}

static void send(struct pkbpf_event_gpu_call call, const char *function)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);

	call.header.kind = PKBPF_EVENT_GPU_CALL;
	call.header.size = sizeof(call);
	call.pid = PID;
	strcpy(call.function, function);
	memcpy(call.comm, "train", 6);
	assert_int_equal(gpu_call_event_check(&call.header), 0);
	sink.ops->on_other(sink.context, &call.header);
}

static struct pkbpf_event_gpu_call call_of(uint32_t group, uint32_t what, uint64_t count)
{
	return (struct pkbpf_event_gpu_call){.group = group, .what = what, .count = count};
}

/* Of `scale`: three streams, of which the default one has two names; and how long it ran. */
static void send_streams(void)
{
	static const uint64_t streams[] = {PKBPF_GPU_STREAM_NONE, 0x1000, 0x2000, 0x2000};
	struct pkbpf_event_gpu_call call = call_of(PKBPF_GPU_LAUNCH, PKBPF_GPU_STREAM, 48);

	call.kernel_id = 1;
	call.samples = 3;
	for (size_t i = 0; i < 4; i++) {
		call.stream = streams[i];
		send(call, "cudaLaunchKernel");
	}
	/* Another kernel has one of them, too. */
	call.kernel_id = 3;
	strcpy(call.kernel, "_ZN4math3addEPfS0_");
	send(call, "cudaLaunchKernel");
	call = call_of(PKBPF_GPU_LAUNCH, PKBPF_GPU_SUM, 0);
	call.kernel_id = 1;
	call.runs = 10;
	call.run_ns = 45000;
	call.run_max_ns = 9000;
	send(call, "cudaLaunchKernel");
	call.run_max_ns = 3000;
	send(call, "cudaLaunchKernel");
}

static void send_launches(void)
{
	struct pkbpf_event_gpu_call call = call_of(PKBPF_GPU_LAUNCH, PKBPF_GPU_SUM, 100);

	call.unmeasured = 100;
	call.blocks = 800;
	call.kernel_id = 1;
	send(call, "cudaLaunchKernel");
	send(call, "cudaLaunchKernel");
	call.kernel_id = 3; /* a stack that never came */
	strcpy(call.kernel, "_ZN4math3addEPfS0_");
	call.count = call.unmeasured = 10;
	send(call, "cudaLaunchKernel");
	call = call_of(PKBPF_GPU_LAUNCH, PKBPF_GPU_SUM, 5);
	call.detail = 0xabc;
	send(call, "cuLaunchKernel");
	call.detail = PKBPF_GPU_OTHERS;
	call.count = 4;
	send(call, "cuLaunchKernel");
	call = call_of(PKBPF_GPU_LAUNCH, PKBPF_GPU_STACK, 192);
	call.unmeasured = 192;
	call.kernel_id = 1;
	call.stack_id = 2;
	call.samples = 12;
	send(call, "cudaLaunchKernel");
	send_streams();
}

static void send_others(void)
{
	struct pkbpf_event_gpu_call call = call_of(PKBPF_GPU_COPY, PKBPF_GPU_SUM, 2);

	call.detail = PKBPF_GPU_HOST_TO_DEVICE;
	call.bytes = 3 << 20;
	call.ns = 10 * MS;
	call.max_ns = 7 * MS;
	send(call, "cudaMemcpy");
	call = call_of(PKBPF_GPU_COPY, PKBPF_GPU_ERROR, 1);
	call.detail = 21;
	send(call, "cudaMemcpy");
	call = call_of(PKBPF_GPU_WAIT, PKBPF_GPU_SUM, 3);
	call.ns = 60 * MS;
	call.max_ns = 30 * MS;
	send(call, "cudaDeviceSynchronize");
	call = call_of(PKBPF_GPU_ALLOC, PKBPF_GPU_SUM, 2);
	call.bytes = 4096;
	call.freed = 1;
	call.freed_bytes = 1024;
	send(call, "cudaMalloc");
}

static int setup(void **state)
{
	machine = fake_machine_new();
	fake_process(machine, PID, 1, "train");
	fake_map(machine, PID, 0x400000, 0x410000, 0, "/bin/train");
	fake_profile_init(&fake, NULL);
	fake_profile_run(&fake, machine, symbols, 2);
	send_stack(1, KERNEL);
	send_stack(2, CALLER);
	send_launches();
	send_others();
	profile_symbolize(fake.profile, fake.symbolizer);
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(&fake);
	fake_machine_free(machine);
	return 0;
}

static const struct gpu_call *launch_at(const struct gpu_calls *calls, size_t index)
{
	return calls->sums[calls->other_count + index];
}

static void launches_come_last_with_their_kernels(void **state)
{
	char text[GPU_CALL_TEXT_SIZE];
	struct gpu_calls calls;

	assert_int_equal(gpu_calls_make(&calls, fake.profile), 0);
	assert_int_equal(calls.sum_count, 7);
	assert_int_equal(calls.other_count, 3);
	assert_int_equal(launch_at(&calls, 0)->count, 200);
	assert_int_equal(launch_at(&calls, 0)->blocks, 1600);
	assert_string_equal(gpu_call_kernel(text, fake.profile, launch_at(&calls, 0)), "scale");
	assert_string_equal(gpu_call_kernel(text, fake.profile, launch_at(&calls, 1)), "math::add");
	assert_string_equal(gpu_call_kernel(text, fake.profile, launch_at(&calls, 2)),
			    "[kernel 0xabc]");
	assert_string_equal(gpu_call_kernel(text, fake.profile, launch_at(&calls, 3)),
			    "[other kernels]");
	assert_int_equal(calls.groups[PKBPF_GPU_LAUNCH].count, 219);
	assert_int_equal(calls.stack_count, 1);
	assert_int_equal(calls.samples, 12);
	assert_int_equal(calls.stacks_stand_for, 192);
	gpu_calls_done(&calls);
	(void)state;
}

static void launches_have_streams_and_time_on_the_device(void **state)
{
	struct gpu_streams streams;
	struct gpu_calls calls;

	assert_int_equal(gpu_calls_make(&calls, fake.profile), 0);
	streams = gpu_calls_streams(&calls, launch_at(&calls, 0));
	assert_int_equal(streams.count, 3);
	assert_int_equal(streams.samples, 12);
	assert_int_equal(streams.launches, 192);
	assert_int_equal(streams.default_stream, 48);
	assert_int_equal(gpu_calls_streams(&calls, launch_at(&calls, 1)).count, 1);
	assert_int_equal(gpu_calls_streams(&calls, launch_at(&calls, 2)).count, 0);
	/* Of all kernels: streams of one process are the same ones. */
	streams = gpu_calls_streams(&calls, NULL);
	assert_int_equal(streams.count, 3);
	assert_int_equal(streams.launches, 240);
	assert_int_equal(launch_at(&calls, 0)->runs, 20);
	assert_int_equal(launch_at(&calls, 0)->run_ns, 90000);
	assert_int_equal(launch_at(&calls, 0)->run_max_ns, 9000);
	assert_int_equal(calls.groups[PKBPF_GPU_LAUNCH].runs, 20);
	gpu_calls_done(&calls);
	(void)state;
}

static void others_are_in_the_order_of_time(void **state)
{
	char text[GPU_CALL_TEXT_SIZE];
	struct gpu_calls calls;

	assert_int_equal(gpu_calls_make(&calls, fake.profile), 0);
	assert_string_equal(gpu_group_name(calls.sums[0]->group), "wait");
	assert_string_equal(gpu_group_name(calls.sums[1]->group), "copy");
	assert_string_equal(gpu_call_way(calls.sums[1]), "host to device");
	assert_string_equal(gpu_call_kernel(text, fake.profile, calls.sums[1]), "");
	assert_string_equal(gpu_call_way(calls.sums[0]), "");
	assert_int_equal(gpu_call_live_bytes(calls.sums[2]), 3072);
	assert_int_equal(calls.error_count, 1);
	assert_int_equal(calls.errors[0]->detail, 21);
	assert_int_equal(calls.groups[PKBPF_GPU_COPY].errors, 1);
	assert_int_equal(calls.groups[PKBPF_GPU_WAIT].ns, 60 * MS);
	assert_string_equal(gpu_group_name(PKBPF_GPU_GROUPS), "call");
	gpu_calls_done(&calls);
	(void)state;
}

static void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in:\n%s", words, text);
}

static void reports_name_them(void **state)
{
	char *text = fake_profile_write(&fake, "text", NULL),
	     *json = fake_profile_write(&fake, "json", NULL),
	     *csv = fake_profile_write(&fake, "csv-gpu-calls", NULL),
	     *markdown = fake_profile_write(&fake, "markdown", NULL);

	assert_says(text, "\nGPU calls\n 219 launches, 2 copies of 3.00 MiB, 3 waits for 60.0 ms, "
			  "2 allocations of");
	assert_says(text, " failed: cudaMemcpy with code 21 (1 time)\n");
	assert_says(text, " launch about 192 calls: train_step\n");
	assert_says(text, "time and errors of launches are not measured");
	assert_says(text, "stacks of 12 calls were read");
	assert_says(json, "\"kernel\": \"math::add\"");
	assert_says(json, "\"direction\": \"host to device\"");
	assert_says(json, "\"live_bytes\": 3072");
	assert_says(json, "\"code\": 21");
	assert_says(json, "\"gpu_ns\": 90000");
	assert_says(json, "\"on_default\": 48");
	assert_says(text, "launches went to 3");
	assert_says(text, "GPU time is that of 20 kernels");
	assert_says(csv,
		    "7,train,launch,cudaLaunchKernel,scale,,200,200,0,0,0,0,0,1600,0,3,192,48,20,"
		    "90000,9000\r\n");
	assert_says(csv,
		    "7,train,copy,cudaMemcpy,,host to device,2,0,10000000,7000000,3145728,0,0,0,1,"
		    "0,0,0,0,0,0\r\n");
	assert_says(markdown, "| process | GPU call | of | calls | time | bytes |\n");
	assert_says(markdown, "| `train` | `cudaLaunchKernel` | `scale` | 200 | - |  |\n");
	assert_says(markdown,
		    "| `train` | `cudaMemcpy` | host to device | 2 | 10.0 ms | 3.00 MiB |\n");
	free(text);
	free(json);
	free(csv);
	free(markdown);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(launches_come_last_with_their_kernels, setup,
						teardown),
		cmocka_unit_test_setup_teardown(others_are_in_the_order_of_time, setup, teardown),
		cmocka_unit_test_setup_teardown(reports_name_them, setup, teardown),
		cmocka_unit_test_setup_teardown(launches_have_streams_and_time_on_the_device, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
