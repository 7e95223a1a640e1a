// SPDX-License-Identifier: BSD-2-Clause
/* Indexes the address ranges of compilation units and functions, for looking up many addresses. */
#include "symbol/dwarf/dwarf_index.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Namespaces, classes, functions and blocks inside each other. */
#define MAX_DEPTH 64
/* Ranges between two looks at the clock. */
#define RANGES_PER_LOOK 256

struct die_range {
	uint64_t start, end;
	uint64_t item; /* number of the unit, or offset of the function's entry */
	size_t wider;  /* place, plus 1, of the last one before it that ends later; 0: none */
};

struct range_list {
	struct die_range *items;
	size_t count, capacity;
};

enum lines_state {
	LINES_NOT_ASKED_FOR,
	LINES_ALLOWED,
	LINES_TOO_LONG,
};

struct unit {
	Dwarf_Off die;
	bool functions_read;
	enum lines_state lines;
	struct range_list functions;
};

struct dwarf_index {
	Dwarf *dwarf;
	struct dwarf_spending *spending;
	const struct split_ranges *split; /* NULL: units are whole */
	ARRAY_OF(struct unit) units;
	struct range_list ranges;
	bool units_read;
	uint64_t line_bytes; /* taken from the budget */
};

struct dwarf_index *dwarf_index_new(Dwarf *dwarf, struct dwarf_spending *spending,
				    const struct split_ranges *split)
{
	struct dwarf_index *index = calloc(1, sizeof(*index));

	if (index) {
		index->dwarf = dwarf;
		index->spending = spending;
		index->split = split;
	}
	return index;
}

void dwarf_index_free(struct dwarf_index *index)
{
	if (!index)
		return;
	array_foreach(&index->units, each)
		free(each->functions.items);
	array_free(&index->units);
	free(index->ranges.items);
	index->spending->budget->line_bytes += index->line_bytes;
	free(index);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct die_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* The longer first, so that walking back from an address meets the innermost first. */
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Adds every range of the entry. Those that are empty take time as well, and many entries may share
 * one list. */
static void add_ranges(struct dwarf_index *index, struct range_list *list, Dwarf_Die *die,
		       uint64_t item)
{
	struct die_ranges ranges;
	uint64_t start, end;

	die_ranges_begin(&ranges, die, index->split);
	for (size_t i = 1; list->count < DWARF_INDEX_MAX_RANGES; i++) {
		struct die_range *range;

		if (!die_ranges_next(&ranges, &start, &end) ||
		    (i % RANGES_PER_LOOK == 0 && dwarf_spending_over(index->spending)))
			return;
		/* Address 0 is where linkers leave functions they threw away. */
		if (start >= end || start == 0)
			continue;
		range = array_add(list);
		if (!range)
			return;
		*range = (struct die_range){start, end, item, 0};
	}
}

/* Ranges between one and the wider one before it end before it does: they hold no address that it
 * does not. */
static void sort_ranges(struct range_list *list)
{
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), compare_ranges);
	for (size_t i = 1; i < list->count; i++) {
		size_t wider = i;

		while (wider && list->items[wider - 1].end <= list->items[i].end)
			wider = list->items[wider - 1].wider;
		list->items[i].wider = wider;
	}
}

static const struct die_range *find_range(const struct range_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0; low = list->items[low - 1].wider)
		if (address < list->items[low - 1].end)
			return &list->items[low - 1];
	return NULL;
}

static void read_units(struct dwarf_index *index)
{
	Dwarf_Off offset = 0, next;
	size_t header_size;

	while (index->units.count < DWARF_INDEX_MAX_UNITS &&
	       !dwarf_spending_over(index->spending) &&
	       dwarf_nextcu(index->dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
		Dwarf_Die die;
		struct unit *unit;

		if (next <= offset)
			break;
		if (dwarf_offdie(index->dwarf, offset + header_size, &die)) {
			unit = array_add(&index->units);
			if (!unit)
				break;
			unit->die = offset + header_size;
			add_ranges(index, &index->ranges, &die, index->units.count - 1);
		}
		offset = next;
	}
	sort_ranges(&index->ranges);
}

/* Methods of classes, lambdas among them, that are declared in a function's body are found
 * there. */
static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_module || tag == DW_TAG_union_type ||
	       tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

static void read_functions(struct dwarf_index *index, struct unit *unit, Dwarf_Die *unit_die)
{
	Dwarf_Die stack[MAX_DEPTH];
	size_t depth = 0;

	if (dwarf_child(unit_die, &stack[0]))
		return;
	depth = 1;
	for (size_t visited = 0; depth > 0 && visited < DWARF_INDEX_MAX_ENTRIES &&
				 !dwarf_spending_over(index->spending);
	     visited++) {
		Dwarf_Die *die = &stack[depth - 1];
		Dwarf_Die child;
		int tag = dwarf_tag(die);
		bool enter;

		if (tag == DW_TAG_subprogram)
			add_ranges(index, &unit->functions, die, dwarf_dieoffset(die));
		enter = depth < MAX_DEPTH && may_hold_functions(tag) &&
			dwarf_haschildren(die) > 0 && dwarf_child(die, &child) == 0;
		/* The entry's place is taken by its sibling; its children go on top. */
		if (dwarf_siblingof(die, die))
			depth--;
		if (enter)
			stack[depth++] = child;
	}
	sort_ranges(&unit->functions);
}

bool dwarf_index_add_unit(struct dwarf_index *index, Dwarf_Off die)
{
	struct unit *unit = array_add(&index->units);

	index->units_read = true;
	if (unit)
		unit->die = die;
	return unit;
}

bool dwarf_index_find_in_unit(struct dwarf_index *index, size_t number, uint64_t address,
			      struct dwarf_place *ret_place)
{
	struct unit *unit = &index->units.items[number];
	const struct die_range *range;

	ret_place->unit_number = number;
	if (!dwarf_offdie(index->dwarf, unit->die, &ret_place->unit))
		return false;
	if (!unit->functions_read) {
		unit->functions_read = true;
		read_functions(index, unit, &ret_place->unit);
	}
	range = find_range(&unit->functions, address);
	ret_place->has_function =
		range && dwarf_offdie(index->dwarf, range->item, &ret_place->function);
	return true;
}

bool dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_place *ret_place)
{
	const struct die_range *range;

	if (!index->units_read) {
		index->units_read = true;
		read_units(index);
	}
	range = find_range(&index->ranges, address);
	return range && dwarf_index_find_in_unit(index, range->item, address, ret_place);
}

/* Bytes of the unit's line program by its header (DWARF 5, 6.2.4); as many as there are after it
 * when it says nonsense. */
static uint64_t line_program_bytes(Dwarf_Die *unit, const uint8_t *section, size_t size)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	uint64_t length;
	uint32_t length32;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
	    dwarf_formudata(&attribute, &offset) || offset >= size ||
	    size - offset < sizeof(length32) + sizeof(length))
		return 0;
	memcpy(&length32, section + offset, sizeof(length32));
	memcpy(&length, section + offset + sizeof(length32), sizeof(length));
	if (length32 != UINT32_MAX)
		length = length32;
	return length < size - offset ? length : size - offset;
}

bool dwarf_index_may_read_lines(struct dwarf_index *index, const struct dwarf_place *place,
				const void *section, size_t size)
{
	struct unit *unit = &index->units.items[place->unit_number];

	if (unit->lines == LINES_NOT_ASKED_FOR) {
		struct dwarf_budget *budget = index->spending->budget;
		Dwarf_Die die = place->unit;
		uint64_t bytes = line_program_bytes(&die, section, size);

		unit->lines = bytes <= budget->line_bytes ? LINES_ALLOWED : LINES_TOO_LONG;
		if (unit->lines == LINES_ALLOWED) {
			budget->line_bytes -= bytes;
			index->line_bytes += bytes;
		}
	}
	return unit->lines == LINES_ALLOWED;
}
