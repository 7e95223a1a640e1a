// SPDX-License-Identifier: BSD-2-Clause
/* Holds copies of records until nothing older can arrive, then delivers them in time order. */
#include "event/event_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/decoder.h"

#define CHUNK_SIZE	(256U * 1024)
#define MAX_IDLE_CHUNKS 16
#define NO_CHUNK	UINT32_MAX

_Static_assert(EVENT_MAX_RECORD_SIZE <= CHUNK_SIZE, "every record fits a chunk");

struct chunk {
	uint8_t *data; /* NULL: this slot is empty */
	uint32_t used;
	uint32_t waiting;   /* records not yet delivered */
	uint32_t next_idle; /* next in the list of chunks (with or without data) that hold no
			     * record */
};

struct entry {
	uint64_t time_ns;
	uint32_t chunk;
	uint32_t offset;
};

struct event_queue {
	/* Waiting records: entries[first..count). A push appends; a flush sorts and delivers
	 * from the front. */
	struct entry *entries;
	struct entry *scratch; /* same capacity: the merge cannot run out of memory */
	size_t first, count, capacity;
	bool sorted;

	ARRAY_OF(struct chunk) chunks;
	uint32_t current; /* chunk being filled */
	uint32_t idle_with_data, idle_empty;
	uint32_t idle_count; /* idle chunks with data */

	bool any_delivered;
	uint64_t newest_delivered_ns;
	struct event_queue_stats stats;
};

struct event_queue *event_queue_new(void)
{
	struct event_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->sorted = true;
	queue->current = queue->idle_with_data = queue->idle_empty = NO_CHUNK;
	return queue;
}

void event_queue_free(struct event_queue *queue)
{
	if (!queue)
		return;
	array_foreach(&queue->chunks, chunk)
		free(chunk->data);
	array_free(&queue->chunks);
	free(queue->entries);
	free(queue->scratch);
	free(queue);
}

static bool reserve_entry(struct event_queue *queue)
{
	size_t capacity = queue->capacity ? queue->capacity * 2 : 1024;
	struct entry *entries;

	if (queue->count < queue->capacity)
		return true;
	if (queue->first >= queue->capacity / 2 && queue->first) {
		memmove(queue->entries, queue->entries + queue->first,
			(queue->count - queue->first) * sizeof(*queue->entries));
		queue->count -= queue->first;
		queue->first = 0;
		return true;
	}
	/* The scratch array grows first: it may be larger than the entries, never smaller. */
	entries = realloc(queue->scratch, capacity * sizeof(*entries));
	if (!entries)
		return false;
	queue->scratch = entries;
	entries = realloc(queue->entries, capacity * sizeof(*entries));
	if (!entries)
		return false;
	queue->entries = entries;
	queue->capacity = capacity;
	return true;
}

/* A chunk without records is kept for reuse, or freed when enough are kept. */
static void retire_chunk(struct event_queue *queue, uint32_t index)
{
	struct chunk *chunk = &queue->chunks.items[index];

	chunk->used = 0;
	if (queue->idle_count < MAX_IDLE_CHUNKS) {
		chunk->next_idle = queue->idle_with_data;
		queue->idle_with_data = index;
		queue->idle_count++;
		return;
	}
	free(chunk->data);
	chunk->data = NULL;
	chunk->next_idle = queue->idle_empty;
	queue->idle_empty = index;
}

static bool take_chunk(struct event_queue *queue)
{
	uint32_t index = queue->idle_with_data;
	struct chunk *chunk;
	uint8_t *data;

	if (index != NO_CHUNK) {
		queue->idle_with_data = queue->chunks.items[index].next_idle;
		queue->idle_count--;
		queue->current = index;
		return true;
	}
	data = malloc(CHUNK_SIZE);
	if (!data)
		return false;
	index = queue->idle_empty;
	if (index != NO_CHUNK) {
		chunk = &queue->chunks.items[index];
		queue->idle_empty = chunk->next_idle;
	} else {
		chunk = array_add(&queue->chunks);
		if (!chunk) {
			free(data);
			return false;
		}
		index = (uint32_t)(queue->chunks.count - 1);
	}
	*chunk = (struct chunk){.data = data};
	queue->current = index;
	return true;
}

/* Makes the current chunk one with room for size bytes. */
static bool reserve_bytes(struct event_queue *queue, uint32_t size)
{
	if (queue->current != NO_CHUNK) {
		struct chunk *chunk = &queue->chunks.items[queue->current];

		if (!chunk->waiting)
			chunk->used = 0;
		if (size <= CHUNK_SIZE - chunk->used)
			return true;
		/* The old chunk is retired when its last record is delivered. */
		queue->current = NO_CHUNK;
	}
	return take_chunk(queue);
}

int event_queue_push(struct event_queue *queue, const void *record, size_t size)
{
	struct pkbpf_event_header header;
	struct chunk *chunk;
	int err;

	err = event_check_header(record, size, &header);
	if (err) {
		queue->stats.malformed++;
		return -EBADMSG;
	}
	if (queue->stats.bytes_waiting + header.size > EVENT_QUEUE_MAX_BYTES ||
	    !reserve_entry(queue) || !reserve_bytes(queue, header.size))
		return -ENOMEM;
	chunk = &queue->chunks.items[queue->current];
	memcpy(chunk->data + chunk->used, record, header.size);
	if (queue->count > queue->first &&
	    header.time_ns < queue->entries[queue->count - 1].time_ns)
		queue->sorted = false;
	queue->entries[queue->count++] = (struct entry){
		.time_ns = header.time_ns, .chunk = queue->current, .offset = chunk->used};
	chunk->used += header.size;
	chunk->waiting++;
	queue->stats.bytes_waiting += header.size;
	return 0;
}

/* End of the ascending run that begins at start. */
static size_t run_end(const struct entry *entries, size_t start, size_t count)
{
	size_t end = start + 1;

	while (end < count && entries[end - 1].time_ns <= entries[end].time_ns)
		end++;
	return end;
}

static void merge(struct entry *to, const struct entry *left, size_t left_count,
		  const struct entry *right, size_t right_count)
{
	while (left_count && right_count) {
		/* equal: left first, it arrived first */
		if (right->time_ns < left->time_ns) {
			*to++ = *right++;
			right_count--;
		} else {
			*to++ = *left++;
			left_count--;
		}
	}
	memcpy(to, left, left_count * sizeof(*to));
	memcpy(to + left_count, right, right_count * sizeof(*to));
}

/* Natural merge sort. Rings are drained one after the other and each is in order, so there are
 * about as many ascending runs as rings. Each pass halves the number of runs. */
static void sort_entries(struct event_queue *queue)
{
	size_t count = queue->count - queue->first;
	struct entry *from, *to, *swap;
	size_t start, runs;

	if (queue->sorted)
		return;
	from = queue->entries + queue->first;
	to = queue->scratch;
	do {
		runs = 0;
		for (start = 0; start < count; runs++) {
			size_t middle = run_end(from, start, count);
			size_t end = middle < count ? run_end(from, middle, count) : middle;

			merge(to + start, from + start, middle - start, from + middle,
			      end - middle);
			start = end;
		}
		swap = from;
		from = to;
		to = swap;
	} while (runs > 1);
	if (from == queue->scratch)
		memcpy(queue->entries + queue->first, from, count * sizeof(*from));
	queue->sorted = true;
}

static void deliver(struct event_queue *queue, const struct entry *entry,
		    const struct event_sink *sink)
{
	struct chunk *chunk = &queue->chunks.items[entry->chunk];
	int size = event_decode(chunk->data + entry->offset, chunk->used - entry->offset, sink);
	struct pkbpf_event_header *header = (void *)(chunk->data + entry->offset);

	if (size < 0) {
		queue->stats.malformed++;
	} else {
		queue->stats.delivered++;
		if (queue->any_delivered && entry->time_ns < queue->newest_delivered_ns)
			queue->stats.late++;
		if (!queue->any_delivered || entry->time_ns > queue->newest_delivered_ns)
			queue->newest_delivered_ns = entry->time_ns;
		queue->any_delivered = true;
	}
	queue->stats.bytes_waiting -= header->size;
	if (--chunk->waiting == 0 && entry->chunk != queue->current)
		retire_chunk(queue, entry->chunk);
}

void event_queue_flush(struct event_queue *queue, uint64_t until_ns, const struct event_sink *sink)
{
	sort_entries(queue);
	while (queue->first < queue->count) {
		const struct entry *entry = &queue->entries[queue->first];

		if (entry->time_ns >= until_ns && until_ns != UINT64_MAX)
			break;
		queue->first++;
		deliver(queue, entry, sink);
	}
	if (queue->first == queue->count)
		queue->first = queue->count = 0;
}

struct event_queue_stats event_queue_stats(const struct event_queue *queue)
{
	return queue->stats;
}
