// SPDX-License-Identifier: BSD-2-Clause
/* A heap of V8 that says anything: functions, scripts, code and tables are read from the same
 * bytes, which lie at address 0 and over and over behind that. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "v8/v8_code.h"
#include "v8/v8_function.h"
#include "v8/v8_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *data;
	size_t size, read;
	const struct v8_layout *layout;
};

/* So that a run ends soon. */
#define MAX_READ (1U << 20)
/* Types are read at this place of a map: all that are wanted take turns, so that readers go on. */
#define TYPE_AT 12

static uint16_t type_of(const struct bytes *bytes, uint64_t address)
{
	const uint16_t types[] = {
		bytes->layout->kernel.shared_type, bytes->layout->kernel.scope_type,
		bytes->layout->kernel.script_type, bytes->layout->code_type,
		bytes->layout->bytecode_type,	   bytes->data[address % bytes->size] & 63,
	};

	return types[bytes->data[address / 8 % bytes->size] % (sizeof(types) / sizeof(*types))];
}

static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	struct bytes *bytes = context;
	uint16_t type;

	bytes->read += size;
	if (bytes->read > MAX_READ)
		return -1;
	if (size == sizeof(type)) {
		type = type_of(bytes, address);
		memcpy(buffer, &type, size);
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buffer)[i] = bytes->data[(address + i) % bytes->size];
	/* Bit 0 of the last byte makes a reference, bit 1 a small integer. */
	if (size == 8 && ((uint8_t *)buffer)[7] & 1)
		((uint8_t *)buffer)[0] = (uint8_t)((((uint8_t *)buffer)[0] & ~7) | 1);
	if (size == 8 && ((uint8_t *)buffer)[7] & 1)
		memset((uint8_t *)buffer + 5, 0, 3);
	if (size == 8 && ((uint8_t *)buffer)[7] & 2)
		memset(buffer, 0, 4);
	return 0;
}

static void read_code(const struct v8_memory *memory, const struct v8_layout *layout, uint64_t pc)
{
	struct bytes *bytes = memory->context;
	struct v8_frame frames[V8_MAX_INLINED];
	struct v8_bytecode_sizes sizes = {.count = 200};
	struct v8_code code;
	uint64_t shared;
	size_t count;

	memset(sizes.bytes, 2, sizeof(sizes.bytes));
	bytes->read = 0;
	if (v8_code_find(memory, layout, pc, &code))
		code = (struct v8_code){.object = (pc & ~7ULL) | 1, .start = pc - 100, .size = 200};
	bytes->read = 0;
	count = v8_code_frames(memory, layout, &code, pc, frames);
	if (!count || count > V8_MAX_INLINED || frames[count - 1].shared)
		abort();
	v8_code_function(memory, layout, &code, &shared);
	v8_code_is_there(memory, layout, &code);
	v8_code_is_baseline_of(memory, &code, pc | 1);
	v8_code_baseline_position(memory, layout, &sizes, &code, (pc & ~7ULL) | 1, pc);
	v8_code_bytecode_position(memory, layout, (pc & ~7ULL) | 1, (uint32_t)pc & 0xff);
}

static void read_function(const struct v8_memory *memory, const struct v8_layout *layout,
			  uint64_t shared)
{
	struct bytes *bytes = memory->context;
	struct v8_function function;
	struct v8_script script;

	bytes->read = 0;
	if (!v8_function_read(memory, layout, shared, &function) &&
	    (!function.identity || strlen(function.name) >= sizeof(function.name)))
		abort();
	bytes->read = 0;
	if (v8_script_read(memory, layout, shared, &script))
		return;
	if (strlen(script.path) >= sizeof(script.path))
		abort();
	for (size_t i = 1; i < script.lines.count; i++)
		if (script.lines.items[i] <= script.lines.items[i - 1])
			abort();
	v8_script_line(&script, function.start);
	v8_script_done(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t versions[][2] = {{10, 2}, {11, 3}, {12, 4}, {13, 6}};
	struct bytes bytes = {data, size, 0, NULL};
	const struct v8_memory memory = {read_bytes, &bytes};

	if (!size)
		return 0;
	bytes.layout = v8_layout_find(versions[data[0] & 3][0], versions[data[0] & 3][1]);
	for (uint64_t i = 0; i < 4; i++) {
		read_function(&memory, bytes.layout, i * 64 + 1);
		read_code(&memory, bytes.layout, (1U << 20) + i * 64 + data[size - 1]);
	}
	return 0;
}
