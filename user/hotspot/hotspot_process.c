// SPDX-License-Identifier: BSD-2-Clause
/* Lists the blobs of a process, and compares them with those of the last look. */
#include "hotspot/hotspot_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "hotspot/hotspot_block.h"
#include "hotspot/hotspot_heap.h"
#include "hotspot/hotspot_process_private.h"

/* Bytes that one look may read: what is left over is read by the next ones. */
#define MAX_LOOK_BYTES (32U << 20)
/* A look with changes is followed by so many times its CPU time without one: 2 % of a CPU, for
 * looks of up to 100 ms. */
#define REST_TIMES  50
#define MAX_REST_NS (5 * NS_PER_SECOND)
/* A block that was freed and taken again by one of the same size shows in its header alone. All
 * headers are read so many times their cost apart: 0.5 % of a CPU. */
#define CHECK_TIMES 200

struct hotspot_process {
	struct hotspot_layout layout;
	uint64_t bias;
	struct hotspot_memory memory;
	struct hotspot_heaps heaps;
	ARRAY_OF(struct hotspot_listed *) blobs; /* by address */
	struct hotspot_block_reader reader;
	uint64_t next_serial, dropped;
	size_t copied_bytes;
	bool is_unsettled; /* something has to be read again at the next look */
	bool is_unchecked; /* the last look with changes has not read all headers */
	bool is_behind;	   /* the last look with changes has not listed all */
	uint64_t next_look_ns, next_check_ns, looked_ns;
};

struct hotspot_process *hotspot_process_new(const struct hotspot_layout *layout, uint64_t bias,
					    const struct hotspot_memory *memory)
{
	struct hotspot_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->layout = *layout;
	process->bias = bias;
	process->memory = *memory;
	process->reader.layout = &process->layout;
	process->reader.memory = &process->memory;
	return process;
}

void hotspot_process_free(struct hotspot_process *process)
{
	if (!process)
		return;
	array_foreach(&process->blobs, each)
		hotspot_blob_free(&(*each)->blob);
	array_free(&process->blobs);
	hotspot_heaps_done(&process->heaps);
	free(process->reader.bytes);
	free(process);
}

/* ---- a look ---- */

struct look {
	struct hotspot_process *process;
	const struct hotspot_process_ops *ops;
	const struct hotspot_heap *heap,
		*before; /* before: NULL, or the same one at the last look */
	bool checks;	 /* all headers */
	size_t old;	 /* next of the blobs before */
	ARRAY_OF(struct hotspot_listed *) blobs;
	bool has_changes, is_unsettled, is_cut, is_out_of_memory;
};

static void drop(struct look *look, struct hotspot_listed *listed)
{
	look->has_changes = true;
	if (look->ops->gone_blob)
		look->ops->gone_blob(look->ops->context, &listed->blob);
	look->process->copied_bytes -= listed->copied_bytes;
	hotspot_blob_free(&listed->blob);
}

/* Blobs before `address` of which no block was found. */
static void drop_before(struct look *look, uint64_t address)
{
	struct hotspot_process *process = look->process;

	for (; look->old < process->blobs.count; look->old++) {
		if (process->blobs.items[look->old]->blob.start >= address)
			return;
		drop(look, process->blobs.items[look->old]);
	}
}

static void keep(struct look *look, struct hotspot_listed *listed)
{
	struct hotspot_listed **place = array_add(&look->blobs);

	if (place) {
		*place = listed;
		return;
	}
	look->is_out_of_memory = true;
	drop(look, listed);
}

static void add(struct look *look, struct hotspot_listed *listed)
{
	struct hotspot_process *process = look->process;
	size_t count = look->blobs.count;

	listed->blob.serial = ++process->next_serial;
	process->copied_bytes += listed->copied_bytes;
	look->has_changes = true;
	look->is_unsettled |= !listed->is_settled;
	if (look->ops->new_blob)
		look->ops->new_blob(look->ops->context, &listed->blob);
	listed->blob.code = NULL;
	keep(look, listed);
	if (look->blobs.count == count)
		process->dropped++;
}

static void read_new(struct look *look, uint64_t start)
{
	struct hotspot_process *process = look->process;
	struct hotspot_listed *listed;
	int err;

	if (look->blobs.count >= HOTSPOT_MAX_BLOBS) {
		process->dropped++;
		return;
	}
	if (process->reader.read_bytes > MAX_LOOK_BYTES) {
		look->is_unsettled = look->is_cut = true;
		return;
	}
	err = hotspot_block_read(&process->reader, start, look->heap->range.end,
				 HOTSPOT_MAX_COPY_BYTES - process->copied_bytes, &listed);
	if (!err)
		add(look, listed);
	else if (err != -ENOENT)
		look->is_unsettled = true;
}

/* It was read once: is it still the same? Calls are patched as code runs, so it is not asked a
 * third time. */
static void settle(struct look *look, struct hotspot_listed *listed)
{
	struct hotspot_process *process = look->process;
	struct hotspot_listed *again;
	int err;

	/* What is not listed at all comes first. */
	if (process->is_behind || process->reader.read_bytes > MAX_LOOK_BYTES) {
		look->is_unsettled = true;
		keep(look, listed);
		return;
	}
	err = hotspot_block_read(
		&process->reader, listed->blob.start, look->heap->range.end,
		HOTSPOT_MAX_COPY_BYTES - process->copied_bytes + listed->copied_bytes, &again);
	if (!err && again->content == listed->content) {
		hotspot_blob_free(&again->blob);
		listed->is_settled = true;
		keep(look, listed);
		return;
	}
	drop(look, listed);
	if (!err) {
		again->is_settled = true;
		add(look, again);
	} else if (err != -ENOENT) {
		look->is_unsettled = true;
	}
}

/* Is the part of a block in the map unchanged? */
static bool map_is_same(const struct look *look, const struct hotspot_blob *blob)
{
	const struct hotspot_heap *heap = look->heap, *before = look->before;
	size_t first, count;

	if (!before || !before->map || before->range.start != heap->range.start)
		return false;
	first = (size_t)((blob->start - heap->range.start) >> heap->log2_segment_size);
	count = (size_t)((blob->end - blob->start) >> heap->log2_segment_size);
	if (first + count > heap->map_size || first + count > before->map_size)
		return false;
	return !memcmp(heap->map + first, before->map + first, count);
}

static bool is_same_blob(struct look *look, const struct hotspot_listed *listed)
{
	if (!look->checks && map_is_same(look, &listed->blob))
		return true;
	return hotspot_block_identity(&look->process->reader, listed->blob.start,
				      look->heap->range.end) == listed->identity;
}

static void see_block(struct look *look, uint64_t start)
{
	struct hotspot_process *process = look->process;
	struct hotspot_listed *listed = NULL;

	drop_before(look, start);
	if (look->old < process->blobs.count &&
	    process->blobs.items[look->old]->blob.start == start)
		listed = process->blobs.items[look->old++];
	if (listed && !listed->is_settled) {
		settle(look, listed);
	} else if (listed && is_same_blob(look, listed)) {
		keep(look, listed);
	} else {
		if (listed)
			drop(look, listed);
		read_new(look, start);
	}
}

static void see_heap(struct look *look, const struct hotspot_heap *heap)
{
	const uint8_t *map = heap->map, *end = map ? map + heap->map_size : NULL, *at = map;

	look->heap = heap;
	look->process->reader.log2_segment_size = heap->log2_segment_size;
	while (at && at < end) {
		uint64_t start;

		at = memchr(at, 0, (size_t)(end - at));
		if (!at)
			break;
		start = heap->range.start + ((uint64_t)(at - map) << heap->log2_segment_size);
		/* In a block that was just read no other begins: a map that changes, or lies. */
		if (!look->blobs.count ||
		    start >= look->blobs.items[look->blobs.count - 1]->blob.end)
			see_block(look, start);
		at++;
	}
}

static const struct hotspot_heap *heap_before(const struct hotspot_process *process,
					      const struct hotspot_heap *heap)
{
	for (size_t i = 0; i < process->heaps.count; i++)
		if (process->heaps.items[i].address == heap->address)
			return &process->heaps.items[i];
	return NULL;
}

static int list_all(struct look *look, struct hotspot_heaps *heaps)
{
	struct hotspot_process *process = look->process;

	process->reader.read_bytes = 0;
	process->dropped = 0;
	for (size_t i = 0; i < heaps->count; i++) {
		look->before = heap_before(process, &heaps->items[i]);
		see_heap(look, &heaps->items[i]);
	}
	drop_before(look, UINT64_MAX);
	array_free(&process->blobs);
	process->blobs.items = look->blobs.items;
	process->blobs.count = look->blobs.count;
	process->blobs.capacity = look->blobs.capacity;
	process->is_unsettled = look->is_unsettled;
	hotspot_heaps_done(&process->heaps);
	process->heaps = *heaps;
	if (look->is_out_of_memory)
		return -ENOMEM;
	return look->has_changes;
}

static void rest(struct hotspot_process *process, uint64_t now_ns, uint64_t took_ns, bool checked)
{
	uint64_t rest_ns = took_ns * REST_TIMES;

	process->next_look_ns = now_ns + (rest_ns < MAX_REST_NS ? rest_ns : MAX_REST_NS);
	if (checked)
		process->next_check_ns = now_ns + took_ns * CHECK_TIMES;
}

int hotspot_process_look(struct hotspot_process *process, const struct hotspot_process_ops *ops,
			 uint64_t now_ns)
{
	struct look look = {
		.process = process,
		.ops = ops,
		.checks = now_ns >= process->next_check_ns,
	};
	struct hotspot_heaps heaps;
	uint64_t begin_ns;
	int result;

	if (now_ns < process->next_look_ns)
		return 0;
	result = hotspot_heaps_read(&process->layout, process->bias, &process->memory, &heaps);
	if (result)
		return result;
	if (!process->is_unsettled && !(process->is_unchecked && look.checks) &&
	    hotspot_heaps_equal(&process->layout, &heaps, &process->heaps)) {
		process->looked_ns = now_ns;
		return 0;
	}
	begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	result = hotspot_heaps_read_maps(&process->memory, &heaps);
	if (result) {
		hotspot_heaps_done(&heaps);
		rest(process, now_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns, false);
		return result;
	}
	result = list_all(&look, &heaps);
	process->is_unchecked = !look.checks;
	process->is_behind = look.is_cut;
	/* What was left over may be as old as what was listed. */
	if (!look.is_cut)
		process->looked_ns = now_ns;
	rest(process, now_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns, look.checks);
	return result;
}

uint64_t hotspot_process_next_look(const struct hotspot_process *process)
{
	return process->next_look_ns;
}

/* ---- what is there ---- */

const struct hotspot_layout *hotspot_process_layout(const struct hotspot_process *process)
{
	return &process->layout;
}

uint64_t hotspot_process_looked_ns(const struct hotspot_process *process)
{
	return process->looked_ns;
}

const struct hotspot_memory *hotspot_process_memory(const struct hotspot_process *process)
{
	return &process->memory;
}

uint64_t hotspot_process_bias(const struct hotspot_process *process)
{
	return process->bias;
}

size_t hotspot_process_heap_count(const struct hotspot_process *process)
{
	return process->heaps.count;
}

struct hotspot_heap_range hotspot_process_heap(const struct hotspot_process *process, size_t index)
{
	return process->heaps.items[index].range;
}

bool hotspot_process_is_code(const struct hotspot_process *process, uint64_t address)
{
	for (size_t i = 0; i < process->heaps.count; i++)
		if (address >= process->heaps.items[i].range.start &&
		    address < process->heaps.items[i].range.reserved_end)
			return true;
	return false;
}

size_t hotspot_process_blob_count(const struct hotspot_process *process)
{
	return process->blobs.count;
}

struct hotspot_blob *hotspot_process_blob(const struct hotspot_process *process, size_t index)
{
	return &process->blobs.items[index]->blob;
}

struct hotspot_blob *hotspot_process_find(const struct hotspot_process *process, uint64_t address)
{
	size_t low = 0, high = process->blobs.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct hotspot_blob *blob = &process->blobs.items[middle]->blob;

		if (address >= blob->end)
			low = middle + 1;
		else if (address < blob->start)
			high = middle;
		else
			return blob;
	}
	return NULL;
}

uint64_t hotspot_process_dropped(const struct hotspot_process *process)
{
	return process->dropped;
}
