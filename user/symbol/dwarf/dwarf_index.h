/* SPDX-License-Identifier: BSD-2-Clause */
/* Compilation unit and function of an address in a DWARF file. */
#ifndef PKBPF_SYMBOL_DWARF_DWARF_INDEX_H
#define PKBPF_SYMBOL_DWARF_DWARF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "symbol/dwarf/die_ranges.h"
#include "symbol/dwarf/dwarf_budget.h"

/* Chromium has 30,000 units. */
#define DWARF_INDEX_MAX_UNITS (1U << 20)
/* Ranges of all units, or of the functions of one unit. */
#define DWARF_INDEX_MAX_RANGES (4U << 20)
/* Entries visited in one unit while looking for functions. */
#define DWARF_INDEX_MAX_ENTRIES (4U << 20)

struct dwarf_index;

/* What covers an address. */
struct dwarf_place {
	Dwarf_Die unit, function;
	bool has_function;
	size_t unit_number;
};

/* Borrows all; split: of the one unit that is added, NULL: units are whole. NULL: out of memory. */
struct dwarf_index *dwarf_index_new(Dwarf *dwarf, struct dwarf_spending *spending,
				    const struct split_ranges *split);
void dwarf_index_free(struct dwarf_index *index);
/*
 * Finds the unit that covers address and, when there is one, the function. The list of a unit's
 * functions is made when it is first asked for. When the spending is over, lists are as long as
 * they have become.
 */
bool dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_place *ret_place);
/* Adds a unit by its entry; the index then has those that were added alone. false: out of
 * memory. */
bool dwarf_index_add_unit(struct dwarf_index *index, Dwarf_Off die);
/* The same in one unit, whose number is the order in which it was added. */
bool dwarf_index_find_in_unit(struct dwarf_index *index, size_t number, uint64_t address,
			      struct dwarf_place *ret_place);
/* Whether the unit's line program (.debug_line in memory) may be read: it is taken from the budget
 * once. */
bool dwarf_index_may_read_lines(struct dwarf_index *index, const struct dwarf_place *place,
				const void *section, size_t size);

#endif
