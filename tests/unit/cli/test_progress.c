// SPDX-License-Identifier: BSD-2-Clause
/* When the progress line shows and what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/progress.h"

static void elapsed_time_grows_from_seconds_to_hours(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} rows[] = {{0, "0 s"},
		    {59, "59 s"},
		    {60, "1:00 min"},
		    {3599, "59:59 min"},
		    {3723, "1:02:03 h"}};
	char text[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		progress_format_elapsed(rows[i].seconds * NS_PER_SECOND, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

static void only_counters_of_something_missing_are_losses(void **state)
{
	uint64_t counters[PKBPF_COUNTER_COUNT] = {0};

	counters[PKBPF_COUNTER_CPU_EXPECTED] = 1000;
	counters[PKBPF_COUNTER_CPU_IDLE] = 500;
	counters[PKBPF_COUNTER_KERNEL_STACK_FAILED] = 7;
	assert_int_equal(progress_lost(counters), 0);
	counters[PKBPF_COUNTER_LOST_RING_FULL] = 3;
	counters[PKBPF_COUNTER_LOST_NO_SCRATCH] = 2;
	assert_int_equal(progress_lost(counters), 5);
}

static void the_line_comes_once_per_second(void **state)
{
	uint64_t counters[PKBPF_COUNTER_COUNT] = {0};
	struct progress progress;
	char *text = NULL;
	size_t size;
	struct console console = {.out = open_memstream(&text, &size)};

	progress_init(&progress, &console, true, 0, 5 * NS_PER_SECOND);
	progress.shown = true; /* the stream of this test is no terminal */
	counters[PKBPF_COUNTER_CPU_RECORDED] = 99;
	assert_false(progress_is_due(&progress, NS_PER_SECOND - 1));
	assert_true(progress_is_due(&progress, NS_PER_SECOND));
	progress_show(&progress, NS_PER_SECOND, counters);
	assert_false(progress_is_due(&progress, NS_PER_SECOND + 1));
	assert_true(progress_is_due(&progress, 2 * NS_PER_SECOND));
	fflush(console.out);
	assert_string_equal(text,
			    "\r\033[Kprofiling: 1 s of 5 s, 99 samples, 0 lost (Ctrl-C to stop)");
	progress_clear(&progress);
	fclose(console.out);
	assert_string_equal(text + strlen(text) - 4, "\r\033[K");
	free(text);
}

static void a_start_is_announced_and_gives_way(void **state)
{
	struct progress progress;
	char *text = NULL;
	size_t size;
	struct console console = {.out = open_memstream(&text, &size)};

	progress_init(&progress, &console, true, 0, 0);
	progress_show_start(&progress); /* no terminal */
	fflush(console.out);
	assert_string_equal(text, "");
	progress.shown = true;
	progress_show_start(&progress);
	fflush(console.out);
	assert_string_equal(text, "\r\033[Kstarting (Ctrl-C to stop)");
	progress_clear(&progress);
	fclose(console.out);
	assert_string_equal(text + strlen(text) - 4, "\r\033[K");
	free(text);
}

static void nobody_who_does_not_want_it_sees_it(void **state)
{
	struct console console = {.out = stderr};
	struct progress progress;

	progress_init(&progress, &console, false, 0, 0);
	assert_false(progress_is_due(&progress, 100 * NS_PER_SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elapsed_time_grows_from_seconds_to_hours),
		cmocka_unit_test(only_counters_of_something_missing_are_losses),
		cmocka_unit_test(the_line_comes_once_per_second),
		cmocka_unit_test(a_start_is_announced_and_gives_way),
		cmocka_unit_test(nobody_who_does_not_want_it_sees_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
