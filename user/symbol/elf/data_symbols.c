// SPDX-License-Identifier: BSD-2-Clause
/* Finds variables by their symbols. */
#include "symbol/elf/data_symbols.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "elf/demangle.h"

/* "+0x" and 16 digits. */
#define OFFSET_SIZE 20

int data_symbols_read(struct data_symbols *symbols, int fd)
{
	struct elf_file file;
	int err = elf_file_open(&file, fd);

	*symbols = (struct data_symbols){.has_symbols = false};
	if (err)
		return err;
	err = elf_symbols_read_data(&file, SHT_SYMTAB, &symbols->symbols);
	/* Stripped, or damaged: what other files refer to is there in any case. */
	if (err && err != -ENOMEM)
		err = elf_symbols_read_data(&file, SHT_DYNSYM, &symbols->symbols);
	symbols->has_symbols = !err;
	symbols->segments = file.segments;
	file.segments = (struct elf_segments){0};
	elf_file_done(&file);
	if (err != -ENOMEM)
		return 0;
	data_symbols_done(symbols);
	return err;
}

void data_symbols_done(struct data_symbols *symbols)
{
	if (symbols->has_symbols)
		elf_symbols_done(&symbols->symbols);
	free(symbols->segments.items);
	*symbols = (struct data_symbols){.has_symbols = false};
}

/* Memory beyond the bytes of the file (.bss) included. */
static bool is_data(const struct elf_segments *segments, uint64_t address)
{
	for (size_t i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->items[i];

		if (segment->type == PT_LOAD && segment->flags & PF_W &&
		    address >= segment->address &&
		    address - segment->address < segment->memory_size)
			return true;
	}
	return false;
}

int data_symbols_name(const struct data_symbols *symbols, int fd, const struct data_place *place,
		      char *text, size_t size)
{
	_cleanup_free_ char *name = malloc(ELF_SYMBOL_NAME_SIZE),
			    *plain = malloc(DEMANGLE_MAX_OUTPUT_BYTES);
	struct elf_file file = {.fd = fd, .size = UINT64_MAX};
	uint64_t bias, start;
	int err;

	if (!name || !plain)
		return -ENOMEM;
	if (!symbols->has_symbols || size <= OFFSET_SIZE ||
	    !elf_segments_bias(&symbols->segments, place->map_start, place->map_end,
			       place->map_offset, &bias) ||
	    !is_data(&symbols->segments, place->address - bias))
		return -ENOENT;
	err = elf_symbols_find(&symbols->symbols, &file, place->address - bias, name,
			       ELF_SYMBOL_NAME_SIZE, &start);
	if (err)
		return err;
	if (place->address - bias == start)
		snprintf(text, size, "%s",
			 demangle(name, plain, DEMANGLE_MAX_OUTPUT_BYTES) ? plain : name);
	else
		snprintf(text, size, "%.*s+0x%" PRIx64, (int)(size - OFFSET_SIZE),
			 demangle(name, plain, DEMANGLE_MAX_OUTPUT_BYTES) ? plain : name,
			 place->address - bias - start);
	return 0;
}
