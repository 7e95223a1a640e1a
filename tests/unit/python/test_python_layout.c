// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_layout: the table of versions, and offsets that an interpreter
 * publishes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "python/python_layout.h"

static void knows_releases_of_3_8_to_3_15(void **state)
{
	struct pkbpf_python_layout layout;

	(void)state;
	for (unsigned int minor = 8; minor <= 15; minor++) {
		assert_true(python_layout_of(PYTHON_VERSION(minor) | 0x2f0, false, &layout));
		assert_int_equal(layout.minor, minor);
		assert_int_equal(python_layout_of(PYTHON_VERSION(minor), true, &layout),
				 minor >= 13);
	}
	assert_false(python_layout_of(PYTHON_VERSION(7) | 0x5f0, false, &layout));
	assert_false(python_layout_of(PYTHON_VERSION(16), false, &layout));
	assert_false(python_layout_of(0x020712f0, false, &layout));
	assert_false(python_layout_of(0, false, &layout));
	/* 3.14.0a3: fields move until the first release */
	assert_false(python_layout_of(0x030e00a3, false, &layout));
	assert_true(python_layout_of(0x030e00c2, false, &layout));
}

/* What 3.15 publishes, up to the code object's group. */
struct published {
	uint64_t words[PYTHON_DEBUG_OFFSETS_BYTES / 8];
};

enum { RUNTIME = 3, INTERPRETER = 6, THREAD = 22, FRAME = 39, CODE = 47 };

static struct published published_3_15(uint32_t version)
{
	struct published published = {0};
	uint64_t *words = published.words;

	memcpy(&words[0], PYTHON_DEBUG_COOKIE, 8);
	words[1] = version;
	memcpy(&words[RUNTIME], (uint64_t[]){240000, 700, 936}, 3 * 8);
	memcpy(&words[INTERPRETER], (uint64_t[]){300000, 7272, 7264, 7336}, 4 * 8);
	words[INTERPRETER + 14] = 9000;
	memcpy(&words[THREAD], (uint64_t[]){900, 0, 8, 16, 72, 80, 88, 96, 176}, 9 * 8);
	memcpy(&words[FRAME], (uint64_t[]){88, 8, 0, 56, 80, 74, 64, 72}, 8 * 8);
	memcpy(&words[CODE], (uint64_t[]){216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0},
	       11 * 8);
	return published;
}

static int read_published(const struct published *published, struct pkbpf_python_layout *layout)
{
	return python_layout_read(published, sizeof(*published), layout);
}

static void published_offsets_equal_the_table(void **state)
{
	struct published published = published_3_15(PYTHON_VERSION(15) | 0x2f0);
	struct pkbpf_python_layout layout, table;

	(void)state;
	assert_int_equal(read_published(&published, &layout), 0);
	assert_int_equal(layout.interpreter_code_generation, 9000);
	assert_true(python_layout_of(PYTHON_VERSION(15), false, &table));
	table.interpreter_code_generation = 9000;
	assert_memory_equal(&layout, &table, sizeof(table));
}

static void published_offsets_win_over_the_table(void **state)
{
	struct published published = published_3_15(PYTHON_VERSION(15) | 0x2f0);
	struct pkbpf_python_layout layout;

	(void)state;
	published.words[THREAD + 8] = 184;
	published.words[CODE + 9] = 216;
	assert_int_equal(read_published(&published, &layout), 0);
	assert_int_equal(layout.thread_id, 184);
	assert_int_equal(layout.code_first_instruction, 216);
}

static void a_newer_version_of_known_shape_is_read(void **state)
{
	struct published published = published_3_15(PYTHON_VERSION(16) | 0xf0);
	struct pkbpf_python_layout layout;

	(void)state;
	assert_int_equal(read_published(&published, &layout), 0);
	assert_int_equal(layout.minor, 16);
	/* One more word in a group before: nothing fits any more. */
	memmove(&published.words[FRAME + 1], &published.words[FRAME],
		sizeof(published) - (FRAME + 1) * 8);
	assert_int_equal(read_published(&published, &layout), -ENOTSUP);
}

static void offsets_outside_of_their_structure_are_refused(void **state)
{
	static const struct {
		unsigned int word;
		uint64_t value;
	} cases[] = {
		{1, PYTHON_VERSION(15) | 0xa1},
		{1, PYTHON_VERSION(12) | 0xf0},
		{1, UINT64_MAX},
		{2, 2},
		{RUNTIME, 0},
		{RUNTIME + 2, 240000},
		{INTERPRETER + 3, 70000},
		{THREAD, 100000},
		{THREAD + 8, 896},
		{FRAME, 1 << 20},
		{FRAME + 1, 81},
		{FRAME + 5, UINT64_MAX},
		{CODE, 20},
		{CODE + 5, 213},
		{CODE + 5, 190},
		{CODE + 9, 217},
	};
	struct pkbpf_python_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct published published = published_3_15(PYTHON_VERSION(15) | 0xf0);

		published.words[cases[i].word] = cases[i].value;
		if (read_published(&published, &layout) != -ENOTSUP)
			fail_msg("case %zu was believed", i);
	}
}

static void what_publishes_nothing_is_told_apart(void **state)
{
	struct published published = published_3_15(PYTHON_VERSION(15) | 0xf0);
	struct pkbpf_python_layout layout;

	(void)state;
	assert_int_equal(python_layout_read(&published, 16, &layout), -EBADMSG);
	assert_int_equal(python_layout_read(&published, 24, &layout), -ENOTSUP);
	published.words[0] = 0;
	assert_int_equal(read_published(&published, &layout), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_releases_of_3_8_to_3_15),
		cmocka_unit_test(published_offsets_equal_the_table),
		cmocka_unit_test(published_offsets_win_over_the_table),
		cmocka_unit_test(a_newer_version_of_known_shape_is_read),
		cmocka_unit_test(offsets_outside_of_their_structure_are_refused),
		cmocka_unit_test(what_publishes_nothing_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
