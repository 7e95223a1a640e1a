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
#include <unistd.h>

#include <elfutils/libdw.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/demangle.h"
#include "symbol/dwarf/alternate_file.h"
#include "symbol/dwarf/dwarf_image.h"
#include "symbol/dwarf/dwarf_index.h"
#include "symbol/dwarf/split_unit.h"

/* Entries looked at inside one function for one address. */
#define MAX_BODY_ENTRIES (1U << 20)
/* Lexical blocks and inlined functions inside each other. */
#define MAX_BODY_DEPTH 256
/* Ranges between two looks at the clock. */
#define RANGES_PER_LOOK 256
struct dwarf_lines {
	bool with_lines, tried;
	int fd;	 /* until the first question */
	int err; /* why there is nothing */
	struct dwarf_image main;
	struct dwarf_image alternate; /* what dwz shares between files */
	struct dwarf_index *index;
	struct split_units *split_units; /* NULL: none was met */
	struct dwarf_spending spending;
	uint64_t bytes; /* of the budget, given back in the end */
	struct debug_file_search search;
	char *root, *debug_dir, *path;	/* its strings */
	struct alternate_link *missing; /* the link that leads nowhere; NULL: none */
	char text[PATH_MAX + 128];	/* what is missing */
};

static int open_image(struct dwarf_lines *lines, const struct elf_file *file,
		      struct dwarf_image *image)
{
	struct dwarf_source sources[DWARF_SECTION_COUNT];
	uint64_t bytes;

	dwarf_sources_of_file(file, lines->with_lines, sources);
	bytes = dwarf_sources_bytes(sources);
	if (bytes > lines->spending.budget->bytes)
		return -EFBIG;
	lines->spending.budget->bytes -= bytes;
	lines->bytes += bytes;
	return dwarf_image_open(image, file, sources);
}

static int open_alternate(struct dwarf_lines *lines, const struct alternate_link *link)
{
	_cleanup_close_ int fd = alternate_file_open(&lines->search, link);
	struct elf_file file;
	int err;

	if (fd < 0) {
		lines->missing = malloc(sizeof(*link));
		if (lines->missing)
			*lines->missing = *link;
		return lines->missing ? -ENOENT : -ENOMEM;
	}
	err = elf_file_open(&file, fd);
	if (err)
		return err;
	err = open_image(lines, &file, &lines->alternate);
	elf_file_done(&file);
	return err;
}

/* A file whose alternate is missing is not read at all: entries would lead nowhere. */
static int open_images(struct dwarf_lines *lines)
{
	struct alternate_link link;
	struct elf_file file;
	int err = elf_file_open(&file, lines->fd), link_err;

	if (err)
		return err;
	link_err = alternate_link_read(&file, &link);
	err = link_err == -ENOENT ? 0 : link_err;
	if (!link_err)
		err = open_alternate(lines, &link);
	if (!err)
		err = open_image(lines, &file, &lines->main);
	elf_file_done(&file);
	if (!err && !link_err)
		dwarf_setalt(lines->main.dwarf, lines->alternate.dwarf);
	return err;
}

struct dwarf_lines *dwarf_lines_open(int fd, const struct debug_file_search *search,
				     bool with_lines, struct dwarf_budget *budget)
{
	struct dwarf_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->with_lines = with_lines;
	lines->spending.budget = budget;
	lines->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	lines->root = strdup(search->root);
	lines->debug_dir = strdup(search->debug_dir);
	lines->path = strdup(search->path);
	lines->search = *search;
	lines->search.root = lines->root;
	lines->search.debug_dir = lines->debug_dir;
	lines->search.path = lines->path;
	if (lines->fd < 0 || !lines->root || !lines->debug_dir || !lines->path) {
		dwarf_lines_free(lines);
		return NULL;
	}
	return lines;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	split_units_free(lines->split_units);
	dwarf_index_free(lines->index);
	dwarf_image_done(&lines->main);
	dwarf_image_done(&lines->alternate);
	lines->spending.budget->bytes += lines->bytes;
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->missing);
	free(lines->root);
	free(lines->debug_dir);
	free(lines->path);
	free(lines);
}

static const char *error_text(int err)
{
	switch (err) {
	case -ENOENT:
		return "no such file";
	case -ESTALE:
		return "it belongs to another build";
	case -EFBIG:
		return "too large";
	case -ETIME:
		return "it takes too long to read";
	case -EOPNOTSUPP:
		return "compressed by an unknown method";
	case -EBADMSG:
	case -ENOEXEC:
		return "damaged";
	case -EINVAL:
		return "not a regular file";
	default:
		return strerror(-err);
	}
}

const char *dwarf_lines_missing(struct dwarf_lines *lines)
{
	const char *path;
	size_t count;
	int err;

	if (lines->missing) {
		snprintf(lines->text, sizeof(lines->text), "the dwz file %s was not found",
			 lines->missing->path);
		return lines->text;
	}
	if (lines->spending.over)
		return "it takes too long to read";
	if (lines->err)
		return error_text(lines->err);
	count = lines->split_units ? split_units_missing(lines->split_units, &path, &err) : 0;
	if (!count)
		return NULL;
	snprintf(lines->text, sizeof(lines->text), "%zu split file%s, such as %s: %s", count,
		 count == 1 ? "" : "s", path, error_text(err));
	return lines->text;
}

static bool get_ready(struct dwarf_lines *lines)
{
	if (lines->tried)
		return lines->index;
	lines->tried = true;
	lines->err = open_images(lines);
	close(lines->fd);
	lines->fd = -1;
	if (!lines->err) {
		lines->index = dwarf_index_new(lines->main.dwarf, &lines->spending, NULL);
		lines->err = lines->index ? 0 : -ENOMEM;
	}
	return lines->index;
}

/* Of an entry of the main file, or of a split unit. */
static const char *name_of(struct split_unit *split, Dwarf_Die *die, struct string_pool *strings)
{
	static const unsigned int kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attribute;
	const char *name = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !name; i++) {
		if (dwarf_attr_integrate(die, kinds[i], &attribute))
			name = split ? split_unit_string(split, &attribute, strings)
				     : dwarf_formstring(&attribute);
	}
	return name ? demangle_name(strings, name) : NULL;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

struct inlined_search {
	struct dwarf_spending *spending;
	const struct split_ranges *split;
	uint64_t address;
	size_t visited;
	/* From the outermost inlined function to the scope that is looked into; and the longest
	 * such path of all. */
	Dwarf_Die path[MAX_BODY_DEPTH], longest[MAX_BODY_DEPTH];
	size_t length, longest_length;
};

static bool covers(struct inlined_search *search, Dwarf_Die *scope)
{
	struct die_ranges ranges;
	uint64_t start, end;

	die_ranges_begin(&ranges, scope, search->split);
	for (size_t i = 1; die_ranges_next(&ranges, &start, &end); i++) {
		if (search->address >= start && search->address < end)
			return true;
		if (i % RANGES_PER_LOOK == 0 && dwarf_spending_over(search->spending))
			return false;
	}
	return false;
}

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
		if (!is_scope(dwarf_tag(&child)) || !covers(search, &child))
			continue;
		search->path[search->length] = child;
		search->length += is_inlined;
		look_into(search, &child, depth + 1);
		search->length -= is_inlined;
	}
}

/* The inlined functions around address inside a function, outermost first; the innermost `max` of
 * them. */
static size_t find_inlined(struct inlined_search *search, Dwarf_Die *function, Dwarf_Die *ret_dies,
			   size_t max)
{
	size_t count;

	look_into(search, function, 0);
	count = search->longest_length < max ? search->longest_length : max;
	memcpy(ret_dies, search->longest + search->longest_length - count,
	       count * sizeof(*ret_dies));
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
	Dwarf_Half version;

	if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) ||
	    dwarf_formudata(&attribute, &file) ||
	    !dwarf_attr(inlined, DW_AT_call_line, &attribute) ||
	    dwarf_formudata(&attribute, &number) || dwarf_getsrcfiles(unit, &files, &file_count) ||
	    file >= file_count || number > INT_MAX ||
	    dwarf_cu_info(inlined->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL))
		return;
	/* Before DWARF 5 files are counted from 1. */
	if (!file && version < 5)
		return;
	set_place(line, dwarf_filesrc(files, file, NULL, NULL), (int)number, strings);
}

/* A place in the code, with the entries that describe it. */
struct described {
	struct dwarf_place place;
	struct split_unit *split; /* that the place is in; NULL: in the program's own */
	Dwarf_Die skeleton;	  /* then; it has the line program */
	Dwarf_Die inlined[DWARF_LINES_MAX_DEPTH - 1];
	size_t inlined_count;
};

static bool may_read_lines(const struct dwarf_lines *lines, const struct described *described)
{
	const struct memory_range *section = &lines->main.sections[DWARF_SECTION_LINE];
	struct dwarf_place place = {.unit = described->skeleton,
				    .unit_number = described->place.unit_number};

	return memory_range_size(section) &&
	       dwarf_index_may_read_lines(lines->index, &place, section->start,
					  memory_range_size(section));
}

/* Goes on in the split unit, where the unit is a skeleton. */
static void enter_split_unit(struct dwarf_lines *lines, uint64_t address,
			     struct described *described)
{
	struct dwarf_skeleton skeleton;
	struct split_unit *unit;
	struct dwarf_place place;

	if (!dwarf_skeleton_read(&described->place.unit, &skeleton))
		return;
	if (!lines->split_units)
		lines->split_units = split_units_new(&lines->search, &lines->main,
						     lines->with_lines, &lines->spending);
	unit = lines->split_units ? split_units_get(lines->split_units,
						    described->place.unit_number, &skeleton)
				  : NULL;
	if (!unit || !split_unit_find(unit, address, &place))
		return;
	described->split = unit;
	described->skeleton = described->place.unit;
	place.unit_number = described->place.unit_number;
	described->place = place;
}

static bool describe(struct dwarf_lines *lines, const struct dwarf_query *query,
		     struct described *described)
{
	struct inlined_search search = {.spending = &lines->spending, .address = query->address};

	if (!get_ready(lines) || !dwarf_index_find(lines->index, query->address, &described->place))
		return false;
	described->skeleton = described->place.unit;
	enter_split_unit(lines, query->address, described);
	if (described->split)
		search.split = split_unit_ranges(described->split);
	if (query->inlines && described->place.has_function)
		described->inlined_count =
			find_inlined(&search, &described->place.function, described->inlined,
				     ARRAY_SIZE(described->inlined));
	return true;
}

static void set_places(struct described *described, uint64_t address, struct string_pool *strings,
		       struct symbol_line *lines, size_t count)
{
	Dwarf_Line *line = dwarf_getsrc_die(&described->skeleton, address);
	int number = 0;

	if (line && dwarf_lineno(line, &number) == 0)
		set_place(&lines[0], dwarf_linesrc(line, NULL, NULL), number, strings);
	for (size_t i = 1; i < count; i++)
		set_call_place(&lines[i], &described->place.unit,
			       &described->inlined[described->inlined_count - i], strings);
}

static size_t find(struct dwarf_lines *lines, const struct dwarf_query *query,
		   struct string_pool *strings, struct symbol_line *ret_lines)
{
	struct described described = {0};
	const char *name = query->function;
	size_t count = 0;

	if (!describe(lines, query, &described))
		return 0;
	if (!name && described.place.has_function)
		name = name_of(described.split, &described.place.function, strings);
	if (!name)
		return 0;
	for (size_t i = described.inlined_count; i-- > 0;) {
		const char *inlined_name = name_of(described.split, &described.inlined[i], strings);

		ret_lines[count++] = (struct symbol_line){
			.function = inlined_name ? inlined_name : "[inlined]",
			.inlined = true,
		};
	}
	ret_lines[count++] = (struct symbol_line){.function = name};
	if (query->lines && may_read_lines(lines, &described))
		set_places(&described, query->address, strings, ret_lines, count);
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
