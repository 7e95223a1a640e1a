// SPDX-License-Identifier: BSD-2-Clause
/* Tests how calls of GPU libraries are compared: which values a profile has, and what documents and
 * conditions say of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/baseline.h"
#include "diff/diff_condition.h"
#include "diff/diff_format.h"
#include "diff/measure_gpu.h"
#include "fake_profile.h"
#include "profile/profile.h"
#include "side_fixture.h"

#define PID    7
#define CALLEE 0x401500
#define CALLER 0x402100
#define MIB    1048576.0

static struct sides sides;
static char *text;

static const struct fake_symbol symbols[] = {
	FAKE_FUNCTION("/bin/train", 0x1000, 0x2000, "cudaMalloc"),
	FAKE_FUNCTION("/bin/train", 0x2000, 0x3000, "keep_memory"),
};

/* Ten slices of a second; the new side launches `scale` twice as often, and copies as much. */
static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 0);
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < 10; i++) {
			const struct gpu_figures calls[] = {
				{"launch", "cudaLaunchKernel", "scale", "",
				 .calls = (side + 1) * 1000 + i, .blocks = (side + 1) * 8000 + i},
				{"launch", "cuLaunchKernel", "[kernel 0x7f00]", "",
				 .calls = 5 + side},
				{"launch", "cuLaunchKernel",
				 side ? "cut... [0x7f01]" : "cut... [0x5502]", "", .calls = 9},
				{"copy", "cudaMemcpy", "", "host to device", .calls = 3,
				 .bytes = 3 * MIB + i},
				{"wait", "cudaDeviceSynchronize", "", "", .calls = 2,
				 .time_ns = (3 - side) * 100 * MS + i * 1000},
				{"free", "cudaFree", "", "", .calls = 2},
			};

			sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND, 0);
			for (size_t j = 0; j < ARRAY_SIZE(calls); j++)
				assert_true(measure_gpu_call(&sides.items[side], &calls[j]));
		}
	}
	assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_SECOND}), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	free(text);
	text = NULL;
	return 0;
}

static void write_as(const char *format)
{
	struct diff_document document = {.comparison = &sides.comparison,
					 .titles = {"old.pkbpf", "new.pkbpf"}};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(diff_format_by_name(format)->write(&document, out), 0);
	fclose(out);
}

static void assert_has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static const struct diff_row *row_of(enum diff_level level, const char *name)
{
	return sides_row(&sides, PKBPF_PROFILE_CALLS, level, name);
}

static void kernels_and_waits_are_compared(void **state)
{
	const struct diff_row *launches = row_of(DIFF_GPU_LAUNCHES, "scale"),
			      *wait = row_of(DIFF_GPU_WAIT, "cudaDeviceSynchronize"),
			      *copied = row_of(DIFF_GPU_COPIED, "host to device");

	assert_int_equal(launches->verdict, DIFF_GREW);
	assert_true(launches->ratio > 0.95 && launches->ratio < 1.05);
	assert_int_equal(row_of(DIFF_GPU_BLOCKS, "scale")->verdict, DIFF_GREW);
	assert_int_equal(wait->verdict, DIFF_SHRANK);
	assert_int_equal(copied->verdict, DIFF_SAME);
	/* A handle is another one in each run. */
	assert_true(row_of(DIFF_GPU_LAUNCHES, "[kernels without a name]")->sides[0].value > 4);
	/* Handles differ between runs. */
	assert_int_equal(row_of(DIFF_GPU_LAUNCHES, "cut...")->verdict, DIFF_SAME);
	/* No library reported how long kernels took. */
	assert_false(sides.items[DIFF_BASE].has_level[DIFF_GPU_KERNEL_TIME]);
	(void)state;
}

static void a_baseline_keeps_what_a_later_slice_frees(void **state)
{
	struct diff_key key = {PKBPF_PROFILE_CALLS, DIFF_GPU_KEPT,
			       string_pool_add(sides.names.texts, "keep")};
	const struct diff_series *series;
	struct measurement read;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_true(measurement_put(&sides.items[DIFF_BASE], &key, 0, 4096, 0));
	assert_true(measurement_put(&sides.items[DIFF_BASE], &key, 1, -4096, 0));
	assert_int_equal(baseline_write(&sides.items[DIFF_BASE], out), 0);
	assert_int_equal(fclose(out), 0);
	measurement_init(&read, &sides.names);
	assert_int_equal(baseline_read(&read, text, size, NULL), 0);
	series = measurement_find(&read, &key);
	assert_float_equal(series->values.items[0].value, 4096, 0);
	assert_float_equal(series->values.items[1].value, -4096, 0);
	measurement_done(&read);
}

static void documents_have_their_units(void **state)
{
	(void)state;
	write_as("text");
	assert_has("Regions and calls: per second\n");
	assert_has("launches");
	assert_has("GPU wait");
	assert_has("No significant change: 2 GPU calls");
	free(text);
	write_as("json");
	assert_has("\"level\": \"gpu_copied\"");
	assert_has("\"unit\": \"bytes\"");
	free(text);
	write_as("html");
	assert_has("<td>launches</td><th scope=\"row\">scale</th>");
}

static enum diff_condition_outcome outcome_of(const char *expression)
{
	struct diff_condition condition;
	struct diff_condition_result result;
	struct error error;

	assert_int_equal(diff_condition_parse(expression, &condition, &error), 0);
	diff_condition_check(&condition, expression, &sides.comparison, &result);
	return result.outcome;
}

static void conditions_name_them(void **state)
{
	struct diff_condition condition;
	struct error error;

	assert_int_equal(outcome_of("gpu.kernel[scale].launches>+50%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome_of("gpu.kernel[scale].blocks>+150%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome_of("gpu.wait[*]<-20%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome_of("gpu.copied[host to device]>+1%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome_of("gpu.copied[device to host]>+1%"), DIFF_CONDITION_ABSENT);
	assert_int_not_equal(diff_condition_parse("gpu.copied>+1%", &condition, &error), 0);
	(void)state;
}

/* ---- a profile ---- */

static void send_stack(struct fake_profile *fake, uint64_t id, const uint64_t *addresses,
		       size_t count)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);
	const struct stack_view stack = {.stack_id = id,
					 .pid = PID,
					 .user_end = PKBPF_END_UNVERIFIED,
					 .user_ips = addresses,
					 .user_count = (uint16_t)count};

	sink.ops->on_stack(sink.context, &stack);
}

static void send_allocations(struct fake_profile *fake, uint32_t what)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);
	struct pkbpf_event_gpu_call call = {
		.header = {.kind = PKBPF_EVENT_GPU_CALL, .size = sizeof(call)},
		.pid = PID,
		.group = PKBPF_GPU_ALLOC,
		.what = what,
		.count = 4,
		.bytes = 17 << 20,
		.freed = 1,
		.freed_bytes = 1 << 20,
		.function = "cudaMalloc",
		.comm = "train"};

	call.stack_id = what == PKBPF_GPU_STACK ? 1 : 0;
	sink.ops->on_other(sink.context, &call.header);
}

static void allocations_are_of_their_callers(void **state)
{
	static const uint64_t addresses[] = {CALLEE, CALLER};
	struct fake_machine *machine = fake_machine_new();
	struct measurement *side;
	struct fake_profile fake;

	(void)state;
	sides_init(&sides, 0);
	side = &sides.items[DIFF_BASE];
	fake_process(machine, PID, 1, "train");
	fake_map(machine, PID, 0x400000, 0x410000, 0, "/bin/train");
	fake_profile_init(&fake, NULL);
	fake_profile_run(&fake, machine, symbols, ARRAY_SIZE(symbols));
	send_stack(&fake, 1, addresses, ARRAY_SIZE(addresses));
	send_allocations(&fake, PKBPF_GPU_SUM);
	send_allocations(&fake, PKBPF_GPU_STACK);
	profile_symbolize(fake.profile, fake.symbolizer);
	sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
	assert_int_equal(measure_gpu(side, fake.profile), 0);
	for (enum diff_level level = DIFF_GPU_ALLOCATED; level <= DIFF_GPU_KEPT; level++) {
		struct diff_key key = sides_key(&sides, PKBPF_PROFILE_CALLS, level, "keep_memory");
		const struct diff_series *series = measurement_find(side, &key);

		assert_non_null(series);
		assert_int_equal(series->values.items[0].value,
				 (level == DIFF_GPU_ALLOCATED ? 17 : 16) * MIB);
	}
	assert_true(side->has_level[DIFF_GPU_LAUNCHES]);
	fake_profile_done(&fake);
	fake_machine_free(machine);
	sides_done(&sides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernels_and_waits_are_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(a_baseline_keeps_what_a_later_slice_frees, setup,
						teardown),
		cmocka_unit_test_setup_teardown(documents_have_their_units, setup, teardown),
		cmocka_unit_test_setup_teardown(conditions_name_them, setup, teardown),
		cmocka_unit_test(allocations_are_of_their_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
