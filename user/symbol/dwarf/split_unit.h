/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compilation units whose debug information is in a file of its own (-gsplit-dwarf): a .dwo beside
 * the object, or a package (.dwp) beside the program. What is left in the program, the skeleton,
 * names the file, which is opened where the target would find it.
 */
#ifndef PKBPF_SYMBOL_DWARF_SPLIT_UNIT_H
#define PKBPF_SYMBOL_DWARF_SPLIT_UNIT_H

#include "base/string_pool.h"
#include "symbol/dwarf/dwarf_index.h"
#include "symbol/elf/debug_file.h"

struct dwarf_skeleton {
	const char *folder, *name; /* of the file; borrowed from the program's image */
	uint64_t id;
	uint64_t addresses_base, lists_base, low_pc;
	uint16_t version;
	uint8_t address_size, offset_size;
};

/* The split units of one program. */
struct split_units;
struct split_unit;

/* main: the program's image, borrowed like search and spending. NULL: out of memory. */
struct split_units *split_units_new(const struct debug_file_search *search,
				    const struct dwarf_image *main, bool with_lines,
				    struct dwarf_spending *spending);
void split_units_free(struct split_units *units);

/* false: the unit is whole. */
bool dwarf_skeleton_read(Dwarf_Die *unit, struct dwarf_skeleton *ret_skeleton);
/* The rest of the unit with this number; the file is looked for once. NULL: it could not be had. */
struct split_unit *split_units_get(struct split_units *units, size_t number,
				   const struct dwarf_skeleton *skeleton);
/* How many could not be had; the path and -errno of the first of them. -ENOENT: no such file;
 * -ESTALE: it is of another build. */
size_t split_units_missing(const struct split_units *units, const char **ret_path, int *ret_err);

/* As dwarf_index_find(), in this unit. */
bool split_unit_find(struct split_unit *unit, uint64_t address, struct dwarf_place *ret_place);
const struct split_ranges *split_unit_ranges(const struct split_unit *unit);
/* A string that is an attribute of an entry in the unit, cut to 8 KiB; NULL: none. */
const char *split_unit_string(struct split_unit *unit, Dwarf_Attribute *attribute,
			      struct string_pool *strings);

#endif
