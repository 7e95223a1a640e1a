// SPDX-License-Identifier: BSD-2-Clause
/* Finds the exported symbols of vmStructs. */
#include "hotspot/hotspot_image.h"

#include <errno.h>
#include <string.h>

#include "elf/elf_symbol.h"

/* Symbols that are looked at: libjvm.so exports about a thousand. */
#define MAX_SYMBOLS 65536

static const char *const names[HOTSPOT_WORDS] = {
	[HOTSPOT_STRUCTS] = "Structs",
	[HOTSPOT_STRUCTS_STRIDE] = "StructEntryArrayStride",
	[HOTSPOT_STRUCT_TYPE] = "StructEntryTypeNameOffset",
	[HOTSPOT_STRUCT_FIELD] = "StructEntryFieldNameOffset",
	[HOTSPOT_STRUCT_DECLARATION] = "StructEntryTypeStringOffset",
	[HOTSPOT_STRUCT_IS_STATIC] = "StructEntryIsStaticOffset",
	[HOTSPOT_STRUCT_OFFSET] = "StructEntryOffsetOffset",
	[HOTSPOT_STRUCT_ADDRESS] = "StructEntryAddressOffset",
	[HOTSPOT_TYPES] = "Types",
	[HOTSPOT_TYPES_STRIDE] = "TypeEntryArrayStride",
	[HOTSPOT_TYPE_NAME] = "TypeEntryTypeNameOffset",
	[HOTSPOT_TYPE_SIZE] = "TypeEntrySizeOffset",
	[HOTSPOT_INTS] = "IntConstants",
	[HOTSPOT_INTS_STRIDE] = "IntConstantEntryArrayStride",
	[HOTSPOT_INT_NAME] = "IntConstantEntryNameOffset",
	[HOTSPOT_INT_VALUE] = "IntConstantEntryValueOffset",
};

static void take_symbol(const struct elf_symbol *symbol, const char *name,
			struct hotspot_image *image)
{
	static const char prefix[] = "gHotSpotVM";

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return;
	for (int i = 0; i < HOTSPOT_WORDS; i++)
		if (!strcmp(name + sizeof(prefix) - 1, names[i]))
			image->words[i] = symbol->address;
}

int hotspot_image_find(const struct elf_file *file, struct hotspot_image *ret_image)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;

	*ret_image = (struct hotspot_image){0};
	if (!file->is_64 || elf_symbol_reader_open(file, SHT_DYNSYM, &reader))
		return -ENOENT;
	for (uint32_t i = 0; i < MAX_SYMBOLS && elf_symbol_reader_next(&reader, &symbol); i++) {
		char text[48];

		if (symbol.type == STT_OBJECT && symbol.section != SHN_UNDEF && symbol.size == 8 &&
		    !elf_strings_read(&reader.strings, file, symbol.name, text, sizeof(text)))
			take_symbol(&symbol, text, ret_image);
	}
	elf_symbol_reader_close(&reader);
	for (int i = 0; i < HOTSPOT_WORDS; i++)
		if (!ret_image->words[i])
			return -ENOENT;
	return 0;
}
