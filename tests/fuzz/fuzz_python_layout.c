// SPDX-License-Identifier: BSD-2-Clause
/* Feeds bytes to the reader of published offsets: those of a layout that is believed lie inside
 * their structures. */
#include <stdint.h>
#include <stdlib.h>

#include "python/python_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pkbpf_python_layout layout;

	if (python_layout_read(data, size, &layout))
		return 0;
	if (layout.minor < 13 || layout.frame_size > 128 || layout.code_size > 400 ||
	    layout.frame_code + 8 > layout.frame_size ||
	    layout.frame_previous + 8 > layout.frame_size ||
	    layout.code_lines + 8 > layout.code_size || layout.code_version + 4 > layout.code_size)
		abort();
	return 0;
}
