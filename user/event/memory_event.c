// SPDX-License-Identifier: BSD-2-Clause
/* Checks and builds records of resident memory. */
#include "event/memory_event.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* No address space of a process is larger. */
#define MAX_ADDRESS (1ULL << 57)

static bool is_range(uint64_t start, uint64_t length)
{
	return start < MAX_ADDRESS && length <= MAX_ADDRESS - start;
}

const struct pkbpf_event_page *page_event_read(const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_page *page = (const void *)record;

	if (record->kind != PKBPF_EVENT_PAGE || record->size < sizeof(*page) ||
	    page->address >= MAX_ADDRESS || page->mask > PKBPF_MEMORY_MAX_MASK ||
	    page->mask & (page->mask + 1))
		return NULL;
	return page;
}

const struct pkbpf_event_mapped *mapped_event_read(const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_mapped *mapped = (const void *)record;

	if (record->kind != PKBPF_EVENT_MAPPED || record->size < sizeof(*mapped) ||
	    !is_range(mapped->start, mapped->length) || !is_range(mapped->from, mapped->length))
		return NULL;
	return mapped;
}

const struct pkbpf_event_present *present_event_read(const struct pkbpf_event_header *record,
						     size_t *ret_runs)
{
	const struct pkbpf_event_present *present = (const void *)record;
	size_t count;

	if (record->kind != PKBPF_EVENT_PRESENT || record->size < sizeof(*present) ||
	    present->page_bytes < 4096 || present->page_bytes > 65536)
		return NULL;
	count = (record->size - sizeof(*present)) / sizeof(present->runs[0]);
	for (size_t i = 0; i < count; i++) {
		const struct pkbpf_present_run *run = &present->runs[i];

		if (!is_range(run->start, (uint64_t)run->pages * present->page_bytes) ||
		    (i && run->start < run[-1].start))
			return NULL;
	}
	*ret_runs = count;
	return present;
}

const struct pkbpf_event_resident *resident_event_read(const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_resident *resident = (const void *)record;

	if (record->kind != PKBPF_EVENT_RESIDENT || record->size < sizeof(*resident) ||
	    resident->anonymous > MAX_ADDRESS || resident->file > MAX_ADDRESS ||
	    resident->shared > MAX_ADDRESS || resident->swap > MAX_ADDRESS ||
	    resident->peak > MAX_ADDRESS)
		return NULL;
	return resident;
}

int present_event_encode(struct event_buffer *buffer, uint64_t time_ns, uint32_t pid,
			 uint16_t flags, const struct pkbpf_present_run *runs, size_t count)
{
	size_t done = 0;

	do {
		size_t part = count - done < PKBPF_PRESENT_RUNS ? count - done : PKBPF_PRESENT_RUNS;
		uint16_t place = (uint16_t)((done ? 0 : PKBPF_PRESENT_FIRST) |
					    (done + part == count ? PKBPF_PRESENT_LAST : 0));
		struct pkbpf_event_present *record =
			event_buffer_add(buffer, sizeof(*record) + part * sizeof(runs[0]),
					 PKBPF_EVENT_PRESENT, flags | place, time_ns);

		if (!record)
			return -ENOMEM;
		record->pid = pid;
		record->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
		if (part)
			memcpy(record->runs, runs + done, part * sizeof(runs[0]));
		done += part;
	} while (done < count);
	return 0;
}
