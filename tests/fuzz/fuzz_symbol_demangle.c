// SPDX-License-Identifier: BSD-2-Clause
/* Feeds bytes to the demangler, into buffers of two sizes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t sizes[] = {DEMANGLE_MAX_OUTPUT_BYTES, 16};
	char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	for (size_t i = 0; i < 2; i++) {
		/* Exactly as large as promised: a sanitizer sees one byte too many. */
		char *text = malloc(sizes[i]);

		if (text && demangle(name, text, sizes[i]) && strlen(text) >= sizes[i])
			abort();
		free(text);
	}
	free(name);
	return 0;
}
