// SPDX-License-Identifier: BSD-2-Clause
/* Reads symbols of both classes. */
#include "elf/elf_symbol.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/elf_dynamic.h"

#define BUFFER_ENTRIES 8192U

#define SYMBOL_OF(raw)                                                                             \
	((struct elf_symbol){                                                                      \
		.name = (raw).st_name,                                                             \
		.type = ELF64_ST_TYPE((raw).st_info), /* the same in both classes */               \
		.binding = ELF64_ST_BIND((raw).st_info),                                           \
		.section = (raw).st_shndx,                                                         \
		.address = (raw).st_value,                                                         \
		.size = (raw).st_size,                                                             \
	})

static size_t entry_size(const struct elf_symbol_reader *reader)
{
	return reader->bytes.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* Where a section's bytes are: *ret_unpacked is set when that is in memory. */
static int find_bytes(const struct elf_file *file, const struct elf_section *section,
		      uint64_t *ret_offset, uint64_t *ret_size, void **ret_unpacked)
{
	size_t size;
	int err;

	*ret_offset = section->offset;
	*ret_size = section->size;
	*ret_unpacked = NULL;
	if (!(section->flags & SHF_COMPRESSED))
		return 0;
	err = elf_file_read_section(file, section, ELF_SYMBOL_MAX_UNPACKED_BYTES, ret_unpacked,
				    &size);
	*ret_offset = 0;
	*ret_size = size;
	return err;
}

static int open_section(struct elf_symbol_reader *reader, const struct elf_file *file,
			const struct elf_section *section)
{
	const struct elf_section *strings = elf_file_section(file, section->link);
	uint64_t size;
	int err;

	/* What the dynamic loader reads is not compressed; one name of it must not cost all. */
	if (section->type == SHT_DYNSYM &&
	    ((section->flags | (strings ? strings->flags : 0)) & SHF_COMPRESSED))
		return -EBADMSG;
	err = find_bytes(file, section, &reader->offset, &size, &reader->unpacked);
	if (err)
		return err;
	if (reader->unpacked) {
		reader->bytes = elf_file_of_bytes(reader->unpacked, size);
		reader->bytes.is_64 = file->is_64;
	}
	reader->count = size / entry_size(reader);
	if (!strings || strings->type != SHT_STRTAB)
		return 0;
	return find_bytes(file, strings, &reader->strings.offset, &reader->strings.size,
			  &reader->strings.unpacked);
}

/* In a file without sections: what the dynamic loader reads. */
static int open_dynamic(struct elf_symbol_reader *reader, const struct elf_file *file)
{
	struct elf_dynamic dynamic;
	uint64_t size;

	if (!elf_dynamic_read(file, &dynamic) ||
	    !elf_segments_offset(&file->segments, dynamic.values[DT_SYMTAB], &reader->offset,
				 &size) ||
	    !elf_segments_offset(&file->segments, dynamic.values[DT_STRTAB],
				 &reader->strings.offset, &reader->strings.size))
		return -ENOENT;
	reader->count = elf_dynamic_symbol_count(file, &dynamic);
	if (reader->count > size / entry_size(reader))
		reader->count = size / entry_size(reader);
	if (reader->strings.size > dynamic.values[DT_STRSZ])
		reader->strings.size = dynamic.values[DT_STRSZ];
	return 0;
}

int elf_symbol_reader_open(const struct elf_file *file, uint32_t type,
			   struct elf_symbol_reader *ret_reader)
{
	const struct elf_section *section = elf_file_find_section_type(file, type);
	struct elf_symbol_reader reader = {.bytes = *file};
	int err;

	if (section)
		err = open_section(&reader, file, section);
	else if (type == SHT_DYNSYM && file->section_count == 0)
		err = open_dynamic(&reader, file);
	else
		err = -ENOENT;
	if (!err) {
		reader.buffer_size = reader.count < BUFFER_ENTRIES ? reader.count : BUFFER_ENTRIES;
		reader.buffer = malloc(reader.buffer_size * entry_size(&reader) + 1);
		err = reader.buffer ? 0 : -ENOMEM;
	}
	if (err)
		elf_symbol_reader_close(&reader);
	else
		*ret_reader = reader;
	return err;
}

static bool fill(struct elf_symbol_reader *reader)
{
	uint64_t count = reader->count - reader->next;

	if (count > reader->buffer_size)
		count = reader->buffer_size;
	reader->buffer_count = 0;
	reader->err =
		elf_file_read(&reader->bytes, reader->offset + reader->next * entry_size(reader),
			      reader->buffer, (size_t)count * entry_size(reader));
	if (reader->err)
		return false;
	reader->buffer_first = reader->next;
	reader->buffer_count = count;
	return true;
}

bool elf_symbol_reader_next(struct elf_symbol_reader *reader, struct elf_symbol *ret_symbol)
{
	uint64_t at = reader->next - reader->buffer_first;

	if (reader->next >= reader->count)
		return false;
	if (at >= reader->buffer_count) {
		if (!fill(reader))
			return false;
		at = 0;
	}
	reader->next++;
	if (reader->bytes.is_64)
		*ret_symbol = SYMBOL_OF(((const Elf64_Sym *)reader->buffer)[at]);
	else
		*ret_symbol = SYMBOL_OF(((const Elf32_Sym *)reader->buffer)[at]);
	return true;
}

void elf_symbol_reader_close(struct elf_symbol_reader *reader)
{
	free(reader->unpacked);
	free(reader->strings.unpacked);
	free(reader->buffer);
}

int elf_strings_load(struct elf_strings *strings, const struct elf_file *file, size_t max_size)
{
	struct elf_section section = {
		.type = SHT_STRTAB, .offset = strings->offset, .size = strings->size};
	size_t size;
	int err = strings->unpacked ? 0
				    : elf_file_read_section(file, &section, max_size,
							    &strings->unpacked, &size);

	if (!err)
		strings->offset = 0;
	return err;
}

int elf_strings_read(const struct elf_strings *strings, const struct elf_file *file,
		     uint64_t offset, char *buffer, size_t size)
{
	struct elf_file unpacked = elf_file_of_bytes(strings->unpacked, strings->size);

	return elf_file_read_string(strings->unpacked ? &unpacked : file, strings->offset,
				    strings->size, offset, buffer, size);
}
