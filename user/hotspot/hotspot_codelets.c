// SPDX-License-Identifier: BSD-2-Clause
/* Parts of the interpreter, and entry points of stub routines. */
#include <string.h>

#include "hotspot/hotspot_heap.h"
#include "hotspot/hotspot_process.h"
#include "hotspot/hotspot_process_private.h"

/* The interpreter has 300 KiB. */
#define MAX_QUEUE_BYTES	 (8 << 20)
#define MAX_STRUCT_BYTES 256U
/* src/hotspot/share/code/stubs.hpp: code begins behind the structure, aligned. */
#define CODE_ALIGN 32U

struct queue {
	uint64_t buffer;
	int32_t begin, end;
};

static bool read_queue(const struct hotspot_layout *layout, uint64_t bias,
		       const struct hotspot_memory *memory, struct queue *ret_queue)
{
	uint8_t bytes[MAX_STRUCT_BYTES];
	uint64_t queue;
	size_t size = layout->at.queue_end.offset + 8U;

	if (size > sizeof(bytes) || layout->at.queue_begin.offset > size - 8 ||
	    layout->at.queue_buffer.offset > size - 8 ||
	    hotspot_read(memory, layout->interpreter + bias, &queue, sizeof(queue)) ||
	    hotspot_read(memory, queue, bytes, size))
		return false;
	ret_queue->buffer = hotspot_field_get(bytes, size, layout->at.queue_buffer);
	ret_queue->begin = (int32_t)hotspot_field_get(bytes, size, layout->at.queue_begin);
	ret_queue->end = (int32_t)hotspot_field_get(bytes, size, layout->at.queue_end);
	return ret_queue->begin >= 0 && ret_queue->end >= ret_queue->begin &&
	       ret_queue->end <= MAX_QUEUE_BYTES;
}

/* Its size in the queue; 0: it makes no sense. */
static uint64_t read_codelet(const struct hotspot_layout *layout,
			     const struct hotspot_memory *memory, uint64_t address,
			     struct hotspot_codelet *ret_codelet)
{
	uint8_t bytes[MAX_STRUCT_BYTES];
	size_t size = layout->codelet_struct_size;
	uint64_t description, length;

	if (size > sizeof(bytes) || hotspot_read(memory, address, bytes, size))
		return 0;
	length = hotspot_field_get(bytes, size, layout->at.codelet_size);
	description = hotspot_field_get(bytes, size, layout->at.codelet_description);
	*ret_codelet = (struct hotspot_codelet){
		.code_begin = (address + size + CODE_ALIGN - 1) / CODE_ALIGN * CODE_ALIGN,
		.code_end = address + length,
		.bytecode = (int32_t)hotspot_field_get(bytes, size, layout->at.codelet_bytecode),
	};
	if (description)
		hotspot_read_string(memory, description, ret_codelet->description,
				    sizeof(ret_codelet->description));
	return length >= size && length <= MAX_QUEUE_BYTES ? length : 0;
}

size_t hotspot_process_codelets(const struct hotspot_process *process,
				struct hotspot_codelet *codelets, size_t limit)
{
	const struct hotspot_layout *layout = hotspot_process_layout(process);
	const struct hotspot_memory *memory = hotspot_process_memory(process);
	struct queue queue;
	size_t count = 0;

	if (!read_queue(layout, hotspot_process_bias(process), memory, &queue))
		return 0;
	for (uint64_t at = (uint64_t)queue.begin; at < (uint64_t)queue.end && count < limit;) {
		uint64_t length = read_codelet(layout, memory, queue.buffer + at, &codelets[count]);

		if (!length)
			break;
		count++;
		at += length;
	}
	return count;
}

uint64_t hotspot_process_call_stub_return(const struct hotspot_process *process)
{
	uint64_t place = hotspot_process_layout(process)->call_stub_return, address;

	if (!place ||
	    hotspot_read(hotspot_process_memory(process), place + hotspot_process_bias(process),
			 &address, sizeof(address)))
		return 0;
	return address;
}

size_t hotspot_process_stubs(const struct hotspot_process *process, uint64_t *entries, size_t limit)
{
	const struct hotspot_layout *layout = hotspot_process_layout(process);
	size_t count = 0;

	for (size_t i = 0; i < layout->stub_count && count < limit; i++)
		if (!hotspot_read(hotspot_process_memory(process),
				  layout->stubs[i] + hotspot_process_bias(process), &entries[count],
				  sizeof(*entries)) &&
		    hotspot_process_is_code(process, entries[count]))
			count++;
	return count;
}
