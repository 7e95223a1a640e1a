// SPDX-License-Identifier: BSD-2-Clause
/* Reads the items of PT_DYNAMIC. */
#include "elf/elf_dynamic.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define STEP_ITEMS 64
/* Each library that a file needs is one, and they come first: chains of hundreds exist. */
#define MAX_ITEMS 16384
/* Chromium's largest library exports some 100,000 functions. */
#define MAX_BUCKETS (1U << 20)
#define MAX_CHAIN   4096

/* As many as are read at a time. */
union items {
	Elf64_Dyn wide[STEP_ITEMS];
	Elf32_Dyn narrow[STEP_ITEMS];
};

/* false: the item that ends the list is among them. */
static bool take_items(const union items *items, bool is_64, size_t count,
		       struct elf_dynamic *dynamic)
{
	for (size_t i = 0; i < count; i++) {
		int64_t tag = is_64 ? items->wide[i].d_tag : items->narrow[i].d_tag;
		uint64_t value = is_64 ? items->wide[i].d_un.d_val : items->narrow[i].d_un.d_val;

		if (tag == DT_NULL)
			return false;
		if (tag > 0 && tag < DT_NUM)
			dynamic->values[tag] = value;
		else if (tag == DT_GNU_HASH)
			dynamic->gnu_hash = value;
	}
	return true;
}

bool elf_dynamic_read(const struct elf_file *file, struct elf_dynamic *ret_dynamic)
{
	const struct elf_segment *segment = elf_segments_find(&file->segments, PT_DYNAMIC);
	size_t item_size = file->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	struct elf_dynamic dynamic = {0};
	union items items;
	uint64_t available;
	size_t count;

	if (!segment)
		return false;
	available = elf_file_bytes_after(file, segment->address) / item_size;
	if (available > MAX_ITEMS)
		available = MAX_ITEMS;
	for (uint64_t at = 0; at < available; at += count) {
		count = available - at < STEP_ITEMS ? (size_t)(available - at) : STEP_ITEMS;
		if (elf_file_read_address(file, segment->address + at * item_size, &items,
					  count * item_size))
			return false;
		if (!take_items(&items, file->is_64, count, &dynamic))
			break;
	}
	*ret_dynamic = dynamic;
	return true;
}

/* The head of DT_GNU_HASH; a Bloom filter of words, the buckets, and the chains follow. */
struct gnu_hash {
	uint32_t bucket_count;
	uint32_t first_symbol; /* that is in a chain */
	uint32_t filter_words;
	uint32_t filter_shift;
};

/* The last symbol of the chain that begins with the symbol: its hash is odd. */
static uint64_t find_chain_end(const struct elf_file *file, uint64_t chains, uint64_t symbol)
{
	for (unsigned int i = 0; i < MAX_CHAIN; i++, symbol++) {
		uint32_t hash;

		if (elf_file_read_address(file, chains + symbol * sizeof(hash), &hash,
					  sizeof(hash)))
			return 0;
		if (hash & 1)
			return symbol + 1;
	}
	return 0;
}

static uint64_t count_by_gnu_hash(const struct elf_file *file, uint64_t address)
{
	_cleanup_free_ uint32_t *buckets = NULL;
	struct gnu_hash head;
	uint64_t buckets_size;
	uint32_t last = 0;

	if (elf_file_read_address(file, address, &head, sizeof(head)) ||
	    head.bucket_count > MAX_BUCKETS)
		return 0;
	address += sizeof(head) + (uint64_t)head.filter_words * (file->is_64 ? 8 : 4);
	buckets_size = head.bucket_count * sizeof(*buckets);
	buckets = malloc(buckets_size + 1);
	if (!buckets || elf_file_read_address(file, address, buckets, buckets_size))
		return 0;
	for (uint32_t i = 0; i < head.bucket_count; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < head.first_symbol)
		return head.first_symbol;
	return find_chain_end(file, address + buckets_size - head.first_symbol * UINT64_C(4), last);
}

uint64_t elf_dynamic_symbol_count(const struct elf_file *file, const struct elf_dynamic *dynamic)
{
	uint32_t head[2]; /* of DT_HASH: buckets, symbols */

	if (dynamic->gnu_hash)
		return count_by_gnu_hash(file, dynamic->gnu_hash);
	return dynamic->values[DT_HASH] && elf_file_read_address(file, dynamic->values[DT_HASH],
								 head, sizeof(head)) == 0
		       ? head[1]
		       : 0;
}
