// SPDX-License-Identifier: BSD-2-Clause
/* Looks for a Ruby interpreter in memory of which the input changes words: pairs of an offset and
 * what is put there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake_ruby.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fake_ruby *fake = malloc(sizeof(*fake));
	struct pkbpf_python_process process = {0};
	int err;

	if (!fake)
		return 0;
	fake_ruby_init(fake, 1);
	for (size_t at = 0; at + 10 <= size; at += 10) {
		uint16_t offset;
		uint64_t word;

		memcpy(&offset, data + at, sizeof(offset));
		memcpy(&word, data + at + 2, sizeof(word));
		if (offset <= FAKE_RUBY_BYTES - sizeof(word))
			fake_ruby_put(fake, offset, word);
	}
	err = ruby_process_find(fake_ruby_read, fake, &fake->image, FAKE_RUBY_BASE, &process);
	if (err > 0 || (!err && !process.slots[0]) || (err && process.slots[0]))
		abort();
	free(fake);
	return 0;
}
