/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorted code symbols of one address space, 16 bytes each: where a symbol is and where its name is
 * kept. Names stay where they are (in a file or a buffer) and are fetched only for the few symbols
 * that are asked for.
 */
#ifndef PKBPF_SYMBOL_SYMBOL_TABLE_H
#define PKBPF_SYMBOL_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest program known to us (Chromium with symbols) has 1.5 million. */
#define SYMBOL_TABLE_MAX_ENTRIES (4U << 20)
/* No larger function is known; of a larger one only so many bytes have its name. */
#define SYMBOL_TABLE_MAX_SIZE ((1U << 29) - 1)

/* Of several symbols at one address only those of the lowest rank are kept. */
enum symbol_rank {
	SYMBOL_RANK_EXPORTED, /* a function that is visible outside */
	SYMBOL_RANK_LOCAL,    /* a function */
	SYMBOL_RANK_LABEL,    /* code without a type: assembly labels, section markers */
};

struct symbol_entry {
	uint64_t address;
	uint32_t name;
	uint32_t size : 29; /* 0 while unknown */
	uint32_t rank : 2;
	uint32_t size_is_guess : 1; /* reaches as far as nothing else is known to begin */
};

struct symbol_table {
	struct symbol_entry *entries;
	size_t count;
	size_t capacity;
	/* Where blocks of entries end, when finished: a tree of maxima, the root at 1,
	 * the children of i at 2i and 2i + 1. */
	uint64_t *reaches;
	size_t reach_leaves;
};

/* -ENOSPC beyond the limits, -ENOMEM. */
int symbol_table_add(struct symbol_table *table, uint64_t address, uint64_t size, uint32_t name,
		     enum symbol_rank rank);
/* By address; entries of one address keep the order in which they were added. -ENOMEM. */
int symbol_table_sort(struct symbol_table *table);

struct symbol_range {
	uint64_t start, end;
};

/*
 * Sorts, drops the lesser aliases, drops labels inside functions, and lets symbols without a size
 * reach to the next symbol but not beyond the range (section) they start in; outside of every range
 * they cover nothing.
 */
int symbol_table_finish(struct symbol_table *table, const struct symbol_range *ranges,
			size_t range_count);
/*
 * The innermost symbol that covers address, in a finished table: first of *ret_count aliases at the
 * same address. NULL: none.
 */
const struct symbol_entry *symbol_table_find(const struct symbol_table *table, uint64_t address,
					     size_t *ret_count);
void symbol_table_done(struct symbol_table *table);

/* Is `name` the better of two names for one address: fewer leading underscores, then shorter, then
 * by bytes. */
bool symbol_name_better(const char *name, const char *than);

#endif
