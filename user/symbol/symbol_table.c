// SPDX-License-Identifier: BSD-2-Clause
/* Sorts code symbols and finds the one that covers an address. */
#include "symbol/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/large_memory.h"

#define RADIX_BITS    11
#define RADIX_BUCKETS (1U << RADIX_BITS)
#define MAX_ALIASES   256
/* Entries that are looked at one by one. */
#define BLOCK_ENTRIES 64

static uint32_t clamp_size(uint64_t size)
{
	return (size < SYMBOL_TABLE_MAX_SIZE ? (uint32_t)size : SYMBOL_TABLE_MAX_SIZE) &
	       SYMBOL_TABLE_MAX_SIZE;
}

int symbol_table_add(struct symbol_table *table, uint64_t address, uint64_t size, uint32_t name,
		     enum symbol_rank rank)
{
	struct symbol_entry *entry;

	if (table->count >= SYMBOL_TABLE_MAX_ENTRIES)
		return -ENOSPC;
	if (table->count == table->capacity &&
	    !array_reserve_items((void **)&table->entries, &table->capacity, table->count + 1,
				 sizeof(*table->entries)))
		return -ENOMEM;
	entry = &table->entries[table->count++];
	entry->address = address;
	entry->size = clamp_size(size);
	entry->name = name;
	entry->rank = rank & 3;
	entry->size_is_guess = 0;
	return 0;
}

/* One stable counting pass on RADIX_BITS bits from shift; false: all keys share these bits, nothing
 * moved. */
static bool radix_pass(const struct symbol_entry *from, struct symbol_entry *to, size_t count,
		       unsigned int shift)
{
	uint32_t starts[RADIX_BUCKETS] = {0};
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[(from[i].address >> shift) & (RADIX_BUCKETS - 1)]++;
	if (starts[(from[0].address >> shift) & (RADIX_BUCKETS - 1)] == count)
		return false;
	for (size_t i = 0; i < RADIX_BUCKETS; i++) {
		uint32_t here = starts[i];

		starts[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[(from[i].address >> shift) & (RADIX_BUCKETS - 1)]++] = from[i];
	return true;
}

int symbol_table_sort(struct symbol_table *table)
{
	struct symbol_entry *from = table->entries, *to;
	bool sorted = true;

	for (size_t i = 1; i < table->count && sorted; i++)
		sorted = from[i - 1].address <= from[i].address;
	if (sorted)
		return 0;
	to = large_malloc(table->count * sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (unsigned int shift = 0; shift < 64; shift += RADIX_BITS) {
		if (radix_pass(from, to, table->count, shift)) {
			struct symbol_entry *other = from;

			from = to;
			to = other;
		}
	}
	if (from != table->entries)
		table->capacity = table->count;
	table->entries = from;
	free(to);
	return 0;
}

/* Keeps the best rank of the run [first, end) and gives all of it the largest size. Returns the new
 * count. */
static size_t keep_best_aliases(struct symbol_table *table, size_t first, size_t end, size_t count)
{
	struct symbol_entry *entries = table->entries;
	unsigned int best = entries[first].rank;
	uint64_t address = entries[first].address;
	uint32_t size = 0;
	size_t kept = count;

	for (size_t i = first; i < end; i++) {
		if (entries[i].rank < best)
			best = entries[i].rank;
		if (entries[i].size > size)
			size = entries[i].size;
	}
	for (size_t i = first; i < end; i++) {
		if (entries[i].rank != best)
			continue;
		entries[kept] = entries[i];
		entries[kept].address = address;
		entries[kept].size = size;
		kept++;
	}
	return kept;
}

/* End of the range that holds address, or address itself. */
static uint64_t range_end(const struct symbol_range *ranges, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return ranges[i].end;
	return address;
}

static void fill_sizes(struct symbol_table *table, const struct symbol_range *ranges,
		       size_t range_count)
{
	uint64_t next = UINT64_MAX; /* address of the symbol behind the current run */

	for (size_t i = table->count; i-- > 0;) {
		struct symbol_entry *entry = &table->entries[i];
		uint64_t end;

		if (i + 1 < table->count && table->entries[i + 1].address != entry->address)
			next = table->entries[i + 1].address;
		if (entry->size != 0)
			continue;
		end = range_end(ranges, range_count, entry->address);
		if (end > next)
			end = next;
		entry->size = clamp_size(end - entry->address);
		entry->size_is_guess = 1;
	}
}

/* Where the entry ends; 0: it covers nothing. */
static uint64_t end_of(const struct symbol_entry *entry)
{
	uint64_t end = entry->address + entry->size;

	if (entry->size == 0)
		return 0;
	return end < entry->address ? UINT64_MAX : end;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int note_reaches(struct symbol_table *table)
{
	size_t blocks = (table->count + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES, leaves = 1;
	uint64_t *tree;

	while (leaves < blocks)
		leaves *= 2;
	tree = calloc(2 * leaves, sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		uint64_t *leaf = &tree[leaves + i / BLOCK_ENTRIES];

		*leaf = larger(*leaf, end_of(&table->entries[i]));
	}
	for (size_t i = leaves; i-- > 1;)
		tree[i] = larger(tree[2 * i], tree[2 * i + 1]);
	table->reaches = tree;
	table->reach_leaves = leaves;
	return 0;
}

/* The last block up to this one that ends behind address; SIZE_MAX: none. A file may have
 * any number of functions inside each other, so blocks are not looked at one by one. */
static size_t find_block(const struct symbol_table *table, size_t block, uint64_t address)
{
	const uint64_t *tree = table->reaches;
	size_t leaves = table->reach_leaves, at = leaves + block;

	while (tree[at] <= address) {
		/* To what is left of it: beside, or beside the first one above that is a right
		 * child. */
		while (at > 1 && !(at & 1))
			at /= 2;
		if (at <= 1)
			return SIZE_MAX;
		at--;
	}
	while (at < leaves)
		at = tree[2 * at + 1] > address ? 2 * at + 1 : 2 * at;
	return at - leaves;
}

int symbol_table_finish(struct symbol_table *table, const struct symbol_range *ranges,
			size_t range_count)
{
	uint64_t function_end = 0;
	size_t kept = 0;
	int err = symbol_table_sort(table);

	if (err)
		return err;
	for (size_t i = 0, end; i < table->count; i = end) {
		struct symbol_entry *entry = &table->entries[i];
		uint64_t address = entry->address;
		size_t before = kept;

		for (end = i + 1; end < table->count; end++)
			if (table->entries[end].address != address)
				break;
		kept = keep_best_aliases(table, i, end, kept);
		entry = &table->entries[before];
		if (entry->size == 0 && address < function_end)
			kept = before;
		else if (entry->size != 0 && address + entry->size > function_end)
			function_end = address + entry->size;
	}
	table->count = kept;
	fill_sizes(table, ranges, range_count);
	if (kept > 0 && kept < table->capacity) {
		struct symbol_entry *smaller = realloc(table->entries, kept * sizeof(*smaller));

		if (smaller) {
			table->entries = smaller;
			table->capacity = kept;
		}
	}
	return note_reaches(table);
}

/* The last of entries [first, end) that covers address; NULL: none. */
static const struct symbol_entry *find_in_block(const struct symbol_entry *entries, size_t first,
						size_t end, uint64_t address)
{
	for (size_t i = end; i-- > first;)
		if (address - entries[i].address < entries[i].size)
			return &entries[i];
	return NULL;
}

const struct symbol_entry *symbol_table_find(const struct symbol_table *table, uint64_t address,
					     size_t *ret_count)
{
	const struct symbol_entry *entries = table->entries, *found = NULL, *first;
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Mostly the nearest one covers it; a function may hold thousands of others. */
	if (low > 0)
		found = find_in_block(entries, low - 1, low, address);
	for (size_t end = low; end > 0 && !found;) {
		size_t block = find_block(table, (end - 1) / BLOCK_ENTRIES, address);
		size_t block_end = (block + 1) * BLOCK_ENTRIES;

		if (block == SIZE_MAX)
			return NULL;
		found = find_in_block(entries, block * BLOCK_ENTRIES,
				      block_end < end ? block_end : end, address);
		end = block * BLOCK_ENTRIES;
	}
	if (!found)
		return NULL;
	for (first = found;
	     first > entries && first[-1].address == found->address && found - first < MAX_ALIASES;)
		first--;
	*ret_count = (size_t)(found - first) + 1;
	return first;
}

void symbol_table_done(struct symbol_table *table)
{
	free(table->entries);
	free(table->reaches);
	*table = (struct symbol_table){0};
}

bool symbol_name_better(const char *name, const char *than)
{
	size_t underscores = strspn(name, "_"), than_underscores = strspn(than, "_");
	size_t length, than_length;

	/* Every C++ and Rust name begins with underscores that say nothing about it. */
	if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0)
		underscores = 0;
	if (strncmp(than, "_Z", 2) == 0 || strncmp(than, "_R", 2) == 0)
		than_underscores = 0;
	if (underscores != than_underscores)
		return underscores < than_underscores;
	length = strlen(name);
	than_length = strlen(than);
	if (length != than_length)
		return length < than_length;
	return strcmp(name, than) < 0;
}
