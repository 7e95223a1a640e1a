// SPDX-License-Identifier: BSD-2-Clause
/* Tests that waiting for a GPU is a state of its own, which the other states do not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "rows/figure.h"
#include "rows/figure_table.h"
#include "rows/resource_rows.h"

#define HZ 100
#define S  1000000000ULL

static struct resource_rows rows;

static int setup(void **state)
{
	struct profile *profile = profile_new(NULL);

	memset(&rows, 0, sizeof(rows));
	rows.profile = profile;
	profile_info(profile)->frequency_hz = HZ;
	*state = profile;
	return 0;
}

static int teardown(void **state)
{
	profile_free(*state);
	return 0;
}

/* A second on a CPU, two on the run queue, four asleep, and one each in the other states. */
static struct resource_row row_with(unsigned int known, uint64_t spin_samples, uint64_t wait_ns)
{
	const struct profile_row spinning = {.kind = PKBPF_PROFILE_CPU, .weight = spin_samples},
				 asleep = {.kind = PKBPF_PROFILE_OFFCPU,
					   .state = PKBPF_WAIT_SLEEP,
					   .weight = wait_ns},
				 /* The way to the wait is none. */
		queued = {.kind = PKBPF_PROFILE_OFFCPU, .state = PKBPF_WAIT_RUNQUEUE, .weight = S};
	struct resource_row row;

	memset(&row, 0, sizeof(row));
	row.known = known;
	row.cpu.total_ns = S;
	row.waits = (struct row_waits){.on_cpu_ns = S,
				       .runqueue_ns = 2 * S,
				       .sleep_ns = 4 * S,
				       .disk_ns = S,
				       .uninterruptible_ns = S,
				       .stopped_ns = S,
				       .wall_ns = 10 * S};
	row_gpu_add_call(&row, &spinning);
	row_gpu_add_call(&row, &asleep);
	row_gpu_add_call(&row, &queued);
	row_gpu_part.finish(&rows, &row);
	return row;
}

static struct resource_row row_of(uint64_t spin_samples, uint64_t wait_ns)
{
	return row_with(ROW_HAS_WAITS | ROW_HAS_SAMPLES, spin_samples, wait_ns);
}

static void assert_adds_up(const struct resource_row *row)
{
	const struct row_waits *waits = &row->waits;

	assert_int_equal(waits->on_cpu_ns + waits->runqueue_ns + waits->sleep_ns + waits->disk_ns +
				 waits->uninterruptible_ns + waits->stopped_ns + row->gpu.state_ns,
			 waits->wall_ns);
}

static void it_leaves_the_other_states(void **state)
{
	struct resource_row row = row_of(40, 3 * S);

	assert_int_equal(row.gpu.spin_ns, 4 * S / 10);
	assert_int_equal(row.gpu.wait_ns, 3 * S);
	assert_int_equal(row.gpu.state_ns, row.gpu.spin_ns + row.gpu.wait_ns);
	assert_int_equal(row.waits.on_cpu_ns, 6 * S / 10);
	assert_int_equal(row.waits.sleep_ns, S);
	assert_int_equal(row.waits.runqueue_ns, 2 * S);
	assert_int_equal(row.cpu.total_ns, S);
	assert_adds_up(&row);
	(void)state;
}

/* Samples come to a little more than there was. */
static void it_is_no_more_than_there_was(void **state)
{
	struct resource_row row = row_of(103, 5 * S);

	assert_int_equal(row.gpu.spin_ns, S);
	assert_int_equal(row.gpu.wait_ns, 4 * S);
	assert_int_equal(row.waits.on_cpu_ns, 0);
	assert_int_equal(row.waits.sleep_ns, 0);
	assert_adds_up(&row);
	(void)state;
}

/* Whether it spins is not known: sleep keeps what is a part of it. */
static void without_samples_it_is_not_known(void **state)
{
	struct resource_row row = row_with(ROW_HAS_WAITS, 0, 3 * S);

	assert_int_equal(row.gpu.wait_ns, 3 * S);
	assert_int_equal(row.gpu.state_ns, 0);
	assert_int_equal(row.waits.sleep_ns, 4 * S);
	assert_adds_up(&row);
	for (size_t i = 0; i < row_gpu_part.figure_count; i++)
		if (!strcmp(row_gpu_part.figures[i].name, "state"))
			assert_int_equal(row_gpu_part.figures[i].needs & ~row.known,
					 ROW_HAS_SAMPLES);
	(void)state;
}

static void who_does_not_wait_keeps_all(void **state)
{
	struct resource_row row = row_of(0, 0);

	assert_int_equal(row.gpu.state_ns, 0);
	assert_int_equal(row.waits.on_cpu_ns, S);
	assert_int_equal(row.waits.sleep_ns, 4 * S);
	assert_adds_up(&row);
	(void)state;
}

static double figure_of(const char *name, bool *ret_is_known)
{
	double value = -1;

	*ret_is_known = figure_value(figure_find(name), &rows, &rows.total, &value);
	return value;
}

static void add_calls(struct profile *profile, uint32_t group, uint32_t what, uint64_t count)
{
	const struct gpu_call call = {.group = group,
				      .what = what,
				      .detail = count,
				      .count = count,
				      .bytes = 100 * count,
				      .ns = 1000 * count};

	assert_int_equal(gpu_call_list_add(profile_gpu_calls(profile), &call), 0);
}

static void add_reported(struct profile *profile, uint64_t runs, uint64_t ns)
{
	const struct gpu_call call = {
		.group = PKBPF_GPU_LAUNCH, .what = PKBPF_GPU_SUM, .runs = runs, .run_ns = ns};

	assert_int_equal(gpu_call_list_add(profile_gpu_calls(profile), &call), 0);
}

static void devices_have_figures_of_the_run(void **state)
{
	const struct gpu_device devices[] = {
		{.id = "a",
		 .busy_ns = 30,
		 .busy_of_ns = 100,
		 .millicelsius = 61500,
		 .temperature_readings = 2,
		 .throttled_power_ms = 40,
		 .throttled_heat_ms = 30,
		 .throttled_ms = 60, /* 10 of both */
		 .throttle_of_ms = 80,
		 .sm_permille = {700, 1},
		 .dram_permille = {100, 1}},
		{.id = "b",
		 .busy_ns = 10,
		 .busy_of_ns = 100,
		 .millicelsius = 40000,
		 .temperature_readings = 2,
		 .throttle_of_ms = 80,
		 .sm_permille = {100, 1}},
	};
	bool is_known;

	figure_of("gpu.temperature", &is_known);
	assert_false(is_known);
	figure_of("gpu.throttled", &is_known);
	assert_false(is_known);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(gpu_list_add_device(profile_gpus(*state), &devices[i]), i);
	assert_true(figure_of("gpu.util", &is_known) == 20);
	assert_true(figure_of("gpu.temperature", &is_known) == 61.5);
	assert_true(figure_of("gpu.throttled", &is_known) == 75);
	assert_true(figure_of("gpu.sm", &is_known) == 40);
	assert_true(figure_of("gpu.dram", &is_known) == 10);
	assert_true(is_known);
	figure_of("gpu.tensor", &is_known);
	assert_false(is_known);
}

/* All calls count once, whatever stacks and errors are listed beside them. */
static void calls_have_figures_of_the_run(void **state)
{
	bool is_known;

	figure_of("gpu.launches", &is_known);
	assert_false(is_known);
	figure_of("gpu.copied", &is_known);
	assert_false(is_known);
	/* They were watched, and there was none. */
	profile_info(*state)->gpu_calls_ns = S;
	assert_int_equal((int)figure_of("gpu.launches", &is_known), 0);
	assert_true(is_known);
	figure_of("gpu.kernel_time", &is_known);
	assert_false(is_known);
	add_calls(*state, PKBPF_GPU_COPY, PKBPF_GPU_SUM, 2);
	add_calls(*state, PKBPF_GPU_COPY, PKBPF_GPU_SUM, 3);
	add_calls(*state, PKBPF_GPU_COPY, PKBPF_GPU_STACK, 5);
	add_calls(*state, PKBPF_GPU_COPY, PKBPF_GPU_ERROR, 1);
	add_calls(*state, PKBPF_GPU_WAIT, PKBPF_GPU_SUM, 7);
	assert_int_equal((int)figure_of("gpu.copies", &is_known), 5);
	assert_true(is_known);
	assert_int_equal((int)figure_of("gpu.copied", &is_known), 500);
	assert_int_equal((int)figure_of("gpu.synchronized", &is_known), 7000);
	add_reported(*state, 3, 50000);
	assert_int_equal((int)figure_of("gpu.kernel_time", &is_known), 50000);
	assert_true(is_known);
	/* Calls were recorded, and none of them launched. */
	assert_int_equal((int)figure_of("gpu.launches", &is_known), 0);
	assert_true(is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_have_figures_of_the_run, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_have_figures_of_the_run, setup, teardown),
		cmocka_unit_test_setup_teardown(it_leaves_the_other_states, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_no_more_than_there_was, setup, teardown),
		cmocka_unit_test_setup_teardown(without_samples_it_is_not_known, setup, teardown),
		cmocka_unit_test_setup_teardown(who_does_not_wait_keeps_all, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
