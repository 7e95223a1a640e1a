// SPDX-License-Identifier: BSD-2-Clause
/* Tests that files are told apart by their first bytes. */
#include <errno.h>
#include <string.h>

#include "diff/baseline.h"
#include "diff/measure_file.h"
#include "recording/recording_file.h"
#include "side_fixture.h"
#include "temp_tree.h"

static struct sides sides;
static struct temp_tree tree;
static struct error error;

static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 0);
	temp_tree_init(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_tree_done(&tree);
	sides_done(&sides);
	return 0;
}

static int measure(const char *text, const struct slice_choice *choice)
{
	size_t damaged = 0;

	temp_tree_file(&tree, "file", text);
	error.text[0] = '\0';
	return measure_file(&sides.items[DIFF_BASE], temp_tree_path(&tree, "file"), choice,
			    &damaged, &error);
}

static void assert_says(const char *part)
{
	if (!strstr(error.text, part))
		fail_msg("'%s' is not in: %s", part, error.text);
}

static void each_kind_has_its_reader(void **state)
{
	static const struct slice_choice all;
	char others[sizeof(error.text)];

	(void)state;
	assert_true(measure("{\"tool\":{}}", &all) < 0);
	assert_says("no report of pkbpf");
	assert_true(measure("text that is none of them", &all) < 0);
	snprintf(others, sizeof(others), "%s", error.text);
	/* Damaged, each in its own words. */
	assert_true(measure(BASELINE_MAGIC "damaged", &all) < 0);
	assert_string_not_equal(error.text, others);
	assert_true(measure(RECORDING_FILE_MAGIC "damaged", &all) < 0);
	assert_string_not_equal(error.text, others);
	assert_int_equal(measure_file(&sides.items[DIFF_BASE], temp_tree_path(&tree, "none"), &all,
				      &(size_t){0}, &error),
			 -ENOENT);
	assert_says("cannot open ");
}

static void processes_are_chosen_from_recordings_alone(void **state)
{
	const struct slice_choice choice = {.comm = "a"};

	(void)state;
	assert_int_equal(measure("{}", &choice), -EINVAL);
	assert_says("is no recording: --pid, --comm and --container choose from recordings alone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_kind_has_its_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(processes_are_chosen_from_recordings_alone, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
