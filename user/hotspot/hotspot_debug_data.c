// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the three parts by version: in the block, between offsets (8 to 22); outside it (PcDescs
 * and scopes since 23, metadata since 25).
 */
#include "hotspot/hotspot_debug_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"

/* Addresses of the process; end exclusive. */
struct range {
	uint64_t begin, end;
};

struct parts {
	struct range pcs, scopes, metadata;
};

static uint64_t value(const struct hotspot_block_reader *reader, size_t size,
		      struct hotspot_field field)
{
	size_t header = reader->layout->block_header_size;

	return hotspot_field_get(reader->bytes + header, size - header, field);
}

/* An offset that is not negative; beyond all bounds when it is. */
static uint64_t offset(const struct hotspot_block_reader *reader, size_t size,
		       struct hotspot_field field)
{
	int32_t number = (int32_t)value(reader, size, field);

	return number < 0 ? HOTSPOT_MAX_METADATA_BYTES + 1ULL : (uint64_t)number;
}

static void find_outside(const struct hotspot_block_reader *reader, size_t size,
			 struct parts *parts)
{
	const struct hotspot_fields *at = &reader->layout->at;
	uint64_t data = value(reader, size, at->nmethod_immutable);
	uint64_t scopes = offset(reader, size, at->nmethod_scopes_offset);

	parts->pcs =
		(struct range){data + offset(reader, size, at->nmethod_pcs_offset), data + scopes};
	parts->scopes = (struct range){data + scopes,
				       data + offset(reader, size, at->nmethod_immutable_size)};
}

static void find_inside(const struct hotspot_block_reader *reader, size_t size, uint64_t blob,
			struct parts *parts)
{
	const struct hotspot_fields *at = &reader->layout->at;
	uint64_t scopes = at->nmethod_scopes.width
				  ? value(reader, size, at->nmethod_scopes)
				  : blob + offset(reader, size, at->nmethod_scopes_offset);

	parts->pcs = (struct range){
		blob + offset(reader, size, at->nmethod_pcs_offset),
		blob + offset(reader, size, at->nmethod_dependencies_offset),
	};
	parts->scopes = (struct range){scopes, parts->pcs.begin};
	parts->metadata =
		(struct range){blob + offset(reader, size, at->nmethod_metadata_offset), scopes};
}

static void find_parts(const struct hotspot_block_reader *reader, size_t size, uint64_t blob,
		       struct parts *parts)
{
	const struct hotspot_fields *at = &reader->layout->at;
	uint64_t mutable = value(reader, size, at->blob_mutable_data);

	if (at->nmethod_immutable.width) {
		find_outside(reader, size, parts);
		/* 23 and 24: behind the code */
		parts->metadata.begin = blob + offset(reader, size, at->blob_data_offset) +
					offset(reader, size, at->nmethod_metadata_offset);
		parts->metadata.end = blob + offset(reader, size, at->blob_size);
	} else {
		find_inside(reader, size, blob, parts);
	}
	if (at->blob_mutable_data.width)
		parts->metadata = (struct range){
			mutable + offset(reader, size, at->blob_relocation_size),
			mutable + offset(reader, size, at->blob_mutable_size),
		};
}

static bool is_sound(struct range range)
{
	return range.begin <= range.end && range.end - range.begin <= HOTSPOT_MAX_METADATA_BYTES;
}

static int copy_range(struct hotspot_block_reader *reader, const struct hotspot_blob *blob,
		      size_t size, struct range range, void *buffer)
{
	size_t bytes = (size_t)(range.end - range.begin);

	if (!bytes)
		return 0;
	if (range.begin >= blob->start && range.end <= blob->start + size) {
		memcpy(buffer, reader->bytes + (range.begin - blob->start), bytes);
		return 0;
	}
	reader->read_bytes += bytes;
	return hotspot_read(reader->memory, range.begin, buffer, bytes);
}

/* The first and the last entry are limits that no code has. */
static size_t take_pcs(const struct hotspot_layout *layout, const uint8_t *bytes, size_t size,
		       const struct hotspot_blob *blob, struct hotspot_pc *pcs)
{
	int64_t code = (int64_t)(blob->code_end - blob->code_begin), last = -1;
	size_t step = layout->pc_struct_size, count = 0;

	for (size_t at = 0; at + step <= size; at += step) {
		int64_t pc = (int32_t)hotspot_field_get(bytes + at, step, layout->at.pc_offset);

		if (pc <= last || pc > code)
			continue;
		last = pc;
		pcs[count++] = (struct hotspot_pc){
			.offset = (uint32_t)pc,
			.scope = (int32_t)hotspot_field_get(bytes + at, step, layout->at.pc_scope),
		};
	}
	return count;
}

static int copy_parts(struct hotspot_block_reader *reader, size_t size, const struct parts *parts,
		      struct hotspot_listed *listed)
{
	struct hotspot_blob *blob = &listed->blob;
	size_t pcs = (size_t)(parts->pcs.end - parts->pcs.begin);
	size_t scopes = (size_t)(parts->scopes.end - parts->scopes.begin);
	size_t metadata = (size_t)(parts->metadata.end - parts->metadata.begin) / 8 * 8;
	size_t count = pcs / reader->layout->pc_struct_size;
	size_t kept = count * sizeof(struct hotspot_pc) + metadata;
	uint8_t *copy = malloc(kept + scopes + pcs + 1), *raw = copy ? copy + kept + scopes : NULL;
	int err;

	if (!copy)
		return -ENOMEM;
	/* The words, then the PcDescs, then bytes: each aligned; PcDescs as they are, at the end.
	 */
	blob->metadata = (const uint64_t *)(void *)copy;
	blob->metadata_count = metadata / 8;
	blob->pcs = (const struct hotspot_pc *)(void *)(copy + metadata);
	blob->scopes = copy + kept;
	blob->scopes_size = scopes;
	err = copy_range(reader, blob, size,
			 (struct range){parts->metadata.begin, parts->metadata.begin + metadata},
			 copy);
	if (!err)
		err = copy_range(reader, blob, size, parts->scopes, copy + kept);
	if (!err)
		err = copy_range(reader, blob, size, parts->pcs, raw);
	if (err)
		return err; /* The blob has the copy. */
	blob->pc_count = take_pcs(reader->layout, raw, pcs, blob,
				  (struct hotspot_pc *)(void *)(copy + metadata));
	/* Limits among the PcDescs leave room without contents. */
	listed->content = hash_bytes(copy, metadata, listed->content);
	listed->content = hash_bytes(copy + kept, scopes + pcs, listed->content);
	listed->copied_bytes = kept + scopes + pcs;
	return 0;
}

int hotspot_debug_data_read(struct hotspot_block_reader *reader, size_t size, size_t copy_limit,
			    struct hotspot_listed *listed)
{
	struct parts parts = {0};
	uint64_t pcs;

	if (!listed->blob.method)
		return 0;
	if (reader->layout->pc_struct_size < sizeof(struct hotspot_pc))
		return -EBADMSG;
	find_parts(reader, size, listed->blob.address, &parts);
	if (!is_sound(parts.pcs) || !is_sound(parts.scopes) || !is_sound(parts.metadata))
		return -EAGAIN;
	/* The copy as it is, which is kept, too. */
	pcs = parts.pcs.end - parts.pcs.begin;
	if (2 * pcs + (parts.scopes.end - parts.scopes.begin) +
		    (parts.metadata.end - parts.metadata.begin) >
	    copy_limit)
		return 0;
	return copy_parts(reader, size, &parts, listed);
}
