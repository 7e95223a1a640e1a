// SPDX-License-Identifier: BSD-2-Clause
/* Feeds records of code objects to the decoder and asks for lines: of its tables, and of the same
 * bytes as a table of any version. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_code.h"
#include "python/python_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pkbpf_event_python_code *record = malloc(size + sizeof(*record));
	struct python_lines lines = {data, size, 1, 8};
	struct python_code code;

	if (!record)
		return 0;
	/* What a record lacks is zeros; its last bytes are the table. */
	memset(record, 0, sizeof(*record));
	memcpy(record, data, size);
	if (!python_code_decode(record, size, &code)) {
		for (uint32_t i = 0; i < 64; i++)
			if (python_code_line(&code, i) > INT32_MAX)
				abort();
		if (!code.name || !code.file)
			abort();
		python_code_done(&code);
	}
	free(record);
	for (lines.minor = 8; lines.minor <= 11; lines.minor++)
		for (uint32_t i = 0; i < 64; i += 7)
			if (python_lines_find(&lines, i) > INT32_MAX)
				abort();
	return 0;
}
