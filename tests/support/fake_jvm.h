/* SPDX-License-Identifier: BSD-2-Clause */
/* A JVM on paper: memory with the tables of a real version, a code heap, methods and classes. */
#ifndef PKBPF_TESTS_SUPPORT_FAKE_JVM_H
#define PKBPF_TESTS_SUPPORT_FAKE_JVM_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "hotspot/hotspot_process.h"
#include "recorded_structs.h"

#define FAKE_BIAS	   0x7f0000000000ULL
#define FAKE_BYTES	   (1U << 20)
#define FAKE_STATICS	   0x100
#define FAKE_HEAP	   (FAKE_BIAS + 0x80000)
#define FAKE_HEAP_SEGMENTS 256
#define FAKE_SEGMENT	   128
#define FAKE_STRIDE	   56

struct fake_jvm {
	uint8_t bytes[FAKE_BYTES];
	size_t used; /* of what is allocated piece by piece */
	struct hotspot_image image;
	struct hotspot_layout layout;
	uint64_t heap, map; /* CodeHeap and its segment map */
	size_t next_segment;
	const char *without; /* a field that is left out: "nmethod::_method" */
	size_t reads;
};

static inline int fake_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct fake_jvm *fake = context;

	fake->reads++;
	if (address < FAKE_BIAS || address - FAKE_BIAS > FAKE_BYTES ||
	    size > FAKE_BYTES - (address - FAKE_BIAS))
		return -EFAULT;
	memcpy(buffer, fake->bytes + (address - FAKE_BIAS), size);
	return 0;
}

static inline struct hotspot_memory fake_memory(struct fake_jvm *fake)
{
	return (struct hotspot_memory){fake_read, fake};
}

static inline void fake_put(struct fake_jvm *fake, uint64_t address, uint64_t value, size_t width)
{
	memcpy(fake->bytes + (address - FAKE_BIAS), &value, width);
}

static inline void fake_put_bytes(struct fake_jvm *fake, uint64_t address, const void *bytes,
				  size_t size)
{
	if (size)
		memcpy(fake->bytes + (address - FAKE_BIAS), bytes, size);
}

/* A member, in its width; none: this version does not have it. */
static inline void fake_set(struct fake_jvm *fake, uint64_t address, struct hotspot_field field,
			    uint64_t value)
{
	if (field.width)
		fake_put(fake, address + field.offset, value, field.width);
}

static inline uint64_t fake_allocate(struct fake_jvm *fake, size_t size)
{
	uint64_t address = FAKE_BIAS + fake->used;

	fake->used += (size + 15) / 16 * 16;
	return address;
}

static inline uint64_t fake_string(struct fake_jvm *fake, const char *text)
{
	uint64_t address = fake_allocate(fake, strlen(text) + 1);

	fake_put_bytes(fake, address, text, strlen(text) + 1);
	return address;
}

static inline void fake_word(struct fake_jvm *fake, enum hotspot_word word, uint64_t value)
{
	fake->image.words[word] = (uint64_t)word * 8; /* as linked */
	fake_put(fake, FAKE_BIAS + (uint64_t)word * 8, value, 8);
}

static inline bool fake_leaves_out(const struct fake_jvm *fake, const struct recorded_struct *row)
{
	size_t length = strlen(row->type);

	return fake->without && !strncmp(fake->without, row->type, length) &&
	       !strncmp(fake->without + length, "::", 2) &&
	       !strcmp(fake->without + length + 2, row->field);
}

static inline void fake_structs(struct fake_jvm *fake, const struct recorded_struct *rows,
				size_t count)
{
	uint64_t table = fake_allocate(fake, (count + 1) * FAKE_STRIDE), at = table;

	for (size_t i = 0; i < count; i++) {
		const struct recorded_struct *row = &rows[i];

		if (fake_leaves_out(fake, row))
			continue;
		fake_put(fake, at, fake_string(fake, row->type), 8);
		fake_put(fake, at + 8, fake_string(fake, row->field), 8);
		fake_put(fake, at + 16, fake_string(fake, row->declaration), 8);
		fake_put(fake, at + 24, (uint64_t)row->is_static, 4);
		if (row->is_static)
			fake_put(fake, at + 40, FAKE_BIAS + row->offset, 8);
		else
			fake_put(fake, at + 32, row->offset, 8);
		at += FAKE_STRIDE;
	}
	fake_word(fake, HOTSPOT_STRUCTS, table);
	fake_word(fake, HOTSPOT_STRUCTS_STRIDE, FAKE_STRIDE);
	fake_word(fake, HOTSPOT_STRUCT_TYPE, 0);
	fake_word(fake, HOTSPOT_STRUCT_FIELD, 8);
	fake_word(fake, HOTSPOT_STRUCT_DECLARATION, 16);
	fake_word(fake, HOTSPOT_STRUCT_IS_STATIC, 24);
	fake_word(fake, HOTSPOT_STRUCT_OFFSET, 32);
	fake_word(fake, HOTSPOT_STRUCT_ADDRESS, 40);
}

static inline void fake_sizes(struct fake_jvm *fake, const struct recorded_size *rows, size_t count)
{
	uint64_t table = fake_allocate(fake, (count + 1) * 24);

	for (size_t i = 0; i < count; i++) {
		fake_put(fake, table + i * 24, fake_string(fake, rows[i].type), 8);
		fake_put(fake, table + i * 24 + 16, rows[i].size, 8);
	}
	fake_word(fake, HOTSPOT_TYPES, table);
	fake_word(fake, HOTSPOT_TYPES_STRIDE, 24);
	fake_word(fake, HOTSPOT_TYPE_NAME, 0);
	fake_word(fake, HOTSPOT_TYPE_SIZE, 16);
}

static inline void fake_constants(struct fake_jvm *fake, const char *name)
{
	uint64_t table = fake_allocate(fake, 32);

	fake_put(fake, table, fake_string(fake, name), 8);
	fake_put(fake, table + 8, 1, 4);
	fake_word(fake, HOTSPOT_INTS, table);
	fake_word(fake, HOTSPOT_INTS_STRIDE, 16);
	fake_word(fake, HOTSPOT_INT_NAME, 0);
	fake_word(fake, HOTSPOT_INT_VALUE, 8);
}

static inline uint64_t fake_static(const struct fake_jvm *fake, uint64_t address)
{
	(void)fake;
	return FAKE_BIAS + address;
}

/* Tables of version 17 or 25, without the field `without` (NULL: all). */
static inline struct fake_jvm *fake_tables(int version, const char *without)
{
	struct fake_jvm *fake = calloc(1, sizeof(*fake));

	fake->used = 0x1000;
	fake->without = without;
	if (version == 17) {
		fake_structs(fake, recorded_structs_17, ARRAY_SIZE(recorded_structs_17));
		fake_sizes(fake, recorded_sizes_17, ARRAY_SIZE(recorded_sizes_17));
		fake_constants(fake, "ConstMethod::_has_linenumber_table");
		fake_put(fake, FAKE_BIAS + 0x128, 17, 1);
		fake_put(fake, FAKE_BIAS + 0x120, fake_string(fake, "17.0.15+6-Debian-1deb12u1"),
			 8);
	} else {
		fake_structs(fake, recorded_structs_25, ARRAY_SIZE(recorded_structs_25));
		fake_sizes(fake, recorded_sizes_25, ARRAY_SIZE(recorded_sizes_25));
		fake_constants(fake, "ConstMethodFlags::_misc_has_linenumber_table");
		for (size_t i = 0; i < ARRAY_SIZE(recorded_structs_25); i++)
			if (!strcmp(recorded_structs_25[i].field, "_s_vm_release"))
				fake_put(fake, FAKE_BIAS + recorded_structs_25[i].offset,
					 fake_string(fake, "25.0.3+9-LTS"), 8);
	}
	return fake;
}

static inline void fake_space(struct fake_jvm *fake, uint64_t heap, struct hotspot_field space,
			      uint64_t low, uint64_t size)
{
	const struct hotspot_fields *at = &fake->layout.at;

	fake_put(fake, heap + space.offset + at->space_low.offset, low, 8);
	fake_put(fake, heap + space.offset + at->space_high.offset, low + size, 8);
	fake_put(fake, heap + space.offset + at->space_high_boundary.offset, low + size, 8);
}

/* The same with an empty code heap, and the layout read. */
static inline struct fake_jvm *fake_jvm_new(int version)
{
	struct fake_jvm *fake = fake_tables(version, NULL);
	struct hotspot_memory memory = fake_memory(fake);
	uint64_t array, data, queue;

	if (hotspot_layout_read(&memory, &fake->image, FAKE_BIAS, &fake->layout))
		abort();
	fake->heap = fake_allocate(fake, fake->layout.heap_struct_size);
	fake->map = fake_allocate(fake, FAKE_HEAP_SEGMENTS);
	array = fake_allocate(fake, 32);
	data = fake_allocate(fake, 8);
	queue = fake_allocate(fake, 64);
	fake_put(fake, fake_static(fake, fake->layout.heaps), array, 8);
	fake_put(fake, array + fake->layout.at.array_length.offset, 1, 4);
	fake_put(fake, array + fake->layout.at.array_data.offset, data, 8);
	fake_put(fake, data, fake->heap, 8);
	fake_put(fake, fake_static(fake, fake->layout.interpreter), queue, 8);
	fake_space(fake, fake->heap, fake->layout.at.heap_memory, FAKE_HEAP,
		   FAKE_HEAP_SEGMENTS * FAKE_SEGMENT);
	fake_space(fake, fake->heap, fake->layout.at.heap_segment_map, fake->map,
		   FAKE_HEAP_SEGMENTS);
	fake_put(fake, fake->heap + fake->layout.at.heap_log2_segment_size.offset, 7, 4);
	memset(fake->bytes + (fake->map - FAKE_BIAS), 0xff, FAKE_HEAP_SEGMENTS);
	return fake;
}

/* ---- code ---- */

/* HotSpot counts its blocks in the structure: any byte of it stands for that here. */
static inline void fake_touch_heap(struct fake_jvm *fake)
{
	fake->bytes[fake->heap - FAKE_BIAS + fake->layout.heap_struct_size - 1]++;
}

/* Returns the address of the CodeBlob: a header of 512 bytes, 128 bytes of code, 1 KiB of data. */
#define FAKE_BLOCK_SEGMENTS 16
#define FAKE_CODE	    512
#define FAKE_CODE_BYTES	    128
#define FAKE_DATA	    (FAKE_CODE + FAKE_CODE_BYTES)

static inline uint64_t fake_blob_at(struct fake_jvm *fake, size_t segment, const char *name)
{
	const struct hotspot_fields *at = &fake->layout.at;
	uint64_t block = FAKE_HEAP + segment * FAKE_SEGMENT,
		 blob = block + fake->layout.block_header_size;

	memset(fake->bytes + (block - FAKE_BIAS), 0, (size_t)FAKE_BLOCK_SEGMENTS * FAKE_SEGMENT);
	fake_set(fake, block, at->block_length, FAKE_BLOCK_SEGMENTS);
	fake_set(fake, block, at->block_used, 1);
	for (size_t i = 0; i < FAKE_BLOCK_SEGMENTS; i++)
		fake->bytes[fake->map - FAKE_BIAS + segment + i] = (uint8_t)i;
	fake_set(fake, blob, at->blob_name, fake_string(fake, name));
	fake_set(fake, blob, at->blob_size, FAKE_BLOCK_SEGMENTS * FAKE_SEGMENT - 64);
	fake_set(fake, blob, at->blob_frame_size, 6);
	fake_set(fake, blob, at->blob_frame_complete, 12);
	fake_set(fake, blob, at->blob_code_begin, blob + FAKE_CODE);
	fake_set(fake, blob, at->blob_code_end, blob + FAKE_DATA);
	fake_set(fake, blob, at->blob_code_offset, FAKE_CODE);
	fake_set(fake, blob, at->blob_data_offset, FAKE_DATA);
	fake_touch_heap(fake);
	return blob;
}

static inline uint64_t fake_blob(struct fake_jvm *fake, const char *name)
{
	size_t segment = fake->next_segment;

	fake->next_segment += FAKE_BLOCK_SEGMENTS;
	return fake_blob_at(fake, segment, name);
}

static inline void fake_free_block(struct fake_jvm *fake, uint64_t blob)
{
	fake_set(fake, blob - fake->layout.block_header_size, fake->layout.at.block_used, 0);
	fake_touch_heap(fake);
}

/* Debug information of a method: PcDescs as {offset, scope}, without the limits at both ends. */
struct fake_debug {
	const int32_t (*pcs)[2];
	size_t pc_count;
	const uint8_t *scopes;
	size_t scopes_size;
	const uint64_t *metadata;
	size_t metadata_count;
};

static inline void fake_pcs(struct fake_jvm *fake, uint64_t address, const struct fake_debug *debug)
{
	fake_put(fake, address, UINT32_MAX, 4);
	for (size_t i = 0; i < debug->pc_count; i++) {
		fake_put(fake, address + (i + 1) * 16, (uint32_t)debug->pcs[i][0], 4);
		fake_put(fake, address + (i + 1) * 16 + 4, (uint32_t)debug->pcs[i][1], 4);
	}
	fake_put(fake, address + (debug->pc_count + 1) * 16, INT32_MAX, 4);
}

static inline void fake_debug_inside(struct fake_jvm *fake, uint64_t blob,
				     const struct fake_debug *debug)
{
	const struct hotspot_fields *at = &fake->layout.at;
	uint64_t metadata = FAKE_DATA, scopes = metadata + debug->metadata_count * 8,
		 pcs = (scopes + debug->scopes_size + 15) / 16 * 16;

	fake_put_bytes(fake, blob + metadata, debug->metadata, debug->metadata_count * 8);
	fake_put_bytes(fake, blob + scopes, debug->scopes, debug->scopes_size);
	fake_pcs(fake, blob + pcs, debug);
	fake_set(fake, blob, at->nmethod_metadata_offset, metadata);
	fake_set(fake, blob, at->nmethod_scopes, blob + scopes);
	fake_set(fake, blob, at->nmethod_pcs_offset, pcs);
	fake_set(fake, blob, at->nmethod_dependencies_offset, pcs + (debug->pc_count + 2) * 16);
}

static inline void fake_debug_outside(struct fake_jvm *fake, uint64_t blob,
				      const struct fake_debug *debug)
{
	const struct hotspot_fields *at = &fake->layout.at;
	size_t pcs = (debug->pc_count + 2) * 16;
	uint64_t immutable = fake_allocate(fake, pcs + debug->scopes_size),
		 mutable = fake_allocate(fake, 32 + debug->metadata_count * 8);

	fake_pcs(fake, immutable, debug);
	fake_put_bytes(fake, immutable + pcs, debug->scopes, debug->scopes_size);
	fake_put_bytes(fake, mutable + 32, debug->metadata, debug->metadata_count * 8);
	fake_set(fake, blob, at->nmethod_immutable, immutable);
	fake_set(fake, blob, at->nmethod_immutable_size, pcs + debug->scopes_size);
	fake_set(fake, blob, at->nmethod_pcs_offset, 0);
	fake_set(fake, blob, at->nmethod_scopes_offset, pcs);
	fake_set(fake, blob, at->blob_mutable_data, mutable);
	fake_set(fake, blob, at->blob_relocation_size, 32);
	fake_set(fake, blob, at->blob_mutable_size, 32 + debug->metadata_count * 8);
}

static inline void fake_method_fields(struct fake_jvm *fake, uint64_t blob, uint64_t method,
				      uint32_t compile_id, const struct fake_debug *debug)
{
	const struct hotspot_fields *at = &fake->layout.at;

	fake_set(fake, blob, at->nmethod_method, method);
	fake_set(fake, blob, at->nmethod_compile_id, compile_id);
	fake_set(fake, blob, at->nmethod_level, 4);
	fake_set(fake, blob, at->nmethod_entry_bci, UINT32_MAX);
	fake_set(fake, blob, at->nmethod_entry, blob + FAKE_CODE);
	fake_set(fake, blob, at->nmethod_verified, blob + FAKE_CODE + 32);
	fake_set(fake, blob, at->nmethod_verified_offset, 32);
	fake_set(fake, blob, at->nmethod_deopt, blob + FAKE_CODE + 100);
	fake_set(fake, blob, at->nmethod_deopt_offset, FAKE_CODE + 100);
	if (at->nmethod_immutable.width)
		fake_debug_outside(fake, blob, debug);
	else
		fake_debug_inside(fake, blob, debug);
}

static inline uint64_t fake_method(struct fake_jvm *fake, uint64_t method, uint32_t compile_id,
				   const struct fake_debug *debug)
{
	uint64_t blob = fake_blob(fake, "nmethod");

	fake_method_fields(fake, blob, method, compile_id, debug);
	return blob;
}

/* ---- classes ---- */

/* Writes a number as HotSpot compresses it; returns how many bytes. */
static inline size_t fake_unsigned5(uint8_t *bytes, uint32_t value, uint8_t minimum)
{
	uint32_t low = 256U - 64U - minimum;
	size_t count = 0;

	while (count < 4 && value >= low) {
		value -= low;
		bytes[count++] = (uint8_t)(minimum + low + value % 64);
		value /= 64;
	}
	bytes[count++] = (uint8_t)(minimum + value);
	return count;
}

static inline uint64_t fake_symbol(struct fake_jvm *fake, const char *text)
{
	const struct hotspot_fields *at = &fake->layout.at;
	uint64_t symbol = fake_allocate(fake, strlen(text) + 16);

	fake_set(fake, symbol, at->symbol_length, strlen(text));
	fake_put_bytes(fake, symbol + at->symbol_body.offset, text, strlen(text));
	return symbol;
}

/* A constant pool with room for 16 entries; entry 5 is the name of the file. */
static inline uint64_t fake_class(struct fake_jvm *fake, const char *name, const char *file)
{
	const struct hotspot_fields *at = &fake->layout.at;
	uint64_t pool = fake_allocate(fake, fake->layout.pool_struct_size + 16 * 8U),
		 class = fake_allocate(fake, 512);

	fake_set(fake, pool, at->pool_holder, class);
	fake_set(fake, class, at->klass_name, fake_symbol(fake, name));
	fake_set(fake, pool, at->pool_source_file, file ? 5 : 0);
	if (file)
		fake_put(fake, pool + fake->layout.pool_struct_size + 8 * 5,
			 fake_symbol(fake, file), 8);
	return pool;
}

/* Its name is entry `index` of the pool; bytecodes of 40 bytes, then the line table. Returns a
 * Method*. */
static inline uint64_t fake_java(struct fake_jvm *fake, uint64_t pool, size_t index,
				 const char *name, const void *lines, size_t size)
{
	const struct hotspot_fields *at = &fake->layout.at;
	uint64_t method = fake_allocate(fake, 128),
		 constant = fake_allocate(fake, fake->layout.const_struct_size + 40U + size);

	fake_set(fake, method, at->method_const, constant);
	fake_set(fake, constant, at->const_pool, pool);
	fake_set(fake, constant, at->const_code_size, 40);
	fake_set(fake, constant, at->const_name, index);
	fake_set(fake, constant, at->const_flags, size ? fake->layout.const_has_lines : 0);
	fake_put(fake, pool + fake->layout.pool_struct_size + 8 * index, fake_symbol(fake, name),
		 8);
	fake_put_bytes(fake, constant + fake->layout.const_struct_size + 40, lines, size);
	return method;
}

#endif
