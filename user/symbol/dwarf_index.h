/* SPDX-License-Identifier: BSD-2-Clause */
/* Which compilation unit and which function of a DWARF file cover an address. */
#ifndef PKBPF_SYMBOL_DWARF_INDEX_H
#define PKBPF_SYMBOL_DWARF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

/* Chromium has 30,000 units. */
#define DWARF_INDEX_MAX_UNITS (1U << 20)
/* Ranges of all units, or of the functions of one unit. */
#define DWARF_INDEX_MAX_RANGES (4U << 20)
/* Entries visited in one unit while looking for functions. */
#define DWARF_INDEX_MAX_ENTRIES (4U << 20)

struct dwarf_index;

struct dwarf_index *dwarf_index_new(Dwarf *dwarf); /* borrows dwarf; NULL: out of memory */
void dwarf_index_free(struct dwarf_index *index);
/*
 * Finds the unit that covers address and, when there is one, the function: *ret_has_function. The
 * list of a unit's functions is made when it is first asked for.
 */
bool dwarf_index_find(struct dwarf_index *index, uint64_t address, Dwarf_Die *ret_unit,
		      Dwarf_Die *ret_function, bool *ret_has_function);

#endif
