// SPDX-License-Identifier: BSD-2-Clause
/* Finds the files of split units and reads what is needed of them. */
#include "symbol/dwarf/split_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "elf/elf_symbol.h"
#include "symbol/dwarf/split_package.h"
#include "symbol/elf/elf_symbols.h"

/* Before version 5 nothing says where a unit's addresses end; 131,072 of them are enough. */
#define MAX_GNU_ADDRESS_BYTES (1U << 20)

struct split_unit {
	struct dwarf_image image;
	struct dwarf_index *index;
	struct split_ranges ranges;
	struct elf_strings strings;
	const struct elf_file *file; /* they are in; NULL: in memory */
	uint64_t bytes;		     /* of the budget */
	uint64_t line_bytes;	     /* likewise */
};

struct split_units {
	const struct debug_file_search *search;
	const struct dwarf_image *main;
	struct dwarf_spending *spending;
	bool with_lines, has_tried_package, has_package;
	struct split_package package;
	ARRAY_OF(struct split_unit *) units;
	struct hash_map numbers; /* of the skeleton -> in units */
	size_t missing;
	int missing_err;
	char missing_path[PATH_MAX];
};

struct split_units *split_units_new(const struct debug_file_search *search,
				    const struct dwarf_image *main, bool with_lines,
				    struct dwarf_spending *spending)
{
	struct split_units *units = calloc(1, sizeof(*units));

	if (units) {
		units->search = search;
		units->main = main;
		units->with_lines = with_lines;
		units->spending = spending;
	}
	return units;
}

static void free_unit(struct split_unit *unit, struct dwarf_budget *budget)
{
	if (!unit)
		return;
	dwarf_index_free(unit->index);
	dwarf_image_done(&unit->image);
	free(unit->strings.unpacked);
	budget->bytes += unit->bytes;
	budget->line_bytes += unit->line_bytes;
	free(unit);
}

void split_units_free(struct split_units *units)
{
	if (!units)
		return;
	array_foreach(&units->units, unit)
		free_unit(*unit, units->spending->budget);
	array_free(&units->units);
	hash_map_done(&units->numbers);
	if (units->has_package)
		split_package_done(&units->package);
	free(units);
}

/* ---- skeletons ---- */

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 ? value
											     : 0;
}

bool dwarf_skeleton_read(Dwarf_Die *unit, struct dwarf_skeleton *ret_skeleton)
{
	struct dwarf_skeleton skeleton = {0};
	Dwarf_Attribute attribute;
	Dwarf_Addr low_pc;
	uint8_t type;

	if (dwarf_cu_info(unit->cu, &skeleton.version, &type, NULL, NULL, &skeleton.id,
			  &skeleton.address_size, &skeleton.offset_size))
		return false;
	skeleton.name = string_of(unit, skeleton.version < 5 ? DW_AT_GNU_dwo_name : DW_AT_dwo_name);
	if (!skeleton.name)
		return false;
	skeleton.folder = string_of(unit, DW_AT_comp_dir);
	if (skeleton.version < 5) {
		skeleton.id = number_of(unit, DW_AT_GNU_dwo_id);
		skeleton.addresses_base = number_of(unit, DW_AT_GNU_addr_base);
		skeleton.lists_base = number_of(unit, DW_AT_GNU_ranges_base);
	} else {
		skeleton.addresses_base = number_of(unit, DW_AT_addr_base);
	}
	if (dwarf_attr(unit, DW_AT_low_pc, &attribute) && dwarf_formaddr(&attribute, &low_pc) == 0)
		skeleton.low_pc = low_pc;
	*ret_skeleton = skeleton;
	return true;
}

/* ---- files ---- */

/* The path of a unit's file; relative folders begin at the program's. */
static bool path_of(const struct debug_file_search *search, const struct dwarf_skeleton *skeleton,
		    char path[PATH_MAX])
{
	const char *folder = skeleton->folder ? skeleton->folder : "";
	const char *slash = strrchr(search->path, '/');
	int program_size = folder[0] != '/' && slash ? (int)(slash - search->path) : 0;
	int size;

	if (skeleton->name[0] == '/')
		size = snprintf(path, PATH_MAX, "%s", skeleton->name);
	else
		size = snprintf(path, PATH_MAX, "%.*s%s%s/%s", program_size, search->path,
				program_size ? "/" : "", folder, skeleton->name);
	return size < PATH_MAX;
}

/* Its units are found by their ids, so that one of another build does no harm. */
static bool try_package(struct split_units *units, const char *folder, const char *suffix)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s%s%s", folder, units->search->path, suffix) >=
	    (int)sizeof(path))
		return false;
	fd = debug_file_open_target(units->search, path);
	return fd >= 0 && split_package_open(&units->package, fd) == 0;
}

/* Beside the program, or beside its debug file in the folder of those. */
static const struct split_package *get_package(struct split_units *units)
{
	const char *debug_dir = units->search->debug_dir;

	if (units->has_tried_package)
		return units->has_package ? &units->package : NULL;
	units->has_tried_package = true;
	units->has_package =
		try_package(units, "", ".dwp") || (debug_dir && debug_dir[0] &&
						   (try_package(units, debug_dir, ".debug.dwp") ||
						    try_package(units, debug_dir, ".dwp")));
	return units->has_package ? &units->package : NULL;
}

/* ---- units ---- */

/* Bytes of .debug_addr that are the unit's, without the header before them. */
static struct dwarf_source addresses_of(const struct memory_range *section,
					const struct dwarf_skeleton *skeleton)
{
	uint64_t size = memory_range_size(section), base = skeleton->addresses_base;
	uint64_t header = skeleton->offset_size == 8 ? 16 : 8, length = MAX_GNU_ADDRESS_BYTES;
	uint32_t length32;

	if (!section->start || base > size)
		return (struct dwarf_source){0};
	if (skeleton->version >= 5 && base >= header && skeleton->offset_size == 4) {
		memcpy(&length32, section->start + base - header, sizeof(length32));
		length = length32 > 4 ? length32 - 4 : 0;
	}
	return (struct dwarf_source){.bytes = section->start + base,
				     .size = length < size - base ? length : size - base};
}

static bool take_bytes(struct split_units *units, struct split_unit *unit, uint64_t bytes)
{
	struct dwarf_budget *budget = units->spending->budget;

	if (bytes > budget->bytes)
		return false;
	budget->bytes -= bytes;
	unit->bytes += bytes;
	return true;
}

/* libdw reads all of the line program where only the names of its files are wanted. */
static bool take_line_bytes(struct split_units *units, struct split_unit *unit, uint64_t bytes)
{
	struct dwarf_budget *budget = units->spending->budget;

	if (bytes > budget->line_bytes)
		return false;
	budget->line_bytes -= bytes;
	unit->line_bytes += bytes;
	return true;
}

/* Names are read one by one, from the file as long as that stays open. */
static int find_strings(struct split_units *units, struct split_unit *unit,
			const struct elf_file *file, bool stays_open)
{
	struct dwarf_source source = dwarf_source_find(file, DWARF_SECTION_STR, ".dwo");
	size_t size;
	int err;

	if (!source.section)
		return 0;
	unit->strings.size = source.size;
	if (stays_open && source.size == source.section->size) {
		unit->strings.offset = source.section->offset;
		unit->file = file;
		return 0;
	}
	if (!take_bytes(units, unit, source.size))
		return -EFBIG;
	err = elf_file_read_section(file, source.section, DWARF_IMAGE_MAX_BYTES,
				    &unit->strings.unpacked, &size);
	/* What it was found to be may differ from what it said. */
	unit->strings.size = err ? 0 : size;
	return err;
}

/* Adds the unit to its index; a .dwo may have others beside it, types for example. */
static int add_to_index(struct split_units *units, struct split_unit *unit, uint64_t id)
{
	Dwarf_CU *at = NULL;
	Dwarf_Die die;
	uint8_t type;

	unit->index = dwarf_index_new(unit->image.dwarf, units->spending, &unit->ranges);
	if (!unit->index)
		return -ENOMEM;
	while (dwarf_get_units(unit->image.dwarf, at, &at, NULL, &type, &die, NULL) == 0) {
		uint64_t here;

		if (dwarf_spending_over(units->spending))
			return -ETIME;
		if (dwarf_tag(&die) == DW_TAG_compile_unit &&
		    dwarf_cu_info(at, NULL, NULL, NULL, NULL, &here, NULL, NULL) == 0 && here == id)
			return dwarf_index_add_unit(unit->index, dwarf_dieoffset(&die)) ? 0
											: -ENOMEM;
	}
	return -ESTALE;
}

static void note_ranges(const struct split_units *units, struct split_unit *unit,
			const struct dwarf_skeleton *skeleton)
{
	bool is_gnu = skeleton->version < 5;
	const struct memory_range *own = &unit->image.sections[DWARF_SECTION_RNGLISTS];

	unit->ranges = (struct split_ranges){
		.lists = is_gnu ? units->main->sections[DWARF_SECTION_RANGES] : *own,
		.addresses = unit->image.sections[DWARF_SECTION_ADDR],
		/* Behind the header comes the table of lists. */
		.lists_base = is_gnu			   ? skeleton->lists_base
			      : skeleton->offset_size == 8 ? 20
							   : 12,
		.low_pc = skeleton->low_pc,
		.version = skeleton->version,
		.address_size = skeleton->address_size,
		.offset_size = skeleton->offset_size,
	};
}

static int read_unit(struct split_units *units, struct split_unit *unit,
		     const struct elf_file *file, struct dwarf_source *sources,
		     const struct dwarf_skeleton *skeleton)
{
	uint64_t bytes;
	int err;

	sources[DWARF_SECTION_ADDR] =
		addresses_of(&units->main->sections[DWARF_SECTION_ADDR], skeleton);
	sources[DWARF_SECTION_STR] = (struct dwarf_source){0};
	if (!units->with_lines || !take_line_bytes(units, unit, sources[DWARF_SECTION_LINE].size))
		sources[DWARF_SECTION_LINE] = (struct dwarf_source){0};
	bytes = dwarf_sources_bytes(sources);
	if (bytes == UINT64_MAX || !take_bytes(units, unit, bytes))
		return -EFBIG;
	err = dwarf_image_open(&unit->image, file, sources);
	if (err)
		return err;
	note_ranges(units, unit, skeleton);
	return add_to_index(units, unit, skeleton->id);
}

static int read_from_package(struct split_units *units, struct split_unit *unit,
			     const struct dwarf_skeleton *skeleton)
{
	const struct split_package *package = get_package(units);
	struct dwarf_source sources[DWARF_SECTION_COUNT] = {0};
	int err = package ? split_package_find(package, skeleton->id, sources) : -ENOENT;

	if (!err)
		err = read_unit(units, unit, &package->file, sources, skeleton);
	return err ? err : find_strings(units, unit, &package->file, true);
}

static int read_from_file(struct split_units *units, struct split_unit *unit, const char *path,
			  const struct dwarf_skeleton *skeleton)
{
	_cleanup_close_ int fd = debug_file_open_target(units->search, path);
	struct dwarf_source sources[DWARF_SECTION_COUNT];
	struct elf_file file;
	int err = fd < 0 ? fd : elf_file_open(&file, fd);

	if (err)
		return err;
	for (unsigned int i = 0; i < DWARF_SECTION_COUNT; i++)
		sources[i] = dwarf_source_find(&file, i, ".dwo");
	err = read_unit(units, unit, &file, sources, skeleton);
	if (!err)
		err = find_strings(units, unit, &file, false);
	elf_file_done(&file);
	return err;
}

static struct split_unit *open_unit(struct split_units *units,
				    const struct dwarf_skeleton *skeleton)
{
	struct split_unit *unit = calloc(1, sizeof(*unit));
	char path[PATH_MAX];
	int err = unit ? read_from_package(units, unit, skeleton) : -ENOMEM;

	if (err == -ENOENT && path_of(units->search, skeleton, path))
		err = read_from_file(units, unit, path, skeleton);
	else if (err)
		snprintf(path, sizeof(path), "%s.dwp", units->search->path);
	if (!err)
		return unit;
	if (!units->missing++) {
		units->missing_err = err;
		memcpy(units->missing_path, path, sizeof(path));
	}
	free_unit(unit, units->spending->budget);
	return NULL;
}

struct split_unit *split_units_get(struct split_units *units, size_t number,
				   const struct dwarf_skeleton *skeleton)
{
	struct split_unit **unit;
	bool added;
	uint64_t *item = hash_map_get(&units->numbers, number, units->units.count, &added);

	if (!item)
		return NULL;
	if (!added)
		return *item < units->units.count ? units->units.items[*item] : NULL;
	unit = array_add(&units->units);
	if (!unit) {
		*item = UINT64_MAX;
		return NULL;
	}
	return *unit = open_unit(units, skeleton);
}

size_t split_units_missing(const struct split_units *units, const char **ret_path, int *ret_err)
{
	*ret_path = units->missing_path;
	*ret_err = units->missing_err;
	return units->missing;
}

bool split_unit_find(struct split_unit *unit, uint64_t address, struct dwarf_place *ret_place)
{
	return dwarf_index_find_in_unit(unit->index, 0, address, ret_place);
}

const struct split_ranges *split_unit_ranges(const struct split_unit *unit)
{
	return &unit->ranges;
}

/* ---- strings ---- */

/* Which of the unit's strings the attribute names. */
static bool read_string_number(Dwarf_Attribute *attribute, uint64_t *ret_number)
{
	/* Behind every entry the image has more bytes than a number takes. */
	struct cfi_reader reader = {attribute->valp, attribute->valp + 16, false};
	uint64_t number;

	switch (dwarf_whatform(attribute)) {
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		*ret_number = cfi_read_uleb128(&reader);
		return true;
	case DW_FORM_strx1:
		*ret_number = cfi_read_u8(&reader);
		return true;
	case DW_FORM_strx2:
		*ret_number = cfi_read_u16(&reader);
		return true;
	case DW_FORM_strx3:
		number = cfi_read_u16(&reader);
		*ret_number = number | (uint64_t)cfi_read_u8(&reader) << 16;
		return true;
	case DW_FORM_strx4:
		*ret_number = cfi_read_u32(&reader);
		return true;
	default:
		return false;
	}
}

const char *split_unit_string(struct split_unit *unit, Dwarf_Attribute *attribute,
			      struct string_pool *strings)
{
	const struct memory_range *offsets = &unit->image.sections[DWARF_SECTION_STR_OFFSETS];
	unsigned int size = unit->ranges.offset_size;
	/* Version 5 has a header before them. */
	uint64_t header = unit->ranges.version < 5 ? 0 : size == 8 ? 16 : 8;
	struct cfi_reader reader = {offsets->start, offsets->end, !offsets->start};
	char text[ELF_SYMBOL_NAME_SIZE];
	uint64_t number, offset;

	if (!read_string_number(attribute, &number)) {
		const char *own = dwarf_formstring(attribute);

		return own ? string_pool_get(strings, string_pool_add_n(strings, own, sizeof(text)))
			   : NULL;
	}
	if (number > UINT32_MAX)
		return NULL;
	cfi_skip(&reader, header + number * size);
	offset = size == 8 ? cfi_read_u64(&reader) : cfi_read_u32(&reader);
	if (reader.failed ||
	    elf_strings_read(&unit->strings, unit->file, offset, text, sizeof(text)))
		return NULL;
	return string_pool_get(strings, string_pool_add(strings, text));
}
