// SPDX-License-Identifier: BSD-2-Clause
/* Tests the tables of the joined account against the text they gave; UPDATE_GOLDEN=1 rewrites what
 * is expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/offcpu.h>

#include "account_machine.h"
#include "account_scenario.h"
#include "base/array.h"
#include "report/report.h"
#include "report/text_table.h"

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text;
	size_t size;

	if (!file)
		fail_msg("%s is missing: run with UPDATE_GOLDEN=1", path);
	text = calloc(1, 1 << 20);
	assert_non_null(text);
	size = fread(text, 1, (1 << 20) - 1, file);
	assert_true(size < (1 << 20) - 1);
	fclose(file);
	return text;
}

static char *report_in(enum rows_by by, bool full, unsigned int width)
{
	struct fake_profile fake;
	char *text;

	account_scenario_init(&fake);
	text = fake_profile_write_by(
		&fake, "text", by,
		&(struct format_options){.top = 6, .full = full, .width = width});
	fake_profile_done(&fake);
	return text;
}

static char *report(enum rows_by by, bool full)
{
	return report_in(by, full, 0);
}

static void expect(const char *name, char *text)
{
	const char *update = getenv("UPDATE_GOLDEN");
	char path[4096], *expected;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
	if (update && !strcmp(update, "1")) {
		FILE *file = fopen(path, "wb");

		assert_non_null(file);
		fputs(text, file);
		assert_int_equal(fclose(file), 0);
	}
	expected = read_file(path);
	if (strcmp(expected, text)) {
		print_error("--- expected %s\n%s--- got\n%s", path, expected, text);
		fail_msg("%s differs", path);
	}
	free(expected);
	free(text);
}

static void the_account_is_told_as_ever(void **state)
{
	expect("account.txt", report(ROWS_BY_PROCESS, false));
	expect("account.full.txt", report(ROWS_BY_PROCESS, true));
}

static void the_account_of_containers_is_told_as_ever(void **state)
{
	expect("account_container.txt", report(ROWS_BY_CONTAINER, false));
	expect("account_container.full.txt", report(ROWS_BY_CONTAINER, true));
}

static void every_grouping_fits_a_terminal(void **state)
{
	static const unsigned int widths[] = {80, 100, 200};

	for (size_t i = 0; i < 2 * ROWS_BY_COUNT * ARRAY_SIZE(widths); i++) {
		bool full = i % 2;
		unsigned int width = widths[i / 2 % ARRAY_SIZE(widths)];
		char *text = report_in((enum rows_by)(i / 2 / ARRAY_SIZE(widths)), full, width);
		size_t lines = 0;
		char *save = NULL;

		for (char *line = strtok_r(text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save), lines++) {
			if (text_columns(line) > width)
				fail_msg("%zu columns: %s", text_columns(line), line);
			assert_true(line[strlen(line) - 1] != ' ');
			for (const char *c = line; *c; c++)
				assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
		}
		assert_true(full || lines <= REPORT_LINES_OF_HOST);
		free(text);
	}
}

#define MS UINT64_C(1000000)

/* One process: each figure of it stands in its row and in the sum of all rows. */
static char *report_of_one(bool full)
{
	const struct account_process process = {.pid = 5,
						.comm = "app",
						.run_ns = 2345 * MS,
						.system_permille = 200,
						.run_delay_ns = 678 * MS,
						.voluntary = 4321,
						.involuntary = 98,
						.minor = 777,
						.start_rss_bytes = 40 << 20,
						.rss_bytes = 45 << 20};
	struct fake_profile fake;
	char *text;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU, 3000 * MS,
		      17000 * MS);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake, &process);
	account_on_cpu(&fake, 5, "app", 2350 * MS);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 70, 100 * MS, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_queued(&fake, 5, "app", 10, 65 * MS);
	account_samples(&fake, 5, "app", 230, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	text = fake_profile_write(&fake, "text",
				  &(struct format_options){.top = 6, .full = full, .width = 200});
	fake_profile_done(&fake);
	return text;
}

static void the_cgroup_nearest_to_its_memory_limit_is_told(void **state)
{
	static const char near[] = "cgroup /near: 3.00 MiB of 4.00 MiB (75 % of its limit), "
				   "reached 12 times";

	for (int full = 0; full < 2; full++) {
		struct fake_profile fake;
		char *text;

		account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 3000 * MS, 17000 * MS);
		account_process(&fake, &(struct account_process){.pid = 5, .comm = "app"});
		account_samples(&fake, 5, "app", 23, FAKE_IPS(ACCOUNT_MAIN));
		account_cpu_limit(&fake, 6, "/only", 50, 80, 0);
		account_memory_limit(&fake, 7, "/far", 4 << 20, 2 << 20, 0);
		account_memory_limit(&fake, 8, "/near", 4 << 20, 3 << 20, 12);
		account_end(&fake);
		text = fake_profile_write(
			&fake, "text",
			&(struct format_options){.top = 6, .full = full, .width = 100});
		fake_profile_done(&fake);
		if (!strstr(text, near) || strstr(text, "/only") || !strstr(text, "/far") != !full)
			fail_msg("%s", text);
		free(text);
	}
}

/* The text from a heading to the next one. */
static char *section_of(const char *text, const char *heading, const char *end)
{
	const char *start = strstr(text, heading), *next;

	if (!start)
		fail_msg("no %s in:\n%s", heading, text);
	next = strstr(start + 1, end);
	return strndup(start, next ? (size_t)(next - start) : strlen(start));
}

static void assert_says(const char *section, const char *figure)
{
	if (!strstr(section, figure))
		fail_msg("no \"%s\" in:\n%s", figure, section);
}

static void figures_that_stand_twice_on_the_page_are_equal(void **state)
{
	char *text = report_of_one(false);
	char *row = section_of(text, "Process (", "\nOn-CPU"),
	     *on_cpu = section_of(text, "\nOn-CPU", "\nOff-CPU"),
	     *off_cpu = section_of(text, "\nOff-CPU", "\nMemory"),
	     *memory = section_of(text, "\nMemory", "\nProfile");

	assert_says(row, " 23.4% ");
	assert_says(on_cpu, ": 2.35 s (23.4% of one CPU), ");
	assert_says(row, " 1.88 s ");
	assert_says(on_cpu, ", user 1.88 s");
	assert_says(row, " 469 ms ");
	assert_says(on_cpu, ", sys 469 ms");
	assert_says(row, " 650 ms ");
	assert_says(off_cpu, ", run queue 650 ms");
	assert_says(row, " 7.00 s ");
	assert_says(off_cpu, ", sleep 7.00 s");
	assert_says(row, " 45.0 MiB ");
	assert_says(memory, " RSS 45.0 MiB");
	assert_says(row, " +5.00 MiB ");
	assert_says(memory, " (+5.00 MiB");
	assert_says(row, " 777");
	assert_says(memory, " 777 minor faults");
	free(row);
	free(on_cpu);
	free(off_cpu);
	free(memory);
	free(text);
}

/* CPU time by context switches (2.35 s) and by samples differ a little from the account: only that
 * is told. */
static void the_full_report_has_one_figure_of_cpu_time(void **state)
{
	char *text = report_of_one(true);

	assert_says(text, " 2.35 s ");
	assert_null(strstr(text, "CPU s"));
	assert_null(strstr(text, "Thread states"));
	for (const char *at = text; (at = strstr(at, "%CPU")); at++)
		assert_null(strstr(at + 1, "%CPU"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_account_is_told_as_ever),
		cmocka_unit_test(the_account_of_containers_is_told_as_ever),
		cmocka_unit_test(every_grouping_fits_a_terminal),
		cmocka_unit_test(figures_that_stand_twice_on_the_page_are_equal),
		cmocka_unit_test(the_full_report_has_one_figure_of_cpu_time),
		cmocka_unit_test(the_cgroup_nearest_to_its_memory_limit_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
