// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/diff_words: values with their unit, changes with their sign, and notes. */
#include <stdio.h>
#include <string.h>

#include "diff/diff_words.h"
#include "side_fixture.h"

static char text[DIFF_WORDS_SIZE];

static void values_have_the_unit_of_their_kind(void **state)
{
	static const struct {
		uint32_t kind;
		double value;
		const char *text;
	} rows[] = {
		{PKBPF_PROFILE_CPU, 312 * MS, "312 ms"},
		{PKBPF_PROFILE_CPU, 1500 * MS, "1.50 s"},
		{PKBPF_PROFILE_CPU, 0, "0 ns"},
		{PKBPF_PROFILE_CPU, 0.25, "0.250 ns"},
		{PKBPF_PROFILE_OFFCPU, 20 * MS, "20.0 ms"},
		{PKBPF_PROFILE_FAULTS, 12, "12"},
		{PKBPF_PROFILE_FAULTS, 0.125, "0.125"},
		{PKBPF_PROFILE_LIVE, 3 << 20, "3.00 MiB"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(diff_words_amount(text, rows[i].kind, rows[i].value),
				    rows[i].text);
	assert_true(diff_words_is_time(&(struct diff_key){.kind = PKBPF_PROFILE_CPU}));
	assert_true(diff_words_is_time(&(struct diff_key){.kind = PKBPF_PROFILE_BLOCKIO}));
	assert_false(diff_words_is_time(&(struct diff_key){.kind = PKBPF_PROFILE_FAULTS}));
	assert_false(diff_words_is_time(&(struct diff_key){.kind = PKBPF_PROFILE_ALLOC}));
	assert_true(diff_words_is_time(
		&(struct diff_key){.kind = PKBPF_PROFILE_CALLS, .level = DIFF_REGION_P99}));
	assert_string_equal(diff_words_value(text,
					     &(struct diff_key){.kind = PKBPF_PROFILE_CALLS,
								.level = DIFF_REGION_COUNT},
					     1200),
			    "1,200");
}

static struct diff_row row_of(double base, double new)
{
	return (struct diff_row){.key = {.kind = PKBPF_PROFILE_CPU},
				 .sides = {{.value = base}, {.value = new}},
				 .change = new - base,
				 .has_ratio = base > 0,
				 .ratio = base > 0 ? new / base - 1 : 0,
				 .evidence = DIFF_BY_SLICES};
}

static void changes_have_a_sign(void **state)
{
	static const struct {
		double base, new;
		const char *text;
	} rows[] = {
		{100, 105, "+5.0 %"},	 {100, 95, "-5.0 %"},
		{100, 100, "+0.0 %"},	 {100, 350, "+250 %"},
		{100, 199.9, "+99.9 %"}, {0, 5, "new"},
		{5, 0, "gone"},		 {0, 0, "-"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct diff_row row = row_of(rows[i].base, rows[i].new);

		assert_string_equal(diff_words_change(text, &row), rows[i].text);
	}
}

static void a_change_without_a_ratio_has_the_unit_of_its_values(void **state)
{
	struct diff_row row = row_of(100 * MS, 80 * MS);

	(void)state;
	row.has_ratio = false;
	assert_string_equal(diff_words_change(text, &row), "-20.0 ms");
	row.low = -30 * MS;
	row.high = 2 * MS;
	assert_string_equal(diff_words_interval(text, &row), "-30.0 ms to +2.00 ms");
}

static void an_interval_is_of_what_the_row_rests_on(void **state)
{
	struct diff_row row = row_of(100, 105);

	(void)state;
	row.ratio_low = -0.012;
	row.ratio_high = 1.5;
	assert_string_equal(diff_words_interval(text, &row), "-1.2 to +150 %");
	row.evidence = DIFF_BY_NOTHING;
	assert_string_equal(diff_words_interval(text, &row), "");
}

static void shares_are_percent(void **state)
{
	struct diff_row row = row_of(1, 1);

	(void)state;
	row.sides[DIFF_BASE].share = 0.312;
	row.sides[DIFF_NEW].share = 1;
	assert_string_equal(diff_words_share(text, &row), "31.2 -> 100.0 %");
}

static void work_and_levels_have_names(void **state)
{
	(void)state;
	assert_string_equal(diff_words_per(&(struct diff_work){.per = DIFF_PER_SECOND}), "second");
	assert_string_equal(diff_words_per(&(struct diff_work){.per = DIFF_PER_RUN}), "run");
	assert_string_equal(
		diff_words_per(&(struct diff_work){.per = DIFF_PER_WORK, .name = "request"}),
		"request");
	for (uint32_t level = 0; level < DIFF_LEVELS; level++)
		assert_non_null(diff_words_level(level));
	assert_string_equal(diff_words_level(DIFF_SELF), "self");
	assert_string_equal(diff_words_level(DIFF_TOTAL), "total");
	assert_string_equal(diff_words_counted(text, 1, DIFF_PROCESS), "1 process");
	assert_string_equal(diff_words_counted(text, 12, DIFF_PROCESS), "12 processes");
	assert_string_equal(diff_words_counted(text, 1, DIFF_SELF), "1 function");
	assert_string_equal(diff_words_counted(text, 2, DIFF_CONTAINER), "2 containers");
}

/* ---- sides and notes ---- */

static struct sides sides;

static void compare(uint32_t base_slices, uint32_t new_slices)
{
	const uint32_t counts[] = {base_slices, new_slices};
	struct diff_key key;

	sides_init(&sides, 1U << PKBPF_PROFILE_CPU);
	key = sides_key(&sides, PKBPF_PROFILE_CPU, DIFF_PROCESS, "app");
	for (int side = 0; side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < counts[side]; i++) {
			sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND, 0);
			sides_add(&sides, (enum diff_side)side, key, 100 * MS + i, 0);
		}
	assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_SECOND}), 0);
}

static bool has_note(const char *part)
{
	char notes[DIFF_NOTES_MAX][512];
	size_t count = diff_words_notes(&sides.comparison, notes);

	for (size_t i = 0; i < count; i++)
		if (strstr(notes[i], part))
			return true;
	return false;
}

static void a_side_says_how_long_and_of_what_it_is(void **state)
{
	char side[256];

	(void)state;
	compare(10, 10);
	snprintf(sides.items[0].targets, sizeof(sides.items[0].targets), "comm app");
	snprintf(sides.items[0].host, sizeof(sides.items[0].host), "db1");
	diff_words_side(side, sizeof(side), &sides.items[0], "a.pkbpf");
	assert_string_equal(side, "a.pkbpf: 10.0 s in 10 slices, comm app on db1");
	sides.items[0].run_count = 3;
	diff_words_side(side, 12, &sides.items[0], "a.pkbpf");
	assert_int_equal(strlen(side), 11);
	diff_words_side(side, sizeof(side), &sides.items[0], "a");
	assert_non_null(strstr(side, "in 10 slices of 3 runs"));
	sides_done(&sides);
}

static void too_few_slices_are_noted_with_a_remedy(void **state)
{
	(void)state;
	compare(1, 1);
	assert_true(has_note("both sides have fewer than 5 slices"));
	assert_true(has_note("--slice 100ms"));
	sides_done(&sides);
	compare(20, 1);
	assert_true(has_note("the new side has fewer"));
	sides_done(&sides);
	compare(1, 20);
	assert_true(has_note("the base side has fewer"));
	sides_done(&sides);
	compare(20, 20);
	assert_false(has_note("Noise is not known"));
	assert_true(has_note("Each side is one run"));
	sides_done(&sides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_the_unit_of_their_kind),
		cmocka_unit_test(changes_have_a_sign),
		cmocka_unit_test(a_change_without_a_ratio_has_the_unit_of_its_values),
		cmocka_unit_test(an_interval_is_of_what_the_row_rests_on),
		cmocka_unit_test(shares_are_percent),
		cmocka_unit_test(work_and_levels_have_names),
		cmocka_unit_test(a_side_says_how_long_and_of_what_it_is),
		cmocka_unit_test(too_few_slices_are_noted_with_a_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
