/* SPDX-License-Identifier: BSD-2-Clause */
/* V8 on paper: a heap with strings, scripts, functions and code, in the layout of a version. */
#ifndef PKBPF_TESTS_SUPPORT_FAKE_V8_H
#define PKBPF_TESTS_SUPPORT_FAKE_V8_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "v8/v8_layout.h"
#include "v8/v8_memory.h"

#define FAKE_V8_BASE  0x200000000000ULL
#define FAKE_V8_BYTES (2U << 20)
#define FAKE_V8_TYPES 512

/* types of strings */
enum { FAKE_V8_CONS = 33, FAKE_V8_EXTERNAL = 42, FAKE_V8_SLICED = 43, FAKE_V8_THIN = 45 };
enum { FAKE_V8_TWO_BYTE = 32, FAKE_V8_ONE_BYTE = 40, FAKE_V8_ODDBALL = 131, FAKE_V8_ARRAY = 150 };

struct fake_v8 {
	uint8_t bytes[FAKE_V8_BYTES];
	size_t used;
	const struct v8_layout *layout;
	uint64_t maps[FAKE_V8_TYPES];
	size_t reads, read_bytes;
	bool is_gone; /* the process has ended */
};

static inline int fake_v8_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct fake_v8 *fake = context;

	fake->reads++;
	fake->read_bytes += size;
	if (fake->is_gone)
		return -ESRCH;
	if (address < FAKE_V8_BASE || address - FAKE_V8_BASE > FAKE_V8_BYTES ||
	    size > FAKE_V8_BYTES - (address - FAKE_V8_BASE))
		return -EFAULT;
	memcpy(buffer, fake->bytes + (address - FAKE_V8_BASE), size);
	return 0;
}

static inline struct v8_memory fake_v8_memory(struct fake_v8 *fake)
{
	return (struct v8_memory){fake_v8_read, fake};
}

static inline struct fake_v8 *fake_v8_new(uint32_t major, uint32_t minor)
{
	struct fake_v8 *fake = calloc(1, sizeof(*fake));

	fake->layout = v8_layout_find(major, minor);
	fake->used = 4096;
	return fake;
}

/* offset: of the object that a reference leads to */
static inline void fake_v8_put(struct fake_v8 *fake, uint64_t object, size_t offset,
			       const void *bytes, size_t size)
{
	memcpy(fake->bytes + (object - 1 - FAKE_V8_BASE) + offset, bytes, size);
}

static inline void fake_v8_word(struct fake_v8 *fake, uint64_t object, size_t offset,
				uint64_t value)
{
	fake_v8_put(fake, object, offset, &value, 8);
}

static inline void fake_v8_u32(struct fake_v8 *fake, uint64_t object, size_t offset, uint32_t value)
{
	fake_v8_put(fake, object, offset, &value, 4);
}

static inline void fake_v8_smi(struct fake_v8 *fake, uint64_t object, size_t offset, int32_t value)
{
	fake_v8_word(fake, object, offset, (uint64_t)(uint32_t)value << 32);
}

static inline uint64_t fake_v8_allocate(struct fake_v8 *fake, size_t size)
{
	uint64_t reference = FAKE_V8_BASE + fake->used + 1;

	fake->used += (size + 63) / 64 * 64;
	return reference;
}

static inline uint64_t fake_v8_map(struct fake_v8 *fake, uint16_t type)
{
	if (!fake->maps[type]) {
		fake->maps[type] = fake_v8_allocate(fake, 64);
		fake_v8_put(fake, fake->maps[type], 12, &type, sizeof(type));
	}
	return fake->maps[type];
}

static inline uint64_t fake_v8_object(struct fake_v8 *fake, uint16_t type, size_t size)
{
	uint64_t map = fake_v8_map(fake, type), object = fake_v8_allocate(fake, size);

	fake_v8_word(fake, object, 0, map);
	return object;
}

static inline uint64_t fake_v8_string(struct fake_v8 *fake, const char *text)
{
	uint64_t string = fake_v8_object(fake, FAKE_V8_ONE_BYTE, 16 + strlen(text));

	fake_v8_u32(fake, string, 12, (uint32_t)strlen(text));
	fake_v8_put(fake, string, 16, text, strlen(text));
	return string;
}

/* A string of another kind: cons (first, second), sliced (parent, offset as a small integer), thin,
 * external (0, address of the characters). */
static inline uint64_t fake_v8_made_string(struct fake_v8 *fake, uint16_t type, uint32_t length,
					   uint64_t first, uint64_t second)
{
	uint64_t string = fake_v8_object(fake, type, 32);

	fake_v8_u32(fake, string, 12, length);
	fake_v8_word(fake, string, 16, first);
	fake_v8_word(fake, string, 24, second);
	return string;
}

static inline uint64_t fake_v8_bytes(struct fake_v8 *fake, const void *bytes, size_t size)
{
	uint64_t array = fake_v8_object(fake, FAKE_V8_ARRAY, 16 + size);

	fake_v8_smi(fake, array, 8, (int32_t)size);
	fake_v8_put(fake, array, 16, bytes, size);
	return array;
}

static inline uint64_t fake_v8_array(struct fake_v8 *fake, const uint64_t *items, size_t count)
{
	uint64_t array = fake_v8_bytes(fake, items, count * 8);

	fake_v8_smi(fake, array, 8, (int32_t)count);
	return array;
}

static inline uint64_t fake_v8_script(struct fake_v8 *fake, int32_t id, const char *path,
				      const char *source)
{
	uint64_t script = fake_v8_object(fake, fake->layout->kernel.script_type, 128);

	fake_v8_word(fake, script, 8, fake_v8_string(fake, source));
	fake_v8_word(fake, script, 16,
		     path ? fake_v8_string(fake, path) : fake_v8_object(fake, FAKE_V8_ODDBALL, 8));
	fake_v8_smi(fake, script, 24, 0);
	fake_v8_smi(fake, script, 64, id);
	return script;
}

/* What a function is on paper. */
struct fake_v8_function {
	const char *name, *inferred; /* NULL: the ScopeInfo has none */
	uint32_t locals, literal, unique;
	int32_t start, end;
	bool has_class, is_module;
};

static inline uint64_t fake_v8_scope(struct fake_v8 *fake, const struct fake_v8_function *wanted)
{
	const struct v8_layout *layout = fake->layout;
	bool has_count = layout->kernel.scope_module != PKBPF_V8_NO_SCOPE;
	uint32_t module = has_count ? layout->kernel.scope_module : 3U;
	uint32_t flags = (wanted->is_module ? module : 2U) | (uint32_t)wanted->has_class << 10 |
			 (wanted->name ? 1U << 12 : 0) | (wanted->inferred ? 1U << 14 : 0);
	uint64_t scope = fake_v8_object(fake, layout->kernel.scope_type, 8192);
	size_t at = 8 + 8 * (size_t)(layout->kernel.scope_first + wanted->locals +
				     (wanted->locals > 74 ? 1 : wanted->locals) +
				     wanted->has_class + (wanted->is_module && has_count));

	if (layout->kernel.scope_is_raw) {
		fake_v8_u32(fake, scope, 8, flags);
		fake_v8_smi(fake, scope, 32, wanted->start);
		fake_v8_smi(fake, scope, 40, wanted->end);
	} else {
		fake_v8_smi(fake, scope, 8, (int32_t)flags);
	}
	fake_v8_smi(fake, scope, 24, (int32_t)wanted->locals);
	if (wanted->name) {
		fake_v8_word(fake, scope, at, fake_v8_string(fake, wanted->name));
		at += 16;
	}
	if (wanted->inferred) {
		fake_v8_word(fake, scope, at, fake_v8_string(fake, wanted->inferred));
		at += 8;
	}
	if (!layout->kernel.scope_is_raw) {
		fake_v8_smi(fake, scope, at, wanted->start);
		fake_v8_smi(fake, scope, at + 8, wanted->end);
	}
	return scope;
}

/* Returns the SharedFunctionInfo. */
static inline uint64_t fake_v8_function(struct fake_v8 *fake, uint64_t script,
					const struct fake_v8_function *wanted)
{
	const struct v8_layout *layout = fake->layout;
	uint64_t shared = fake_v8_object(fake, layout->kernel.shared_type, 128);

	fake_v8_word(fake, shared, layout->kernel.shared_name, fake_v8_scope(fake, wanted));
	fake_v8_word(fake, shared, layout->kernel.shared_script, script);
	fake_v8_u32(fake, shared, layout->kernel.shared_literal, wanted->literal);
	fake_v8_u32(fake, shared, layout->kernel.shared_literal + 4U, wanted->unique);
	return shared;
}

/* Code with its instructions behind it; returns where they start. */
static inline uint64_t fake_v8_code(struct fake_v8 *fake, uint32_t kind, uint32_t size,
				    uint64_t deopt, uint64_t positions, uint64_t *ret_code)
{
	const struct v8_layout *layout = fake->layout;
	uint64_t code = fake_v8_object(fake, layout->code_type, 128), start;

	if (layout->code_start) {
		start = fake_v8_allocate(fake, layout->header + size) - 1 + layout->header;
		fake_v8_word(fake, start + 1 - layout->header, 8, code);
		fake_v8_word(fake, code, layout->code_start, start);
	} else {
		fake_v8_allocate(fake, size);
		start = code - 1 + layout->inline_start;
	}
	fake_v8_u32(fake, code, layout->code_size, size);
	fake_v8_u32(fake, code, layout->code_flags, kind);
	fake_v8_word(fake, code, layout->code_deopt, deopt);
	fake_v8_word(fake, code, layout->code_positions, positions);
	*ret_code = code;
	return start;
}

/* A BytecodeArray as the data of a function. */
static inline uint64_t fake_v8_bytecode(struct fake_v8 *fake, uint64_t shared, const void *bytes,
					size_t size, uint64_t positions)
{
	const struct v8_layout *layout = fake->layout;
	uint64_t bytecode = fake_v8_object(fake, layout->bytecode_type, 64 + size);

	fake_v8_smi(fake, bytecode, 8, (int32_t)size);
	fake_v8_put(fake, bytecode, layout->kernel.first_bytecode, bytes, size);
	fake_v8_word(fake, bytecode, layout->bytecode_positions, positions);
	fake_v8_word(fake, shared, 8, bytecode);
	return bytecode;
}

/* ---- tables of positions ---- */

static inline size_t fake_v8_number(uint8_t *bytes, uint64_t value)
{
	size_t at = 0;

	while (value >= 0x80) {
		bytes[at++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[at++] = (uint8_t)value;
	return at;
}

/* position: as in the source; inlining: 0: none. */
static inline uint64_t fake_v8_raw_position(int32_t position, uint32_t inlining)
{
	return (uint64_t)(position + 1) << 1 | (uint64_t)inlining << 31;
}

struct fake_v8_entry {
	uint32_t offset;
	uint64_t raw;
};

static inline uint64_t fake_v8_positions(struct fake_v8 *fake, const struct fake_v8_entry *entries,
					 size_t count)
{
	uint8_t bytes[256];
	size_t size = 0;
	int64_t offset = -1, raw = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t difference = (int64_t)entries[i].raw - raw;

		size += fake_v8_number(bytes + size, (uint64_t)(entries[i].offset - offset)
							     << fake->layout->position_flags);
		size += fake_v8_number(bytes + size, difference < 0
							     ? ((uint64_t)-difference << 1) - 1
							     : (uint64_t)difference << 1);
		offset = entries[i].offset;
		raw = (int64_t)entries[i].raw;
	}
	return fake_v8_bytes(fake, bytes, size);
}

/* Deoptimisation data of code of one function, into which another is inlined at `call`. */
static inline uint64_t fake_v8_deopt(struct fake_v8 *fake, uint64_t own, uint64_t inlined,
				     int32_t call)
{
	const struct v8_layout *layout = fake->layout;
	uint64_t items[12] = {0}, inlining[2] = {fake_v8_raw_position(call, 0), 0}, wrapper;

	if (layout->wraps_shared) {
		wrapper = fake_v8_object(fake, 195, 16);
		fake_v8_word(fake, wrapper, 8, own);
		own = wrapper;
		wrapper = fake_v8_object(fake, 195, 16);
		fake_v8_word(fake, wrapper, 8, inlined);
		inlined = wrapper;
	}
	items[layout->deopt_literals] = fake_v8_array(fake, &inlined, 1);
	items[layout->deopt_shared] = own;
	items[layout->deopt_positions] = fake_v8_bytes(fake, inlining, sizeof(inlining));
	return fake_v8_array(fake, items, 12);
}

#endif
