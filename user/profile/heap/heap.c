// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the set of live samples and the sums of each site. */
#include "profile/heap/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"

#define FIRST_GENERATION_NS (NS_PER_SECOND / 4)
/* What ended earlier says nothing about leaks: those are looked for in runs of 30 s and more. */
#define ENDINGS_AFTER_NS (2 * NS_PER_SECOND)
#define NO_SITE		 UINT32_MAX

struct heap_process {
	uint32_t process;
	struct hash_map blocks; /* address -> number of the block */
	struct hash_map sites;	/* stack id -> number of the site */
	ARRAY_OF(uint32_t) site_list;
	struct heap_level level;
	uint64_t peaks; /* how many times the level has exceeded all before */
	/* live bytes * ns from first_ns to changed_ns */
	double byte_ns;
	uint64_t first_ns, changed_ns;
};

struct heap {
	uint64_t start_ns, generation_ns;
	ARRAY_OF(struct heap_block) blocks;
	ARRAY_OF(uint32_t) free_blocks;
	ARRAY_OF(struct heap_site) sites;
	ARRAY_OF(uint32_t) free_sites;
	ARRAY_OF(struct heap_process) processes;
	struct hash_map process_of; /* process -> number in processes */
};

struct heap *heap_new(void)
{
	struct heap *heap = calloc(1, sizeof(*heap));

	if (heap)
		heap->generation_ns = FIRST_GENERATION_NS;
	return heap;
}

void heap_free(struct heap *heap)
{
	if (!heap)
		return;
	array_foreach(&heap->sites, site)
		free(site->endings);
	array_foreach(&heap->processes, process) {
		hash_map_done(&process->blocks);
		hash_map_done(&process->sites);
		array_free(&process->site_list);
	}
	array_free(&heap->blocks);
	array_free(&heap->free_blocks);
	array_free(&heap->sites);
	array_free(&heap->free_sites);
	array_free(&heap->processes);
	hash_map_done(&heap->process_of);
	free(heap);
}

/* ---- generations ---- */

static void generation_add(struct heap_generation *to, const struct heap_generation *from)
{
	to->bytes += from->bytes;
	to->variance += from->variance;
	to->samples += from->samples;
}

static void double_generations(struct heap *heap)
{
	heap->generation_ns *= 2;
	array_foreach(&heap->sites, site) {
		struct heap_generation alive[HEAP_GENERATIONS] = {0};
		struct heap_endings endings = {0};

		for (size_t born = 0; born < HEAP_GENERATIONS; born++) {
			generation_add(&alive[born / 2], &site->alive[born]);
			for (size_t end = 0; site->endings && end < HEAP_GENERATIONS; end++)
				generation_add(&endings.born_ended[born / 2][end / 2],
					       &site->endings->born_ended[born][end]);
		}
		memcpy(site->alive, alive, sizeof(alive));
		if (site->endings)
			*site->endings = endings;
	}
}

static size_t generation_of(struct heap *heap, uint64_t time_ns)
{
	if (!heap->start_ns)
		heap->start_ns = time_ns;
	if (time_ns < heap->start_ns)
		return 0;
	while (time_ns - heap->start_ns >= HEAP_GENERATIONS * heap->generation_ns)
		double_generations(heap);
	return (time_ns - heap->start_ns) / heap->generation_ns;
}

/* ---- sums ---- */

static double variance_of(const struct heap_block *block)
{
	double weight = (double)block->weight;

	return (1 - (double)block->size / weight) * weight * weight;
}

static void sum_add(struct heap_sum *sum, const struct heap_block *block, int sign)
{
	sum->bytes += sign * (double)block->weight;
	sum->variance += sign * variance_of(block);
	sum->objects += sign * ((double)block->weight / (double)block->size);
	sum->samples += (uint64_t)(int64_t)sign;
	/* Differences of rounded numbers. */
	if (!sum->samples)
		*sum = (struct heap_sum){0};
}

static struct heap_generation generation_with(const struct heap_block *block, float sign)
{
	return (struct heap_generation){
		.bytes = sign * (float)block->weight,
		.variance = sign * (float)variance_of(block),
		.samples = sign,
	};
}

/* ---- processes and sites ---- */

static struct heap_process *find_process(const struct heap *heap, uint32_t process)
{
	const uint64_t *number = hash_map_find(&heap->process_of, process);

	return number ? &heap->processes.items[*number] : NULL;
}

static struct heap_process *get_process(struct heap *heap, uint32_t process)
{
	struct heap_process *found = find_process(heap, process);

	if (found)
		return found;
	found = array_add(&heap->processes);
	if (!found)
		return NULL;
	found->process = process;
	if (hash_map_put(&heap->process_of, process, heap->processes.count - 1))
		return found;
	heap->processes.count--;
	return NULL;
}

static uint32_t add_site(struct heap *heap, struct heap_process *process, uint64_t stack_id,
			 const char *comm)
{
	uint32_t number = (uint32_t)heap->sites.count;
	struct heap_site *site;

	if (!array_reserve(&process->site_list, process->site_list.count + 1))
		return NO_SITE;
	if (heap->free_sites.count)
		number = heap->free_sites.items[heap->free_sites.count - 1];
	else if (!array_reserve(&heap->sites, heap->sites.count + 1))
		return NO_SITE;
	if (!hash_map_put(&process->sites, stack_id, number))
		return NO_SITE;
	if (heap->free_sites.count)
		heap->free_sites.count--;
	else
		heap->sites.count++;
	site = &heap->sites.items[number];
	*site = (struct heap_site){.process = process->process, .stack_id = stack_id};
	memcpy(site->comm, comm, strnlen(comm, PKBPF_COMM_SIZE));
	*array_add(&process->site_list) = number;
	return number;
}

static uint32_t get_site(struct heap *heap, struct heap_process *process, uint64_t stack_id,
			 const char *comm)
{
	const uint64_t *number = hash_map_find(&process->sites, stack_id);

	if (!number && heap->sites.count - heap->free_sites.count >= HEAP_MAX_SITES) {
		stack_id = 0;
		number = hash_map_find(&process->sites, 0);
	}
	return number ? (uint32_t)*number : add_site(heap, process, stack_id, comm);
}

/* ---- blocks ---- */

static uint32_t take_block(struct heap *heap)
{
	if (heap->free_blocks.count)
		return heap->free_blocks.items[--heap->free_blocks.count];
	/* Room for its number when it ends, so that ending cannot fail. */
	if (heap->blocks.count >= HEAP_MAX_BLOCKS ||
	    !array_reserve(&heap->free_blocks, heap->blocks.count + 1) || !array_add(&heap->blocks))
		return UINT32_MAX;
	return (uint32_t)heap->blocks.count - 1;
}

static void return_block(struct heap *heap, uint32_t number)
{
	*array_add(&heap->free_blocks) = number;
}

/* Before the level changes. Records of CPUs may come a little out of order. */
static void pass_time(struct heap_process *process, uint64_t time_ns)
{
	if (!process->first_ns)
		process->first_ns = process->changed_ns = time_ns;
	if (time_ns <= process->changed_ns)
		return;
	process->byte_ns += process->level.bytes * (double)(time_ns - process->changed_ns);
	process->changed_ns = time_ns;
}

static void note_peak(struct heap_process *process, uint64_t time_ns)
{
	struct heap_level *level = &process->level;

	if (level->bytes <= level->peak_bytes)
		return;
	level->peak_bytes = level->bytes;
	level->peak_ns = time_ns;
	process->peaks++;
}

/* Before the live bytes of a site change. Each site keeps its bytes at the peak at its first change
 * after it, so that a peak costs the same with any number of sites. */
static void keep_peak(const struct heap_process *process, struct heap_site *site)
{
	if (site->peak == process->peaks)
		return;
	site->peak = process->peaks;
	site->bytes_at_peak = site->live.bytes;
}

static void note_ending(struct heap *heap, struct heap_site *site, const struct heap_block *block,
			uint64_t time_ns)
{
	/* First the end: it may make fewer generations. */
	size_t end = generation_of(heap, time_ns), born = generation_of(heap, block->born_ns);
	struct heap_generation change = generation_with(block, 1),
			       back = generation_with(block, -1);

	generation_add(&site->alive[born], &back);
	if (!site->endings && time_ns > heap->start_ns + ENDINGS_AFTER_NS)
		site->endings = calloc(1, sizeof(*site->endings));
	/* Without memory it seems to have ended early: no leak is found for that. */
	if (site->endings)
		generation_add(&site->endings->born_ended[born][end], &change);
}

static void end_block(struct heap *heap, struct heap_process *process, uint64_t address,
		      uint32_t number, uint64_t time_ns)
{
	struct heap_block *block = &heap->blocks.items[number];
	struct heap_site *site = &heap->sites.items[block->site];

	note_ending(heap, site, block, time_ns);
	if (time_ns - block->born_ns <= HEAP_BRIEF_NS)
		sum_add(&site->brief, block, 1);
	keep_peak(process, site);
	sum_add(&site->live, block, -1);
	pass_time(process, time_ns);
	process->level.bytes -= (double)block->weight;
	hash_map_remove(&process->blocks, address);
	return_block(heap, number);
}

void heap_end(struct heap *heap, uint32_t process, uint64_t address, uint64_t time_ns)
{
	struct heap_process *found = find_process(heap, process);
	const uint64_t *number = found ? hash_map_find(&found->blocks, address) : NULL;

	if (number && heap->blocks.items[*number].born_ns <= time_ns)
		end_block(heap, found, address, (uint32_t)*number, time_ns);
}

int heap_add(struct heap *heap, const struct heap_alloc *alloc)
{
	struct heap_process *process = get_process(heap, alloc->process);
	struct heap_generation change;
	struct heap_block *block;
	uint32_t number, site;

	if (!process)
		return -ENOMEM;
	/* Its free was lost. */
	heap_end(heap, alloc->process, alloc->address, alloc->time_ns);
	site = get_site(heap, process, alloc->stack_id, alloc->comm);
	number = site == NO_SITE ? UINT32_MAX : take_block(heap);
	if (number == UINT32_MAX)
		return -ENOMEM;
	if (!hash_map_put(&process->blocks, alloc->address, number)) {
		return_block(heap, number);
		return -ENOMEM;
	}
	block = &heap->blocks.items[number];
	*block = (struct heap_block){
		.born_ns = alloc->time_ns,
		.size = alloc->size,
		.weight = alloc->weight,
		.site = site,
	};
	change = generation_with(block, 1);
	generation_add(&heap->sites.items[site].alive[generation_of(heap, alloc->time_ns)],
		       &change);
	sum_add(&heap->sites.items[site].born, block, 1);
	keep_peak(process, &heap->sites.items[site]);
	sum_add(&heap->sites.items[site].live, block, 1);
	pass_time(process, alloc->time_ns);
	process->level.bytes += (double)block->weight;
	note_peak(process, alloc->time_ns);
	return 0;
}

void heap_forget(struct heap *heap, uint32_t process, uint64_t time_ns)
{
	struct heap_process *found = find_process(heap, process);
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	if (!found)
		return;
	while ((slot = hash_map_next(&found->blocks, &cursor)))
		return_block(heap, (uint32_t)slot->value);
	hash_map_done(&found->blocks);
	found->blocks = (struct hash_map){0};
	pass_time(found, time_ns);
	found->level.bytes = 0;
	array_foreach(&found->site_list, number) {
		struct heap_site *site = &heap->sites.items[*number];

		keep_peak(found, site);
		site->live = (struct heap_sum){0};
		memset(site->alive, 0, sizeof(site->alive));
	}
}

void heap_remove(struct heap *heap, uint32_t process)
{
	struct heap_process *found = find_process(heap, process);

	if (!found)
		return;
	heap_forget(heap, process, 0);
	array_foreach(&found->site_list, number) {
		struct heap_site *site = &heap->sites.items[*number];

		free(site->endings);
		*site = (struct heap_site){.process = HEAP_NO_PROCESS};
		/* Without memory its place stays empty. */
		if (array_reserve(&heap->free_sites, heap->free_sites.count + 1))
			*array_add(&heap->free_sites) = *number;
	}
	hash_map_done(&found->blocks);
	hash_map_done(&found->sites);
	array_free(&found->site_list);
	hash_map_remove(&heap->process_of, process);
	*found = heap->processes.items[--heap->processes.count];
	if (found != &heap->processes.items[heap->processes.count])
		*hash_map_find(&heap->process_of, found->process) =
			(uint64_t)(found - heap->processes.items);
}

/* ---- sites of one place ---- */

static void sum_merge(struct heap_sum *into, const struct heap_sum *from)
{
	into->bytes += from->bytes;
	into->variance += from->variance;
	into->objects += from->objects;
	into->samples += from->samples;
}

static void merge_endings(struct heap_site *into, struct heap_site *from)
{
	if (!into->endings) {
		into->endings = from->endings;
		from->endings = NULL;
		return;
	}
	for (size_t born = 0; from->endings && born < HEAP_GENERATIONS; born++)
		for (size_t end = 0; end < HEAP_GENERATIONS; end++)
			generation_add(&into->endings->born_ended[born][end],
				       &from->endings->born_ended[born][end]);
}

static void merge_site(const struct heap_process *process, struct heap_site *into,
		       struct heap_site *from)
{
	keep_peak(process, into);
	keep_peak(process, from);
	into->bytes_at_peak += from->bytes_at_peak;
	sum_merge(&into->born, &from->born);
	sum_merge(&into->live, &from->live);
	sum_merge(&into->brief, &from->brief);
	for (size_t i = 0; i < HEAP_GENERATIONS; i++)
		generation_add(&into->alive[i], &from->alive[i]);
	merge_endings(into, from);
	free(from->endings);
	from->endings = NULL;
	from->born = from->live = from->brief = (struct heap_sum){0};
	from->bytes_at_peak = 0;
	memset(from->alive, 0, sizeof(from->alive));
}

void heap_merge_sites(struct heap *heap, uint32_t process, heap_place_fn *place_of, void *context)
{
	struct heap_process *found = find_process(heap, process);
	struct hash_map first = {0}; /* place -> number of a site */

	if (!found)
		return;
	array_foreach(&found->site_list, number) {
		struct heap_site *site = &heap->sites.items[*number];
		uint32_t place = place_of(context, site);
		const uint64_t *other = hash_map_find(&first, place);

		if (place != UINT32_MAX && other)
			merge_site(found, &heap->sites.items[*other], site);
		else if (place != UINT32_MAX)
			hash_map_put(&first, place, *number);
	}
	hash_map_done(&first);
}

void heap_mark_processes(const struct heap *heap, bool *is_used)
{
	array_foreach(&heap->processes, process)
		is_used[process->process] = true;
}

uint32_t heap_next_process(const struct heap *heap, size_t *cursor)
{
	return *cursor < heap->processes.count ? heap->processes.items[(*cursor)++].process
					       : HEAP_NO_PROCESS;
}

static void each_of_process(const struct heap *heap, const struct heap_process *process,
			    heap_block_fn *take, void *context)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	while ((slot = hash_map_next(&process->blocks, &cursor))) {
		const struct heap_block *block = &heap->blocks.items[slot->value];

		take(context, &heap->sites.items[block->site], block);
	}
}

void heap_each_live(const struct heap *heap, uint32_t process, heap_block_fn *take, void *context)
{
	array_foreach(&heap->processes, each)
		if (process == UINT32_MAX || each->process == process)
			each_of_process(heap, each, take, context);
}

const struct heap_site *heap_sites(const struct heap *heap, size_t *ret_count)
{
	*ret_count = heap->sites.count;
	return heap->sites.items;
}

double heap_bytes_at_peak(const struct heap *heap, const struct heap_site *site)
{
	const struct heap_process *process = find_process(heap, site->process);

	return process && site->peak != process->peaks ? site->live.bytes : site->bytes_at_peak;
}

uint64_t heap_start_ns(const struct heap *heap)
{
	return heap->start_ns;
}

uint64_t heap_generation_ns(const struct heap *heap)
{
	return heap->generation_ns;
}

struct heap_level heap_level(const struct heap *heap, uint32_t process, uint64_t end_ns)
{
	const struct heap_process *found = find_process(heap, process);
	struct heap_level level = found ? found->level : (struct heap_level){0};
	double byte_ns = found ? found->byte_ns : 0;

	if (!found || !found->first_ns)
		return level;
	if (end_ns < found->changed_ns)
		end_ns = found->changed_ns;
	byte_ns += level.bytes * (double)(end_ns - found->changed_ns);
	level.mean_bytes = end_ns > found->first_ns ? byte_ns / (double)(end_ns - found->first_ns)
						    : level.bytes;
	return level;
}
