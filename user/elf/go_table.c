// SPDX-License-Identifier: BSD-2-Clause
/* Finds the function table of a Go program and reads its records. */
#include "elf/go_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define MAGIC_1_18 UINT32_C(0xfffffff0)
#define MAGIC_1_20 UINT32_C(0xfffffff1)
/* A start and the offset of a record. */
#define PAIR_BYTES 8
/* Where a table without a section of its own is looked for. */
#define MAX_SEARCH_BYTES (64U << 20)

/* pcHeader */
struct header {
	uint32_t magic;
	uint8_t zero[2];
	uint8_t instruction_size;
	uint8_t pointer_size;
	uint64_t function_count;
	uint64_t file_count;
	uint64_t text_start; /* 0 in position-independent programs until they are relocated */
	uint64_t names_offset;
	uint64_t units_offset; /* behind the names */
	uint64_t files_offset;
	uint64_t values_offset;
	uint64_t functions_offset;
};

static bool is_header(const struct header *header, uint16_t machine, uint64_t size)
{
	return (header->magic == MAGIC_1_18 || header->magic == MAGIC_1_20) &&
	       header->zero[0] == 0 && header->zero[1] == 0 &&
	       header->instruction_size == (machine == EM_X86_64 ? 1 : 4) &&
	       header->pointer_size == 8 && header->names_offset < header->units_offset &&
	       header->units_offset <= header->values_offset &&
	       header->values_offset < header->functions_offset &&
	       header->functions_offset < size && header->function_count > 0 &&
	       header->function_count < (size - header->functions_offset) / PAIR_BYTES;
}

/* A table at offset; text: 0 when it does not say. */
static bool read_header(const struct elf_file *file, uint64_t offset, uint64_t size,
			struct go_table *ret_table)
{
	struct header header;

	if (size < sizeof(header) || elf_file_read(file, offset, &header, sizeof(header)) ||
	    !is_header(&header, file->machine, size))
		return false;
	*ret_table = (struct go_table){
		.offset = offset,
		.size = size,
		.function_count = header.function_count,
		.text = header.text_start,
		.names_offset = header.names_offset,
		.names_size = header.units_offset - header.names_offset,
		.values_offset = header.values_offset,
		.functions_offset = header.functions_offset,
		.has_start_lines = header.magic == MAGIC_1_20,
	};
	return true;
}

/* Position-independent programs linked by lld keep the table somewhere in their data. */
static bool search_section(const struct elf_file *file, const char *name,
			   struct go_table *ret_table)
{
	static const uint8_t head[] = {0xff, 0xff, 0xff, 0, 0, 1, 8};
	const struct elf_section *section = elf_file_find_section(file, name);
	_cleanup_free_ void *data = NULL;
	const uint8_t *at;
	size_t size;

	if (!section || (section->flags & SHF_COMPRESSED) ||
	    elf_file_read_section(file, section, MAX_SEARCH_BYTES, &data, &size))
		return false;
	for (at = data;
	     (at = memmem(at, size - (size_t)(at - (uint8_t *)data), head, sizeof(head))); at++) {
		size_t offset = (size_t)(at - (uint8_t *)data) - 1;

		if (at > (uint8_t *)data && offset % 8 == 0 &&
		    read_header(file, section->offset + offset, size - offset, ret_table))
			return true;
	}
	return false;
}

static const struct elf_section *find_section(const struct elf_file *file)
{
	const struct elf_section *section = elf_file_find_section(file, ".gopclntab");

	return section ? section : elf_file_find_section(file, ".data.rel.ro.gopclntab");
}

bool go_table_is_expected(const struct elf_file *file)
{
	return file->is_64 && (elf_file_find_section(file, ".gopclntab") ||
			       elf_file_find_section(file, ".go.buildinfo"));
}

static bool find_table(const struct elf_file *file, struct go_table *ret_table)
{
	const struct elf_section *section = find_section(file);

	if (section && read_header(file, section->offset, section->size, ret_table))
		return true;
	return elf_file_find_section(file, ".go.buildinfo") &&
	       (search_section(file, ".data.rel.ro", ret_table) ||
		search_section(file, ".rodata", ret_table));
}

int go_table_find(const struct elf_file *file, struct go_table *ret_table)
{
	const struct elf_section *text;

	if (!file->is_64 || !find_table(file, ret_table))
		return -ENOENT;
	if (ret_table->text)
		return 0;
	/* Not relocated yet. Then it is the section's start, unless a C linker put its own start-up
	 * code first. */
	text = elf_file_find_section(file, ".text");
	if (!text || elf_file_find_section(file, ".init"))
		return -ENOENT;
	ret_table->text = text->address;
	return 0;
}

int go_table_load(struct go_table *table, const struct elf_file *file, uint64_t from,
		  uint64_t max_size)
{
	uint64_t size = table->size - from;
	int err;

	if (size > max_size || size > file->size)
		return -EFBIG;
	table->data = malloc(size);
	if (!table->data)
		return -ENOMEM;
	table->data_offset = from;
	err = elf_file_read(file, table->offset + from, table->data, size);
	if (err)
		go_table_done(table);
	return err;
}

void go_table_done(struct go_table *table)
{
	free(table->data);
	table->data = NULL;
}

static struct cfi_reader reader_at(const struct go_table *table, uint64_t offset)
{
	struct cfi_reader reader = {.at = table->data +
					  (table->functions_offset - table->data_offset),
				    .end = table->data + (table->size - table->data_offset)};

	cfi_skip(&reader, offset);
	return reader;
}

struct go_function go_table_function(const struct go_table *table, uint64_t index)
{
	struct cfi_reader pair = reader_at(table, index * PAIR_BYTES), record;
	struct go_function function = {.start = cfi_read_u32(&pair)};
	uint32_t record_offset = cfi_read_u32(&pair);
	uint32_t next = cfi_read_u32(&pair);

	function.size = next > function.start ? next - function.start : 0;
	record = reader_at(table, record_offset);
	cfi_skip(&record, 4); /* entry */
	function.name = (int32_t)cfi_read_u32(&record);
	cfi_skip(&record, 8); /* arguments, deferreturn */
	function.values = cfi_read_u32(&record);
	/* file, line, count, unit; start line; id */
	cfi_skip(&record, 16 + (table->has_start_lines ? 4 : 0) + 1);
	function.flags = cfi_read_u8(&record);
	if (record.failed)
		function.values = 0;
	return function;
}
