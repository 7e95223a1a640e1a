// SPDX-License-Identifier: BSD-2-Clause
/* Parses a block of code: every number is checked against the block, for it may be written now. */
#include "hotspot/hotspot_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "hotspot/hotspot_debug_data.h"

#define MAX_STRUCT_BYTES 1024U
/* A system call takes as long as copying so many bytes. */
#define CALL_BYTES 512U

static const struct {
	const char *name;
	enum hotspot_kind kind;
	bool is_prefix;
} kinds[] = {
	{"nmethod", HOTSPOT_NMETHOD, false},
	{"native nmethod", HOTSPOT_NATIVE_WRAPPER, false},
	{"Interpreter", HOTSPOT_INTERPRETER, false},
	{"vtable chunks", HOTSPOT_VTABLE, false},
	{"I2C/C2I adapters", HOTSPOT_ADAPTER, false},
	{"adapters", HOTSPOT_ADAPTER, false},
	{"MethodHandles adapters", HOTSPOT_METHOD_HANDLES, false},
	{"SafepointBlob", HOTSPOT_SAFEPOINT, false},
	{"DeoptimizationBlob", HOTSPOT_DEOPTIMIZATION, false},
	{"UncommonTrapBlob", HOTSPOT_UNCOMMON_TRAP, false},
	{"ExceptionBlob", HOTSPOT_EXCEPTION, false},
	{"native signature handlers", HOTSPOT_SIGNATURE_HANDLERS, false},
	{"StubRoutines", HOTSPOT_STUB_ROUTINES, true},
};

static enum hotspot_kind kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].is_prefix ? !strncmp(name, kinds[i].name, strlen(kinds[i].name))
				       : !strcmp(name, kinds[i].name))
			return kinds[i].kind;
	return HOTSPOT_OTHER;
}

static int read_bytes(struct hotspot_block_reader *reader, uint64_t address, void *buffer,
		      size_t size)
{
	reader->read_bytes += size + CALL_BYTES;
	return hotspot_read(reader->memory, address, buffer, size);
}

/* Size from the header of a block, in bytes; 0: it is free, or no block. */
static uint64_t hotspot_block_size(struct hotspot_block_reader *reader, uint64_t start,
				   uint64_t limit)
{
	const struct hotspot_layout *layout = reader->layout;
	uint8_t header[32] = {0};
	size_t size = layout->block_header_size;
	uint64_t segments, bytes;

	if (size > sizeof(header) || limit - start < size ||
	    read_bytes(reader, start, header, size) ||
	    !hotspot_field_get(header, size, layout->at.block_used))
		return 0;
	segments = hotspot_field_get(header, size, layout->at.block_length);
	bytes = segments << reader->log2_segment_size;
	if (!segments || segments > UINT32_MAX || bytes > limit - start ||
	    bytes <= size + layout->blob_struct_size)
		return 0;
	return bytes;
}

static uint64_t field_of(const struct hotspot_block_reader *reader, size_t size,
			 struct hotspot_field field)
{
	size_t header = reader->layout->block_header_size;

	return hotspot_field_get(reader->bytes + header, size - header, field);
}

/* As 32 bits: -1 stays. */
static int32_t int_of(const struct hotspot_block_reader *reader, size_t size,
		      struct hotspot_field field)
{
	return (int32_t)field_of(reader, size, field);
}

static uint64_t identity_of(const struct hotspot_block_reader *reader, size_t size)
{
	const struct hotspot_fields *at = &reader->layout->at;
	const struct hotspot_field fields[] = {at->blob_name, at->blob_size, at->blob_frame_size,
					       at->nmethod_method, at->nmethod_compile_id};
	uint64_t values[sizeof(fields) / sizeof(fields[0])], hash;
	bool is_method =
		!strcmp(reader->name, "nmethod") || !strcmp(reader->name, "native nmethod");

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		values[i] = i < 3 || is_method ? field_of(reader, size, fields[i]) : 0;
	hash = hash_bytes(values, sizeof(values), 1);
	return hash ? hash : 1;
}

static bool reserve(struct hotspot_block_reader *reader, size_t size)
{
	uint8_t *bytes;

	if (size <= reader->capacity)
		return true;
	bytes = realloc(reader->bytes, size);
	if (!bytes)
		return false;
	reader->bytes = bytes;
	reader->capacity = size;
	return true;
}

/* Names are constants of the JVM, or allocated once for each kind. */
static int read_name(struct hotspot_block_reader *reader, size_t size)
{
	uint64_t address = field_of(reader, size, reader->layout->at.blob_name);
	int err;

	if (!address)
		return -EAGAIN;
	if (address == reader->name_address)
		return 0;
	reader->name_address = 0;
	reader->read_bytes += CALL_BYTES;
	err = hotspot_read_string(reader->memory, address, reader->name, sizeof(reader->name));
	if (!err)
		reader->name_address = address;
	return err;
}

uint64_t hotspot_block_identity(struct hotspot_block_reader *reader, uint64_t start, uint64_t limit)
{
	const struct hotspot_layout *layout = reader->layout;
	size_t size = layout->block_header_size + layout->nmethod_struct_size;

	/* The last block of a heap may be smaller than a method. */
	if (size > limit - start)
		size = (size_t)(limit - start);
	if (size > MAX_STRUCT_BYTES || size < layout->block_header_size || !reserve(reader, size) ||
	    read_bytes(reader, start, reader->bytes, size) || read_name(reader, size) ||
	    !hotspot_field_get(reader->bytes, size, layout->at.block_used))
		return 0;
	return identity_of(reader, size);
}

/* ---- parsing ---- */

static bool find_code(const struct hotspot_block_reader *reader, size_t size,
		      struct hotspot_blob *blob)
{
	const struct hotspot_fields *at = &reader->layout->at;
	uint64_t blob_size = field_of(reader, size, at->blob_size), blob_end;

	if (blob_size > blob->end - blob->address || blob_size < reader->layout->blob_struct_size)
		return false;
	blob_end = blob->address + blob_size;
	blob->code_begin = at->blob_code_begin.width
				   ? field_of(reader, size, at->blob_code_begin)
				   : blob->address + field_of(reader, size, at->blob_code_offset);
	blob->code_end = at->blob_code_end.width
				 ? field_of(reader, size, at->blob_code_end)
				 : blob->address + field_of(reader, size, at->blob_data_offset);
	return blob->code_begin >= blob->address && blob->code_begin <= blob->code_end &&
	       blob->code_end <= blob_end;
}

/* 0 when it is not in the code. */
static uint64_t place(const struct hotspot_blob *blob, uint64_t address)
{
	return address >= blob->code_begin && address <= blob->code_end ? address : 0;
}

static uint64_t place_of(const struct hotspot_block_reader *reader, size_t size,
			 const struct hotspot_blob *blob, struct hotspot_field pointer,
			 struct hotspot_field offset, uint64_t base)
{
	if (pointer.width)
		return place(blob, field_of(reader, size, pointer));
	return offset.width ? place(blob, base + field_of(reader, size, offset)) : 0;
}

static void read_entries(const struct hotspot_block_reader *reader, size_t size,
			 struct hotspot_blob *blob)
{
	const struct hotspot_fields *at = &reader->layout->at;

	blob->entry = place_of(reader, size, blob, at->nmethod_entry, at->nmethod_entry_offset,
			       blob->code_begin);
	blob->verified_entry = place_of(reader, size, blob, at->nmethod_verified,
					at->nmethod_verified_offset, blob->code_begin);
	blob->is_osr = int_of(reader, size, at->nmethod_entry_bci) >= 0;
	if (blob->is_osr)
		blob->osr_entry = place(blob, field_of(reader, size, at->nmethod_osr_entry));
	blob->deopt_handler = place_of(reader, size, blob, at->nmethod_deopt,
				       at->nmethod_deopt_offset, blob->address);
	blob->deopt_mh_handler = place_of(reader, size, blob, at->nmethod_deopt_mh,
					  at->nmethod_deopt_mh_offset, blob->address);
	blob->orig_pc_offset = (uint32_t)int_of(reader, size, at->nmethod_orig_pc);
}

/* -EAGAIN: it is not installed yet. */
static int read_method(const struct hotspot_block_reader *reader, size_t size,
		       struct hotspot_blob *blob)
{
	const struct hotspot_fields *at = &reader->layout->at;
	int8_t state = (int8_t)field_of(reader, size, at->nmethod_state);

	blob->method = field_of(reader, size, at->nmethod_method);
	if (state < 0 || !blob->method)
		return -EAGAIN;
	blob->is_not_entrant = state > 0;
	blob->compile_id = (uint32_t)field_of(reader, size, at->nmethod_compile_id);
	blob->level = (uint8_t)field_of(reader, size, at->nmethod_level);
	read_entries(reader, size, blob);
	return blob->verified_entry ? 0 : -EAGAIN;
}

static int read_blob(struct hotspot_block_reader *reader, size_t size, struct hotspot_blob *blob)
{
	const struct hotspot_fields *at = &reader->layout->at;
	int32_t frame = int_of(reader, size, at->blob_frame_size);
	int err = read_name(reader, size);

	if (err)
		return err;
	memcpy(blob->name, reader->name, sizeof(blob->name));
	blob->kind = kind_of(blob->name);
	if (!find_code(reader, size, blob))
		return -EBADMSG;
	blob->frame_words =
		frame > 0 && frame <= (int32_t)HOTSPOT_MAX_FRAME_WORDS ? (uint32_t)frame : 0;
	blob->frame_complete = (uint32_t)int_of(reader, size, at->blob_frame_complete);
	if (blob->frame_complete > blob->code_end - blob->code_begin)
		blob->frame_complete = UINT32_MAX;
	if (blob->kind != HOTSPOT_NMETHOD && blob->kind != HOTSPOT_NATIVE_WRAPPER)
		return 0;
	return read_method(reader, size, blob);
}

static void take_code(const struct hotspot_block_reader *reader, size_t size,
		      struct hotspot_listed *listed)
{
	struct hotspot_blob *blob = &listed->blob;

	if (blob->code_end - blob->start <= size)
		blob->code = reader->bytes + (blob->code_begin - blob->start);
	listed->identity = identity_of(reader, size);
	listed->content = hash_bytes(reader->bytes, size, listed->identity);
}

int hotspot_block_read(struct hotspot_block_reader *reader, uint64_t start, uint64_t limit,
		       size_t copy_limit, struct hotspot_listed **ret_listed)
{
	uint64_t block = hotspot_block_size(reader, start, limit);
	size_t size = block <= HOTSPOT_MAX_CODE_BYTES ? (size_t)block : MAX_STRUCT_BYTES;
	struct hotspot_listed *listed;
	int err;

	if (!block)
		return -ENOENT;
	if (!reserve(reader, size))
		return -ENOMEM;
	err = read_bytes(reader, start, reader->bytes, size);
	if (err)
		return err;
	listed = calloc(1, sizeof(*listed));
	if (!listed)
		return -ENOMEM;
	listed->blob.start = start;
	listed->blob.end = start + block;
	listed->blob.address = start + reader->layout->block_header_size;
	err = read_blob(reader, size, &listed->blob);
	if (!err) {
		take_code(reader, size, listed);
		err = hotspot_debug_data_read(reader, size, copy_limit, listed);
	}
	if (err) {
		hotspot_blob_free(&listed->blob);
		return err;
	}
	*ret_listed = listed;
	return 0;
}
