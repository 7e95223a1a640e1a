// SPDX-License-Identifier: BSD-2-Clause
/* Decodes scopes (src/hotspot/share/code/scopeDesc.cpp). Each lies before the one that it was
 * inlined into is named: offsets fall, which bounds a chain. */
#include "hotspot/hotspot_scopes.h"

#include "hotspot/hotspot_unsigned5.h"

struct stream {
	const uint8_t *bytes;
	size_t size, at;
	uint8_t minimum;
};

static bool read_number(struct stream *stream, uint32_t *ret_value)
{
	struct hotspot_unsigned5 number = {0};

	while (stream->at < stream->size) {
		if (!hotspot_unsigned5_add(&number, stream->bytes[stream->at++], stream->minimum))
			continue;
		*ret_value = number.value;
		return true;
	}
	return false;
}

/* The first at or behind an offset; NULL: none. */
static const struct hotspot_pc *find_pc(const struct hotspot_blob *blob, uint64_t offset)
{
	size_t low = 0, high = blob->pc_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (blob->pcs[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < blob->pc_count ? &blob->pcs[low] : NULL;
}

static bool read_scope(const struct hotspot_blob *blob, struct stream *stream,
		       struct hotspot_scope *ret_scope, uint32_t *ret_sender)
{
	uint32_t method, bci;

	if (!read_number(stream, ret_sender) || !read_number(stream, &method) ||
	    !read_number(stream, &bci) || !method || method > blob->metadata_count)
		return false;
	*ret_scope = (struct hotspot_scope){blob->metadata[method - 1], (int32_t)(bci - 1)};
	return true;
}

size_t hotspot_scopes_at(const struct hotspot_blob *blob, uint8_t unsigned5_minimum,
			 uint64_t address, struct hotspot_scope *scopes)
{
	const struct hotspot_pc *pc =
		address >= blob->code_begin ? find_pc(blob, address - blob->code_begin) : NULL;
	struct stream stream = {blob->scopes, blob->scopes_size, 0, unsigned5_minimum};
	uint32_t offset = pc && pc->scope > 0 ? (uint32_t)pc->scope : 0, sender;
	size_t count = 0;

	/* A deoptimized frame returns to the handler: what was inlined is not known. */
	if (address + 1 == blob->deopt_handler || address + 1 == blob->deopt_mh_handler)
		offset = 0;
	while (offset && count < HOTSPOT_MAX_INLINED) {
		stream.at = offset;
		if (!read_scope(blob, &stream, &scopes[count], &sender))
			break;
		count++;
		if (sender >= offset)
			break;
		offset = sender;
	}
	if (!count)
		scopes[count++] = (struct hotspot_scope){blob->method, -1};
	return count;
}
