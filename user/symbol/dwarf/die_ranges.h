/* SPDX-License-Identifier: BSD-2-Clause */
/* Address ranges of an entry (DWARF 5, 2.17.3), in units that are whole and in split ones. */
#ifndef PKBPF_SYMBOL_DWARF_DIE_RANGES_H
#define PKBPF_SYMBOL_DWARF_DIE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "elf/cfi_reader.h"
#include "symbol/dwarf/dwarf_image.h"

/* What lists of a split unit refer to, which is partly in its skeleton's file. libdw knows that
 * only where it has opened the other file itself, by whatever path the skeleton names. */
struct split_ranges {
	struct memory_range lists;     /* .debug_ranges of the skeleton, or .debug_rnglists.dwo */
	struct memory_range addresses; /* .debug_addr from the unit's first address on */
	uint64_t lists_base;	       /* offset of the list, or of the table of lists */
	uint64_t low_pc;	       /* of the skeleton */
	uint16_t version;
	uint8_t address_size, offset_size;
};

struct die_ranges {
	Dwarf_Die *die;
	const struct split_ranges *split; /* NULL: libdw reads the lists */
	ptrdiff_t offset;
	Dwarf_Addr base;
	struct cfi_reader reader;
};

/* split: of the unit the entry is in; NULL: it is whole. */
void die_ranges_begin(struct die_ranges *ranges, Dwarf_Die *die, const struct split_ranges *split);
/* Ranges may be empty, and each takes a bounded time. false: that was the last one. */
bool die_ranges_next(struct die_ranges *ranges, uint64_t *ret_start, uint64_t *ret_end);

#endif
