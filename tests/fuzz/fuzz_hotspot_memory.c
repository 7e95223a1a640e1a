// SPDX-License-Identifier: BSD-2-Clause
/* A process that says anything of itself: its description, code heaps, debug information and
 * methods are read from the same bytes, which lie at address 0 and over and over behind that. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot/hotspot_method.h"
#include "hotspot/hotspot_process.h"
#include "hotspot/hotspot_scopes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *data;
	size_t size, read;
};

/* Less than all that one look may read, so that a run ends soon. */
#define MAX_READ (4U << 20)

static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	struct bytes *bytes = context;

	bytes->read += size;
	if (address > UINT32_MAX || bytes->read > MAX_READ)
		return -1;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buffer)[i] = bytes->data[(address + i) % bytes->size];
	return 0;
}

/* Offsets from the input, in a layout that is otherwise that of 17 or 25. */
static void make_layout(const uint8_t *data, size_t size, struct hotspot_layout *layout)
{
	struct hotspot_field *fields = (struct hotspot_field *)&layout->at;

	*layout = (struct hotspot_layout){
		.java = 17,
		.heaps = 8,
		.interpreter = 16,
		.block_header_size = 16,
		.blob_struct_size = 64,
		.nmethod_struct_size = 128,
		.heap_struct_size = 128,
		.codelet_struct_size = 16,
		.pc_struct_size = 16,
		.const_struct_size = 48,
		.pool_struct_size = 72,
		.const_has_lines = 1,
	};
	for (size_t i = 0; i < sizeof(layout->at) / sizeof(*fields); i++)
		fields[i] = (struct hotspot_field){
			.offset = data[i % size] % 128U,
			.width = (uint8_t)(1U << data[(i * 7 + 3) % size] % 4U),
			.is_signed = data[i % size] & 1,
		};
}

static void check_blob(const struct hotspot_blob *blob)
{
	struct hotspot_scope scopes[HOTSPOT_MAX_INLINED];

	if (blob->start >= blob->end || blob->code_begin < blob->start ||
	    blob->code_end > blob->end || blob->code_begin > blob->code_end)
		abort();
	for (size_t i = 0; i < blob->pc_count; i++) {
		if (blob->pcs[i].offset > blob->code_end - blob->code_begin)
			abort();
		if (!hotspot_scopes_at(blob, i & 1, blob->code_begin + blob->pcs[i].offset, scopes))
			abort();
	}
}

static void read_process(const struct hotspot_layout *layout, const struct hotspot_memory *memory)
{
	struct hotspot_process *process = hotspot_process_new(layout, 0, memory);
	const struct hotspot_process_ops ops = {0};
	static struct hotspot_codelet codelets[64];
	struct bytes *bytes = memory->context;
	uint64_t entries[8];

	if (!process)
		return;
	for (uint64_t i = 0; i < 3; i++) {
		bytes->read = 0;
		hotspot_process_look(process, &ops, i * 100000000000ULL);
	}
	bytes->read = 0;
	for (size_t i = 0; i < hotspot_process_blob_count(process); i++)
		check_blob(hotspot_process_blob(process, i));
	hotspot_process_codelets(process, codelets, 64);
	hotspot_process_stubs(process, entries, 8);
	hotspot_process_free(process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = {data, size, 0};
	const struct hotspot_memory memory = {read_bytes, &bytes};
	struct hotspot_image image = {0};
	struct hotspot_layout *layout;
	struct hotspot_method method;

	if (!size)
		return 0;
	layout = malloc(sizeof(*layout));
	if (!layout)
		return 0;
	for (size_t i = 0; i < HOTSPOT_WORDS; i++)
		image.words[i] = i * 8;
	if (!hotspot_layout_read(&memory, &image, 0, layout))
		read_process(layout, &memory);
	make_layout(data, size, layout);
	read_process(layout, &memory);
	for (uint64_t i = 0; i < 8; i++) {
		bytes.read = 0;
		if (!hotspot_method_read(&memory, layout, i * 64, &method) &&
		    hotspot_method_line(&memory, layout, &method, (int32_t)i) > UINT16_MAX)
			abort();
	}
	free(layout);
	return 0;
}
