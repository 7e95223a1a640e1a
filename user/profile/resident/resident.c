// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the writers of pages, and adds up those of pages that are there. */
#include "profile/resident/resident.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "profile/resident/page_runs.h"

#define PAGE_SHIFT   12 /* larger pages are several of these */
#define PAGE_BYTES   (1ULL << PAGE_SHIFT)
#define REGION_BYTES (1ULL << PKBPF_MEMORY_REGION_SHIFT)
/* Pages in one call of mmap or mremap that are treated one by one; 64 GiB. */
#define MAX_RANGE_PAGES (1ULL << 24)
#define MAX_ANCESTORS	8

struct resident_process {
	uint32_t process;
	uint32_t parent; /* RESIDENT_NONE: no pages were inherited */
	uint32_t mask;
	bool seen, was_there;
	struct hash_map writers; /* page -> number in sites */
	struct hash_map site_of; /* stack id -> number in sites */
	ARRAY_OF(struct resident_site) sites;
	struct page_runs before, now;
	uint64_t peak_bytes;
};

struct resident {
	ARRAY_OF(struct resident_process) processes;
	struct hash_map process_of; /* id -> number in processes */
	size_t page_count;
};

struct resident *resident_new(void)
{
	return calloc(1, sizeof(struct resident));
}

static void process_done(struct resident_process *process)
{
	hash_map_done(&process->writers);
	hash_map_done(&process->site_of);
	array_free(&process->sites);
	page_runs_done(&process->before);
	page_runs_done(&process->now);
}

void resident_free(struct resident *resident)
{
	if (!resident)
		return;
	array_foreach(&resident->processes, process)
		process_done(process);
	array_free(&resident->processes);
	hash_map_done(&resident->process_of);
	free(resident);
}

static struct resident_process *find_process(const struct resident *resident, uint32_t id)
{
	const uint64_t *number = hash_map_find(&resident->process_of, id);

	return number ? &resident->processes.items[*number] : NULL;
}

static struct resident_process *get_process(struct resident *resident, uint32_t id)
{
	struct resident_process *process = find_process(resident, id);

	if (process)
		return process;
	process = array_add(&resident->processes);
	if (!process)
		return NULL;
	process->process = id;
	process->parent = RESIDENT_NONE;
	for (size_t i = 0; i < RESIDENT_PLACES; i++)
		if (!array_add(&process->sites))
			goto fail;
	if (hash_map_put(&resident->process_of, id, resident->processes.count - 1))
		return process;
fail:
	array_free(&process->sites);
	resident->processes.count--;
	return NULL;
}

/* ---- writers ---- */

/* RESIDENT_NONE: out of memory. */
static uint32_t site_of(struct resident_process *process, uint64_t stack_id)
{
	bool added;
	uint64_t *number;

	if (!stack_id || process->sites.count >= RESIDENT_MAX_SITES) {
		number = hash_map_find(&process->site_of, stack_id);
		return number ? (uint32_t)*number : RESIDENT_UNKNOWN;
	}
	number = hash_map_get(&process->site_of, stack_id, process->sites.count, &added);
	if (!number)
		return RESIDENT_NONE;
	if (added) {
		struct resident_site *site = array_add(&process->sites);

		if (!site) {
			hash_map_remove(&process->site_of, stack_id);
			return RESIDENT_NONE;
		}
		site->stack_id = stack_id;
		return (uint32_t)(process->sites.count - 1);
	}
	return (uint32_t)*number;
}

static int set_writer(struct resident *resident, struct resident_process *process, uint64_t page,
		      uint32_t site, bool keeps)
{
	uint64_t *writer;
	bool added;

	if (resident->page_count >= RESIDENT_MAX_PAGES && !hash_map_find(&process->writers, page))
		return -ENOMEM;
	writer = hash_map_get(&process->writers, page, site, &added);
	if (!writer)
		return -ENOMEM;
	resident->page_count += added;
	if (!added && !keeps)
		*writer = site;
	return 0;
}

static void forget_writer(struct resident *resident, struct resident_process *process,
			  uint64_t page)
{
	if (hash_map_remove(&process->writers, page))
		resident->page_count--;
}

/* Fewer regions are chosen from now on. Without memory the others stay, which is no harm. */
static void choose_fewer(struct resident *resident, struct resident_process *process, uint32_t mask)
{
	struct hash_map kept = {0};
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	process->mask = mask;
	while ((slot = hash_map_next(&process->writers, &cursor))) {
		if (!pkbpf_memory_is_chosen(slot->key << PAGE_SHIFT, mask))
			continue;
		if (!hash_map_put(&kept, slot->key, slot->value)) {
			hash_map_done(&kept);
			return;
		}
	}
	resident->page_count -= process->writers.count - kept.count;
	hash_map_done(&process->writers);
	process->writers = kept;
}

int resident_write(struct resident *resident, uint32_t id, const struct pkbpf_event_page *page)
{
	struct resident_process *process = get_process(resident, id);
	uint32_t site;

	if (!process)
		return -ENOMEM;
	if (page->mask > process->mask)
		choose_fewer(resident, process, page->mask);
	if (!pkbpf_memory_is_chosen(page->address, process->mask))
		return 0;
	site = site_of(process, page->stack_id);
	if (site == RESIDENT_NONE)
		return -ENOMEM;
	return set_writer(resident, process, page->address >> PAGE_SHIFT, site,
			  page->header.flags & PKBPF_PAGE_WAS_SHARED);
}

/* New memory that comes filled: the first page of each region stands for the rest of it. */
static int fill_range(struct resident *resident, struct resident_process *process, uint64_t start,
		      uint64_t end, uint32_t site)
{
	int err = page_runs_cut(&process->before, start, end);
	bool first = true;

	for (uint64_t at = start; at < end && !err; at += PAGE_BYTES) {
		if (!(at & (REGION_BYTES - 1)))
			first = true;
		if (!pkbpf_memory_is_chosen(at, process->mask))
			continue;
		if (first)
			err = set_writer(resident, process, at >> PAGE_SHIFT, site, false);
		else
			forget_writer(resident, process, at >> PAGE_SHIFT);
		first = false;
	}
	return err;
}

/* Page by page; moved memory keeps its writers. */
static int move_range(struct resident *resident, struct resident_process *process,
		      const struct pkbpf_event_mapped *mapped)
{
	int err = page_runs_move(&process->before, mapped->from, mapped->length, mapped->start);

	for (uint64_t at = 0; at < mapped->length && !err; at += PAGE_BYTES) {
		uint64_t from = (mapped->from + at) >> PAGE_SHIFT;
		uint64_t to = (mapped->start + at) >> PAGE_SHIFT;
		const uint64_t *writer = hash_map_find(&process->writers, from);
		uint32_t site = writer ? (uint32_t)*writer : RESIDENT_NONE;

		forget_writer(resident, process, from);
		forget_writer(resident, process, to);
		if (site != RESIDENT_NONE)
			err = set_writer(resident, process, to, site, false);
	}
	return err;
}

int resident_map(struct resident *resident, uint32_t id, const struct pkbpf_event_mapped *mapped)
{
	struct resident_process *process = get_process(resident, id);
	uint32_t site;

	if (!process)
		return -ENOMEM;
	if (mapped->length >> PAGE_SHIFT > MAX_RANGE_PAGES)
		return 0;
	if (mapped->header.flags & PKBPF_MAPPED_MOVED)
		return move_range(resident, process, mapped);
	site = site_of(process, mapped->stack_id);
	return site == RESIDENT_NONE ? -ENOMEM
				     : fill_range(resident, process, mapped->start,
						  mapped->start + mapped->length, site);
}

/* ---- looks ---- */

static bool has_before(const struct resident_process *process, uint64_t address)
{
	return page_runs_have(&process->before, address);
}

/* The site of an inherited page in the child. RESIDENT_NONE: it was not inherited. */
static uint32_t inherited_site(struct resident *resident, uint32_t child, uint64_t page)
{
	const struct resident_process *process = find_process(resident, child);
	uint64_t stack_id = 0;
	bool found = false;

	for (int i = 0; i < MAX_ANCESTORS && process->parent != RESIDENT_NONE && !found; i++) {
		const uint64_t *writer;
		const struct resident_process *parent = find_process(resident, process->parent);

		if (!parent)
			return RESIDENT_INHERITED;
		writer = hash_map_find(&parent->writers, page);
		if (writer)
			stack_id = parent->sites.items[*writer].stack_id;
		found = writer;
		if (!found && has_before(parent, page << PAGE_SHIFT))
			return RESIDENT_BEFORE;
		process = parent;
	}
	if (!found)
		return RESIDENT_NONE;
	return site_of(find_process(resident, child), stack_id);
}

struct adding {
	struct resident *resident;
	uint32_t process, mask;
	uint32_t near;	  /* site of the page before in this region; RESIDENT_NONE: none */
	uint64_t waiting; /* pages of this region before the first with a site */
	uint64_t pages;	  /* in memory */
	bool inherits;
};

static void add_pages(struct adding *adding, uint32_t site, uint64_t count)
{
	struct resident_process *process = find_process(adding->resident, adding->process);

	process->sites.items[site].bytes += count * PAGE_BYTES;
	adding->pages += count;
}

static uint32_t find_site(struct adding *adding, uint64_t page)
{
	const struct resident_process *process = find_process(adding->resident, adding->process);
	const uint64_t *writer = hash_map_find(&process->writers, page);

	if (writer)
		return (uint32_t)*writer;
	if (has_before(process, page << PAGE_SHIFT))
		return RESIDENT_BEFORE;
	return adding->inherits ? inherited_site(adding->resident, adding->process, page)
				: RESIDENT_NONE;
}

static void end_region(struct adding *adding)
{
	if (adding->waiting)
		add_pages(adding, adding->inherits ? RESIDENT_INHERITED : RESIDENT_UNKNOWN,
			  adding->waiting);
	adding->waiting = 0;
	adding->near = RESIDENT_NONE;
}

static void add_page(struct adding *adding, uint64_t page)
{
	uint32_t site = find_site(adding, page);

	if (site != RESIDENT_NONE) {
		/* Those before it came with it. What was there before came with nobody. */
		if (adding->waiting && site >= RESIDENT_PLACES) {
			add_pages(adding, site, adding->waiting);
			adding->waiting = 0;
		}
		add_pages(adding, site, 1);
		if (site >= RESIDENT_PLACES)
			adding->near = site;
	} else if (adding->near != RESIDENT_NONE) {
		add_pages(adding, adding->near, 1);
	} else {
		adding->waiting++;
	}
}

static void add_all(struct adding *adding, const struct page_runs *runs)
{
	uint64_t region = UINT64_MAX;

	array_foreach(&runs->items, run) {
		for (uint64_t at = run->start; at < run->end; at += PAGE_BYTES) {
			if (at >> PKBPF_MEMORY_REGION_SHIFT != region)
				end_region(adding);
			region = at >> PKBPF_MEMORY_REGION_SHIFT;
			if (pkbpf_memory_is_chosen(at, adding->mask))
				add_page(adding, at >> PAGE_SHIFT);
		}
	}
	end_region(adding);
}

/* What is seen of chosen regions stands for all. */
static void scale(struct resident_process *process, uint64_t pages, uint64_t anonymous)
{
	double seen = (double)(pages * PAGE_BYTES);
	double whole = anonymous ? (double)anonymous : seen * (process->mask + 1);
	double error = 0;

	if (!process->mask)
		return;
	if (!pages) {
		process->sites.items[RESIDENT_UNKNOWN].bytes = anonymous;
		return;
	}
	/* Rounded so that the sum is right. */
	array_foreach(&process->sites, site) {
		double bytes = (double)site->bytes * whole / seen + error;

		site->bytes = (uint64_t)(bytes + 0.5);
		error = bytes - (double)site->bytes;
	}
}

static void note_peak(struct resident_process *process)
{
	uint64_t bytes = 0;

	array_foreach(&process->sites, site)
		bytes += site->bytes;
	if (bytes < process->peak_bytes)
		return;
	process->peak_bytes = bytes;
	array_foreach(&process->sites, site)
		site->bytes_at_peak = site->bytes;
}

static void finish_look(struct resident *resident, uint32_t id, uint64_t anonymous)
{
	struct resident_process *process = find_process(resident, id);
	struct adding adding = {
		.resident = resident,
		.process = id,
		.mask = process->mask,
		.near = RESIDENT_NONE,
		.inherits = process->parent != RESIDENT_NONE,
	};
	struct page_runs runs = process->now;

	array_foreach(&process->sites, site)
		site->bytes = 0;
	process->now = (struct page_runs){0};
	add_all(&adding, &runs);
	page_runs_done(&runs);
	process = find_process(resident, id);
	process->seen = true;
	scale(process, adding.pages, anonymous);
	note_peak(process);
}

static int take_runs(struct page_runs *runs, const struct pkbpf_event_present *present,
		     size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const struct pkbpf_present_run *run = &present->runs[i];
		uint64_t bytes = (uint64_t)run->pages * present->page_bytes;

		if (!run->swapped)
			err = page_runs_add(runs, run->start, run->start + bytes);
	}
	return err;
}

int resident_look(struct resident *resident, uint32_t id, uint64_t anonymous,
		  const struct pkbpf_event_present *present, size_t count)
{
	struct resident_process *process = get_process(resident, id);
	uint16_t flags = present->header.flags;
	bool before = flags & PKBPF_PRESENT_BEFORE;
	struct page_runs *runs;
	int err;

	if (!process)
		return -ENOMEM;
	runs = before ? &process->before : &process->now;
	if (flags & PKBPF_PRESENT_FIRST)
		runs->items.count = 0;
	err = take_runs(runs, present, count);
	if (!err && flags & PKBPF_PRESENT_LAST && !before)
		finish_look(resident, id, anonymous);
	return err;
}

/* ---- processes ---- */

void resident_fork(struct resident *resident, uint32_t parent, uint32_t child)
{
	struct resident_process *process;

	if (parent == child || !find_process(resident, parent))
		return;
	process = get_process(resident, child);
	if (process)
		process->parent = parent;
}

void resident_remove(struct resident *resident, uint32_t id)
{
	struct resident_process *process = find_process(resident, id), *last;
	size_t number;

	if (!process)
		return;
	resident->page_count -= process->writers.count;
	process_done(process);
	hash_map_remove(&resident->process_of, id);
	number = (size_t)(process - resident->processes.items);
	last = &resident->processes.items[--resident->processes.count];
	if (number == resident->processes.count)
		return;
	*process = *last;
	/* Its key is there: no memory is needed. */
	hash_map_put(&resident->process_of, process->process, number);
}

uint32_t resident_next_process(const struct resident *resident, size_t *cursor)
{
	return *cursor < resident->processes.count ? resident->processes.items[(*cursor)++].process
						   : RESIDENT_NONE;
}

bool resident_was_seen(const struct resident *resident, uint32_t id)
{
	const struct resident_process *process = find_process(resident, id);

	return process && process->seen;
}

const struct resident_site *resident_sites(const struct resident *resident, uint32_t id,
					   size_t *ret_count)
{
	const struct resident_process *process = find_process(resident, id);

	*ret_count = process ? process->sites.count : 0;
	return process ? process->sites.items : NULL;
}

uint32_t resident_regions(const struct resident *resident, uint32_t id)
{
	const struct resident_process *process = find_process(resident, id);

	return process ? process->mask + 1 : 1;
}
