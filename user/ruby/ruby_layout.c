// SPDX-License-Identifier: BSD-2-Clause
/* The table of layouts. */
#include "ruby/ruby_layout.h"

#include "base/array.h"

static const struct pkbpf_ruby_layout layouts[] = {
	{
		.minor = 1,
		.frame_size = 64,
		.tag_receiver = 24,
		.tag_previous = 56,
		.iseq_body = 16,
		.body_path = 64,
		.body_label = 80,
		.body_first_line = 88,
		.body_lines = 120,
		.body_positions = 128,
		.body_line_count = 136,
		.body_index = 144,
		.method_definition = 16,
		.method_owner = 32,
		.definition_id = 32,
		.class_extension = 24,
		.extension_variables = 8,
		.vm_main_thread = 40,
		.thread_context = 40,
		.thread_id = 80,
		.symbols_ids = 16,
	},
};

bool ruby_layout_of(unsigned int major, unsigned int minor, struct pkbpf_ruby_layout *ret_layout)
{
	if (major != 3)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (layouts[i].minor != minor)
			continue;
		*ret_layout = layouts[i];
		ret_layout->chain = PKBPF_RUBY_CONTROL_FRAMES;
		return true;
	}
	return false;
}
