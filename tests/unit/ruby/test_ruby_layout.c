// SPDX-License-Identifier: BSD-2-Clause
/* Tests for ruby/ruby_layout: known versions have all offsets, inside their structures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ruby/ruby_layout.h"

static void only_known_versions_have_a_layout(void **state)
{
	struct pkbpf_ruby_layout layout;

	(void)state;
	assert_true(ruby_layout_of(3, 1, &layout));
	assert_false(ruby_layout_of(3, 0, &layout));
	assert_false(ruby_layout_of(3, 3, &layout));
	assert_false(ruby_layout_of(2, 1, &layout));
	assert_false(ruby_layout_of(4, 1, &layout));
}

/* The kernel side reads 160 bytes of a body, and five words of a method and its definition. */
static void offsets_lie_in_what_is_read(void **state)
{
	struct pkbpf_ruby_layout layout;

	(void)state;
	for (unsigned int minor = 0; minor < 10; minor++) {
		if (!ruby_layout_of(3, minor, &layout))
			continue;
		assert_int_equal(layout.minor, minor);
		assert_int_equal(layout.chain, PKBPF_RUBY_CONTROL_FRAMES);
		assert_in_range(layout.frame_size, 8 * PKBPF_RUBY_FRAME_WORDS, 64);
		assert_in_range(layout.body_path, 16, 152);
		assert_in_range(layout.body_label, layout.body_path + 8, 152);
		assert_in_range(layout.body_first_line, 16, 152);
		assert_in_range(layout.body_lines, 16, 152);
		assert_in_range(layout.body_positions, 16, 152);
		assert_in_range(layout.body_line_count, 16, 152);
		assert_in_range(layout.body_index, 16, 152);
		assert_in_range(layout.method_definition, 8, 32);
		assert_in_range(layout.method_owner, 8, 32);
		assert_in_range(layout.definition_id, 8, 32);
		assert_true(layout.tag_previous > layout.tag_receiver);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_known_versions_have_a_layout),
		cmocka_unit_test(offsets_lie_in_what_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
