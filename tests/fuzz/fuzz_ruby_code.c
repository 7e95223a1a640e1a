// SPDX-License-Identifier: BSD-2-Clause
/* Feeds records of Ruby code to the decoder, and asks for lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/ruby_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pkbpf_event_ruby_code *record = malloc(size + sizeof(*record));
	struct python_code code;

	if (!record)
		return 0;
	/* What a record lacks is zeros; its last bytes are the tables. */
	memset(record, 0, sizeof(*record));
	memcpy(record, data, size);
	if (!ruby_code_decode(record, size, &code)) {
		for (uint32_t i = 0; i < 2000; i += 1 + i / 64)
			if (python_code_line(&code, i) > INT32_MAX)
				abort();
		if (!code.name || !code.file)
			abort();
		python_code_done(&code);
	}
	free(record);
	return 0;
}
