// SPDX-License-Identifier: BSD-2-Clause
/* Finds builtin functions through the table of methods they are in. */
#include "python/python_builtin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/elf_file.h"

#define METH_FASTCALL 0x80
/* struct PyMethodDef: name, function, flags, documentation. */
#define METHOD_FUNCTION	     8
#define METHOD_FLAGS	     16
#define METHOD_DOCUMENTATION 24
#define METHOD_BYTES	     32
/* An interpreter's constants and data take 10 MiB; what is larger is not searched. */
#define MAX_SEGMENT_BYTES    (64U << 20)
#define MAX_RELOCATION_BYTES (64U << 20)
/* Strings that end in the name. */
#define MAX_PLACES 64
#define MAX_NAME   32

#if defined(__x86_64__)
#define RELATIVE_RELOCATION R_X86_64_RELATIVE
#else
#define RELATIVE_RELOCATION R_AARCH64_RELATIVE
#endif

struct search {
	const struct elf_file *file;
	const char *name;
	uint64_t places[MAX_PLACES]; /* addresses of the name */
	size_t place_count;
	Elf64_Rela *relocations;
	size_t relocation_count;
};

static bool is_place(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->place_count; i++)
		if (search->places[i] == address)
			return true;
	return false;
}

/* The bytes of a segment in the file; *ret_bytes NULL: too many. */
static int read_segment(const struct elf_file *file, const struct elf_segment *segment,
			uint8_t **ret_bytes)
{
	int err;

	*ret_bytes = NULL;
	if (segment->file_size > MAX_SEGMENT_BYTES)
		return 0;
	*ret_bytes = malloc(segment->file_size + 1);
	if (!*ret_bytes)
		return -ENOMEM;
	err = elf_file_read(file, segment->offset, *ret_bytes, segment->file_size);
	if (err) {
		free(*ret_bytes);
		*ret_bytes = NULL;
	}
	return err;
}

/* Linkers let a string share the end of a longer one. */
static void find_places(struct search *search, const uint8_t *bytes,
			const struct elf_segment *segment)
{
	size_t length = strlen(search->name) + 1;
	const uint8_t *at = bytes, *end = bytes + segment->file_size;

	while (search->place_count < MAX_PLACES &&
	       (at = memmem(at, (size_t)(end - at), search->name, length))) {
		search->places[search->place_count++] = segment->address + (uint64_t)(at - bytes);
		at++;
	}
}

static int find_name(struct search *search)
{
	for (size_t i = 0; i < search->file->segments.count; i++) {
		const struct elf_segment *segment = &search->file->segments.items[i];
		_cleanup_free_ uint8_t *bytes = NULL;
		int err;

		if (segment->type != PT_LOAD || segment->flags & PF_W)
			continue;
		err = read_segment(search->file, segment, &bytes);
		if (err)
			return err;
		if (bytes)
			find_places(search, bytes, segment);
	}
	return search->place_count ? 0 : -ENOENT;
}

static int read_relocations(struct search *search)
{
	const struct elf_section *section = elf_file_find_section(search->file, ".rela.dyn");
	void *bytes;
	size_t size;
	int err;

	if (!section)
		return 0;
	err = elf_file_read_section(search->file, section, MAX_RELOCATION_BYTES, &bytes, &size);
	if (err)
		return err;
	search->relocations = bytes;
	search->relocation_count = size / sizeof(Elf64_Rela);
	return 0;
}

/* The address that the loader writes there; 0: none. */
static uint64_t relocated(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->relocation_count; i++) {
		const Elf64_Rela *relocation = &search->relocations[i];

		if (relocation->r_offset == address &&
		    ELF64_R_TYPE(relocation->r_info) == RELATIVE_RELOCATION)
			return (uint64_t)relocation->r_addend;
	}
	return 0;
}

/* A pointer in the data of the file, as linked. */
static uint64_t pointer_at(const struct search *search, uint64_t address)
{
	uint64_t value = search->relocation_count ? relocated(search, address) : 0;

	if (!value && elf_file_read_address(search->file, address, &value, sizeof(value)))
		return 0;
	return value;
}

static bool is_code(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (elf_segment_is_code(segment) && address >= segment->address &&
		    address - segment->address < segment->file_size)
			return true;
	}
	return false;
}

/* Is the struct at this address, whose first pointer leads to the name, the method; 0: no. Its
 * documentation begins with "name(". */
static uint64_t method_at(const struct search *search, uint64_t address)
{
	char expected[MAX_NAME + 2], text[MAX_NAME + 2] = "";
	size_t length =
		(size_t)snprintf(expected, sizeof(expected), "%.*s(", MAX_NAME, search->name);
	uint64_t function = pointer_at(search, address + METHOD_FUNCTION);
	uint64_t documentation = pointer_at(search, address + METHOD_DOCUMENTATION);
	uint32_t flags;

	if (!is_code(search->file, function) || !documentation ||
	    elf_file_read_address(search->file, address + METHOD_FLAGS, &flags, sizeof(flags)) ||
	    flags != METH_FASTCALL ||
	    elf_file_read_address(search->file, documentation, text, length) ||
	    memcmp(text, expected, length) != 0)
		return 0;
	return function;
}

static uint64_t search_relocations(const struct search *search)
{
	uint64_t function = 0;

	for (size_t i = 0; i < search->relocation_count && !function; i++) {
		const Elf64_Rela *relocation = &search->relocations[i];

		if (ELF64_R_TYPE(relocation->r_info) == RELATIVE_RELOCATION &&
		    is_place(search, (uint64_t)relocation->r_addend))
			function = method_at(search, relocation->r_offset);
	}
	return function;
}

/* Programs without relocations, and those whose relocations are packed: their data has the
 * pointers. */
static int search_data(const struct search *search, uint64_t *ret_function)
{
	for (size_t i = 0; i < search->file->segments.count; i++) {
		const struct elf_segment *segment = &search->file->segments.items[i];
		_cleanup_free_ uint8_t *bytes = NULL;
		int err;

		if (segment->type != PT_LOAD || !(segment->flags & PF_W))
			continue;
		err = read_segment(search->file, segment, &bytes);
		if (err)
			return err;
		for (size_t at = -segment->address & 7;
		     bytes && at + METHOD_BYTES <= segment->file_size; at += 8) {
			uint64_t word;

			memcpy(&word, bytes + at, sizeof(word));
			if (is_place(search, word))
				*ret_function = method_at(search, segment->address + at);
			if (*ret_function)
				return 0;
		}
	}
	return -ENOENT;
}

int python_builtin_find(const struct elf_file *file, const char *name, uint64_t *ret_address)
{
	struct search search = {.file = file, .name = name};
	uint64_t function = 0;
	int err;

	if (!file->is_64 || strlen(name) >= MAX_NAME)
		return -ENOENT;
	err = find_name(&search);
	err = err ? err : read_relocations(&search);
	if (!err)
		function = search_relocations(&search);
	if (!err && !function)
		err = search_data(&search, &function);
	free(search.relocations);
	if (!err)
		*ret_address = function;
	return err;
}
