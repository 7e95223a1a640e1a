// SPDX-License-Identifier: BSD-2-Clause
/* Finds the function table of a Go program and reads its records. */
#include "elf/go_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/elf_relocation.h"
#include "elf/go_module.h"

#define MAGIC_1_2  UINT32_C(0xfffffffb)
#define MAGIC_1_16 UINT32_C(0xfffffffa)
#define MAGIC_1_18 UINT32_C(0xfffffff0)
#define MAGIC_1_20 UINT32_C(0xfffffff1)
/* Where a table without a section of its own is looked for, at most. */
#define MAX_SEARCH_BYTES    (128U << 20)
#define SEARCH_WINDOW_BYTES (256U << 10)
/* Each costs a read. */
#define MAX_CANDIDATES 1024

/* pcHeader; what its words mean depends on the version. */
struct header {
	uint32_t magic;
	uint8_t zero[2];
	uint8_t instruction_size;
	uint8_t pointer_size;
	uint64_t words[8];
};

#define MAX_RECORD_BYTES 48

/* Of words[], since 1.18; 0 in position-independent programs until they are relocated, and in all
 * since 1.26. */
#define TEXT_START 2

static bool decode_header(const struct header *header, struct go_table *table)
{
	const uint64_t *words = header->words;

	table->function_count = words[0];
	table->word_size = sizeof(uint64_t);
	table->unit_bytes = sizeof(uint32_t);
	switch (header->magic) {
	case MAGIC_1_2: /* all in one, right behind the number of functions */
		table->unit_bytes = 0;
		table->names_size = table->values_size = table->size;
		table->functions_offset = offsetof(struct header, words[1]);
		return true;
	case MAGIC_1_20:
		table->line_bytes = sizeof(uint32_t);
		/* fall through */
	case MAGIC_1_18:
		table->has_flags = true;
		table->word_size = sizeof(uint32_t);
		table->text = words[TEXT_START];
		words++;
		/* fall through */
	case MAGIC_1_16: /* functions, files, [text,] names, units, files, values, functions */
		table->names_offset = words[2];
		table->names_size = words[3] - words[2];
		table->values_offset = words[5];
		table->values_size = words[6] - words[5];
		table->functions_offset = table->records_offset = words[6];
		return words[2] < words[3] && words[3] <= words[5] && words[5] < words[6];
	}
	return false;
}

static uint8_t instruction_size(const struct elf_file *file)
{
	return file->machine == EM_X86_64 ? 1 : 4;
}

/* A table at offset; text: 0 when it does not say. */
static bool read_header(const struct elf_file *file, uint64_t offset, uint64_t size,
			struct go_table *ret_table)
{
	struct go_table table = {.offset = offset, .size = size};
	struct header header;

	if (size < sizeof(header) || elf_file_read(file, offset, &header, sizeof(header)) ||
	    header.zero[0] || header.zero[1] || header.pointer_size != 8 ||
	    header.instruction_size != instruction_size(file) || !decode_header(&header, &table) ||
	    table.functions_offset >= size || table.function_count == 0 ||
	    table.function_count >=
		    (size - table.functions_offset) / (2 * (uint64_t)table.word_size))
		return false;
	*ret_table = table;
	return true;
}

static bool search(const struct elf_file *file, uint64_t start, uint64_t size,
		   struct go_table *ret_table)
{
	/* behind the first byte */
	const uint8_t head[] = {0xff, 0xff, 0xff, 0, 0, instruction_size(file), 8};
	_cleanup_free_ uint8_t *window = malloc(SEARCH_WINDOW_BYTES + sizeof(head));
	unsigned int candidates = 0;

	if (size > MAX_SEARCH_BYTES)
		return false;
	/* Windows overlap, so that each head is in one with the byte before it. */
	for (uint64_t done = 0; window && done < size; done += SEARCH_WINDOW_BYTES) {
		uint64_t left = size - done;
		size_t step = left < SEARCH_WINDOW_BYTES + sizeof(head)
				      ? (size_t)left
				      : SEARCH_WINDOW_BYTES + sizeof(head);
		const uint8_t *at = window + 1, *end = window + step;

		if (elf_file_read(file, start + done, window, step))
			return false;
		for (; at < end && (at = memmem(at, (size_t)(end - at), head, sizeof(head)));
		     at++) {
			uint64_t offset = done + (uint64_t)(at - window) - 1;

			if ((start + offset) % 8 == 0 && candidates++ < MAX_CANDIDATES &&
			    read_header(file, start + offset, size - offset, ret_table))
				return true;
		}
	}
	return false;
}

/* In a file without sections the table is somewhere in memory. */
static bool search_segments(const struct elf_file *file, struct go_table *ret_table)
{
	uint64_t left = MAX_SEARCH_BYTES;

	for (size_t i = 0; i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (segment->type != PT_LOAD || segment->file_size > left)
			continue;
		left -= segment->file_size;
		if (search(file, segment->offset, segment->file_size, ret_table))
			return true;
	}
	return false;
}

bool go_table_is_expected(const struct elf_file *file)
{
	struct go_table table;

	return file->is_64 && (elf_file_find_section(file, ".gopclntab") ||
			       elf_file_find_section(file, ".go.buildinfo") ||
			       (file->section_count == 0 && search_segments(file, &table)));
}

static bool find_table(const struct elf_file *file, struct go_table *ret_table)
{
	/* Position-independent programs linked by lld keep it in one of the last two. */
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro",
					    ".rodata"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct elf_section *section = elf_file_find_section(file, names[i]);

		if (!section || section->flags & SHF_COMPRESSED)
			continue;
		if ((i < 2 && read_header(file, section->offset, section->size, ret_table)) ||
		    (i >= 2 && elf_file_find_section(file, ".go.buildinfo") &&
		     search(file, section->offset, section->size, ret_table)))
			return true;
	}
	return file->section_count == 0 && search_segments(file, ret_table);
}

/* What the dynamic loader will put into a header that is not relocated yet. */
static bool find_relocated_text(const struct elf_file *file, struct go_table *table)
{
	Elf64_Rela relocation;
	uint64_t address;

	if (!elf_segments_address(&file->segments, table->offset, &address) ||
	    !elf_relocation_find(file, ELF_RELOCATIONS_WITHOUT_TARGET,
				 address + offsetof(struct header, words[TEXT_START]), &relocation))
		return false;
	table->text = (uint64_t)relocation.r_addend;
	return ELF64_R_TYPE(relocation.r_info) ==
	       (file->machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
}

int go_table_find(const struct elf_file *file, struct go_table *ret_table)
{
	const struct elf_section *text;

	if (!file->is_64 || !find_table(file, ret_table))
		return -ENOENT;
	if (ret_table->text || ret_table->word_size == sizeof(uint64_t) ||
	    find_relocated_text(file, ret_table))
		return 0;
	if (go_module_find_text(file, ret_table, &ret_table->text))
		return 0;
	/* Then it is the section's start, unless a C linker put its own start-up code first. */
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

/* A start, the offset of a record, and the next start. */
static void read_pair(const struct go_table *table, uint64_t index, uint64_t ret_words[3])
{
	const uint8_t *at = table->data + (table->functions_offset - table->data_offset) +
			    index * 2 * table->word_size;
	uint32_t words[3];

	if (table->word_size == sizeof(uint64_t)) {
		memcpy(ret_words, at, 3 * sizeof(uint64_t));
		return;
	}
	memcpy(words, at, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ret_words[i] = words[i];
}

struct go_function go_table_function(const struct go_table *table, uint64_t index)
{
	/* Start, name, arguments, deferreturn, values, file, line, count, unit, start line, id,
	 * flags. */
	size_t values_at = table->word_size + 12U;
	size_t flags_at = values_at + 16U + table->unit_bytes + table->line_bytes + 1U;
	uint64_t words[3], at, end = table->size - table->data_offset;
	uint8_t record[MAX_RECORD_BYTES] = {0};
	struct go_function function = {0};

	read_pair(table, index, words);
	function.start = table->text + words[0];
	function.size = words[2] > words[0] ? words[2] - words[0] : 0;
	at = table->records_offset + words[1] - table->data_offset;
	if (at < end)
		memcpy(record, table->data + at, end - at < flags_at + 1 ? end - at : flags_at + 1);
	memcpy(&function.name, record + table->word_size, sizeof(function.name));
	if (at >= end || end - at < flags_at + 1)
		return function;
	memcpy(&function.values, record + values_at, sizeof(function.values));
	function.flags = record[flags_at];
	return function;
}

bool go_table_name_begins(const struct go_table *table, const struct go_function *function,
			  const char *expected, size_t size)
{
	uint64_t at = table->names_offset + (uint64_t)function->name;

	if (function->name < 0 || size > table->names_size ||
	    (uint64_t)function->name > table->names_size - size || at < table->data_offset ||
	    at + size > table->size)
		return false;
	return memcmp(table->data + (at - table->data_offset), expected, size) == 0;
}
