// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lets libdw read a file. libelf is told to read, not to map, so a file that shrinks meanwhile is a
 * failed read; the sizes of all debug sections, packed or not, are added up before libdw sees any.
 */
#include "symbol/dwarf/dwarf_image.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "symbol/dwarf/dwarf_abbreviations.h"

struct dwarf_image dwarf_image_none(void)
{
	return (struct dwarf_image){.fd = -1};
}

void dwarf_image_done(struct dwarf_image *image)
{
	if (image->dwarf)
		dwarf_end(image->dwarf);
	if (image->elf)
		elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	array_free(&image->names);
	*image = dwarf_image_none();
}

/* What is read here of a section whose name begins with ".debug". */
static bool is_needed(const char *name, bool with_lines)
{
	static const char *const needed[] = {
		".debug_info", ".debug_types",	  ".debug_abbrev",
		".debug_str",  ".debug_line_str", ".debug_str_offsets",
		".debug_addr", ".debug_ranges",	  ".debug_rnglists",
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (strcmp(name, needed[i]) == 0)
			return true;
	}
	return with_lines && strcmp(name, ".debug_line") == 0;
}

uint64_t dwarf_image_bytes(const struct elf_file *file, bool with_lines)
{
	uint64_t total = 0;

	for (size_t i = 0; i < file->section_count; i++) {
		const struct elf_section *section = &file->sections[i];
		uint64_t size;

		if (section->type == SHT_NOBITS || !is_needed(section->name, with_lines))
			continue;
		size = elf_file_unpacked_size(file, section);
		if (size > DWARF_IMAGE_MAX_BYTES - total)
			return UINT64_MAX;
		total += size;
	}
	return total;
}

/* Of a section; false: it is none of those that libdw takes names from. */
static bool has_names(const char *name, bool *ret_only_names)
{
	*ret_only_names = strcmp(name, ".debug_str") == 0 || strcmp(name, ".debug_line_str") == 0;
	return *ret_only_names || strcmp(name, ".debug_info") == 0 ||
	       strcmp(name, ".debug_types") == 0;
}

/* false: a name there could be read beyond, or no memory. */
static bool note_section(struct dwarf_image *image, const char *name, struct memory_range range)
{
	struct memory_range *item;
	bool only_names;

	if (strcmp(name, ".debug_abbrev") == 0)
		image->abbreviations = range;
	else if (strcmp(name, ".debug_line") == 0)
		image->line_programs = range;
	if (!has_names(name, &only_names))
		return true;
	if (only_names && range.end[-1])
		return false;
	item = array_add(&image->names);
	if (item)
		*item = range;
	return item;
}

/*
 * libdw 0.188 takes a string's offset for a string without looking where its section ends, and the
 * bytes of an attribute that is a string itself. Sections are in memory by now, unpacked: a section
 * of strings that ends in NUL cannot be read beyond, and what else has names is noted for
 * dwarf_image_name_ends().
 */
static bool find_sections(struct dwarf_image *image)
{
	Elf *elf = image->elf;
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header))
			return false;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || header.sh_type == SHT_NOBITS || !is_needed(name, true))
			continue;
		data = elf_rawdata(section, NULL);
		if (!data)
			return false;
		if (!data->d_buf || !data->d_size)
			continue;
		if (!note_section(image, name,
				  (struct memory_range){data->d_buf,
							(const char *)data->d_buf + data->d_size}))
			return false;
	}
	return true;
}

bool dwarf_image_name_ends(const struct dwarf_image *image, const char *name)
{
	array_foreach(&image->names, range) {
		if (name >= range->start && name < range->end)
			return memchr(name, 0, (size_t)(range->end - name));
	}
	return false;
}

/* What libdw looks for when it opens a file (0.188). */
static bool is_read_by_libdw(const char *name)
{
	return strncmp(name, ".debug", 6) == 0 || strncmp(name, ".zdebug", 7) == 0 ||
	       strncmp(name, ".gnu.debuglto", 13) == 0 || strcmp(name, ".eh_frame") == 0;
}

/* libdw reads every section that it finds, needed or not. Those that are not, half of a file's
 * bytes, it takes for stripped when their header in memory says that they have no contents. */
static bool hide_what_is_not_needed(Elf *elf, bool with_lines)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			return false;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || !is_read_by_libdw(name) || is_needed(name, with_lines))
			continue;
		header.sh_type = SHT_NOBITS;
		header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		if (!gelf_update_shdr(section, &header))
			return false;
	}
	return true;
}

bool dwarf_image_open(struct dwarf_image *image, int fd, bool with_lines)
{
	*image = dwarf_image_none();
	image->fd = fd;
	elf_version(EV_CURRENT);
	image->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (image->elf && hide_what_is_not_needed(image->elf, with_lines))
		image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
	if (!image->dwarf || !find_sections(image) ||
	    !dwarf_abbreviations_fit(
		    image->dwarf, image->abbreviations.start,
		    (size_t)(image->abbreviations.end - image->abbreviations.start)))
		dwarf_image_done(image);
	return image->dwarf;
}
