// SPDX-License-Identifier: BSD-2-Clause
/* Tests the section of GPU calls: what it says without launches, without stacks, and when there
 * are more rows than lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/gpu_call_event.h"
#include "fake_profile.h"

#define MS 1000000ULL

static struct fake_profile fake;

static int setup(void **state)
{
	fake_profile_init(&fake, NULL);
	process_table_get(fake.processes, 7, "train");
	fake_profile_name(&fake, NULL, 0);
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(&fake);
	return 0;
}

static void send(uint32_t group, uint32_t what, const char *function, uint64_t detail,
		 uint64_t count, uint64_t ns)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);
	struct pkbpf_event_gpu_call call = {.group = group,
					    .what = what,
					    .detail = detail,
					    .pid = 7,
					    .count = count,
					    .ns = ns,
					    .max_ns = ns / 2,
					    .comm = "train"};

	call.header.kind = PKBPF_EVENT_GPU_CALL;
	call.header.size = sizeof(call);
	strcpy(call.function, function);
	sink.ops->on_other(sink.context, &call.header);
}

static void assert_has(const char *text, const char *words, bool expected)
{
	if ((strstr(text, words) != NULL) != expected)
		fail_msg("'%s' is %sin:\n%s", words, expected ? "not " : "", text);
}

static void nothing_without_calls(void **state)
{
	char *text = fake_profile_write(&fake, "text", NULL);

	assert_has(text, "GPU calls", false);
	free(text);
	(void)state;
}

static void waits_alone_say_nothing_of_launches(void **state)
{
	char *text;

	send(PKBPF_GPU_WAIT, PKBPF_GPU_SUM, "cuCtxSynchronize", 0, 4, 80 * MS);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text, "\nGPU calls\n 4 waits for 80.0 ms\n", true);
	assert_has(text, "20.0 ms 40.0 ms", true);
	assert_has(text, "time and errors of launches", false);
	assert_has(text, "failed:", false);
	assert_has(text, "stacks of 0 calls were read, for 0", true);
	free(text);
	(void)state;
}

/* As of functions that end in another one. */
static void calls_without_an_end_have_counts_alone(void **state)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);
	struct pkbpf_event_gpu_call call = {
		.header = {.kind = PKBPF_EVENT_GPU_CALL, .size = sizeof(call)},
		.group = PKBPF_GPU_ALLOC,
		.what = PKBPF_GPU_SUM,
		.pid = 7,
		.count = 5,
		.unmeasured = 5,
		.bytes = 5 << 20,
		.function = "hipMalloc"};
	char *text;

	sink.ops->on_other(sink.context, &call.header);
	call.group = PKBPF_GPU_WAIT;
	call.bytes = 0;
	strcpy(call.function, "hipDeviceSynchronize");
	sink.ops->on_other(sink.context, &call.header);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text, " 5 waits, 5 allocations of 5.00 MiB\n", true);
	assert_has(text, "5.00 MiB    .", true); /* live */
	free(text);
	(void)state;
}

static void names_of_hostile_recordings_are_escaped(void **state)
{
	char *text;

	send(PKBPF_GPU_ALLOC, PKBPF_GPU_SUM, "a\033]0;b", 0, 5, MS);
	send(PKBPF_GPU_ALLOC, PKBPF_GPU_ERROR, "a\033]0;b", 1, 1, 0);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text, "with code 1", true);
	assert_has(text, "\033", false);
	free(text);
	(void)state;
}

static void errors_are_told_by_function_and_code(void **state)
{
	char *text;

	send(PKBPF_GPU_ALLOC, PKBPF_GPU_SUM, "cudaMalloc", 0, 5, MS);
	for (uint64_t code = 1; code <= 10; code++)
		send(PKBPF_GPU_ALLOC, PKBPF_GPU_ERROR, "cudaMalloc", code, code, 0);
	text = fake_profile_write(&fake, "text", NULL);
	/* Most first. */
	assert_has(text, " failed: cudaMalloc with code 10 (10 times), cudaMalloc with code 9",
		   true);
	assert_has(text, "code 1 (", false);
	assert_has(text, "and 2 more", true);
	free(text);
	(void)state;
}

static void launches_have_their_lines_beside_many_others(void **state)
{
	char *text, name[PKBPF_GPU_FUNCTION_BYTES];

	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "cudaCall%d", i);
		send(PKBPF_GPU_GRAPH, PKBPF_GPU_SUM, name, 0, 1, (uint64_t)(i + 1) * MS);
	}
	send(PKBPF_GPU_LAUNCH, PKBPF_GPU_SUM, "cuLaunchKernel", 0xabc, 9, 0);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text, "[kernel 0xabc]", true);
	assert_has(text, "cudaCall59 ", true);
	assert_has(text, "cudaCall0 ", false);
	assert_has(text, "more calls and kernels", true);
	free(text);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_without_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_alone_say_nothing_of_launches, setup,
						teardown),
		cmocka_unit_test_setup_teardown(calls_without_an_end_have_counts_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(names_of_hostile_recordings_are_escaped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(errors_are_told_by_function_and_code, setup,
						teardown),
		cmocka_unit_test_setup_teardown(launches_have_their_lines_beside_many_others, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
