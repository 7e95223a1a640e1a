// SPDX-License-Identifier: BSD-2-Clause
/* Rows of a made-up command line, and where their values land. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/option_row.h"

struct options {
	uint8_t before;
	bool flag;
	uint8_t after;
	uint32_t number;
	uint64_t time_ns, bytes;
	enum { BLACK, WHITE, GREY } color;
	bool is_never;
	unsigned int count;
	const char *text;
};

static int refuse(void *options, const char *value, struct error *error)
{
	return error_set(error, ERANGE, "refused %s", value);
}

static const char *const colors[] = {"black", "white", "grey", NULL};
static const char *const answers[] = {"auto", "never", NULL};

#define AT(member) OPTION_AT(struct options, member)

static const struct option_row flag = {0, "flag", NULL, "", .form = OPTION_FLAG, AT(flag)};
static const struct option_row grey = {
	0, "grey", NULL, "", .form = OPTION_CONSTANT, AT(color), .constant = GREY};
static const struct option_row more = {0, "more", NULL, "", .form = OPTION_COUNT, AT(count)};
static const struct option_row number = {
	0, "number", "N", "", .form = OPTION_NUMBER, AT(number), .least = 1, .most = 10};
static const struct option_row duration = {0,	       "time", "TIME", "", .form = OPTION_DURATION,
					   AT(time_ns)};
static const struct option_row size = {
	0, "size", "SIZE", "", .form = OPTION_SIZE, AT(bytes), .least = 4 << 20, .most = 1 << 30};
static const struct option_row color = {
	0, "color", "COLOR", "", .form = OPTION_CHOICE, AT(color), .choices = colors};
static const struct option_row answer = {
	0, "ask", "auto|never", "", .form = OPTION_CHOICE, AT(is_never), .choices = answers};
static const struct option_row text = {0, "text", "TEXT", "", .form = OPTION_TEXT, AT(text)};
static const struct option_row parsed = {0, "own", "X", "", .form = OPTION_PARSED, .parse = refuse};

static void a_value_lands_in_its_member_and_nowhere_else(void **state)
{
	struct options options = {0}, expected = {0};
	struct error error;

	assert_int_equal(option_row_apply(&flag, &options, NULL, &error), 0);
	expected.flag = true;
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&number, &options, "7", &error), 0);
	expected.number = 7;
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&duration, &options, "20ms", &error), 0);
	expected.time_ns = 20000000;
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&size, &options, "8M", &error), 0);
	expected.bytes = 8 << 20;
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&color, &options, "grey", &error), 0);
	expected.color = GREY;
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&answer, &options, "never", &error), 0);
	expected.is_never = true;
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&color, &options, "white", &error), 0);
	assert_int_equal(option_row_apply(&grey, &options, NULL, &error), 0);
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&more, &options, NULL, &error), 0);
	assert_int_equal(option_row_apply(&more, &options, NULL, &error), 0);
	expected.count = 2;
	assert_memory_equal(&options, &expected, sizeof(options));
	assert_int_equal(option_row_apply(&text, &options, "word", &error), 0);
	assert_string_equal(options.text, "word");
}

static void a_wrong_value_is_refused_by_name_and_changes_nothing(void **state)
{
	static const struct {
		const struct option_row *row;
		const char *value;
		int err;
		const char *part; /* of the sentence */
	} rows[] = {
		{&number, "0", -ERANGE, "--number"},
		{&number, "11", -ERANGE, "--number"},
		{&number, "x", -EINVAL, "--number"},
		{&duration, "0", -ERANGE, "--time"},
		{&size, "1M", -ERANGE, "--size"},
		{&size, "2G", -ERANGE, "expected 4M to 1024M"},
		{&color, "red", -EINVAL, "--color: expected black, white or grey"},
		{&answer, "always", -EINVAL, "--ask: expected auto or never"},
		{&text, "", -EINVAL, "--text requires a value: --text TEXT"},
		{&parsed, "it", -ERANGE, "refused it"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct options options = {0}, before = {0};
		struct error error = {0};

		assert_int_equal(option_row_apply(rows[i].row, &options, rows[i].value, &error),
				 rows[i].err);
		assert_non_null(strstr(error.text, rows[i].part));
		assert_memory_equal(&options, &before, sizeof(options));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_lands_in_its_member_and_nowhere_else),
		cmocka_unit_test(a_wrong_value_is_refused_by_name_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
