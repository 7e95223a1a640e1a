// SPDX-License-Identifier: BSD-2-Clause
/* Tests for web/metrics: counters of groups that come and go, gauges of the slice at hand, and the
 * text of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/slice/slice.h"
#include "web/metrics.h"

#define SECOND 1000000000ULL
#define BEGIN  1700000000LL
#define GROUPS 50
#define ROWS   200

static struct metrics metrics;
static struct resource_row *rows;
static size_t row_count;
static char *text;

static int setup(void **state)
{
	(void)state;
	metrics = (struct metrics){0};
	rows = calloc(ROWS, sizeof(*rows));
	row_count = 0;
	return rows ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	metrics_done(&metrics);
	free(rows);
	free(text);
	text = NULL;
	return 0;
}

/* rss 0: it has ended, so that there is none. */
static void add(const char *container, uint64_t user_s, uint64_t rss_bytes)
{
	struct resource_row *row = &rows[row_count++];

	*row = (struct resource_row){.known = ROW_HAS_USAGE | (rss_bytes ? ROW_HAS_RSS : 0)};
	snprintf(row->container, sizeof(row->container), "%s", container);
	row->cpu.user_ns = user_s * SECOND;
	row->memory.rss_bytes = rss_bytes;
}

/* What was added is a slice of a second. */
static void end_slice(void)
{
	struct profile *slice = slice_new();
	struct resource_rows all = {
		.items = rows, .all_count = row_count, .busy_percent = -1, .profile = slice};

	assert_non_null(slice);
	profile_info(slice)->start_unix_ns = (BEGIN + (int64_t)metrics.slices) * (int64_t)SECOND;
	metrics_add(&metrics, &all);
	profile_free(slice);
	row_count = 0;
}

static const char *write_all(bool with_begins)
{
	const struct store_state store = {.lost_windows = 3};
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	metrics_write(&metrics, &store, with_begins, out);
	fclose(out);
	return text;
}

static bool has(const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	return strstr(write_all(false), whole);
}

static void counters_add_up_over_slices(void **state)
{
	(void)state;
	add("db", 2, 100);
	add("db", 1, 50);
	end_slice();
	add("db", 4, 70);
	end_slice();
	assert_true(has("pkbpf_cpu_user_seconds_total{container=\"db\"} 7"));
	/* Of the last slice alone. */
	assert_true(has("pkbpf_memory_rss_bytes{container=\"db\"} 70"));
	assert_true(has("pkbpf_slices_total 2"));
	assert_true(has("pkbpf_store_lost_windows_total 3"));
}

/* Sleep does not have it. */
static void waits_for_a_gpu_have_a_counter(void **state)
{
	const unsigned int known = ROW_HAS_GPU_CALLS | ROW_HAS_WAITS | ROW_HAS_SAMPLES;

	(void)state;
	add("train", 2, 100);
	rows[0].known |= known;
	rows[0].gpu.state_ns = 3 * SECOND;
	end_slice();
	assert_true(has("pkbpf_gpu_state_seconds_total{container=\"train\"} 3"));
	/* Without samples it is not known. */
	metrics_done(&metrics);
	metrics = (struct metrics){0};
	add("train", 2, 100);
	rows[0].known |= known & ~ROW_HAS_SAMPLES;
	rows[0].gpu.state_ns = 3 * SECOND;
	end_slice();
	assert_null(strstr(write_all(false), "gpu_state_seconds_total{"));
}

static void a_gauge_of_other_is_that_of_its_rows_of_now(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		add("", 1, 0);
		add("", 1, 30);
		add("", 1, 12);
		end_slice();
		assert_true(has("pkbpf_memory_rss_bytes{container=\"other\"} 42"));
	}
	assert_true(has("pkbpf_cpu_user_seconds_total{container=\"other\"} 30"));
	/* Nobody is alive at its end: it is not 42, nor 0. */
	add("", 1, 0);
	end_slice();
	assert_null(strstr(write_all(false), "pkbpf_memory_rss_bytes{"));
}

static void a_group_that_is_not_there_has_no_gauge(void **state)
{
	(void)state;
	add("db", 1, 100);
	end_slice();
	add("web", 1, 5);
	end_slice();
	assert_null(strstr(write_all(false), "pkbpf_memory_rss_bytes{container=\"db\"}"));
	assert_true(has("pkbpf_cpu_user_seconds_total{container=\"db\"} 1"));
}

static void groups_that_have_gone_make_room(void **state)
{
	char name[32];

	(void)state;
	for (unsigned int i = 0; i < 2 * GROUPS; i++) {
		snprintf(name, sizeof(name), "job%u", i);
		add(name, 1, 1);
		end_slice();
	}
	add("hog", 9, 1);
	end_slice();
	assert_true(has("pkbpf_cpu_user_seconds_total{container=\"hog\"} 9"));
	/* The oldest went. */
	assert_true(has("pkbpf_cpu_user_seconds_total{container=\"job99\"} 1"));
	assert_null(strstr(write_all(false), "\"job10\""));
	assert_null(strstr(write_all(false), "\"other\""));
}

static void of_more_groups_than_there_is_room_for_the_rest_is_other(void **state)
{
	char name[32];

	(void)state;
	for (int slice = 0; slice < 3; slice++) {
		for (unsigned int i = 0; i < GROUPS + 7; i++) {
			snprintf(name, sizeof(name), "unit%u", i);
			add(name, 1, 1);
		}
		end_slice();
	}
	assert_true(has("pkbpf_cpu_user_seconds_total{container=\"unit49\"} 3"));
	assert_true(has("pkbpf_cpu_user_seconds_total{container=\"other\"} 21"));
	assert_true(has("pkbpf_memory_rss_bytes{container=\"other\"} 7"));
}

static void counters_say_since_when_they_count(void **state)
{
	char name[32];

	(void)state;
	add("db", 1, 1);
	end_slice();
	for (unsigned int i = 0; i < GROUPS + 5; i++) {
		snprintf(name, sizeof(name), "job%u", i);
		add(name, 1, 1);
		end_slice();
	}
	add("db", 5, 1);
	end_slice();
	/* It was forgotten, and counts from 0 again. */
	assert_non_null(strstr(write_all(true),
			       "\n# BEGIN 1700000056000000000\n"
			       "pkbpf_cpu_user_seconds_total{container=\"db\"} 5\n"));
	assert_non_null(strstr(text, "\n# BEGIN 1700000054000000000\n"
				     "pkbpf_cpu_user_seconds_total{container=\"job53\"} 1\n"));
	assert_null(strstr(write_all(false), "# BEGIN"));
}

static void names_are_escaped(void **state)
{
	(void)state;
	add("a\"b\\c\nd", 1, 1);
	end_slice();
	assert_null(strstr(write_all(false), "a\"b"));
	assert_non_null(strstr(text, "{container=\"a\\\"b\\\\c"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counters_add_up_over_slices),
		TEST(waits_for_a_gpu_have_a_counter),
		TEST(a_gauge_of_other_is_that_of_its_rows_of_now),
		TEST(a_group_that_is_not_there_has_no_gauge),
		TEST(groups_that_have_gone_make_room),
		TEST(of_more_groups_than_there_is_room_for_the_rest_is_other),
		TEST(counters_say_since_when_they_count),
		TEST(names_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
