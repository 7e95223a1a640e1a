// SPDX-License-Identifier: BSD-2-Clause
/* Keeps sentences, each once. */
#include "symbol/symbol_notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void symbol_notes_add(struct symbol_notes *notes, const char *format, ...)
{
	char text[SYMBOL_NOTE_MAX_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < notes->count; i++)
		if (strcmp(notes->items[i], text) == 0)
			return;
	if (notes->count == SYMBOL_NOTES_MAX) {
		notes->left_out++;
		return;
	}
	notes->items[notes->count] = strdup(text);
	notes->count += notes->items[notes->count] != NULL;
}

void symbol_notes_done(struct symbol_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->items[i]);
	*notes = (struct symbol_notes){0};
}
