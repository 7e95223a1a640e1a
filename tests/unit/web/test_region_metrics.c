// SPDX-License-Identifier: BSD-2-Clause
/* Tests metrics of regions, and their table in the report of an hour. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "region_window.h"
#include "web/hour_regions.h"
#include "web/region_metrics.h"

#define SECOND 1000000000ULL
#define MS     1000000ULL

/* A slice of ten seconds with these regions. */
static void make_slice(struct fake_profile *machine, const struct region_window *windows,
		       size_t count)
{
	struct profile_info *info;

	account_begin(machine, 1U << PKBPF_PROFILE_CPU, 0, 20 * SECOND);
	account_process(machine, &(struct account_process){.pid = 1, .comm = "server"});
	account_end(machine);
	for (size_t i = 0; i < count; i++)
		region_window_add(machine->profile, &windows[i]);
	info = profile_info(machine->profile);
	info->start_ns = SECOND;
	info->end_ns = 11 * SECOND;
	info->regions_ns = 10 * SECOND;
}

static void add_slice(struct region_metrics *metrics, const struct region_window *windows,
		      size_t count)
{
	struct fake_profile machine;

	make_slice(&machine, windows, count);
	region_metrics_add(metrics, machine.profile);
	fake_profile_done(&machine);
}

static char *metrics_text(const struct region_metrics *metrics)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	region_metrics_write(metrics, false, out);
	fclose(out);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in %s", part, text);
}

static void sums_grow_and_lengths_are_of_the_last_slice(void **state)
{
	const struct region_window first[] = {{"predict", 10, MS, 2, 200 * MS, 100 * MS, 0}};
	const struct region_window second[] = {{"predict", 5, 2 * MS, 0, 0, 100 * MS, 4 * SECOND},
					       {"a\"b", 1, MS, 0, 0, 0, 0}};
	struct region_metrics metrics = {0};
	char *text;

	add_slice(&metrics, first, 1);
	add_slice(&metrics, second, 2);
	text = metrics_text(&metrics);
	assert_has(text, "pkbpf_regions_total{region=\"predict\"} 17\n");
	assert_has(text, "pkbpf_region_violations_total{region=\"predict\"} 2\n");
	assert_has(text, "pkbpf_region_watched_seconds_total{region=\"predict\"} 16\n");
	assert_has(text, "pkbpf_region_max_seconds{region=\"predict\"} 0.002");
	assert_has(text, "pkbpf_regions_total{region=\"a\\\"b\"} 1\n");
	assert_null(strstr(text, "violations_total{region=\"a"));
	assert_null(strstr(text, "other"));
	free(text);
	region_metrics_done(&metrics);
}

static void names_beyond_the_limit_are_others(void **state)
{
	struct region_window windows[30];
	char names[30][16];
	struct region_metrics metrics = {0};
	char *text;

	for (int i = 0; i < 30; i++) {
		snprintf(names[i], sizeof(names[i]), "region%d", i);
		windows[i] = (struct region_window){names[i], 1, MS, 0, 0, 0, 0};
	}
	add_slice(&metrics, windows, 30);
	text = metrics_text(&metrics);
	assert_int_equal(metrics.regions.count, 21);
	assert_has(text, "pkbpf_regions_total{region=\"other\"} 10\n");
	assert_null(strstr(text, "p99_seconds{region=\"other\"}"));
	assert_null(strstr(text, "watched_seconds_total{region=\"other\"}"));
	free(text);
	region_metrics_done(&metrics);
}

static char *hour_text(const struct region_window *windows, size_t count, bool recorded)
{
	struct fake_profile machine;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	make_slice(&machine, windows, count);
	if (!recorded)
		profile_info(machine.profile)->regions_ns = 0;
	hour_regions_write(machine.profile, out);
	fclose(out);
	fake_profile_done(&machine);
	return text;
}

static void the_hour_tells_violations_and_what_was_watched(void **state)
{
	const struct region_window windows[] = {
		{"<predict>", 98, MS, 2, 200 * MS, 100 * MS, 4 * SECOND},
		{"plain", 1, MS, 0, 0, 0, 0},
	};
	char *text = hour_text(windows, 2, true);

	assert_has(text, "<td>&lt;predict&gt;<td class=n>100<td class=n>4.98 ms");
	assert_has(text, "2 over 100 ms (2 %)<td>6.00 s of 10.0 s\n");
	assert_has(text, "<td class=n>-<td>all the time\n");
	free(text);
	text = hour_text(NULL, 0, true);
	assert_has(text, "No program left any");
	free(text);
	text = hour_text(NULL, 0, false);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_grow_and_lengths_are_of_the_last_slice),
		cmocka_unit_test(names_beyond_the_limit_are_others),
		cmocka_unit_test(the_hour_tells_violations_and_what_was_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
