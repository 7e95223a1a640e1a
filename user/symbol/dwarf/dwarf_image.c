// SPDX-License-Identifier: BSD-2-Clause
/* Puts debug sections together for libdw. */
#include "symbol/dwarf/dwarf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/large_memory.h"
#include "elf/elf_packing.h"
#include "symbol/dwarf/dwarf_abbreviations.h"

#define MAX_NAME_BYTES 40
#define ALIGNMENT      8U
/* The first one is empty, as the format wants it; the last one has the names. */
#define HEADER_COUNT (DWARF_SECTION_COUNT + 2)
#define NAMES_BYTES  (HEADER_COUNT * MAX_NAME_BYTES)

static const char *const names[DWARF_SECTION_COUNT] = {
	[DWARF_SECTION_INFO] = "info",	       [DWARF_SECTION_TYPES] = "types",
	[DWARF_SECTION_ABBREV] = "abbrev",     [DWARF_SECTION_STR] = "str",
	[DWARF_SECTION_LINE_STR] = "line_str", [DWARF_SECTION_STR_OFFSETS] = "str_offsets",
	[DWARF_SECTION_ADDR] = "addr",	       [DWARF_SECTION_RANGES] = "ranges",
	[DWARF_SECTION_RNGLISTS] = "rnglists", [DWARF_SECTION_LINE] = "line",
};

struct dwarf_source dwarf_source_find(const struct elf_file *file, enum dwarf_section kind,
				      const char *suffix)
{
	static const char *const prefixes[] = {".debug_", ".zdebug_"};
	const struct elf_section *section = NULL;
	char name[MAX_NAME_BYTES];

	for (size_t i = 0; i < 2 && !section; i++) {
		snprintf(name, sizeof(name), "%s%s%s", prefixes[i], names[kind], suffix);
		section = elf_file_find_section(file, name);
	}
	if (!section)
		return (struct dwarf_source){0};
	return (struct dwarf_source){.section = section,
				     .size = elf_file_unpacked_size(file, section)};
}

void dwarf_sources_of_file(const struct elf_file *file, bool with_lines,
			   struct dwarf_source ret_sources[DWARF_SECTION_COUNT])
{
	for (unsigned int i = 0; i < DWARF_SECTION_COUNT; i++)
		ret_sources[i] = i != DWARF_SECTION_LINE || with_lines
					 ? dwarf_source_find(file, i, "")
					 : (struct dwarf_source){0};
}

uint64_t dwarf_sources_bytes(const struct dwarf_source sources[DWARF_SECTION_COUNT])
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < DWARF_SECTION_COUNT; i++) {
		if (sources[i].size > DWARF_IMAGE_MAX_BYTES - total)
			return UINT64_MAX;
		total += sources[i].size;
	}
	return total;
}

static int read_source(const struct elf_file *file, const struct dwarf_source *source, uint8_t *to)
{
	_cleanup_free_ void *unpacked = NULL;
	struct elf_packing packing;
	size_t size;
	int err;

	if (source->bytes) {
		memcpy(to, source->bytes, source->size);
		return 0;
	}
	if (!elf_packing_read(file, source->section, &packing))
		return -EBADMSG;
	if (source->offset > packing.size || source->size > packing.size - source->offset)
		return -EBADMSG;
	if (packing.kind == ELF_PACKING_NONE)
		return elf_file_read(file, source->section->offset + source->offset, to,
				     source->size);
	err = elf_file_read_section(file, source->section, DWARF_IMAGE_MAX_BYTES, &unpacked, &size);
	/* It may have been written to since. */
	if (!err && (source->offset > size || source->size > size - source->offset))
		err = -EBADMSG;
	if (!err)
		memcpy(to, (const uint8_t *)unpacked + source->offset, source->size);
	return err;
}

struct layout {
	uint64_t offsets[DWARF_SECTION_COUNT];
	uint64_t names, headers, size;
};

static struct layout lay_out(const struct dwarf_source sources[DWARF_SECTION_COUNT])
{
	struct layout layout = {.size = sizeof(Elf64_Ehdr)};

	for (unsigned int i = 0; i < DWARF_SECTION_COUNT; i++) {
		layout.offsets[i] = layout.size;
		/* A NUL behind each. */
		layout.size += (sources[i].size + ALIGNMENT) & ~(uint64_t)(ALIGNMENT - 1);
	}
	layout.names = layout.size;
	layout.headers = layout.names + NAMES_BYTES;
	layout.size = layout.headers + HEADER_COUNT * sizeof(Elf64_Shdr);
	return layout;
}

/* Addresses in debug sections are as wide as the class says. */
static void write_headers_32(uint8_t *bytes, const struct layout *layout, uint16_t machine,
			     const Elf64_Shdr *sections)
{
	Elf32_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
			    BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = (Elf32_Off)layout->headers,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf32_Shdr),
		.e_shnum = HEADER_COUNT,
		.e_shstrndx = HEADER_COUNT - 1,
	};

	memcpy(bytes, &header, sizeof(header));
	for (size_t i = 0; i < HEADER_COUNT; i++) {
		Elf32_Shdr section = {
			.sh_name = sections[i].sh_name,
			.sh_type = sections[i].sh_type,
			.sh_offset = (Elf32_Off)sections[i].sh_offset,
			.sh_size = (Elf32_Word)sections[i].sh_size,
			.sh_addralign = 1,
		};

		memcpy(bytes + layout->headers + i * sizeof(section), &section, sizeof(section));
	}
}

static void write_headers_64(uint8_t *bytes, const struct layout *layout, uint16_t machine,
			     const Elf64_Shdr *sections)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = layout->headers,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = HEADER_COUNT,
		.e_shstrndx = HEADER_COUNT - 1,
	};

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + layout->headers, sections, HEADER_COUNT * sizeof(*sections));
}

static void write_headers(uint8_t *bytes, const struct layout *layout,
			  const struct dwarf_source sources[DWARF_SECTION_COUNT],
			  const struct elf_file *file)
{
	Elf64_Shdr sections[HEADER_COUNT] = {0};

	for (size_t i = 1; i < HEADER_COUNT; i++) {
		bool is_last = i == HEADER_COUNT - 1;

		snprintf((char *)bytes + layout->names + i * MAX_NAME_BYTES, MAX_NAME_BYTES,
			 is_last ? ".shstrtab" : ".debug_%s", is_last ? "" : names[i - 1]);
		sections[i] = (Elf64_Shdr){
			.sh_name = (Elf64_Word)(i * MAX_NAME_BYTES),
			.sh_type = is_last ? SHT_STRTAB : SHT_PROGBITS,
			.sh_offset = is_last ? layout->names : layout->offsets[i - 1],
			.sh_size = is_last ? NAMES_BYTES : sources[i - 1].size,
			.sh_addralign = 1,
		};
	}
	if (file->is_64)
		write_headers_64(bytes, layout, file->machine, sections);
	else
		write_headers_32(bytes, layout, file->machine, sections);
}

static int open_with_libdw(struct dwarf_image *image, size_t size)
{
	const struct memory_range *abbreviations = &image->sections[DWARF_SECTION_ABBREV];

	elf_version(EV_CURRENT);
	image->elf = elf_memory(image->bytes, size);
	image->dwarf = image->elf ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
	if (!image->dwarf)
		return -EBADMSG;
	return dwarf_abbreviations_fit(image->dwarf, abbreviations->start,
				       memory_range_size(abbreviations))
		       ? 0
		       : -EBADMSG;
}

int dwarf_image_open(struct dwarf_image *image, const struct elf_file *file,
		     const struct dwarf_source sources[DWARF_SECTION_COUNT])
{
	struct layout layout;
	uint8_t *bytes;
	int err = 0;

	*image = (struct dwarf_image){0};
	if (dwarf_sources_bytes(sources) > DWARF_IMAGE_MAX_BYTES)
		return -EFBIG;
	layout = lay_out(sources);
	image->bytes = bytes = large_malloc(layout.size);
	if (!bytes)
		return -ENOMEM;
	for (unsigned int i = 0; i < DWARF_SECTION_COUNT && !err; i++) {
		if (sources[i].size)
			err = read_source(file, &sources[i], bytes + layout.offsets[i]);
		bytes[layout.offsets[i] + sources[i].size] = '\0';
		image->sections[i] = (struct memory_range){
			bytes + layout.offsets[i], bytes + layout.offsets[i] + sources[i].size};
	}
	memset(bytes + layout.names, 0, layout.size - layout.names);
	if (!err) {
		write_headers(bytes, &layout, sources, file);
		err = open_with_libdw(image, layout.size);
	}
	if (err)
		dwarf_image_done(image);
	return err;
}

void dwarf_image_done(struct dwarf_image *image)
{
	if (image->dwarf)
		dwarf_end(image->dwarf);
	if (image->elf)
		elf_end(image->elf);
	free(image->bytes);
	*image = (struct dwarf_image){0};
}
