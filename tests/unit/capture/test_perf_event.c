// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/perf_event and the advice of capture/tracing_program: what is asked of the
 * kernel, and what its refusals mean. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/perf_event.h"
#include "capture/tracing_program.h"

static void a_timer_or_the_cycles_are_sampled(void **state)
{
	struct perf_event_attr attr;

	perf_event_cpu_attr(99, 0, &attr);
	assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(attr.freq, 1);
	assert_int_equal(attr.sample_freq, 99);
	assert_int_equal(attr.size, sizeof(attr));
	perf_event_cpu_attr(997, 1, &attr);
	assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(attr.sample_freq, 997);
}

static void the_period_of_the_timer_is_known(void **state)
{
	static const struct {
		uint32_t frequency_hz;
		uint64_t period_ns;
	} rows[] = {
		{1, 1000000000}, {99, 10101010},  {1000, 1000000},
		{99999, 10000},	 {100000, 10000}, {1000000, 10000},
	};
	struct perf_event_attr attr;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		perf_event_cpu_attr(rows[i].frequency_hz, 0, &attr);
		assert_int_equal(perf_event_period_ns(&attr), rows[i].period_ns);
	}
	perf_event_cpu_attr(0, 0, &attr);
	assert_int_equal(perf_event_period_ns(&attr), 0);
	perf_event_cpu_attr(99, 0, &attr);
	attr.freq = 0;
	assert_int_equal(perf_event_period_ns(&attr), 0);
	attr.freq = 1;
	attr.config = PERF_COUNT_SW_DUMMY;
	assert_int_equal(perf_event_period_ns(&attr), 0);
	/* That of cycles changes all the time. */
	perf_event_cpu_attr(99, 1, &attr);
	assert_int_equal(perf_event_period_ns(&attr), 0);
}

static void the_limit_of_the_kernel_is_read(void **state)
{
	if (access("/proc/sys/kernel/perf_event_max_sample_rate", R_OK))
		skip();
	assert_true(perf_event_max_sample_rate() > 0);
}

static void an_event_that_cannot_be_opened_says_where(void **state)
{
	struct perf_event_attr attr;
	struct error error = {0};

	perf_event_cpu_attr(99, 0, &attr);
	assert_true(perf_event_open_cpu(&attr, 100000, &error) < 0);
	assert_non_null(strstr(error.text, "perf event"));
	assert_true(perf_event_open_cpu(&attr, 100000, NULL) < 0);
}

static void running_out_of_descriptors_names_the_limit(void **state)
{
	struct rlimit before, none;
	struct perf_event_attr attr;
	struct error error = {0};
	int err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	perf_event_cpu_attr(99, 0, &attr);
	err = perf_event_open_cpu(&attr, 0, &error);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	/* Who may not open any is refused before. */
	if (err != -EMFILE)
		skip();
	assert_non_null(strstr(error.text, "ulimit -n"));
}

static void shortages_have_advice(void **state)
{
	assert_non_null(strstr(tracing_shortage_advice(EMFILE), "ulimit -n"));
	assert_non_null(strstr(tracing_shortage_advice(ENFILE), "ulimit -n"));
	assert_non_null(strstr(tracing_shortage_advice(ENOMEM), "memory.max"));
	assert_null(tracing_shortage_advice(EPERM));
	assert_null(tracing_shortage_advice(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_or_the_cycles_are_sampled),
		cmocka_unit_test(the_period_of_the_timer_is_known),
		cmocka_unit_test(the_limit_of_the_kernel_is_read),
		cmocka_unit_test(an_event_that_cannot_be_opened_says_where),
		cmocka_unit_test(running_out_of_descriptors_names_the_limit),
		cmocka_unit_test(shortages_have_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
