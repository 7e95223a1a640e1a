// SPDX-License-Identifier: BSD-2-Clause
/* Looks units up in a package's index. */
#include "symbol/dwarf/split_package.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define HEADER_BYTES	16U
#define MAX_INDEX_BYTES (64U << 20) /* of half a million units */
#define MAX_COLUMNS	16U

static uint32_t read_u32(const struct split_package *package, uint64_t offset)
{
	uint32_t value = 0;

	if (offset <= package->index_size - sizeof(value))
		memcpy(&value, package->index + offset, sizeof(value));
	return value;
}

static int read_index(struct split_package *package)
{
	const struct elf_section *section =
		elf_file_find_section(&package->file, ".debug_cu_index");
	void *index;
	int err = section ? elf_file_read_section(&package->file, section, MAX_INDEX_BYTES, &index,
						  &package->index_size)
			  : -ENOEXEC;

	if (err)
		return err;
	package->index = index;
	if (package->index_size < HEADER_BYTES)
		return -ENOEXEC;
	/* Version 5 has 16 bits and padding there. */
	package->version = read_u32(package, 0) & UINT16_MAX;
	package->columns = read_u32(package, 4);
	package->units = read_u32(package, 8);
	package->slots = read_u32(package, 12);
	if ((package->version != 2 && package->version != 5) || package->columns > MAX_COLUMNS ||
	    !package->slots || (package->slots & (package->slots - 1)) ||
	    HEADER_BYTES + (uint64_t)package->slots * 12 +
			    ((uint64_t)package->units * 2 + 1) * package->columns * 4 >
		    package->index_size)
		return -ENOEXEC;
	return 0;
}

int split_package_open(struct split_package *package, int fd)
{
	int err;

	*package = (struct split_package){.fd = fd};
	err = elf_file_open(&package->file, fd);
	if (!err)
		err = read_index(package);
	if (err)
		split_package_done(package);
	return err;
}

void split_package_done(struct split_package *package)
{
	elf_file_done(&package->file);
	free(package->index);
	close(package->fd);
	*package = (struct split_package){.fd = -1};
}

/* Number of the unit's row, from 1 on; 0: there is none. */
static uint32_t find_row(const struct split_package *package, uint64_t id)
{
	uint64_t rows = HEADER_BYTES + (uint64_t)package->slots * 8;
	uint32_t mask = package->slots - 1;
	uint32_t slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < package->slots; i++, slot = (slot + step) & mask) {
		uint32_t row = read_u32(package, rows + (uint64_t)slot * 4);
		uint64_t here;

		if (!row)
			return 0;
		memcpy(&here, package->index + HEADER_BYTES + (uint64_t)slot * 8, sizeof(here));
		if (here == id)
			return row <= package->units ? row : 0;
	}
	return 0;
}

/* false: a section that names do not need. */
static bool kind_of_column(uint32_t version, uint32_t column, enum dwarf_section *ret)
{
	switch (column) {
	case 1:
		*ret = DWARF_SECTION_INFO;
		return true;
	case 3:
		*ret = DWARF_SECTION_ABBREV;
		return true;
	case 4:
		*ret = DWARF_SECTION_LINE;
		return true;
	case 6:
		*ret = DWARF_SECTION_STR_OFFSETS;
		return true;
	case 8:
		*ret = DWARF_SECTION_RNGLISTS;
		return version == 5;
	default:
		return false;
	}
}

int split_package_find(const struct split_package *package, uint64_t id,
		       struct dwarf_source ret_sources[DWARF_SECTION_COUNT])
{
	uint64_t columns = HEADER_BYTES + (uint64_t)package->slots * 12;
	uint64_t row_bytes = (uint64_t)package->columns * 4;
	uint32_t row = find_row(package, id);

	if (!row)
		return -ENOENT;
	for (uint32_t i = 0; i < package->columns; i++) {
		uint64_t at = columns + row * row_bytes + i * UINT64_C(4);
		struct dwarf_source source;
		enum dwarf_section kind;
		uint64_t offset, size;

		if (!kind_of_column(package->version, read_u32(package, columns + i * UINT64_C(4)),
				    &kind))
			continue;
		source = dwarf_source_find(&package->file, kind, ".dwo");
		offset = read_u32(package, at);
		size = read_u32(package, at + package->units * row_bytes);
		if (offset > source.size || size > source.size - offset)
			return -EBADMSG;
		source.offset = offset;
		source.size = size;
		ret_sources[kind] = source;
	}
	return 0;
}
