// SPDX-License-Identifier: BSD-2-Clause
/* Asks libdw for lines and inlined functions. */
#include "symbol/dwarf/dwarf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "base/cleanup.h"
#include "symbol/demangle.h"
#include "symbol/dwarf/dwarf_image.h"
#include "symbol/dwarf/dwarf_index.h"

/* Entries looked at inside one function for one address. */
#define MAX_BODY_ENTRIES (1U << 20)
/* Lexical blocks and inlined functions inside each other. */
#define MAX_BODY_DEPTH 256
/* A path and a build id. */
#define MAX_ALT_LINK_BYTES (PATH_MAX + BUILD_ID_MAX_BYTES + 1)

struct dwarf_lines {
	bool with_lines;
	struct dwarf_image main;
	struct dwarf_image alternate; /* what dwz shares between files */
	struct dwarf_index *index;
	struct dwarf_spending spending;
	uint64_t bytes; /* of the budget, given back in the end */
	struct file_servers *servers;
	char *root, *debug_dir, *path;
	uint32_t pid;
	bool tried;
};

/* A descriptor of the file named by .gnu_debugaltlink; -ENOENT: the link leads nowhere. */
static int open_alternate(const struct dwarf_lines *lines, const struct elf_file *file,
			  const struct elf_section *section)
{
	struct debug_file_search search = {
		.servers = lines->servers,
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
	uint64_t bytes = dwarf_image_bytes(file, lines->with_lines);

	if (bytes > lines->spending.budget->bytes)
		return false;
	lines->spending.budget->bytes -= bytes;
	lines->bytes += bytes;
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
		ready = ready && dwarf_image_open(&lines->alternate, fd, lines->with_lines);
	} else {
		ready = true;
	}
	elf_file_done(&file);
	if (!ready)
		return false;
	fd = lines->main.fd;
	lines->main.fd = -1;
	if (!dwarf_image_open(&lines->main, fd, lines->with_lines))
		return false;
	if (lines->alternate.dwarf)
		dwarf_setalt(lines->main.dwarf, lines->alternate.dwarf);
	return true;
}

struct dwarf_lines *dwarf_lines_open(int fd, const struct debug_file_search *search,
				     bool with_lines, struct dwarf_budget *budget)
{
	struct dwarf_lines *lines;
	struct elf_file file;
	bool fits;

	if (elf_file_open(&file, fd))
		return NULL;
	fits = dwarf_image_bytes(&file, with_lines) <= budget->bytes;
	elf_file_done(&file);
	lines = fits ? calloc(1, sizeof(*lines)) : NULL;
	if (!lines)
		return NULL;
	lines->with_lines = with_lines;
	lines->spending.budget = budget;
	lines->alternate = dwarf_image_none();
	lines->main = dwarf_image_none();
	lines->main.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	lines->servers = search->servers;
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
	dwarf_image_done(&lines->main);
	dwarf_image_done(&lines->alternate);
	lines->spending.budget->bytes += lines->bytes;
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

static const char *name_of(const struct dwarf_lines *lines, Dwarf_Die *die,
			   struct string_pool *strings)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!name)
		name = dwarf_diename(die);
	if (!name || (!dwarf_image_name_ends(&lines->main, name) &&
		      !dwarf_image_name_ends(&lines->alternate, name)))
		return NULL;
	return demangle_name(strings, name);
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

struct inlined_search {
	struct dwarf_spending *spending;
	uint64_t address;
	size_t visited;
	/* From the outermost inlined function to the scope that is looked into; and the longest
	 * such path of all. */
	Dwarf_Die path[MAX_BODY_DEPTH], longest[MAX_BODY_DEPTH];
	size_t length, longest_length;
};

/*
 * Scopes beside each other may overlap, where the compiler has mixed their instructions (gcc with
 * -flto): the one that has more in it knows better whose an instruction is.
 */
static void look_into(struct inlined_search *search, Dwarf_Die *scope, unsigned int depth)
{
	Dwarf_Die child;

	if (search->length > search->longest_length) {
		search->longest_length = search->length;
		memcpy(search->longest, search->path, search->length * sizeof(*search->path));
	}
	if (depth == MAX_BODY_DEPTH)
		return;
	for (int end = dwarf_child(scope, &child); end == 0;
	     end = dwarf_siblingof(&child, &child)) {
		bool is_inlined = dwarf_tag(&child) == DW_TAG_inlined_subroutine;

		if (search->visited++ >= MAX_BODY_ENTRIES || dwarf_spending_over(search->spending))
			return;
		if (!is_scope(dwarf_tag(&child)) || dwarf_haspc(&child, search->address) <= 0)
			continue;
		search->path[search->length] = child;
		search->length += is_inlined;
		look_into(search, &child, depth + 1);
		search->length -= is_inlined;
	}
}

/* The inlined functions around address inside a function, outermost first; the innermost `max` of
 * them. */
static size_t find_inlined(struct dwarf_spending *spending, Dwarf_Die *function, uint64_t address,
			   Dwarf_Die *ret_dies, size_t max)
{
	struct inlined_search search = {.spending = spending, .address = address};
	size_t count;

	look_into(&search, function, 0);
	count = search.longest_length < max ? search.longest_length : max;
	memcpy(ret_dies, search.longest + search.longest_length - count, count * sizeof(*ret_dies));
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
	       dwarf_index_may_read_lines(lines->index, place, section->start,
					  (size_t)(section->end - section->start));
}

static size_t find(struct dwarf_lines *lines, const struct dwarf_query *query,
		   struct string_pool *strings, struct symbol_line *ret_lines)
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
		inlined_count = find_inlined(&lines->spending, &place.function, query->address,
					     inlined, DWARF_LINES_MAX_DEPTH - 1);
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
			set_call_place(&ret_lines[i], &place.unit, &inlined[inlined_count - i],
				       strings);
	}
	return count;
}

size_t dwarf_lines_find(struct dwarf_lines *lines, const struct dwarf_query *query,
			struct string_pool *strings, struct symbol_line *ret_lines)
{
	size_t count;

	if (!dwarf_spending_begin(&lines->spending))
		return 0;
	count = find(lines, query, strings, ret_lines);
	dwarf_spending_over(&lines->spending);
	return count;
}
