// SPDX-License-Identifier: BSD-2-Clause
/* Tests what the live view shows after slices and keys. */
#include "top_fixture.h"

static void before_the_first_slice_it_says_so(void **state)
{
	assert_non_null(line_with(*state, "the first slice is on its way"));
	press(*state, "\nca d\t+-<>PMIR");
	assert_non_null(line_with(*state, "the first slice is on its way"));
}

static void a_row_shows_figures_per_second_and_its_hottest_function(void **state)
{
	const char *line;

	add_slice(*state);
	line = line_with(*state, "nginx");
	assert_non_null(line);
	assert_non_null(strstr(line, "     88 nginx"));
	assert_non_null(strstr(line, "  70.0 "));
	assert_non_null(strstr(line, "spin<int> 100.0%"));
	line = line_with(*state, "postgres");
	/* 450 requests of 8 KiB in ten seconds. */
	assert_non_null(strstr(line, "360K"));
	assert_non_null(strstr(line, "13ms"));
	/* Disk wait of its wall time. */
	assert_non_null(strstr(line, "  63.0 "));
}

/* What only screens need is not merged for it. */
static void a_table_for_a_script_is_the_same_after_many_slices(void **state)
{
	struct view *view = *state;
	struct top_options options = {.by = ROWS_BY_PROCESS, .sort = -1, .only_tables = true};
	const char *line;

	top_free(view->top);
	view->top = top_new(&options);
	assert_non_null(view->top);
	for (int i = 0; i < 5; i++)
		add_slice(view);
	assert_int_equal(top_draw_table(view->top, &view->screen), 0);
	line = NULL;
	for (size_t i = 0; i < view->screen.used; i++)
		if (strstr(view->screen.lines[i].text, "nginx"))
			line = view->screen.lines[i].text;
	assert_non_null(line);
	assert_non_null(strstr(line, "  70.0 "));
	assert_non_null(strstr(line, "spin<int> 100.0%"));
}

static void rows_are_sorted_by_the_chosen_column(void **state)
{
	add_slice(*state);
	/* Below head, alarm and titles. */
	assert_int_equal(number_of_line(*state, "nginx"), 3);
	press(*state, "I");
	assert_int_equal(number_of_line(*state, "postgres"), 3);
	press(*state, "R");
	assert_non_null(line_with(*state, "reversed"));
	assert_null(strstr(((struct view *)*state)->screen.lines[3].text, "postgres"));
	press(*state, "1");
	assert_non_null(line_with(*state, "sorted by PID"));
}

static void a_filter_hides_rows_and_a_search_finds_one(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "\\post\n");
	assert_non_null(line_with(view, "postgres"));
	assert_null(line_with(view, "nginx"));
	assert_non_null(line_with(view, "[filter: post]"));
	press(view, "\\nobody\n");
	assert_non_null(line_with(view, "no row passes the filter"));
	press(view, "\\\n");
	assert_non_null(line_with(view, "nginx"));
	press(view, "/python\n");
	assert_non_null(line_with(view, "python3"));
	assert_int_equal(view->screen.lines[number_of_line(view, "python3")].attributes[0],
			 TOP_CURSOR);
	press(view, "/nobody\n");
	assert_non_null(line_with(view, "not found: nobody"));
}

static void the_stacks_of_a_row_open_and_close(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "/python\n\n");
	assert_non_null(line_with(view, "python3 pid 9120  CPU"));
	assert_non_null(line_with(view, "append"));
	assert_non_null(line_with(view, "67.3%"));
	/* At the first line. */
	press(view, "-");
	assert_null(line_with(view, "append"));
	press(view, "+");
	assert_non_null(line_with(view, "append"));
	top_press(view->top, TOP_KEY_TAB);
	assert_non_null(line_with(view, "python3 pid 9120  Off-CPU"));
	top_press(view->top, TOP_KEY_ESCAPE);
	assert_non_null(line_with(view, "postgres"));
}

static void a_frozen_picture_outlives_later_slices(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, " ");
	for (int i = 0; i < 3; i++)
		add_slice(view);
	assert_non_null(line_with(view, "[frozen]"));
	assert_non_null(line_with(view, "nginx"));
	/* Rows of another grouping are made of the same picture. */
	press(view, "c");
	assert_non_null(line_with(view, "by comm"));
	press(view, " ");
	assert_null(line_with(view, "[frozen]"));
	assert_non_null(line_with(view, "nginx"));
}

static void differences_are_to_the_marked_figures(void **state)
{
	struct view *view = *state;
	const char *line;

	add_slice(view);
	press(view, "d");
	add_slice(view);
	line = line_with(view, " 88 nginx");
	assert_non_null(strstr(line, "nginx"));
	assert_null(strstr(line, "70.0"));
	assert_non_null(line_with(view, "[difference]"));
	press(view, "d");
	assert_non_null(strstr(line_with(view, " 88 nginx"), "70.0"));
}

static void what_is_shown_is_written_where_the_user_says(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "wout.html\n");
	assert_string_equal(view->written_to, "out.html");
	assert_non_null(view->written);
	assert_non_null(line_with(view, "wrote out.html"));
	press(view, "w");
	top_press(view->top, TOP_KEY_ESCAPE);
	assert_string_equal(view->written_to, "out.html");
}

static void hostile_names_move_no_cursor(void **state)
{
	struct view *view = *state;

	add_slice(view);
	assert_int_equal(top_draw(view->top, &view->screen), 0);
	for (size_t i = 0; i < view->screen.used && i < view->screen.height; i++) {
		assert_null(strchr(view->screen.lines[i].text, '\x1b'));
		assert_null(strchr(view->screen.lines[i].text, '\n'));
	}
	assert_non_null(line_with(view, "=\"a\",?[2J?<b>"));
}

static void any_size_of_screen_is_drawn(void **state)
{
	static const size_t sizes[][2] = {{1, 1}, {10, 3}, {80, 24}, {500, 200}};
	struct view *view = *state;

	add_slice(view);
	for (size_t i = 0; i < 4; i++) {
		struct top_screen screen;

		assert_int_equal(top_screen_init(&screen, sizes[i][0], sizes[i][1]), 0);
		for (const char *keys = "c\n\033?x"; *keys; keys++) {
			assert_int_equal(top_draw(view->top, &screen), 0);
			for (size_t j = 0; j < screen.used && j < screen.height; j++)
				assert_true(screen.lines[j].columns <= sizes[i][0]);
			top_press(view->top, *keys == '\n' ? TOP_KEY_ENTER : *keys);
		}
		top_screen_done(&screen);
		top_press(view->top, TOP_KEY_ESCAPE);
	}
}

static void the_key_q_leaves(void **state)
{
	struct view *view = *state;

	assert_false(top_press(view->top, 'q'));
	/* Not where it is a letter. */
	press(view, "/q\n");
}

static void numbers_are_short(void **state)
{
	static const struct {
		enum top_unit unit;
		double value;
		bool is_difference;
		const char *text;
	} rows[] = {
		{TOP_UNIT_PERCENT, 12.34, false, "12.3"}, {TOP_UNIT_PERCENT, 212, false, "212"},
		{TOP_UNIT_COUNT, 999, false, "999"},	  {TOP_UNIT_COUNT, 1200, false, "1.2k"},
		{TOP_UNIT_BYTES, 1536, false, "1.5K"},	  {TOP_UNIT_BYTES, 3e9, false, "2.8G"},
		{TOP_UNIT_NS, 850e3, false, "850us"},	  {TOP_UNIT_NS, 2.5e9, false, "2.5s"},
		{TOP_UNIT_PERCENT, 3, true, "+3.0"},	  {TOP_UNIT_PERCENT, -3, true, "-3.0"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[TOP_CELL_SIZE];

		top_column_format(rows[i].unit, rows[i].value, rows[i].is_difference, text);
		assert_string_equal(text, rows[i].text);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(before_the_first_slice_it_says_so),
		TEST(a_row_shows_figures_per_second_and_its_hottest_function),
		TEST(a_table_for_a_script_is_the_same_after_many_slices),
		TEST(rows_are_sorted_by_the_chosen_column),
		TEST(a_filter_hides_rows_and_a_search_finds_one),
		TEST(the_stacks_of_a_row_open_and_close),
		TEST(a_frozen_picture_outlives_later_slices),
		TEST(differences_are_to_the_marked_figures),
		TEST(what_is_shown_is_written_where_the_user_says),
		TEST(hostile_names_move_no_cursor),
		TEST(any_size_of_screen_is_drawn),
		TEST(the_key_q_leaves),
		cmocka_unit_test(numbers_are_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
