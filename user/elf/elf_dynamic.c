// SPDX-License-Identifier: BSD-2-Clause
/* Reads the items of PT_DYNAMIC. */
#include "elf/elf_dynamic.h"

#define MAX_ITEMS 64

bool elf_dynamic_read(const struct elf_file *file, struct elf_dynamic *ret_dynamic)
{
	const struct elf_segment *segment = elf_segments_find(&file->segments, PT_DYNAMIC);
	size_t item_size = file->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn), count;
	union {
		Elf64_Dyn wide[MAX_ITEMS];
		Elf32_Dyn narrow[MAX_ITEMS];
	} items;
	uint64_t available;

	if (!segment)
		return false;
	available = elf_file_bytes_after(file, segment->address) / item_size;
	count = available < MAX_ITEMS ? (size_t)available : MAX_ITEMS;
	if (elf_file_read_address(file, segment->address, &items, count * item_size))
		return false;
	*ret_dynamic = (struct elf_dynamic){0};
	for (size_t i = 0; i < count; i++) {
		int64_t tag = file->is_64 ? items.wide[i].d_tag : items.narrow[i].d_tag;
		uint64_t value =
			file->is_64 ? items.wide[i].d_un.d_val : items.narrow[i].d_un.d_val;

		if (tag == DT_NULL)
			break;
		if (tag > 0 && tag < DT_NUM)
			ret_dynamic->values[tag] = value;
		else if (tag == DT_GNU_HASH)
			ret_dynamic->gnu_hash = value;
	}
	return true;
}
