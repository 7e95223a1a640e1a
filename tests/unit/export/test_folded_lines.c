// SPDX-License-Identifier: BSD-2-Clause
/* Tests the lines of folded stacks: each once, sorted, with its whole weight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/string_pool.h"
#include "export/folded_lines.h"
#include "profile/kind_table.h"

struct fixture {
	struct string_pool *texts;
	struct folded_lines *lines;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.texts = string_pool_new();
	fixture.lines = folded_lines_new(fixture.texts);
	*state = &fixture;
	return !fixture.texts || !fixture.lines;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	folded_lines_free(fixture->lines);
	string_pool_free(fixture->texts);
	return 0;
}

/* "main;read", root first. */
static void add(struct fixture *fixture, const char *stack, uint64_t weight)
{
	uint32_t texts[16];
	char copy[128], *rest = copy, *name;
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", stack);
	while ((name = strsep(&rest, ";"))) {
		assert_true(count < ARRAY_SIZE(texts));
		texts[count++] = string_pool_add(fixture->texts, name);
	}
	assert_true(folded_lines_add(fixture->lines, texts, count, weight));
}

static void expect(struct fixture *fixture, enum pkbpf_profile_kind kind, const char *wanted)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(folded_lines_write(fixture->lines, kind, out));
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void the_same_stack_is_one_line_with_the_sum(void **state)
{
	add(*state, "app;main;read", 2);
	add(*state, "app;main", 1);
	add(*state, "app;main;read", 5);
	expect(*state, PKBPF_PROFILE_CPU, "app;main 1\napp;main;read 7\n");
}

static void lines_are_in_the_order_of_sort(void **state)
{
	add(*state, "b", 1);
	add(*state, "a;b", 1);
	add(*state, "a", 1);
	add(*state, "a b", 1);
	add(*state, "B", 1);
	add(*state, "a;a", 1);
	/* The C locale: capitals first, a space before digits and ';'. */
	expect(*state, PKBPF_PROFILE_CPU, "B 1\na 1\na b 1\na;a 1\na;b 1\nb 1\n");
}

static void a_beginning_of_another_line_is_a_line_of_its_own(void **state)
{
	add(*state, "app;main;a;b;c", 3);
	add(*state, "app;main;a", 4);
	add(*state, "app;main;a;b", 5);
	expect(*state, PKBPF_PROFILE_CPU, "app;main;a 4\napp;main;a;b 5\napp;main;a;b;c 3\n");
}

static void weights_are_in_the_unit_of_the_kind(void **state)
{
	uint64_t divisor = kind_ops_of(PKBPF_PROFILE_OFFCPU)->folded_divisor;
	char wanted[64];

	assert_true(divisor > 1);
	add(*state, "app;wait", 7 * divisor);
	snprintf(wanted, sizeof(wanted), "app;wait 7\n");
	expect(*state, PKBPF_PROFILE_OFFCPU, wanted);
}

static void nothing_is_an_empty_file(void **state)
{
	expect(*state, PKBPF_PROFILE_CPU, "");
}

static void many_lines_come_back_as_they_were(void **state)
{
	struct fixture *fixture = *state;
	char *text = NULL, *at, before[64] = "";
	size_t size, lines = 0;
	uint64_t sum = 0, wanted = 0;
	FILE *out;

	for (uint64_t i = 0; i < 5000; i++) {
		char stack[64];

		snprintf(stack, sizeof(stack), "app;f%llu;g%llu", (unsigned long long)(i % 37),
			 (unsigned long long)(i * 7919 % 1000));
		add(fixture, stack, i + 1);
		wanted += i + 1;
	}
	out = open_memstream(&text, &size);
	assert_true(folded_lines_write(fixture->lines, PKBPF_PROFILE_CPU, out));
	fclose(out);
	for (at = text; *at; lines++) {
		char *end = strchr(at, '\n'), *space;

		assert_non_null(end);
		*end = '\0';
		space = strrchr(at, ' ');
		sum += strtoull(space + 1, NULL, 10);
		*space = '\0';
		assert_true(strcmp(before, at) < 0);
		snprintf(before, sizeof(before), "%s", at);
		at = end + 1;
	}
	assert_int_equal(sum, wanted);
	assert_in_range(lines, 1000, 5000);
	free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_same_stack_is_one_line_with_the_sum),
		TEST(lines_are_in_the_order_of_sort),
		TEST(a_beginning_of_another_line_is_a_line_of_its_own),
		TEST(weights_are_in_the_unit_of_the_kind),
		TEST(nothing_is_an_empty_file),
		TEST(many_lines_come_back_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
