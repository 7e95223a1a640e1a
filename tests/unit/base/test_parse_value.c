// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/parse_value: what people may type, and what they are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse_value.h"

#define UNTOUCHED 0xdeadbeefULL

static void reads_whole_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		int err;
		uint64_t value;
	} cases[] = {
		{"0", 0, 10, 0, 0},
		{"10", 0, 10, 0, 10},
		{"007", 1, 10, 0, 7},
		{"18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX},
		{"18446744073709551616", 0, UINT64_MAX, -ERANGE, 0},
		{"184467440737095516150", 0, UINT64_MAX, -ERANGE, 0},
		{"99999999999999999999999999999999999999", 0, UINT64_MAX, -ERANGE, 0},
		{"11", 0, 10, -ERANGE, 0},
		{"4", 5, 10, -ERANGE, 0},
		{"", 0, 10, -EINVAL, 0},
		{" 1", 0, 10, -EINVAL, 0},
		{"1 ", 0, 10, -EINVAL, 0},
		{"+1", 0, 10, -EINVAL, 0},
		{"-1", 0, 10, -EINVAL, 0},
		{"0x1", 0, 10, -EINVAL, 0},
		{"1e3", 0, 10000, -EINVAL, 0},
		{"1.0", 0, 10, -EINVAL, 0},
		{"\xd9\xa1", 0, 10, -EINVAL, 0}, /* an Arabic digit one */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = UNTOUCHED;
		struct error error = {""};
		int err = parse_u64(cases[i].text, "--top", cases[i].min, cases[i].max, &value,
				    &error);

		if (err != cases[i].err || value != (err ? UNTOUCHED : cases[i].value))
			fail_msg("'%s' gives %d and %lu", cases[i].text, err, value);
		assert_int_equal(strstr(error.text, "--top") != NULL, err != 0);
	}
}

static void reads_moments(void **state)
{
	static const struct {
		const char *text;
		struct parsed_moment moment;
		int err;
	} cases[] = {
		{"1.5s", {.after_ns = 1500000000}, 0},
		{"1970-01-02T00:00:01Z", {.is_absolute = true, .unix_ns = 86401000000000}, 0},
		{"19700102T000001Z", {.is_absolute = true, .unix_ns = 86401000000000}, 0},
		{"1970-01-02T00:00:01Zulu", {0}, -EINVAL},
		{"1970-01-02T", {0}, -EINVAL},
		{"T", {0}, -EINVAL},
		{"", {0}, -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parsed_moment moment;
		struct error error = {""};

		assert_int_equal(parse_moment(cases[i].text, "--from", &moment, &error),
				 cases[i].err);
		assert_int_equal(strstr(error.text, "--from") != NULL, cases[i].err != 0);
		if (cases[i].err)
			continue;
		assert_int_equal(moment.is_absolute, cases[i].moment.is_absolute);
		assert_int_equal(moment.after_ns, cases[i].moment.after_ns);
		assert_int_equal(moment.unix_ns, cases[i].moment.unix_ns);
	}
}

static void reads_durations(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t ns;
	} cases[] = {
		{"10", 0, 10000000000ULL},
		{"10s", 0, 10000000000ULL},
		{"500ms", 0, 500000000ULL},
		{"20us", 0, 20000},
		{"7ns", 0, 7},
		{"5m", 0, 300000000000ULL},
		{"1h", 0, 3600000000000ULL},
		{"1.5s", 0, 1500000000ULL},
		{"1.5", 0, 1500000000ULL},
		{"0.000000001s", 0, 1},
		{"0.1ms", 0, 100000},
		{"1.25h", 0, 4500000000000ULL},
		{"1.9ns", 0, 1},
		{"1.0000000000000000000000000000000000001s", 0, 1000000000ULL},
		{"0.999999999999999999999s", 0, 999999999ULL},
		{"876000h", 0, 3153600000000000000ULL},
		{"876001h", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"18446744073709551615h", -ERANGE, 0},
		{"18446744073709551616ns", -ERANGE, 0}, /* would wrap to 0 */
		{"0", -ERANGE, 0},
		{"0s", -ERANGE, 0},
		{"0.0ms", -ERANGE, 0},
		{"0.9ns", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"1.", -EINVAL, 0},
		{".5s", -EINVAL, 0},
		{".", -EINVAL, 0},
		{"1.s", -EINVAL, 0},
		{"1.5.5s", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{"1s ", -EINVAL, 0},
		{"1S", -EINVAL, 0},
		{"1M", -EINVAL, 0},
		{"1d", -EINVAL, 0},
		{"1m30s", -EINVAL, 0},
		{"1e9ns", -EINVAL, 0},
		{"inf", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ns = UNTOUCHED;
		struct error error = {""};
		int err = parse_duration_ns(cases[i].text, "--duration", &ns, &error);

		if (err != cases[i].err || ns != (err ? UNTOUCHED : cases[i].ns))
			fail_msg("'%s' gives %d and %lu", cases[i].text, err, ns);
		assert_int_equal(strstr(error.text, "--duration") != NULL, err != 0);
	}
}

static void reads_sizes(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t bytes;
	} cases[] = {
		{"64", 0, 64},
		{"0", 0, 0},
		{"64B", 0, 64},
		{"64K", 0, 65536},
		{"64k", 0, 65536},
		{"64KB", 0, 65536},
		{"64MiB", 0, 67108864},
		{"64mib", 0, 67108864},
		{"2G", 0, 2147483648ULL},
		{"3T", 0, 3298534883328ULL},
		{"17179869183G", 0, 18446744072635809792ULL},
		{"17179869184G", -ERANGE, 0},
		{"16777216T", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"K", -EINVAL, 0},
		{"64Ki", -EINVAL, 0},
		{"64KK", -EINVAL, 0},
		{"64 K", -EINVAL, 0},
		{"-64", -EINVAL, 0},
		{"1.5G", -EINVAL, 0},
		{"0x40", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t bytes = UNTOUCHED;
		struct error error = {""};
		int err = parse_size_bytes(cases[i].text, "--buffer", &bytes, &error);

		if (err != cases[i].err || bytes != (err ? UNTOUCHED : cases[i].bytes))
			fail_msg("'%s' gives %d and %lu", cases[i].text, err, bytes);
		assert_int_equal(strstr(error.text, "--buffer") != NULL, err != 0);
	}
}

static void reads_list_and_drops_repeats(void **state)
{
	struct u32_list list = {0};

	assert_int_equal(parse_u32_list("1,2,30,2,1,4294967295", "--pid", UINT32_MAX, &list, NULL),
			 0);
	assert_int_equal(list.count, 4);
	assert_int_equal(list.items[0], 1);
	assert_int_equal(list.items[1], 2);
	assert_int_equal(list.items[2], 30);
	assert_int_equal(list.items[3], UINT32_MAX);
	assert_int_equal(parse_u32_list("30,5", "--pid", 100, &list, NULL), 0);
	assert_int_equal(list.count, 5);
	assert_int_equal(list.items[4], 5);
	free(list.items);
}

static void refused_list_leaves_list_as_it_was(void **state)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{"", -EINVAL},
		{",", -EINVAL},
		{"5,", -EINVAL},
		{",5", -EINVAL},
		{"5,,6", -EINVAL},
		{"5, 6", -EINVAL},
		{"5;6", -EINVAL},
		{"5,-6", -EINVAL},
		{"5,x", -EINVAL},
		{"5,0", -ERANGE},
		{"5,101", -ERANGE},
		{"5,4294967297", -ERANGE},
		{"5,18446744073709551617", -ERANGE},
	};
	struct u32_list list = {0};

	assert_int_equal(parse_u32_list("7", "--pid", 100, &list, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = {""};

		if (parse_u32_list(cases[i].text, "--pid", 100, &list, &error) != cases[i].err)
			fail_msg("'%s' is not refused as it should", cases[i].text);
		assert_non_null(strstr(error.text, "--pid"));
		assert_int_equal(list.count, 1);
		assert_int_equal(list.items[0], 7);
	}
	free(list.items);
}

static char *list_of(unsigned int first, unsigned int count)
{
	char *text = malloc((size_t)count * 12 + 1);
	size_t used = 0;

	for (unsigned int i = 0; i < count; i++)
		used += (size_t)sprintf(text + used, i ? ",%u" : "%u", first + i);
	return text;
}

static void list_holds_4096_items_and_no_more(void **state)
{
	struct u32_list list = {0};
	struct error error;
	char *fits = list_of(1, 4096), *too_long = list_of(1, 4097);

	assert_int_equal(parse_u32_list(fits, "--tid", UINT32_MAX, &list, NULL), 0);
	assert_int_equal(list.count, 4096);
	assert_int_equal(parse_u32_list("4097", "--tid", UINT32_MAX, &list, &error), -ERANGE);
	assert_non_null(strstr(error.text, "at most 4096"));
	assert_int_equal(parse_u32_list(fits, "--tid", UINT32_MAX, &list, NULL), 0);
	list.count = 0;
	assert_int_equal(parse_u32_list(too_long, "--tid", UINT32_MAX, &list, NULL), -ERANGE);
	assert_int_equal(list.count, 0);
	free(fits);
	free(too_long);
	free(list.items);
}

static void says_what_failed_and_what_to_do(void **state)
{
	struct error error;
	uint64_t value;

	parse_duration_ns("10x", "--duration", &value, &error);
	assert_string_equal(error.text, "invalid value '10x' for --duration: expected a time like "
					"10, 10s, 500ms, 20us, 5m or 1h");
	parse_u64("0", "--top", 1, 1000, &value, &error);
	assert_string_equal(error.text,
			    "invalid value '0' for --top: expected a number from 1 to 1000");
}

static void shortens_and_cleans_typed_text_in_sentences(void **state)
{
	struct error error;
	uint64_t value;
	char text[5000] = "\x1b[31m";

	memset(text + 5, 'y', sizeof(text) - 6);
	assert_int_equal(parse_u64(text, "--top", 1, 2, &value, &error), -EINVAL);
	assert_null(strchr(error.text, '\x1b'));
	assert_non_null(strstr(error.text, "'?[31myyy"));
	assert_non_null(strstr(error.text, "from 1 to 2"));
	assert_true(strlen(error.text) < 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_whole_numbers),
		cmocka_unit_test(reads_durations),
		cmocka_unit_test(reads_moments),
		cmocka_unit_test(reads_sizes),
		cmocka_unit_test(reads_list_and_drops_repeats),
		cmocka_unit_test(refused_list_leaves_list_as_it_was),
		cmocka_unit_test(list_holds_4096_items_and_no_more),
		cmocka_unit_test(says_what_failed_and_what_to_do),
		cmocka_unit_test(shortens_and_cleans_typed_text_in_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
