// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the state of each mapped file and has its table built. */
#include "unwind/table/table_cache.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "hotspot/hotspot_image.h"
#include "process/file/mapped_file.h"
#include "python/python_image.h"
#include "ruby/ruby_image.h"
#include "unwind/table/table_builder.h"
#include "unwind/table/table_cache_private.h"
#include "unwind/table/table_live_private.h"
#include "unwind/text_layout.h"
#include "v8/v8_image.h"

/* Cap on open files whose tables have not been requested. */
#define MAX_UNWANTED_IMAGES 512
/* Cap on memory kept for one of them: most need a few KiB for their headers. */
#define MAX_UNWANTED_BYTES (64U << 10)
/* Cap on memory kept for all files that wait for their tables. An endless series of hostile
 * programs could need 500 KiB each. */
#define MAX_QUEUED_BYTES (128U << 20)
/* After this time a file that could not be opened is tried again on request. */
#define REOPEN_WAIT_NS (10 * NS_PER_SECOND)
/* After this time a file without a slot tries to get one again. */
#define SLOT_WAIT_NS (NS_PER_SECOND / 2)

struct table_cache *table_cache_new(const struct table_memory *memory,
				    const struct table_cache_options *options)
{
	struct table_cache *cache = calloc(1, sizeof(*cache));
	pthread_condattr_t clock;
	int err;

	if (!cache)
		return NULL;
	cache->memory = *memory;
	cache->max_chunks = options->max_chunks;
	cache->initial_chunks = options->initial_chunks;
	cache->on_demand = options->on_demand;
	cache->mapped_files = options->files;
	cache->readers = options->readers;
	cache->slots = extent_allocator_new(memory->file_count);
	pthread_mutex_init(&cache->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&cache->changed, &clock);
	pthread_condattr_destroy(&clock);
	if (!cache->slots) {
		errno = ENOMEM;
		goto fail;
	}
	err = table_builder_start(cache);
	if (err) {
		errno = -err;
		goto fail;
	}
	return cache;
fail:
	table_cache_free(cache);
	return NULL;
}

void table_file_close(struct table_cache *cache, struct table_file *file)
{
	if (file->state == TABLE_UNWANTED && file->image)
		cache->unwanted_images--;
	elf_program_free(file->image);
	free(file->image_memory);
	file->image = NULL;
	file->image_memory = NULL;
}

static void free_file(struct table_cache *cache, struct table_file *file)
{
	if (!file)
		return;
	table_file_close(cache, file);
	free(file->segments.items);
	free(file->python);
	free(file->ruby);
	free(file->hotspot);
	free(file->v8);
	free(file->path);
	free(file->placement.extents);
	free(file);
}

void table_cache_free(struct table_cache *cache)
{
	if (!cache)
		return;
	table_builder_stop(cache);
	table_live_free_all(cache);
	array_foreach(&cache->files, each)
		free_file(cache, *each);
	array_free(&cache->files);
	array_free(&cache->queue);
	extent_allocator_free(cache->slots);
	pthread_cond_destroy(&cache->changed);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* Keeps the executable segments for the bias of later mappings. */
static bool keep_segments(struct table_file *file, const struct elf_file *image)
{
	struct elf_segments *kept = &file->segments;

	free(kept->items);
	kept->count = 0;
	kept->is_fixed = image->segments.is_fixed;
	kept->items = calloc(image->segments.count + 1, sizeof(*kept->items));
	for (size_t i = 0; i < image->segments.count && kept->items; i++) {
		if (elf_segment_is_code(&image->segments.items[i]))
			kept->items[kept->count++] = image->segments.items[i];
	}
	return kept->items;
}

/* Without memory, the file counts as one without Python. */
static void find_python(struct table_file *file, const char *path)
{
	struct python_image image;

	if (file->python_searched)
		return;
	file->python_searched = true;
	if (python_image_find(file->image, path, &image) && !image.unknown[0])
		return;
	file->python = malloc(sizeof(image));
	if (file->python)
		*file->python = image;
}

/* Only of files with such a name. */
static void find_ruby(struct table_file *file, const char *path)
{
	struct ruby_image image;

	if (file->ruby || (ruby_image_find(file->image, path, &image) && !image.unknown[0]))
		return;
	file->ruby = malloc(sizeof(image));
	if (file->ruby)
		*file->ruby = image;
}

/* Listing the symbols of each file would take too long. */
static void find_hotspot(struct table_file *file, const char *path)
{
	const char *name = strrchr(path, '/');
	struct hotspot_image image;

	if (file->hotspot || !strstr(name ? name : path, "jvm") ||
	    hotspot_image_find(file->image, &image))
		return;
	file->hotspot = malloc(sizeof(image));
	if (file->hotspot)
		*file->hotspot = image;
}

/* Without memory, the file counts as one without V8. */
static void find_v8(struct table_file *file)
{
	struct v8_image image;

	if (file->v8_searched)
		return;
	file->v8_searched = true;
	if (v8_image_find(file->image, &image))
		return;
	file->v8 = malloc(sizeof(image));
	if (file->v8)
		*file->v8 = image;
}

/* Returns 0 when file->image is open, else the reason. */
static int open_contents(struct table_cache *cache, struct table_file *file)
{
	struct mapped_file *mapped = mapped_file_table_get(cache->mapped_files, file->number);
	size_t size;
	int fd, err;

	if (cache->readers && !file->path)
		file->path = strdup(mapped->path);
	if (mapped->type == MAPPED_FILE_VDSO) {
		err = mapped_file_read_vdso(cache->mapped_files, mapped, &file->image_memory,
					    &size);
		if (!err)
			err = elf_program_open_memory(file->image_memory, size, &file->image);
	} else {
		fd = mapped_file_open(cache->mapped_files, mapped);
		err = fd < 0 ? fd : elf_program_open(fd, &file->image);
	}
	if (!err && !keep_segments(file, file->image))
		err = -ENOMEM;
	if (!err) {
		find_python(file, mapped->path);
		find_ruby(file, mapped->path);
		find_hotspot(file, mapped->path);
		find_v8(file);
	}
	if (err)
		table_file_close(cache, file);
	return err;
}

/* The linker's search table (.eh_frame_hdr) has eight bytes per function, and functions have eight
 * rows on average. */
static uint64_t expected_rows(const struct elf_file *image)
{
	const struct elf_segment *search_table =
		elf_segments_find(&image->segments, PT_GNU_EH_FRAME);

	if (!search_table)
		return 0;
	return search_table->file_size < image->size ? search_table->file_size : image->size;
}

/* With the lock held: passes a file with an open image to the building thread. */
static void enqueue(struct table_cache *cache, struct table_file *file, bool urgent)
{
	uint64_t kept_bytes = elf_program_kept_bytes(file->image);
	uint32_t *number = cache->queued_bytes + kept_bytes <= MAX_QUEUED_BYTES
				   ? array_add(&cache->queue)
				   : NULL;

	if (!number) {
		table_file_close(cache, file);
		/* A published table stays while its postponed part is built; one that is being
		 * withdrawn has pages, too. */
		file->state = file->state == TABLE_BUILDING ? TABLE_READY : TABLE_NO_ROOM;
		file->retry_ns = clock_now_ns() + SLOT_WAIT_NS;
		return;
	}
	*number = file->number;
	cache->queued_bytes += file->kept_bytes = kept_bytes;
	file->size = file->image->size;
	file->written_ns = elf_program_written_ns(file->image);
	file->expected_rows = expected_rows(file->image);
	file->state = TABLE_QUEUED;
	file->queued_ns = clock_now_ns();
	file->urgent = urgent;
	file->sequence = ++cache->last_sequence;
	pthread_cond_broadcast(&cache->changed);
}

/* With the lock held: the file waits, open, until its table is requested. Beyond the caps it is
 * closed and opened again then. */
static void set_aside(struct table_cache *cache, struct table_file *file)
{
	if (cache->unwanted_images >= MAX_UNWANTED_IMAGES ||
	    elf_program_kept_bytes(file->image) > MAX_UNWANTED_BYTES)
		table_file_close(cache, file);
	else
		cache->unwanted_images++;
	file->state = TABLE_UNWANTED;
}

/* With the lock held. No mapping refers to the file yet, so its slot counts as just used: the
 * building thread would free it at once otherwise. */
static bool take_slot(struct table_cache *cache, struct table_file *file)
{
	if (!extent_allocator_take(cache->slots, 1, &file->slot)) {
		file->slot = NO_SLOT;
		return false;
	}
	cache->memory.files[file->slot].last_used = table_epoch_now();
	return true;
}

/* Opens a file that has no table yet and is TABLE_OPENING, and chooses its next state. */
static void try_to_open(struct table_cache *cache, struct table_file *file, bool wanted)
{
	int err = open_contents(cache, file);

	pthread_mutex_lock(&cache->lock);
	if (err == -ENOEXEC || err == -EBADMSG || err == -ERANGE) {
		/* not an ELF file, for instance code of a run-time in a memfd */
		file->state = TABLE_NONE;
	} else if (err) {
		file->state = TABLE_UNOPENED;
		file->retry_ns = clock_now_ns() + REOPEN_WAIT_NS;
	} else if (file->slot == NO_SLOT && !take_slot(cache, file)) {
		table_file_close(cache, file);
		file->state = TABLE_NO_ROOM;
		/* The building thread then frees slots of unmapped files. */
		file->retry_ns = clock_now_ns() + SLOT_WAIT_NS;
		pthread_cond_broadcast(&cache->changed);
	} else if (cache->on_demand && !wanted) {
		set_aside(cache, file);
	} else {
		enqueue(cache, file, wanted);
	}
	pthread_mutex_unlock(&cache->lock);
}

static struct table_file *add_file(struct table_cache *cache, uint32_t number)
{
	struct table_file *file;

	pthread_mutex_lock(&cache->lock);
	while (cache->files.count <= number && array_add(&cache->files))
		;
	file = cache->files.count > number ? calloc(1, sizeof(*file)) : NULL;
	if (file) {
		file->number = number;
		file->slot = NO_SLOT;
		file->state = TABLE_UNOPENED;
		cache->files.items[number] = file;
	}
	pthread_mutex_unlock(&cache->lock);
	return file;
}

/* An evicted file that no process mapped any more may be mapped again under the same number. */
static bool should_open(const struct table_file *file, bool wanted, uint64_t now_ns)
{
	switch (file->state) {
	case TABLE_UNOPENED:
		return !wanted || now_ns >= file->retry_ns;
	case TABLE_UNWANTED:
	case TABLE_EVICTED:
		return wanted;
	case TABLE_NO_ROOM:
		return now_ns >= file->retry_ns;
	default:
		return false;
	}
}

/* With the lock held: returns whether the caller has to open the file. */
static bool begin_to_open(struct table_file *file, bool wanted)
{
	if (!should_open(file, wanted, clock_now_ns()))
		return false;
	file->state = TABLE_OPENING;
	return true;
}

static uint32_t add_number(struct table_cache *cache, uint32_t number)
{
	struct table_file *file = table_cache_find_file(cache, number);
	bool opens;

	if (!file)
		file = add_file(cache, number);
	if (!file)
		return MAPPING_REFUSED;
	pthread_mutex_lock(&cache->lock);
	opens = begin_to_open(file, false);
	pthread_mutex_unlock(&cache->lock);
	if (opens)
		try_to_open(cache, file, false);
	return number;
}

uint32_t table_cache_add(struct table_cache *cache, const struct mapping_view *mapping)
{
	struct mapped_file *mapped;

	if (mapped_file_table_add(cache->mapped_files, mapping, &mapped))
		return MAPPING_REFUSED;
	return mapped ? add_number(cache, mapped->id) : MAPPING_NO_FILE;
}

uint32_t table_cache_know(struct table_cache *cache, uint32_t number)
{
	if (!mapped_file_table_get(cache->mapped_files, number) ||
	    table_cache_find_file(cache, number))
		return number;
	return add_number(cache, number);
}

void table_cache_reference(struct table_cache *cache, uint32_t number)
{
	struct table_file *file = table_cache_find_file(cache, number);

	if (!file)
		return;
	pthread_mutex_lock(&cache->lock);
	file->references++;
	pthread_mutex_unlock(&cache->lock);
}

void table_cache_release(struct table_cache *cache, uint32_t number)
{
	struct table_file *file = table_cache_find_file(cache, number);

	if (!file)
		return;
	pthread_mutex_lock(&cache->lock);
	file->references--;
	pthread_mutex_unlock(&cache->lock);
}

void table_cache_describe(struct table_cache *cache, uint32_t number, uint64_t start, uint64_t end,
			  uint64_t file_offset, struct pkbpf_unwind_mapping *ret_mapping)
{
	struct table_file *file = table_cache_find_file(cache, number);
	struct text_layout layout;
	uint64_t bias = 0;

	ret_mapping->file = 0;
	ret_mapping->bias = 0;
	ret_mapping->flags =
		number == MAPPING_REFUSED ? PKBPF_MAPPING_NO_ROOM : PKBPF_MAPPING_ANONYMOUS;
	if (!file)
		return;
	pthread_mutex_lock(&cache->lock);
	if (file->state == TABLE_NONE) {
		ret_mapping->flags = PKBPF_MAPPING_ANONYMOUS;
	} else if (file->state == TABLE_UNOPENED) {
		/* Not PENDING: no table is about to come, so stack copies would not help. */
		ret_mapping->flags = PKBPF_MAPPING_NO_TABLE | PKBPF_MAPPING_NO_FILE;
	} else if (file->slot == NO_SLOT) {
		ret_mapping->flags = PKBPF_MAPPING_PENDING;
	} else if (elf_segments_bias(&file->segments, start, end, file_offset, &bias)) {
		text_layout_read(&file->segments, &layout);
		ret_mapping->bias = bias + text_layout_removed(&layout, start - bias);
		ret_mapping->file = file->slot;
		ret_mapping->flags = cache->memory.files[file->slot].flags & PKBPF_FILE_REFUSED;
	} else {
		ret_mapping->flags = PKBPF_MAPPING_NO_TABLE;
	}
	pthread_mutex_unlock(&cache->lock);
}

struct python_image *table_cache_python(struct table_cache *cache, uint32_t number, uint64_t start,
					uint64_t end, uint64_t file_offset, uint64_t *ret_bias)
{
	struct table_file *file = table_cache_find_file(cache, number);

	if (!file || !file->python ||
	    !elf_segments_bias(&file->segments, start, end, file_offset, ret_bias))
		return NULL;
	return file->python;
}

struct ruby_image *table_cache_ruby(struct table_cache *cache, uint32_t number, uint64_t start,
				    uint64_t end, uint64_t file_offset, uint64_t *ret_bias)
{
	struct table_file *file = table_cache_find_file(cache, number);

	if (!file || !file->ruby ||
	    !elf_segments_bias(&file->segments, start, end, file_offset, ret_bias))
		return NULL;
	return file->ruby;
}

const struct hotspot_image *table_cache_hotspot(struct table_cache *cache, uint32_t number,
						uint64_t start, uint64_t end, uint64_t file_offset,
						uint64_t *ret_bias)
{
	struct table_file *file = table_cache_find_file(cache, number);

	if (!file || !file->hotspot ||
	    !elf_segments_bias(&file->segments, start, end, file_offset, ret_bias))
		return NULL;
	return file->hotspot;
}

struct v8_image *table_cache_v8(struct table_cache *cache, uint32_t number)
{
	struct table_file *file = table_cache_find_file(cache, number);

	return file ? file->v8 : NULL;
}

void table_cache_want(struct table_cache *cache, uint32_t number)
{
	struct table_file *file = table_cache_find_file(cache, number);
	bool opens;

	if (!file)
		return;
	pthread_mutex_lock(&cache->lock);
	file->urgent = true;
	file->wants++;
	file->queued_ns = clock_now_ns(); /* a new request restarts the waiting time */
	if (file->state == TABLE_UNWANTED && file->image) {
		/* Another program may have been written to the file. */
		if (mapped_file_open(cache->mapped_files,
				     mapped_file_table_get(cache->mapped_files, number)) ==
		    -ESTALE) {
			table_file_close(cache, file);
		} else {
			cache->unwanted_images--;
			file->state = TABLE_OPENING;
			enqueue(cache, file, true);
		}
	}
	opens = begin_to_open(file, true);
	pthread_mutex_unlock(&cache->lock);
	if (opens)
		try_to_open(cache, file, true);
}

/* The postponed part is read from the file again. The file may be gone, or every process that maps
 * it may have exited. The table is not evicted meanwhile: its state is BUILDING. */
static void build_all(struct table_cache *cache, struct table_file *file)
{
	int err = open_contents(cache, file);

	pthread_mutex_lock(&cache->lock);
	if (err) {
		file->state = TABLE_READY;
		file->retry_ns = clock_now_ns() + REOPEN_WAIT_NS;
	} else {
		file->wants_all = true;
		enqueue(cache, file, true);
	}
	pthread_mutex_unlock(&cache->lock);
}

void table_cache_want_code(struct table_cache *cache, uint32_t number, uint64_t elf_address)
{
	struct table_file *file = table_cache_find_file(cache, number);
	bool postponed;

	if (!file)
		return;
	table_cache_want(cache, number);
	pthread_mutex_lock(&cache->lock);
	/* A return address is after its call, so the byte before it counts, too. */
	postponed = file->state == TABLE_READY && file->is_partial &&
		    clock_now_ns() >= file->retry_ns &&
		    (table_cache_is_postponed(cache, file, elf_address) ||
		     table_cache_is_postponed(cache, file, elf_address - 1));
	if (postponed)
		file->state = TABLE_BUILDING;
	pthread_mutex_unlock(&cache->lock);
	if (postponed)
		build_all(cache, file);
}

static bool is_in_use(const struct table_file *file)
{
	return file->references || file->slot != NO_SLOT || file->page_count ||
	       file->state == TABLE_OPENING || file->state == TABLE_QUEUED ||
	       file->state == TABLE_BUILDING;
}

void table_cache_mark_files(struct table_cache *cache, bool *is_used, size_t count)
{
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < cache->files.count && i < count; i++)
		is_used[i] |= cache->files.items[i] && is_in_use(cache->files.items[i]);
	pthread_mutex_unlock(&cache->lock);
}

void table_cache_forget_files(struct table_cache *cache, const bool *is_used, size_t count)
{
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < cache->files.count && i < count; i++) {
		if (is_used[i])
			continue;
		free_file(cache, cache->files.items[i]);
		cache->files.items[i] = NULL;
	}
	pthread_mutex_unlock(&cache->lock);
}
