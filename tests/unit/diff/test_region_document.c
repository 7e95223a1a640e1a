// SPDX-License-Identifier: BSD-2-Clause
/* Tests for the formats of a comparison of regions: shares, units of heads, and how many did not
 * change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff_format.h"
#include "diff/measure_regions.h"
#include "side_fixture.h"

static struct sides sides;
static char *text;

/* Calls of 1 ms in ten slices of a second, on the new side of "slow" twice as long. "counted" has
 * no wall time. */
static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 1U << PKBPF_PROFILE_CALLS);
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < 10; i++) {
			const struct region_figures figures[] = {
				{"slow", (side + 1) * 10 * MS + i * 1000, 10, 10, false},
				{"same", 10 * MS + i * 1000, 10, 10, false},
				{"counted", 0, 10, 0, false},
			};

			sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND, 0);
			for (size_t j = 0; j < ARRAY_SIZE(figures); j++)
				assert_true(measure_region(&sides.items[side], &figures[j]));
		}
	}
	assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_SECOND}), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	free(text);
	text = NULL;
	return 0;
}

static void write_as(const char *format)
{
	struct diff_document document = {.comparison = &sides.comparison,
					 .titles = {"old.pkbpf", "new.pkbpf"}};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(diff_format_by_name(format)->write(&document, out), 0);
	fclose(out);
}

static void assert_has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void html_has_no_share_of_a_region(void **state)
{
	(void)state;
	write_as("html");
	assert_has("<td>mean</td><th scope=\"row\">slow</th><td>1.00 ms</td><td>2.00 ms</td>");
	assert_has("<td>-</td><td>-</td></tr>");
	assert_has("<dd>per second; mean, p50 and p99 per call</dd>");
}

static void markdown_says_per_what_values_are(void **state)
{
	(void)state;
	write_as("markdown");
	assert_has("base against new, per second; mean, p50 and p99 per call\n");
}

/* "slow" changed, whatever its count did. */
static void text_counts_regions_without_a_change(void **state)
{
	(void)state;
	write_as("text");
	assert_has("mean");
	assert_has("No significant change: 2 regions\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(html_has_no_share_of_a_region),
		TEST(markdown_says_per_what_values_are),
		TEST(text_counts_regions_without_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
