// SPDX-License-Identifier: BSD-2-Clause
/* Tests the parts of the live view: columns, cells, lines of the screen, slices of the minute. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "profile/slice/slice.h"
#include "top/top_columns.h"
#include "top/top_screen.h"
#include "top/top_slices.h"

/* ---- columns ---- */

static void a_title_is_the_column_of_its_grouping(void **state)
{
	int of_processes = top_column_find("container", ROWS_BY_PROCESS),
	    of_containers = top_column_find("CONTAINER", ROWS_BY_CONTAINER);

	assert_true(of_processes >= 0 && of_containers >= 0);
	assert_int_not_equal(of_processes, of_containers);
	assert_true(top_column_has(top_column_at((size_t)of_containers), ROWS_BY_CONTAINER));
	assert_int_equal(top_column_find("CONTAINER", ROWS_BY_COMM), -1);
	assert_int_equal(top_column_find("no such title", ROWS_BY_PROCESS), -1);
	for (enum rows_by by = 0; by < ROWS_BY_COUNT; by++)
		assert_true(top_column_find("cpu%", by) >= 0);
}

static void each_column_has_something_to_show_and_room_for_its_title(void **state)
{
	const struct top_column *column;

	for (size_t i = 0; (column = top_column_at(i)); i++) {
		assert_true(strlen(column->title) <= column->width);
		assert_true(column->explanation[0]);
		assert_int_equal(!!column->figure + !!column->value + !!column->text, 1);
		assert_int_equal(column->unit == TOP_UNIT_TEXT, column->text != NULL);
	}
}

static void cells_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		enum top_unit unit;
		double value;
		bool is_difference;
		const char *text;
	} rows[] = {
		{TOP_UNIT_NUMBER, 1234567, false, "1234567"},
		{TOP_UNIT_NUMBER, 12, true, "12"},
		{TOP_UNIT_PERCENT, 12.34, false, "12.3"},
		{TOP_UNIT_PERCENT, 99.96, false, "100"},
		{TOP_UNIT_PERCENT, 5, true, "+5.0"},
		{TOP_UNIT_PERCENT, -5, true, "-5.0"},
		{TOP_UNIT_COUNT, 999.4, false, "999"},
		{TOP_UNIT_COUNT, 999.5, false, "1.0k"},
		{TOP_UNIT_COUNT, 9940, false, "9.9k"},
		{TOP_UNIT_COUNT, 9950, false, "10k"},
		{TOP_UNIT_COUNT, 1e15, false, "1000T"},
		{TOP_UNIT_BYTES, 1023, false, "1.0K"},
		{TOP_UNIT_BYTES, 10 << 20, false, "10M"},
		{TOP_UNIT_BYTES, 1536, true, "+1.5K"},
		{TOP_UNIT_NS, 850000, false, "850us"},
		{TOP_UNIT_NS, 0, true, "0ns"},
		{TOP_UNIT_NS, 12e9, false, "12s"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[TOP_CELL_SIZE];

		top_column_format(rows[i].unit, rows[i].value, rows[i].is_difference, text);
		assert_string_equal(text, rows[i].text);
	}
}

/* ---- lines ---- */

static void a_line_ends_at_the_width_of_its_screen(void **state)
{
	struct top_screen screen;
	struct top_line *line;

	assert_int_equal(top_screen_init(&screen, 10, 2), 0);
	line = top_screen_line(&screen);
	top_add(line, TOP_BOLD, "%s", "0123456789abc");
	assert_string_equal(line->text, "0123456...");
	assert_int_equal(line->columns, 10);
	assert_int_equal(line->attributes[9], TOP_BOLD);
	top_add(line, TOP_BOLD, "more");
	assert_string_equal(line->text, "0123456...");
	top_screen_done(&screen);
}

static void characters_of_several_bytes_take_a_column_and_are_never_halved(void **state)
{
	struct top_screen screen;
	struct top_line *line;

	assert_int_equal(top_screen_init(&screen, 4, 1), 0);
	line = top_screen_line(&screen);
	top_add(line, TOP_PLAIN, "aé€z and more");
	assert_string_equal(line->text, "aé€z");
	assert_int_equal(line->columns, 4);
	assert_int_equal(line->bytes, strlen("aé€z"));
	top_screen_done(&screen);
}

static void nothing_that_is_written_moves_the_cursor(void **state)
{
	static const char *const texts[] = {"a\x1b[2Jb",
					    "a\nb",
					    "a\rb",
					    "a\tb",
					    "a\x7f"
					    "b",
					    "a\x80"
					    "b",
					    "a\xc3",
					    "\xff\xfe"};
	struct top_screen screen;

	assert_int_equal(top_screen_init(&screen, 40, ARRAY_SIZE(texts)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct top_line *line = top_screen_line(&screen);

		top_add(line, TOP_PLAIN, "%s", texts[i]);
		for (const char *c = line->text; *c; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
	}
	top_screen_done(&screen);
}

static void spaces_go_up_to_a_column_and_marks_up_to_the_end(void **state)
{
	struct top_screen screen;
	struct top_line *line;

	assert_int_equal(top_screen_init(&screen, 8, 1), 0);
	line = top_screen_line(&screen);
	top_add(line, TOP_PLAIN, "ab");
	top_pad(line, TOP_DIM, 5);
	assert_string_equal(line->text, "ab   ");
	/* What is there already stays. */
	top_pad(line, TOP_DIM, 3);
	assert_string_equal(line->text, "ab   ");
	top_mark_line(line, TOP_CURSOR);
	assert_int_equal(line->columns, 8);
	for (size_t i = 0; i < line->bytes; i++)
		assert_int_equal(line->attributes[i], TOP_CURSOR);
	top_screen_done(&screen);
}

static void lines_below_the_last_are_seen_by_nobody(void **state)
{
	struct top_screen screen;

	assert_int_equal(top_screen_init(&screen, 8, 2), 0);
	assert_int_equal(top_screen_left(&screen), 2);
	top_add(top_screen_line(&screen), TOP_PLAIN, "one");
	top_add(top_screen_line(&screen), TOP_PLAIN, "two");
	assert_int_equal(top_screen_left(&screen), 0);
	top_add(top_screen_line(&screen), TOP_PLAIN, "three");
	assert_string_equal(screen.lines[0].text, "one");
	assert_string_equal(screen.lines[1].text, "two");
	top_screen_clear(&screen);
	assert_int_equal(top_screen_left(&screen), 2);
	assert_string_equal(top_screen_line(&screen)->text, "");
	top_screen_done(&screen);
}

/* ---- the minute ---- */

static struct profile *slice_of_seconds(uint64_t from, uint64_t to)
{
	struct profile *slice = slice_new();
	struct profile_row row = {
		.kind = PKBPF_PROFILE_CPU, .process = UINT32_MAX, .count = 1, .weight = to - from};

	profile_info(slice)->start_ns = from * NS_PER_SECOND;
	profile_info(slice)->end_ns = to * NS_PER_SECOND;
	row.stack = profile_intern_stack(slice, NULL, 0);
	row.comm = profile_intern_string(slice, "x");
	assert_int_equal(profile_add(slice, &row), 0);
	return slice;
}

static uint64_t minute_of(const struct top_slices *slices)
{
	struct profile *minute;
	uint64_t seconds = 0;
	size_t count;
	const struct profile_row *rows;

	assert_int_equal(top_slices_minute(slices, &minute), 0);
	rows = profile_rows(minute, &count);
	for (size_t i = 0; i < count; i++)
		seconds += rows[i].weight;
	profile_free(minute);
	return seconds;
}

static void the_minute_is_between_thirty_and_sixty_seconds(void **state)
{
	struct top_slices slices = {0};
	struct profile *minute;

	assert_int_equal(top_slices_minute(&slices, &minute), -ENODATA);
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t seconds;

		assert_int_equal(top_slices_add(&slices, slice_of_seconds(1 + i, 2 + i)), 0);
		assert_int_equal(profile_info(slices.last)->start_ns, (1 + i) * NS_PER_SECOND);
		seconds = minute_of(&slices);
		assert_in_range(seconds, i + 1 < 31 ? i + 1 : 31, 60);
	}
	top_slices_reset(&slices);
	assert_int_equal(top_slices_minute(&slices, &minute), -ENODATA);
	/* The last slice is shown on. */
	assert_non_null(slices.last);
	top_slices_done(&slices);
	assert_null(slices.last);
}

static void tables_alone_need_no_minute(void **state)
{
	struct top_slices slices = {.only_last = true};
	struct profile *minute;

	assert_int_equal(top_slices_add(&slices, slice_of_seconds(1, 2)), 0);
	assert_int_equal(top_slices_minute(&slices, &minute), -ENODATA);
	top_slices_done(&slices);
}

/* Whatever they wait for, threads asleep are asleep. */
static void sleep_in_calls_of_a_gpu_is_sleep(void **state)
{
	const struct top_column *column =
		top_column_at((size_t)top_column_find("SLEEP%", ROWS_BY_PROCESS));
	struct resource_rows rows;
	struct resource_row row;
	double value;

	memset(&rows, 0, sizeof(rows));
	memset(&row, 0, sizeof(row));
	row.known = ROW_HAS_WAITS;
	row.waits.wall_ns = 100;
	row.waits.sleep_ns = 20;
	row.gpu.spin_ns = 30;
	row.gpu.wait_ns = 40;
	row.gpu.state_ns = 70;
	assert_true(top_column_value(column, &rows, &row, &value));
	assert_int_equal((int)value, 60);
	/* Without samples it is in sleep already. */
	row.gpu.state_ns = 0;
	assert_true(top_column_value(column, &rows, &row, &value));
	assert_int_equal((int)value, 20);
	(void)state;
}

/* Where no driver has figures of GPUs, their columns would be empty. */
static void columns_of_gpus_are_there_where_gpus_are(void **state)
{
	const struct top_column *share =
		top_column_at((size_t)top_column_find("gpu%", ROWS_BY_PROCESS));
	const struct top_column *memory =
		top_column_at((size_t)top_column_find("GPUMEM", ROWS_BY_COMM));
	struct resource_rows rows;
	struct resource_row row;
	double value;

	assert_false(top_column_is_fed(share, UINT32_MAX, ROW_HAS_WAITS | ROW_HAS_GPU_MEMORY));
	assert_true(top_column_is_fed(share, 0, ROW_HAS_GPU_TIME));
	assert_false(top_column_is_fed(memory, UINT32_MAX, ROW_HAS_GPU_TIME));
	assert_true(top_column_is_fed(memory, 0, ROW_HAS_GPU_MEMORY));
	memset(&rows, 0, sizeof(rows));
	memset(&row, 0, sizeof(row));
	row.known = ROW_HAS_GPU_TIME | ROW_HAS_GPU_MEMORY | ROW_HAS_INTERVAL;
	row.gpu.share = 30;
	row.gpu.memory_bytes = 4096;
	assert_true(top_column_value(share, &rows, &row, &value));
	assert_int_equal((int)value, 30);
	assert_true(top_column_value(memory, &rows, &row, &value));
	assert_int_equal((int)value, 4096);
	row.known = ROW_HAS_INTERVAL;
	assert_false(top_column_value(share, &rows, &row, &value));
	assert_false(top_column_value(memory, &rows, &row, &value));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleep_in_calls_of_a_gpu_is_sleep),
		cmocka_unit_test(columns_of_gpus_are_there_where_gpus_are),
		cmocka_unit_test(a_title_is_the_column_of_its_grouping),
		cmocka_unit_test(each_column_has_something_to_show_and_room_for_its_title),
		cmocka_unit_test(cells_have_three_digits_and_a_unit),
		cmocka_unit_test(a_line_ends_at_the_width_of_its_screen),
		cmocka_unit_test(characters_of_several_bytes_take_a_column_and_are_never_halved),
		cmocka_unit_test(nothing_that_is_written_moves_the_cursor),
		cmocka_unit_test(spaces_go_up_to_a_column_and_marks_up_to_the_end),
		cmocka_unit_test(lines_below_the_last_are_seen_by_nobody),
		cmocka_unit_test(the_minute_is_between_thirty_and_sixty_seconds),
		cmocka_unit_test(tables_alone_need_no_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
