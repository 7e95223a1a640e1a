// SPDX-License-Identifier: BSD-2-Clause
/* Scans generated code until it is stable, and keeps its rows while it stays so. */
#include "unwind/code/generated_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "base/unused.h"
#include "unwind/code/undescribed_code.h"

#define PAGE_BYTES     4096U
#define FUNCTION_ALIGN 16
/* Interval from the first to the second scan, and the longest interval for code that keeps
 * changing. */
#define LOOK_AGAIN_NS (100 * NS_PER_MS)
#define LOOK_MAX_NS   (30 * NS_PER_SECOND)
/* Interval between scans of code whose rows are in use. */
#define VERIFY_NS (2 * NS_PER_SECOND)
/* As for files: when more than one in this many functions reads memory relative to a frame pointer
 * that it has not set up, no function of the region gets rows. */
#define FUNCTIONS_PER_BORROWED_FRAME 10
/* One in this many unwinds by the rows may fail. Counted since the rows were made; of many unwinds,
 * about the last thousand count. */
#define FIRST_WALKS	 16
#define MOST_WALKS	 1024
#define WALKS_PER_ASTRAY 4
/* Where no unwind has failed: when more than one in this many functions sets up a frame pointer,
 * all are taken to keep it. */
#define FUNCTIONS_PER_FRAME_POINTER 10
/* HotSpot's code has more functions than one per this many pages; code that looks like a HotSpot
 * function is rare elsewhere. */
#define PAGES_PER_FUNCTION 4
/* With more than one frame pointer set up per this many bytes, frame pointers unwind the code. */
#define BYTES_PER_FRAME_POINTER 2048

/* Limits reads of pages that have memory, all-zero pages included. */
#define MOST_READS (4 * GENERATED_CODE_REGION_BYTES / PAGE_BYTES)
/* Code has one row per about ten instructions. More rows mean data, or code made to cost memory. */
#define MOST_ROWS 32768
/* A pause of this many times the scan's CPU time follows each scan, so that no process can cause
 * more than 2 % of one CPU for scanning. */
#define REST_PER_LOOK 50

struct row {
	uint32_t offset;
	struct pkbpf_unwind_rule rule;
};

struct region {
	uint32_t pid;
	uint64_t start, end;
	uint64_t hash; /* of the code at the last scan */
	uint64_t next_ns, wait_ns;
	bool looked, has_rows, given_up;
	bool told;		/* the caller knows of the rows */
	bool failed;		/* an unwind by frame pointers has failed here */
	uint32_t walks, astray; /* unwinds by the rows; those of them that failed */
	ARRAY_OF(struct row) rows;
};

struct generated_code {
	struct generated_code_memory memory;
	struct region regions[GENERATED_CODE_REGIONS];
	size_t count;
	uint64_t rest_until_ns;
	/* State of the scan in progress: the copied pages, packed, and the page number of each. */
	uint8_t *bytes;
	ARRAY_OF(uint32_t) pages;
	ARRAY_OF(uint32_t) starts; /* function starts in the pages */
};

/* Reading an untouched page would allocate it, so pagemap tells which pages have memory. */
static int live_pages(_unused_ void *context, uint32_t pid, uint64_t start, size_t count,
		      bool *present)
{
	_cleanup_free_ uint64_t *entries = calloc(count, sizeof(*entries));
	_cleanup_close_ int fd = -1;
	ssize_t got;
	char path[64];

	if (!entries)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = pread(fd, entries, count * sizeof(*entries),
		    (off_t)(start / PAGE_BYTES * sizeof(*entries)));
	if (got < 0)
		return -errno;
	/* Bit 63: in memory; bit 62: swapped out (Documentation/admin-guide/mm/pagemap.rst). */
	for (size_t i = 0; i < count; i++)
		present[i] = i < (size_t)got / sizeof(*entries) && entries[i] >> 62;
	return 0;
}

static int live_read(_unused_ void *context, uint32_t pid, uint64_t address, void *buffer,
		     size_t size)
{
	struct iovec to = {buffer, size}, from = {(void *)(uintptr_t)address, size};
	ssize_t got = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);

	return got < 0 ? -errno : (size_t)got == size ? 0 : -EFAULT;
}

struct generated_code *generated_code_new(const struct generated_code_memory *memory)
{
	struct generated_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->memory =
		memory ? *memory : (struct generated_code_memory){live_pages, live_read, NULL};
	return code;
}

static void drop_region(struct generated_code *code, size_t index)
{
	array_free(&code->regions[index].rows);
	code->regions[index] = code->regions[--code->count];
	memset(&code->regions[code->count], 0, sizeof(code->regions[0]));
}

void generated_code_free(struct generated_code *code)
{
	if (!code)
		return;
	while (code->count)
		drop_region(code, code->count - 1);
	free(code->bytes);
	array_free(&code->pages);
	array_free(&code->starts);
	free(code);
}

/* SIZE_MAX: none. */
static size_t region_index(const struct generated_code *code, uint32_t pid, uint64_t address)
{
	for (size_t i = 0; i < code->count; i++) {
		const struct region *region = &code->regions[i];

		if (region->pid == pid && address >= region->start && address < region->end)
			return i;
	}
	return SIZE_MAX;
}

static const struct region *find_region(const struct generated_code *code, uint32_t pid,
					uint64_t address)
{
	size_t index = region_index(code, pid, address);

	return index == SIZE_MAX ? NULL : &code->regions[index];
}

/* Replaces regions without rows: unstable code by any other, and code for which frame pointers
 * suffice by code for which they have failed. */
static bool make_room(struct generated_code *code, enum generated_code_doubt doubt)
{
	for (size_t i = 0; code->count == GENERATED_CODE_REGIONS && i < code->count; i++) {
		const struct region *region = &code->regions[i];

		if (!region->has_rows && !region->told &&
		    (region->failed ? region->wait_ns == LOOK_MAX_NS
				    : doubt != GENERATED_CODE_UNPROVEN))
			drop_region(code, i);
	}
	return code->count < GENERATED_CODE_REGIONS;
}

/* After the first failed unwind, a region left to frame pointers is scanned again soon. */
static void note_doubt(struct region *region, enum generated_code_doubt doubt, uint64_t now_ns)
{
	if (region->failed || doubt != GENERATED_CODE_FAILED)
		return;
	region->failed = true;
	if (region->has_rows || region->given_up)
		return;
	region->next_ns = now_ns;
	region->wait_ns = LOOK_AGAIN_NS;
}

void generated_code_want(struct generated_code *code, uint32_t pid, uint64_t start, uint64_t end,
			 enum generated_code_doubt doubt, uint64_t now_ns)
{
	size_t index = region_index(code, pid, start);

	if (index != SIZE_MAX) {
		note_doubt(&code->regions[index], doubt, now_ns);
		return;
	}
	if (start % PAGE_BYTES || end <= start || end - start > GENERATED_CODE_MAX_SPAN ||
	    !make_room(code, doubt))
		return;
	code->regions[code->count++] = (struct region){
		.pid = pid,
		.start = start,
		.end = end,
		.next_ns = now_ns,
		.wait_ns = LOOK_AGAIN_NS,
		.failed = doubt != GENERATED_CODE_UNPROVEN,
	};
}

static bool is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

/* Copies the pages that are not all zeros. Returns false when they are unreadable or too many. */
static bool copy_pages(struct generated_code *code, const struct region *region,
		       const bool *present, size_t count)
{
	size_t reads = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t *page = code->bytes + code->pages.count * PAGE_BYTES;
		uint32_t *number;

		if (!present[i])
			continue;
		if (code->pages.count == GENERATED_CODE_REGION_BYTES / PAGE_BYTES ||
		    reads++ == MOST_READS ||
		    code->memory.read(code->memory.context, region->pid,
				      region->start + i * PAGE_BYTES, page, PAGE_BYTES))
			return false;
		if (is_zero(page))
			continue;
		number = array_add(&code->pages);
		if (!number)
			return false;
		*number = (uint32_t)i;
	}
	return code->pages.count > 0;
}

static bool read_region(struct generated_code *code, const struct region *region,
			uint64_t *ret_hash)
{
	size_t count = (region->end - region->start) / PAGE_BYTES;
	_cleanup_free_ bool *present = calloc(count ? count : 1, sizeof(*present));

	code->pages.count = 0;
	if (!code->bytes)
		code->bytes = malloc(GENERATED_CODE_REGION_BYTES);
	if (!present || !code->bytes ||
	    code->memory.pages(code->memory.context, region->pid, region->start, count, present) ||
	    !copy_pages(code, region, present, count))
		return false;
	*ret_hash = hash_bytes(
		code->bytes, code->pages.count * PAGE_BYTES,
		hash_bytes(code->pages.items, code->pages.count * sizeof(*code->pages.items), 1));
	return true;
}

static void add_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct region *region = context;
	struct row *row = region->rows.count < MOST_ROWS ? array_add(&region->rows) : NULL;

	if (row)
		*row = (struct row){offset, *rule};
}

/* Makes rows for consecutive pages. Returns false where frame pointers unwind the code, or when out
 * of memory. */
static bool read_run(struct undescribed_code *work, const uint8_t *bytes, size_t size,
		     uint32_t offset, struct region *region)
{
	static const struct pkbpf_unwind_rule none = {.cfa = PKBPF_CFA_NONE};
	const struct code_piece piece = {
		.bytes = bytes,
		.size = size,
		.offset = offset,
		.entry = UINT64_MAX,
		.is_last = true,
	};

	if (undescribed_code_frame_pointers(bytes, size) > size / BYTES_PER_FRAME_POINTER)
		return false;
	/* A run is smaller than a piece, so one call processes all of it. */
	if (!undescribed_code_run(work, &piece, add_row, region))
		return false;
	add_row(region, offset + (uint32_t)size, &none);
	return true;
}

/* Counts over all pages of the scan. */
static size_t count_frame_pointers(const struct generated_code *code)
{
	return code->pages.count ? undescribed_code_frame_pointers(code->bytes,
								   code->pages.count * PAGE_BYTES)
				 : 0;
}

/* HotSpot's function starts are known. The data between its functions would add false ones: 2,130
 * instead of 130. */
static size_t count_functions(const struct generated_code *code,
			      const struct undescribed_counts *counts)
{
	return code->starts.count > code->pages.count / PAGES_PER_FUNCTION ? code->starts.count
									   : counts->functions;
}

/* Rows are not worth their stack copies where frame pointers give the same callers. */
static bool is_worth_rows(const struct generated_code *code, const struct region *region,
			  const struct undescribed_counts *counts)
{
	if (region->rows.count == MOST_ROWS || !counts->functions ||
	    counts->borrowed_frames > counts->functions / FUNCTIONS_PER_BORROWED_FRAME)
		return false;
	return region->failed ||
	       (counts->frame_pointer_bytes < counts->known_bytes / 2 &&
		count_frame_pointers(code) <=
			count_functions(code, counts) / FUNCTIONS_PER_FRAME_POINTER);
}

/*
 * HotSpot's functions begin with mov %eax,-N(%rsp), a stack probe, which finds them. Data lies
 * between them: decoded as code, its last instruction would reach into the next function.
 */
static void find_starts(struct generated_code *code)
{
	code->starts.count = 0;
	for (size_t i = 0; i < code->pages.count * PAGE_BYTES; i += FUNCTION_ALIGN) {
		const uint8_t *start = code->bytes + i;
		uint32_t *offset;

		if (start[0] != 0x89 || start[1] != 0x84 || start[2] != 0x24 || start[6] != 0xff)
			continue;
		offset = array_add(&code->starts);
		if (offset)
			*offset = code->pages.items[i / PAGE_BYTES] * PAGE_BYTES +
				  (uint32_t)(i % PAGE_BYTES);
	}
}

static bool make_rows(struct generated_code *code, struct region *region)
{
	struct undescribed_code *work = undescribed_code_new();
	struct undescribed_counts counts;
	bool good = work != NULL;

	region->rows.count = 0;
	find_starts(code);
	if (good)
		undescribed_code_set_starts(work, code->starts.items, code->starts.count);
	for (size_t i = 0, next; good && i < code->pages.count; i = next) {
		for (next = i + 1; next < code->pages.count &&
				   code->pages.items[next] == code->pages.items[next - 1] + 1;)
			next++;
		good = read_run(work, code->bytes + i * PAGE_BYTES, (next - i) * PAGE_BYTES,
				code->pages.items[i] * PAGE_BYTES, region);
	}
	if (good) {
		counts = undescribed_code_counts(work);
		good = is_worth_rows(code, region, &counts);
	}
	undescribed_code_free(work);
	return good;
}

static void wait_longer(struct region *region, uint64_t now_ns)
{
	region->next_ns = now_ns + region->wait_ns;
	region->wait_ns = region->wait_ns < LOOK_MAX_NS / 2 ? region->wait_ns * 2 : LOOK_MAX_NS;
}

static void look(struct generated_code *code, struct region *region, uint64_t now_ns)
{
	uint64_t hash = 0;
	bool same = read_region(code, region, &hash) && region->looked && hash == region->hash;

	region->looked = true;
	region->hash = hash;
	if (same && (region->has_rows || region->given_up)) {
		region->next_ns = now_ns + VERIFY_NS;
		return;
	}
	region->walks = region->astray = 0;
	region->given_up = false;
	region->has_rows = same && make_rows(code, region);
	if (region->has_rows) {
		region->next_ns = now_ns + VERIFY_NS;
	} else {
		array_free(&region->rows);
		/* Not urgent: unwinds succeed without rows. */
		if (!region->failed &&
		    (same || count_frame_pointers(code) >
				     code->pages.count * (PAGE_BYTES / BYTES_PER_FRAME_POINTER)))
			region->wait_ns = LOOK_MAX_NS;
		wait_longer(region, now_ns);
	}
}

static void look_and_rest(struct generated_code *code, struct region *region, uint64_t now_ns)
{
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	look(code, region, now_ns);
	code->rest_until_ns =
		now_ns + REST_PER_LOOK * (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
}

void generated_code_poll(struct generated_code *code, uint64_t now_ns,
			 generated_code_exists_fn exists, generated_code_changed_fn changed,
			 void *context)
{
	for (size_t i = code->count; i-- > 0;) {
		struct region *region = &code->regions[i];

		if (now_ns >= region->next_ns && now_ns >= code->rest_until_ns) {
			if (!exists(context, region->pid, region->start, region->end)) {
				drop_region(code, i);
				continue;
			}
			look_and_rest(code, region, now_ns);
		}
		if (region->told != region->has_rows) {
			region->told = region->has_rows;
			changed(context, region->pid);
		}
	}
}

bool generated_code_has(const struct generated_code *code, uint32_t pid, uint64_t start,
			uint64_t end)
{
	const struct region *region = find_region(code, pid, start);

	return region && region->has_rows && region->start == start && region->end == end;
}

bool generated_code_note_walk(struct generated_code *code, uint32_t pid, uint64_t address,
			      bool was_whole)
{
	size_t index = region_index(code, pid, address);
	struct region *region = index == SIZE_MAX ? NULL : &code->regions[index];

	if (!region || !region->has_rows)
		return false;
	if (region->walks == MOST_WALKS) {
		region->walks /= 2;
		region->astray /= 2;
	}
	region->walks++;
	region->astray += !was_whole;
	if (region->walks >= FIRST_WALKS && region->astray > region->walks / WALKS_PER_ASTRAY) {
		region->has_rows = false;
		region->given_up = true;
		array_free(&region->rows);
	}
	return !region->failed;
}

bool generated_code_find_rule(const struct generated_code *code, uint32_t pid, uint64_t address,
			      struct pkbpf_unwind_rule *ret_rule)
{
	const struct region *region = find_region(code, pid, address);
	size_t low = 0, high;

	if (!region || !region->has_rows)
		return false;
	high = region->rows.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (region->rows.items[middle].offset <= address - region->start)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || region->rows.items[low - 1].rule.cfa == PKBPF_CFA_NONE)
		return false;
	*ret_rule = region->rows.items[low - 1].rule;
	return true;
}
