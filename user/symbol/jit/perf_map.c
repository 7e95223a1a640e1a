// SPDX-License-Identifier: BSD-2-Clause
/* Reads perf map files into sorted ranges that know the line of their name. */
#include "symbol/jit/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

#define READ_BYTES (256U << 10)
/* Two numbers of "0x" and sixteen digits, two separators. */
#define MAX_NUMBERS_BYTES 40

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* NULL: no number, or more than 64 bits. */
static const char *parse_hex(const char *at, const char *end, uint64_t *ret)
{
	const char *start;
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (start = at; at < end; at++) {
		unsigned char c = (unsigned char)*at;
		unsigned char letter = c | 0x20;

		if (c >= '0' && c <= '9')
			c -= '0';
		else if (letter >= 'a' && letter <= 'f')
			c = (unsigned char)(letter - 'a' + 10);
		else
			break;
		if (value >> 60)
			return NULL;
		value = value << 4 | c;
	}
	if (at == start)
		return NULL;
	*ret = value;
	return at;
}

bool perf_map_parse_line(const char *line, size_t size, struct perf_map_entry *ret_entry,
			 const char **ret_name, size_t *ret_name_size)
{
	const char *end = line + size;
	const char *at = skip_spaces(line, end), *after;
	uint64_t start, length;

	at = parse_hex(at, end, &start);
	if (!at)
		return false;
	after = skip_spaces(at, end);
	if (after == at)
		return false;
	at = parse_hex(after, end, &length);
	if (!at)
		return false;
	after = skip_spaces(at, end);
	/* No code object is 4 GiB; an entry that long would only hide others. */
	if (after == at || length == 0 || length > UINT32_MAX || start + length < start)
		return false;
	while (end > after && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (end == after)
		return false;
	*ret_entry = (struct perf_map_entry){.start = start, .size = (uint32_t)length};
	*ret_name = after;
	*ret_name_size = (size_t)(end - after);
	return true;
}

static int add_line(struct perf_map *map, const char *line, size_t size, uint32_t offset)
{
	struct perf_map_entry entry;
	const char *name;
	size_t name_size;

	if (!perf_map_parse_line(line, size, &entry, &name, &name_size))
		return 0;
	if (map->count >= PERF_MAP_MAX_ENTRIES)
		return -EFBIG;
	if (!array_reserve_items((void **)&map->entries, &map->capacity, map->count + 1,
				 sizeof(*map->entries)))
		return -ENOMEM;
	entry.line = offset;
	map->entries[map->count++] = entry;
	return 0;
}

/* A part of the file, which begins with a line. */
struct window {
	char *buffer;	 /* of READ_BYTES */
	uint64_t offset; /* of buffer[0] in the file */
	size_t used;
	bool skipping; /* inside a line longer than the buffer */
};

/* Adds the lines that end in the window, and moves it behind them. */
static int take_lines(struct window *window, struct perf_map *map)
{
	char *buffer = window->buffer, *newline;
	size_t at = 0;
	int err = 0;

	while (!err && (newline = memchr(buffer + at, '\n', window->used - at))) {
		size_t size = (size_t)(newline - buffer) - at;

		if (!window->skipping)
			err = add_line(map, buffer + at, size, (uint32_t)(window->offset + at));
		window->skipping = false;
		at += size + 1;
	}
	if (err)
		return err;
	if (at == 0 && window->used == READ_BYTES) {
		window->skipping = true;
		at = window->used;
	}
	memmove(buffer, buffer + at, window->used - at);
	window->used -= at;
	window->offset += at;
	return 0;
}

static int read_lines(int fd, struct perf_map *map)
{
	_cleanup_free_ char *buffer = malloc(READ_BYTES);
	struct window window = {.buffer = buffer};
	int err = buffer ? 0 : -ENOMEM;

	while (!err) {
		ssize_t n = pread(fd, buffer + window.used, READ_BYTES - window.used,
				  (off_t)(window.offset + window.used));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		/* A last line still being written: its numbers are whole, its name is read when it
		 * is needed. */
		if (n == 0)
			return window.skipping ? 0
					       : add_line(map, buffer, window.used,
							  (uint32_t)window.offset);
		window.used += (size_t)n;
		if (window.offset + window.used > PERF_MAP_MAX_BYTES)
			return -EFBIG;
		err = take_lines(&window, map);
	}
	return err;
}

static int compare_entries(const void *left, const void *right)
{
	const struct perf_map_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* A heap of the entries that cover one place, the latest line on top. */
struct heap {
	struct perf_map_entry *items;
	size_t count;
};

static void heap_push(struct heap *heap, const struct perf_map_entry *entry)
{
	size_t at = heap->count++;

	while (at > 0 && heap->items[(at - 1) / 2].line < entry->line) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = *entry;
}

static void heap_pop(struct heap *heap)
{
	const struct perf_map_entry last = heap->items[--heap->count];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count &&
		    heap->items[child + 1].line > heap->items[child].line)
			child++;
		if (heap->items[child].line <= last.line)
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = last;
}

static bool has_overlap(const struct perf_map *map)
{
	for (size_t i = 1; i < map->count; i++)
		if (map->entries[i - 1].start + map->entries[i - 1].size > map->entries[i].start)
			return true;
	return false;
}

static int emit_range(struct perf_map *map, uint64_t start, uint64_t end, uint32_t line)
{
	struct perf_map_entry *last = map->count ? &map->entries[map->count - 1] : NULL;

	if (last && last->line == line && last->start + last->size == start) {
		last->size += (uint32_t)(end - start);
		return 0;
	}
	if (!array_reserve_items((void **)&map->entries, &map->capacity, map->count + 1,
				 sizeof(*map->entries)))
		return -ENOMEM;
	map->entries[map->count++] = (struct perf_map_entry){
		.start = start, .size = (uint32_t)(end - start), .line = line};
	return 0;
}

/* Sweeps over the starts and ends; between two of them the latest line that covers the place owns
 * it. */
static int flatten(const struct perf_map *from, struct heap *heap, struct perf_map *to)
{
	uint64_t position = 0;
	size_t next = 0;

	while (next < from->count || heap->count > 0) {
		const struct perf_map_entry *top;
		uint64_t end;
		int err;

		if (heap->count == 0)
			position = from->entries[next].start;
		while (next < from->count && from->entries[next].start <= position)
			heap_push(heap, &from->entries[next++]);
		top = &heap->items[0];
		end = top->start + top->size;
		if (end <= position) {
			heap_pop(heap);
			continue;
		}
		if (next < from->count && from->entries[next].start < end)
			end = from->entries[next].start;
		err = emit_range(to, position, end, top->line);
		if (err)
			return err;
		position = end;
	}
	return 0;
}

int perf_map_read(int fd, struct perf_map *ret_map)
{
	struct perf_map map = {0}, flat = {0};
	int err = read_lines(fd, &map);

	if (!err && map.count > 0)
		qsort(map.entries, map.count, sizeof(*map.entries), compare_entries);
	if (!err && has_overlap(&map)) {
		struct heap heap = {.items = malloc(map.count * sizeof(*heap.items))};

		err = heap.items ? flatten(&map, &heap, &flat) : -ENOMEM;
		free(heap.items);
		if (!err) {
			perf_map_done(&map);
			map = flat;
			flat = (struct perf_map){0};
		}
	}
	perf_map_done(&flat);
	if (err) {
		perf_map_done(&map);
		return err;
	}
	*ret_map = map;
	return 0;
}

const struct perf_map_entry *perf_map_find(const struct perf_map *map, uint64_t address)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - map->entries[low - 1].start >= map->entries[low - 1].size)
		return NULL;
	return &map->entries[low - 1];
}

int perf_map_read_name(int fd, const struct perf_map_entry *entry, char *name, size_t size)
{
	char line[MAX_NUMBERS_BYTES + PERF_MAP_MAX_NAME_BYTES];
	struct perf_map_entry now;
	const char *found, *newline;
	size_t found_size;
	ssize_t n;

	do {
		n = pread(fd, line, sizeof(line), entry->line);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	newline = memchr(line, '\n', (size_t)n);
	if (!perf_map_parse_line(line, newline ? (size_t)(newline - line) : (size_t)n, &now, &found,
				 &found_size))
		return -ENOENT;
	/* Only a part of the range may be left to the entry, but never anything outside. */
	if (entry->start < now.start || entry->start - now.start >= now.size)
		return -ENOENT;
	if (found_size > size - 1)
		found_size = size - 1;
	memcpy(name, found, found_size);
	name[found_size] = '\0';
	/* A NUL inside would hide the rest; the name ends there. */
	return name[0] ? 0 : -ENOENT;
}

void perf_map_done(struct perf_map *map)
{
	free(map->entries);
	*map = (struct perf_map){0};
}
