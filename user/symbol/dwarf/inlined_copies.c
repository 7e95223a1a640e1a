// SPDX-License-Identifier: BSD-2-Clause
/* Walks all entries of a file's DWARF for inlined subroutines. */
#include "symbol/dwarf/inlined_copies.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "elf/demangle.h"
#include "symbol/dwarf/dwarf_image.h"

/* Entries inside of each other. */
#define MAX_DEPTH 64
#define NOT_MEANT UINT32_MAX

struct walk {
	struct dwarf_spending spending;
	inlined_judge *is_meant;
	void *context;
	struct inlined_functions *functions;
	struct hash_map by_origin; /* place of the function's entry -> its number, or NOT_MEANT */
	int err;
};

/* Hostile files may make references go in circles: libdw follows so many. */
static const char *name_of(Dwarf_Die *die)
{
	static const unsigned int kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attribute;
	const char *name = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !name; i++)
		if (dwarf_attr_integrate(die, kinds[i], &attribute))
			name = dwarf_formstring(&attribute);
	return name;
}

static uint32_t number_of(struct walk *walk, const char *name)
{
	char told[INLINED_NAME_BYTES];
	struct inlined_function *item;

	if (!name || !walk->is_meant(walk->context, name, told))
		return NOT_MEANT;
	for (size_t i = 0; i < walk->functions->items.count; i++)
		if (strcmp(walk->functions->items.items[i].name, told) == 0)
			return (uint32_t)i;
	item = array_add(&walk->functions->items);
	if (!item) {
		walk->err = -ENOMEM;
		return NOT_MEANT;
	}
	*item = (struct inlined_function){.copies = 0};
	snprintf(item->name, sizeof(item->name), "%s", told);
	return (uint32_t)(walk->functions->items.count - 1);
}

static void note_caller(struct inlined_function *function, const char *name)
{
	char caller[INLINED_NAME_BYTES];

	if (!name)
		return;
	if (!demangle(name, caller, sizeof(caller)))
		snprintf(caller, sizeof(caller), "%s", name);
	for (size_t i = 0; i < INLINED_CALLERS; i++) {
		if (!function->callers[i][0])
			memcpy(function->callers[i], caller, sizeof(caller));
		if (strcmp(function->callers[i], caller) == 0)
			return;
	}
	function->has_more_callers = true;
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

static void note_copy(struct walk *walk, Dwarf_Die *copy, Dwarf_Die *caller)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;
	uint64_t *number;
	bool added;

	if (!has_code(copy) || !dwarf_attr(copy, DW_AT_abstract_origin, &attribute) ||
	    !dwarf_formref_die(&attribute, &origin))
		return;
	number = hash_map_get(&walk->by_origin, dwarf_dieoffset(&origin), NOT_MEANT, &added);
	if (!number) {
		walk->err = -ENOMEM;
		return;
	}
	if (added)
		*number = number_of(walk, name_of(&origin));
	if (*number == NOT_MEANT)
		return;
	walk->functions->items.items[*number].copies++;
	note_caller(&walk->functions->items.items[*number], caller ? name_of(caller) : NULL);
}

static void look_into(struct walk *walk, Dwarf_Die *parent, Dwarf_Die *caller, unsigned int depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH)
		return;
	for (int end = dwarf_child(parent, &child); end == 0;
	     end = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if (walk->err || dwarf_spending_over(&walk->spending))
			return;
		if (tag == DW_TAG_inlined_subroutine)
			note_copy(walk, &child, caller);
		if (dwarf_haschildren(&child))
			look_into(walk, &child, tag == DW_TAG_subprogram ? &child : caller,
				  depth + 1);
	}
}

int inlined_copies_find(const struct elf_file *file, struct dwarf_budget *budget,
			inlined_judge *is_meant, void *context, struct inlined_functions *functions)
{
	_cleanup_(dwarf_image_done) struct dwarf_image image = {0};
	struct walk walk = {.spending = {.budget = budget},
			    .is_meant = is_meant,
			    .context = context,
			    .functions = functions};
	struct dwarf_source sources[DWARF_SECTION_COUNT];
	Dwarf_CU *unit = NULL;
	Dwarf_Die top;
	int err;

	dwarf_sources_of_file(file, false, sources);
	if (!sources[DWARF_SECTION_INFO].section && !sources[DWARF_SECTION_INFO].bytes)
		return 0;
	if (dwarf_sources_bytes(sources) > budget->bytes)
		return -EFBIG;
	err = dwarf_image_open(&image, file, sources);
	if (err)
		return err;
	if (!dwarf_spending_begin(&walk.spending))
		return -ETIME;
	while (!walk.err && !dwarf_spending_over(&walk.spending) &&
	       dwarf_get_units(image.dwarf, unit, &unit, NULL, NULL, &top, NULL) == 0)
		if (dwarf_tag(&top) != DW_TAG_invalid)
			look_into(&walk, &top, NULL, 0);
	hash_map_done(&walk.by_origin);
	return walk.err ? walk.err : walk.spending.over ? -ETIME : 0;
}
