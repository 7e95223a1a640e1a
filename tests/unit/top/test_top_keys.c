// SPDX-License-Identifier: BSD-2-Clause
/* Tests what each key of the live view does, as its screen says. */
#include "top_fixture.h"

static void press_key(struct view *view, int key)
{
	assert_true(top_press(view->top, key));
}

static size_t cursor_line(struct view *view)
{
	assert_int_equal(top_draw(view->top, &view->screen), 0);
	for (size_t i = 0; i < view->screen.used && i < view->screen.height; i++)
		if (view->screen.lines[i].attributes[0] == TOP_CURSOR)
			return i;
	fail_msg("no cursor");
	return 0;
}

static const char *cursor_text(struct view *view)
{
	return view->screen.lines[cursor_line(view)].text;
}

static void the_cursor_moves_and_stays_within_its_rows(void **state)
{
	struct view *view = *state;
	size_t first, last;

	add_slice(view);
	first = cursor_line(view);
	press_key(view, TOP_KEY_UP);
	assert_int_equal(cursor_line(view), first);
	press_key(view, TOP_KEY_DOWN);
	assert_int_equal(cursor_line(view), first + 1);
	press_key(view, TOP_KEY_UP);
	assert_int_equal(cursor_line(view), first);
	press_key(view, TOP_KEY_END);
	last = cursor_line(view);
	assert_true(last > first + 1);
	press_key(view, TOP_KEY_DOWN);
	assert_int_equal(cursor_line(view), last);
	press_key(view, TOP_KEY_HOME);
	assert_int_equal(cursor_line(view), first);
	press_key(view, TOP_KEY_PAGE_DOWN);
	assert_true(cursor_line(view) > first);
	press_key(view, TOP_KEY_PAGE_UP);
	assert_int_equal(cursor_line(view), first);
}

static void the_help_names_each_key_and_column_and_any_key_leaves_it(void **state)
{
	struct view *view = *state;
	const struct top_column *column;

	top_screen_done(&view->screen);
	assert_int_equal(top_screen_init(&view->screen, 100, 80), 0);
	add_slice(view);
	for (int i = 0; i < 3; i++) {
		static const int keys[] = {'?', 'h', TOP_KEY_F1};

		press_key(view, keys[i]);
		assert_non_null(line_with(view, "keys (any key goes back)"));
		assert_non_null(line_with(view, "freeze the picture"));
		assert_non_null(line_with(view, "sort by that column; quit"));
		for (size_t j = 0; (column = top_column_at(j)); j++)
			assert_non_null(line_with(view, column->explanation));
		/* Also what would quit. */
		press_key(view, 'q');
		assert_null(line_with(view, "any key goes back"));
		assert_non_null(line_with(view, "nginx"));
	}
}

static void arrows_choose_the_column_beside_and_stop_at_the_last(void **state)
{
	struct view *view = *state;
	const struct top_column *column;
	char said[64] = "";

	add_slice(view);
	press(view, ">");
	assert_non_null(line_with(view, "sorted by RUNQ%"));
	press(view, "<<");
	/* What rows of processes do not have is left out. */
	assert_non_null(line_with(view, "sorted by CONTAINER"));
	for (size_t i = 0; (column = top_column_at(i)); i++)
		press(view, "<");
	press(view, ">");
	assert_non_null(line_with(view, "sorted by COMM"));
	for (size_t i = 0; (column = top_column_at(i)); i++) {
		press_key(view, TOP_KEY_F6);
		snprintf(said, sizeof(said), "sorted by %s", column->title);
	}
	/* The last one that is there stays. */
	press(view, "<>");
	assert_non_null(line_with(view, said));
}

static void numbers_choose_columns_of_the_grouping(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "1");
	assert_non_null(line_with(view, "sorted by PID"));
	press(view, "3");
	assert_non_null(line_with(view, "sorted by CONTAINER"));
	press(view, "4");
	assert_non_null(line_with(view, "sorted by CPU%"));
	/* By comm there is no pid, and no container. */
	press(view, "c1");
	assert_non_null(line_with(view, "sorted by COMM"));
	press(view, "2");
	assert_non_null(line_with(view, "sorted by CPU%"));
}

static void letters_choose_columns(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "M");
	assert_non_null(line_with(view, "sorted by RSS"));
	press(view, "I");
	assert_non_null(line_with(view, "sorted by WRIT/s"));
	press(view, "P");
	assert_non_null(line_with(view, "sorted by CPU%"));
	press(view, "R");
	assert_non_null(line_with(view, "sorted by CPU%, reversed"));
	press(view, "R");
	assert_null(line_with(view, "reversed"));
}

static void rows_go_round_process_comm_and_container(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "c");
	assert_non_null(line_with(view, "by comm"));
	press(view, "c");
	assert_non_null(line_with(view, "by container"));
	press(view, "c");
	assert_non_null(line_with(view, "by process"));
}

static void a_column_that_the_next_grouping_lacks_sorts_no_longer(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "1c");
	assert_int_equal(top_column_find("PID", ROWS_BY_COMM), -1);
	press(view, "<");
	/* To the left of CPU%. */
	assert_non_null(line_with(view, "sorted by COMM"));
}

static void threads_are_told_apart_only_when_they_were_kept_apart(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "t");
	assert_non_null(line_with(view, "--per-thread"));
	assert_null(line_with(view, "by thread"));
}

static void the_minute_is_more_than_its_last_slice(void **state)
{
	struct view *view = *state;

	add_slice(view);
	add_slice(view);
	press(view, "a");
	assert_non_null(line_with(view, "the last minute"));
	press(view, "r");
	assert_non_null(line_with(view, "the minute begins anew"));
	press(view, "a");
	assert_non_null(line_with(view, "the last slice"));
	/* Of a picture that stands still there is no other time. */
	press(view, " a");
	assert_non_null(line_with(view, "frozen: space goes on"));
	press(view, " a");
	assert_non_null(line_with(view, "the last minute"));
}

static void the_cursor_follows_its_row_when_asked(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "/postgres\nf");
	assert_non_null(line_with(view, "following postgres"));
	press(view, "I");
	assert_non_null(strstr(cursor_text(view), "postgres"));
	press(view, "P");
	assert_non_null(strstr(cursor_text(view), "postgres"));
	press(view, "f");
	assert_non_null(line_with(view, "no longer following postgres"));
}

static void a_search_goes_on_and_round(void **state)
{
	struct view *view = *state;
	size_t first;

	add_slice(view);
	/* Without a search there is nothing to go on with. */
	first = cursor_line(view);
	press(view, "n");
	assert_int_equal(cursor_line(view), first);
	press(view, "/NGINX\n");
	assert_non_null(strstr(cursor_text(view), "nginx"));
	first = cursor_line(view);
	press(view, "n");
	assert_non_null(strstr(cursor_text(view), "nginx"));
	assert_int_equal(cursor_line(view), first);
}

static void what_is_typed_can_be_mended_and_given_up(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "\\nginy");
	press_key(view, TOP_KEY_BACKSPACE);
	press(view, "x\n");
	assert_non_null(line_with(view, "[filter: nginx]"));
	press(view, "\\other");
	press_key(view, TOP_KEY_ESCAPE);
	assert_non_null(line_with(view, "[filter: nginx]"));
	/* Keys of the view are letters there. */
	press(view, "\\q\n");
	assert_non_null(line_with(view, "[filter: q]"));
	/* What moves no cursor and is no character is left out; an empty one holds nothing. */
	press_key(view, TOP_KEY_F4);
	press_key(view, TOP_KEY_BACKSPACE);
	press_key(view, TOP_KEY_UP);
	press_key(view, 0x1b);
	press(view, "\n");
	assert_null(line_with(view, "[filter:"));
}

static void more_than_a_line_is_not_typed(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "w");
	for (int i = 0; i < 10000; i++)
		press(view, "x");
	press(view, "\n");
	assert_non_null(view->written);
	assert_int_equal(strspn(view->written_to, "x"), sizeof(view->written_to) - 1);
}

static void an_empty_name_writes_nothing(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "w\n");
	assert_null(view->written);
}

static void stacks_show_the_minute_and_the_table_what_it_showed(void **state)
{
	struct view *view = *state;

	add_slice(view);
	press(view, "/nginx\n");
	press_key(view, TOP_KEY_RIGHT);
	assert_non_null(line_with(view, "nginx pid 88  CPU"));
	/* Other rows, other times: not from here. */
	press(view, "c");
	assert_non_null(line_with(view, "nginx pid 88  CPU"));
	press_key(view, TOP_KEY_DOWN);
	press_key(view, TOP_KEY_UP);
	press_key(view, TOP_KEY_LEFT);
	assert_non_null(line_with(view, "nginx pid 88  CPU"));
	press_key(view, TOP_KEY_ESCAPE);
	assert_non_null(line_with(view, "postgres"));
	/* There is nothing further back. */
	press_key(view, TOP_KEY_ESCAPE);
	assert_non_null(line_with(view, "postgres"));
}

static void the_kinds_of_stacks_go_round(void **state)
{
	struct view *view = *state;
	int kinds = 0;

	add_slice(view);
	press(view, "/postgres\n\n");
	assert_non_null(line_with(view, "  CPU"));
	do {
		press_key(view, TOP_KEY_TAB);
		kinds++;
	} while (kinds < PKBPF_PROFILE_KINDS && !line_with(view, "postgres pid 812  CPU"));
	assert_in_range(kinds, 2, PKBPF_PROFILE_KINDS - 1);
}

static void keys_before_the_first_slice_do_nothing(void **state)
{
	static const int keys[] = {
		TOP_KEY_UP,  TOP_KEY_DOWN, TOP_KEY_END, TOP_KEY_ENTER, TOP_KEY_ESCAPE,
		TOP_KEY_TAB, '+',	   '-',		'f',	       'd',
		'n',	     ' ',	   'a',		'r',	       'c',
		'9'};
	struct view *view = *state;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		press_key(view, keys[i]);
		assert_int_equal(top_draw(view->top, &view->screen), 0);
	}
	press(view, "wout.txt\n");
	assert_null(view->written);
}

static void only_q_leaves(void **state)
{
	struct view *view = *state;

	add_slice(view);
	for (int key = ' '; key < 0x7f; key++) {
		bool is_typed = key == '/' || key == '\\' || key == 'w';

		assert_int_equal(top_press(view->top, key), key != 'q');
		if (is_typed)
			press_key(view, TOP_KEY_ESCAPE);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_cursor_moves_and_stays_within_its_rows),
		TEST(the_help_names_each_key_and_column_and_any_key_leaves_it),
		TEST(arrows_choose_the_column_beside_and_stop_at_the_last),
		TEST(numbers_choose_columns_of_the_grouping),
		TEST(letters_choose_columns),
		TEST(rows_go_round_process_comm_and_container),
		TEST(a_column_that_the_next_grouping_lacks_sorts_no_longer),
		TEST(threads_are_told_apart_only_when_they_were_kept_apart),
		TEST(the_minute_is_more_than_its_last_slice),
		TEST(the_cursor_follows_its_row_when_asked),
		TEST(a_search_goes_on_and_round),
		TEST(what_is_typed_can_be_mended_and_given_up),
		TEST(more_than_a_line_is_not_typed),
		TEST(an_empty_name_writes_nothing),
		TEST(stacks_show_the_minute_and_the_table_what_it_showed),
		TEST(the_kinds_of_stacks_go_round),
		TEST(keys_before_the_first_slice_do_nothing),
		TEST(only_q_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
