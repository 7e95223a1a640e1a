// SPDX-License-Identifier: BSD-2-Clause
/* Parses records of jitdumps, which any program may have written. */
#include "symbol/jit/jitdump.h"

#include <string.h>

#define MAGIC		    0x4a695444U /* "JiTD" */
#define FLAG_ARCH_TIMESTAMP 1U
#define MAX_HEADER_BYTES    4096

enum record_id {
	RECORD_LOAD = 0,
	RECORD_MOVE = 1,
};

struct file_header {
	uint32_t magic, version, total_size, elf_machine, padding, pid;
	uint64_t timestamp, flags;
};
_Static_assert(sizeof(struct file_header) == JITDUMP_HEADER_BYTES, "as in the specification");

struct record_header {
	uint32_t id, total_size;
	uint64_t timestamp;
};
_Static_assert(sizeof(struct record_header) == JITDUMP_MIN_RECORD_BYTES, "as in the specification");

struct load {
	struct record_header header;
	uint32_t pid, tid;
	uint64_t address, code_address, code_size, code_index;
};
_Static_assert(sizeof(struct load) == 56, "as in the specification");

struct move {
	struct record_header header;
	uint32_t pid, tid;
	uint64_t address, old_address, new_address, code_size, code_index;
};
_Static_assert(sizeof(struct move) == 64, "as in the specification");

bool jitdump_parse_header(const void *data, size_t size, struct jitdump_header *ret_header)
{
	struct file_header header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	if (header.magic != MAGIC || header.total_size < sizeof(header) ||
	    header.total_size > MAX_HEADER_BYTES)
		return false;
	*ret_header = (struct jitdump_header){
		.size = header.total_size,
		.times_known = !(header.flags & FLAG_ARCH_TIMESTAMP),
	};
	return true;
}

static bool fill_entry(uint64_t start, uint64_t size, struct code_entry *entry)
{
	if (!size || size > UINT32_MAX || start + size < start)
		return false;
	entry->start = start;
	entry->size = (uint32_t)size;
	return true;
}

static enum jitdump_record parse_load(const void *data, size_t size, struct code_entry *entry)
{
	const char *name = (const char *)data + sizeof(struct load);
	struct load load;

	if (size <= sizeof(load))
		return JITDUMP_PASSED;
	memcpy(&load, data, sizeof(load));
	if (!fill_entry(load.code_address, load.code_size, entry))
		return JITDUMP_PASSED;
	entry->name = name;
	entry->name_size = strnlen(name, size - sizeof(load));
	entry->index = load.code_index;
	return entry->name_size ? JITDUMP_CODE : JITDUMP_PASSED;
}

static enum jitdump_record parse_move(const void *data, size_t size, struct code_entry *entry)
{
	struct move move;

	if (size < sizeof(move))
		return JITDUMP_PASSED;
	memcpy(&move, data, sizeof(move));
	if (!fill_entry(move.new_address, move.code_size, entry))
		return JITDUMP_PASSED;
	entry->index = move.code_index;
	return JITDUMP_MOVED;
}

enum jitdump_record jitdump_parse_record(const void *data, size_t size, bool times_known,
					 uint32_t *ret_total, struct code_entry *ret_entry)
{
	struct record_header header;
	struct code_entry entry = {0};
	enum jitdump_record record = JITDUMP_PASSED;

	if (size < sizeof(header))
		return JITDUMP_BAD;
	memcpy(&header, data, sizeof(header));
	if (header.total_size < sizeof(header))
		return JITDUMP_BAD;
	if (size > header.total_size)
		size = header.total_size;
	entry.time_ns = times_known ? header.timestamp : 0;
	if (header.id == RECORD_LOAD)
		record = parse_load(data, size, &entry);
	else if (header.id == RECORD_MOVE)
		record = parse_move(data, size, &entry);
	*ret_total = header.total_size;
	*ret_entry = entry;
	return record;
}
