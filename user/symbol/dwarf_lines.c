// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks libdw for lines and inlined functions. libelf is told to read, not to map, so a file that
 * shrinks meanwhile is a failed read; the sizes of all debug sections, packed or not, are added up
 * before libdw sees any.
 */
#include "symbol/dwarf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>
#include <gelf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "symbol/demangle.h"
#include "symbol/dwarf_abbreviations.h"
#include "symbol/dwarf_index.h"

/* Entries looked at inside one function for one address. */
#define MAX_BODY_ENTRIES (1U << 20)
/* Lexical blocks and inlined functions inside each other. */
#define MAX_BODY_DEPTH 256
/* A path and a build id. */
#define MAX_ALT_LINK_BYTES (PATH_MAX + BUILD_ID_MAX_BYTES + 1)

/* A section, unpacked, or what names are in. */
struct memory_range {
	const char *start, *end;
};

struct dwarf_image {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	ARRAY_OF(struct memory_range) names;
	struct memory_range abbreviations, line_programs;
};

struct dwarf_lines {
	bool with_lines;
	struct dwarf_image main;
	struct dwarf_image alternate; /* what dwz shares between files */
	struct dwarf_index *index;
	struct dwarf_spending spending;
	char *root, *debug_dir, *path;
	uint32_t pid;
	bool tried;
};

static struct dwarf_image no_image(void)
{
	return (struct dwarf_image){.fd = -1};
}

static void image_done(struct dwarf_image *image)
{
	if (image->dwarf)
		dwarf_end(image->dwarf);
	if (image->elf)
		elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	array_free(&image->names);
	*image = no_image();
}

/* Bytes the section takes in memory; UINT64_MAX: it says nonsense. */
static uint64_t memory_size(const struct elf_file *file, const struct elf_section *section)
{
	if (!(section->flags & SHF_COMPRESSED))
		return section->size;
	if (file->is_64) {
		Elf64_Chdr header;

		if (section->size < sizeof(header) ||
		    elf_file_read(file, section->offset, &header, sizeof(header)))
			return UINT64_MAX;
		return header.ch_size;
	} else {
		Elf32_Chdr header;

		if (section->size < sizeof(header) ||
		    elf_file_read(file, section->offset, &header, sizeof(header)))
			return UINT64_MAX;
		return header.ch_size;
	}
}

/* What is read here of a section whose name begins with ".debug". */
static bool is_needed(const char *name, bool with_lines)
{
	static const char *const needed[] = {
		".debug_info", ".debug_types", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets",
		".debug_addr", ".debug_ranges", ".debug_rnglists",
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (strcmp(name, needed[i]) == 0)
			return true;
	}
	return with_lines && strcmp(name, ".debug_line") == 0;
}

/* Of the sections that are needed, as they are in memory; UINT64_MAX: too many. */
static uint64_t count_bytes(const struct elf_file *file, bool with_lines)
{
	uint64_t total = 0;

	for (size_t i = 0; i < file->section_count; i++) {
		const struct elf_section *section = &file->sections[i];
		uint64_t size;

		if (section->type == SHT_NOBITS || !is_needed(section->name, with_lines))
			continue;
		size = memory_size(file, section);
		if (size > DWARF_LINES_MAX_BYTES - total)
			return UINT64_MAX;
		total += size;
	}
	return total;
}

/* Of a section; false: it is none of those that libdw takes names from. */
static bool has_names(const char *name, bool *ret_only_names)
{
	*ret_only_names = strcmp(name, ".debug_str") == 0 || strcmp(name, ".debug_line_str") == 0;
	return *ret_only_names || strcmp(name, ".debug_info") == 0 || strcmp(name, ".debug_types") == 0;
}

/*
 * libdw 0.188 takes a string's offset for a string without looking where its section ends, and the bytes of an attribute that is a
 * string itself. Sections are in memory by now, unpacked: a section of strings that ends in NUL cannot be read beyond, and what
 * else has names is noted for name_ends().
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
		struct memory_range *item, range;
		bool only_names;
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
		range = (struct memory_range){data->d_buf, (const char *)data->d_buf + data->d_size};
		if (strcmp(name, ".debug_abbrev") == 0)
			image->abbreviations = range;
		else if (strcmp(name, ".debug_line") == 0)
			image->line_programs = range;
		if (!has_names(name, &only_names))
			continue;
		if (only_names && range.end[-1])
			return false;
		item = array_add(&image->names);
		if (!item)
			return false;
		*item = range;
	}
	return true;
}

/* Whether a name ends where the section ends that it is in. */
static bool name_ends(const struct dwarf_image *image, const char *name)
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
	return strncmp(name, ".debug", 6) == 0 || strncmp(name, ".zdebug", 7) == 0 || strncmp(name, ".gnu.debuglto", 13) == 0 ||
	       strcmp(name, ".eh_frame") == 0;
}

/* libdw reads every section that it finds, needed or not. Those that are not, half of a file's bytes, it takes for stripped when
 * their header in memory says that they have no contents. */
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

/* Takes fd over, also when it fails. */
static bool image_open(struct dwarf_image *image, int fd, bool with_lines)
{
	*image = no_image();
	image->fd = fd;
	elf_version(EV_CURRENT);
	image->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (image->elf && hide_what_is_not_needed(image->elf, with_lines))
		image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
	if (!image->dwarf || !find_sections(image) ||
	    !dwarf_abbreviations_fit(image->dwarf, image->abbreviations.start,
				     (size_t)(image->abbreviations.end - image->abbreviations.start)))
		image_done(image);
	return image->dwarf;
}

/* A descriptor of the file named by .gnu_debugaltlink; -ENOENT: the link leads nowhere. */
static int open_alternate(const struct dwarf_lines *lines, const struct elf_file *file,
			  const struct elf_section *section)
{
	struct debug_file_search search = {
		.root = lines->root,
		.debug_dir = lines->debug_dir,
		.pid = lines->pid,
		.path = lines->path,
	};
	_cleanup_free_ void *link = NULL;
	struct build_id id = {.size = 0};
	char path[PATH_MAX];
	size_t size, length;
	char *below;
	int fd;

	if (elf_file_read_section(file, section, MAX_ALT_LINK_BYTES, &link, &size))
		return -ENOENT;
	length = strnlen(link, size);
	if (length == size || size - length - 1 == 0 || size - length - 1 > BUILD_ID_MAX_BYTES)
		return -ENOENT;
	id.size = size - length - 1;
	memcpy(id.bytes, (const char *)link + length + 1, id.size);
	fd = debug_file_open_build_id(&search, &id);
	if (fd >= 0)
		return fd;
	below = strstr(link, "/.dwz/");
	if (!below || snprintf(path, sizeof(path), "%s%s", lines->debug_dir, below) >= PATH_MAX)
		return -ENOENT;
	return debug_file_open_path(&search, path, &id);
}

/* From the budget. */
static bool take_bytes(struct dwarf_lines *lines, const struct elf_file *file)
{
	uint64_t bytes = count_bytes(file, lines->with_lines);

	if (bytes > lines->spending.budget->bytes)
		return false;
	lines->spending.budget->bytes -= bytes;
	return true;
}

/*
 * libdw follows the link on its own when it is not told where it leads, and opens whatever path the
 * file names. So a file whose alternate cannot be found by us is not shown to libdw at all.
 */
static bool open_images(struct dwarf_lines *lines)
{
	const struct elf_section *alt_link;
	struct elf_file file, alternate;
	bool ready = false;
	int fd;

	if (elf_file_open(&file, lines->main.fd))
		return false;
	alt_link = elf_file_find_section(&file, ".gnu_debugaltlink");
	if (!take_bytes(lines, &file)) {
		ready = false;
	} else if (alt_link) {
		fd = open_alternate(lines, &file, alt_link);
		if (fd >= 0 && !elf_file_open(&alternate, fd)) {
			/* An alternate with an alternate would start the search for paths again. */
			ready = take_bytes(lines, &alternate) &&
				!elf_file_find_section(&alternate, ".gnu_debugaltlink");
			elf_file_done(&alternate);
		}
		if (fd >= 0 && !ready)
			close(fd);
		ready = ready && image_open(&lines->alternate, fd, lines->with_lines);
	} else {
		ready = true;
	}
	elf_file_done(&file);
	if (!ready)
		return false;
	fd = lines->main.fd;
	lines->main.fd = -1;
	if (!image_open(&lines->main, fd, lines->with_lines))
		return false;
	if (lines->alternate.dwarf)
		dwarf_setalt(lines->main.dwarf, lines->alternate.dwarf);
	return true;
}

struct dwarf_lines *dwarf_lines_open(int fd, const struct debug_file_search *search, bool with_lines,
				     struct dwarf_budget *budget)
{
	struct dwarf_lines *lines;
	struct elf_file file;
	bool fits;

	if (elf_file_open(&file, fd))
		return NULL;
	fits = count_bytes(&file, with_lines) <= budget->bytes;
	elf_file_done(&file);
	lines = fits ? calloc(1, sizeof(*lines)) : NULL;
	if (!lines)
		return NULL;
	lines->with_lines = with_lines;
	lines->spending.budget = budget;
	lines->alternate = no_image();
	lines->main = no_image();
	lines->main.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	lines->root = strdup(search->root);
	lines->debug_dir = strdup(search->debug_dir);
	lines->path = strdup(search->path);
	lines->pid = search->pid;
	if (lines->main.fd < 0 || !lines->root || !lines->debug_dir || !lines->path) {
		dwarf_lines_free(lines);
		return NULL;
	}
	return lines;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	dwarf_index_free(lines->index);
	image_done(&lines->main);
	image_done(&lines->alternate);
	free(lines->root);
	free(lines->debug_dir);
	free(lines->path);
	free(lines);
}

bool dwarf_lines_given_up(const struct dwarf_lines *lines)
{
	return lines->spending.over;
}

static bool get_ready(struct dwarf_lines *lines)
{
	if (!lines->tried) {
		lines->tried = true;
		if (open_images(lines))
			lines->index = dwarf_index_new(lines->main.dwarf, &lines->spending);
	}
	return lines->index;
}

static const char *name_of(const struct dwarf_lines *lines, Dwarf_Die *die, struct string_pool *strings)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!name)
		name = dwarf_diename(die);
	if (!name || (!name_ends(&lines->main, name) && !name_ends(&lines->alternate, name)))
		return NULL;
	return demangle_name(strings, name);
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* The inlined functions around address inside a function, outermost first; the innermost `max` of
 * them. */
static size_t find_inlined(struct dwarf_spending *spending, Dwarf_Die *function, uint64_t address, Dwarf_Die *ret_dies, size_t max)
{
	Dwarf_Die scope = *function, child;
	size_t visited = 0, count = 0;

	for (unsigned int depth = 0; depth < MAX_BODY_DEPTH; depth++) {
		bool inside = false;
		int end = dwarf_child(&scope, &child);

		while (end == 0 && !inside && visited++ < MAX_BODY_ENTRIES && !dwarf_spending_over(spending)) {
			inside = is_scope(dwarf_tag(&child)) && dwarf_haspc(&child, address) > 0;
			if (!inside)
				end = dwarf_siblingof(&child, &child);
		}
		if (!inside)
			break;
		scope = child;
		if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine)
			continue;
		if (count == max)
			memmove(ret_dies, ret_dies + 1, --count * sizeof(*ret_dies));
		ret_dies[count++] = scope;
	}
	return count;
}

static void set_place(struct symbol_line *line, const char *file, int number,
		      struct string_pool *strings)
{
	if (!file || !*file)
		return;
	line->file = string_pool_get(strings, string_pool_add_n(strings, file, PATH_MAX));
	line->line = number > 0 ? (uint32_t)number : 0;
}

/* Where the inlined function was called: the line in the function around it. */
static void set_call_place(struct symbol_line *line, Dwarf_Die *unit, Dwarf_Die *inlined,
			   struct string_pool *strings)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, number;
	Dwarf_Files *files;
	size_t file_count;

	if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) ||
	    dwarf_formudata(&attribute, &file) ||
	    !dwarf_attr(inlined, DW_AT_call_line, &attribute) ||
	    dwarf_formudata(&attribute, &number) || dwarf_getsrcfiles(unit, &files, &file_count) ||
	    file >= file_count || number > INT_MAX)
		return;
	set_place(line, dwarf_filesrc(files, file, NULL, NULL), (int)number, strings);
}

static bool may_read_lines(const struct dwarf_lines *lines, const struct dwarf_place *place)
{
	const struct memory_range *section = &lines->main.line_programs;

	return section->start &&
	       dwarf_index_may_read_lines(lines->index, place, section->start, (size_t)(section->end - section->start));
}

static size_t find(struct dwarf_lines *lines, const struct dwarf_query *query, struct string_pool *strings,
		   struct symbol_line *ret_lines)
{
	Dwarf_Die inlined[DWARF_LINES_MAX_DEPTH - 1];
	size_t inlined_count = 0, count = 0;
	struct dwarf_place place;
	const char *name;

	if (!get_ready(lines) || !dwarf_index_find(lines->index, query->address, &place))
		return 0;
	name = query->function;
	if (!name && place.has_function)
		name = name_of(lines, &place.function, strings);
	if (!name)
		return 0;
	if (query->inlines && place.has_function)
		inlined_count = find_inlined(&lines->spending, &place.function, query->address, inlined,
					     DWARF_LINES_MAX_DEPTH - 1);
	for (size_t i = inlined_count; i-- > 0;) {
		const char *inlined_name = name_of(lines, &inlined[i], strings);

		ret_lines[count++] = (struct symbol_line){
			.function = inlined_name ? inlined_name : "[inlined]",
			.inlined = true,
		};
	}
	ret_lines[count++] = (struct symbol_line){.function = name};
	if (query->lines && may_read_lines(lines, &place)) {
		Dwarf_Line *line = dwarf_getsrc_die(&place.unit, query->address);
		int number = 0;

		if (line && dwarf_lineno(line, &number) == 0)
			set_place(&ret_lines[0], dwarf_linesrc(line, NULL, NULL), number, strings);
		for (size_t i = 1; i < count; i++)
			set_call_place(&ret_lines[i], &place.unit, &inlined[inlined_count - i], strings);
	}
	return count;
}

size_t dwarf_lines_find(struct dwarf_lines *lines, const struct dwarf_query *query, struct string_pool *strings,
			struct symbol_line *ret_lines)
{
	size_t count;

	if (!dwarf_spending_begin(&lines->spending))
		return 0;
	count = find(lines, query, strings, ret_lines);
	dwarf_spending_end(&lines->spending);
	return count;
}
