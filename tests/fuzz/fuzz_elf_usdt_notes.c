// SPDX-License-Identifier: BSD-2-Clause
/* Feeds hostile notes to the reader of statically defined probes. */
#include <stdlib.h>
#include <string.h>

#include "elf/usdt_notes.h"
#include "elf/usdt_operand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct taken {
	const char *begin, *end;
	size_t count;
};

static void check_string(const struct taken *taken, const char *string)
{
	if (*string && (string < taken->begin || string >= taken->end ||
			!memchr(string, '\0', (size_t)(taken->end - string))))
		abort();
}

static bool take(void *context, const struct usdt_note *note)
{
	struct taken *taken = context;

	check_string(taken, note->provider);
	check_string(taken, note->name);
	check_string(taken, note->arguments);
	for (unsigned int i = 0; i < 4; i++)
		usdt_operand_parse(note->arguments, i);
	return ++taken->count < USDT_NOTES_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct taken taken = {(const char *)data, (const char *)data + size, 0};

	usdt_notes_parse(data, size, 0, take, &taken);
	usdt_notes_parse(data, size, 0x1000, take, &taken);
	return 0;
}
