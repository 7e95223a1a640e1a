// SPDX-License-Identifier: BSD-2-Clause
/* Feeds bytes to the kallsyms parser in two parts and looks up addresses around every symbol it
 * found; takes the first of them apart like a name that the kernel printed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kernel/kernel.h"
#include "symbol/kernel/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_printed(const uint8_t *data, size_t size)
{
	char text[KERNEL_MAX_NAME_BYTES];
	const char *name, *module;

	size = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
	memcpy(text, data, size);
	text[size] = '\0';
	if (kernel_text_parse(text, &name, &module) &&
	    (!*name || strlen(name) >= sizeof(text) || (module && !*module)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_symbols symbols = {0};
	const char *module;
	size_t half = size / 2;

	if (!kernel_symbols_parse(&symbols, (const char *)data, half) &&
	    !kernel_symbols_parse(&symbols, (const char *)data + half, size - half) &&
	    !kernel_symbols_finish(&symbols)) {
		for (size_t i = 0; i < symbols.table.count && i < 64; i++) {
			uint64_t address = symbols.table.entries[i].address;

			for (uint64_t at = address - 1; at != address + 2; at++) {
				const char *name = kernel_symbols_find(&symbols, at, &module);

				if (name && strlen(name) >= KERNEL_MAX_NAME_BYTES)
					abort();
			}
			if (i > 0 && symbols.table.entries[i - 1].address > address)
				abort();
		}
		kernel_symbols_find(&symbols, UINT64_MAX, &module);
	}
	kernel_symbols_done(&symbols);
	if (size)
		parse_printed(data, size);
	return 0;
}
