// SPDX-License-Identifier: BSD-2-Clause
/* Searches symbol tables for functions of CUDA and HIP, and their code for their ends. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text_append.h"
#include "elf/elf_symbol.h"
#include "source/alloc/probe_place.h"
#include "source/gpu_calls/gpu_functions.h"
#include "source/regions/function_sites.h"

#define CODE_BYTES 48
/* A library has less than a hundred; a file may claim millions. */
#define FUNCTIONS_MAX	 512
#define COLD_MAX	 65536
#define NAME_BYTES	 48
#define MAX_STRING_BYTES (256U << 20)
#define COLD		 ".cold"
/* What compilers put before the first instruction of a function. */
#define ENDBR_BYTES 4

struct found_function {
	const struct gpu_function *function;
	char name[NAME_BYTES];
	uint64_t address, size;
	bool is_inner;	  /* an exported function passes its calls on to this one */
	bool is_left_out; /* the other one of both has the probe */
};

struct search {
	const struct elf_file *file;
	ARRAY_OF(struct found_function) found;
	struct matched_functions matches; /* cold parts */
	struct gpu_function_sites *result;
	bool is_runtime_alone; /* see gpu_library_is_runtime() */
};

static int take_cold(struct search *search, const struct elf_symbol *symbol)
{
	struct cold_part *cold;

	if (search->matches.cold.count >= COLD_MAX)
		return 0;
	cold = array_add(&search->matches.cold);
	if (!cold)
		return -ENOMEM;
	*cold = (struct cold_part){symbol->address, symbol->size};
	return 0;
}

static int take_symbol(struct search *search, const struct elf_symbol *symbol, const char *name)
{
	const struct gpu_function *function;
	struct found_function *found;
	char outer[NAME_BYTES];
	bool is_inner = gpu_function_is_inner(name, outer, sizeof(outer));

	if (symbol->section == SHN_UNDEF || symbol->type != STT_FUNC)
		return 0;
	if (strstr(name, COLD))
		return take_cold(search, symbol);
	name = is_inner ? outer : name;
	function = gpu_function_find(name);
	if (!function)
		return 0;
	array_foreach(&search->found, known)
		if (known->address == symbol->address)
			return 0;
	if (search->found.count >= FUNCTIONS_MAX)
		return 0;
	found = array_add(&search->found);
	if (!found)
		return -ENOMEM;
	*found = (struct found_function){.function = function,
					 .address = symbol->address,
					 .size = symbol->size,
					 .is_inner = is_inner};
	snprintf(found->name, sizeof(found->name), "%s", name);
	return 0;
}

static int take_table(struct search *search, uint32_t type)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	char name[NAME_BYTES];
	int err = 0;

	if (elf_symbol_reader_open(search->file, type, &reader) < 0)
		return 0;
	if (elf_strings_load(&reader.strings, search->file, MAX_STRING_BYTES) == 0)
		while (!err && elf_symbol_reader_next(&reader, &symbol))
			if (elf_strings_read(&reader.strings, search->file, symbol.name, name,
					     sizeof(name)) == 0)
				err = take_symbol(search, &symbol, name);
	elf_symbol_reader_close(&reader);
	return err;
}

static void note(char *names, size_t size, const char *name)
{
	text_append(names, size, "%s%s", names[0] ? ", " : "", name);
}

/* Is there a return at this place of the file, and no jump? */
static bool is_return(const struct elf_file *file, uint64_t offset)
{
	uint8_t code[2] = {0};

	if (elf_file_read(file, offset, code, sizeof(code)))
		return false;
	return code[0] == 0xc3 || code[0] == 0xc2 || (code[0] == 0xf3 && code[1] == 0xc3);
}

/* Does the call end where its result is known? A jump to another function is not its end. */
static bool ends_are_known(const struct elf_file *file, const struct region_sites *sites,
			   size_t first)
{
	bool returns = false;

	for (size_t i = first; i < sites->items.count; i++) {
		const struct region_site *site = &sites->items.items[i];

		if (site->description.role != PKBPF_SITE_RETURN)
			continue;
		if (site->description.condition != PKBPF_EXIT_ALWAYS ||
		    !is_return(file, site->offset))
			return false;
		returns = true;
	}
	return returns;
}

/* The exits of a function behind its entry; none when they are not all known. */
static int add_exits(struct search *search, const struct found_function *found, size_t first)
{
	struct region_sites *sites = &search->result->sites;
	struct matched_function matched = {.address = found->address, .size = found->size};
	struct function_code place = {.file = search->file,
				      .matches = &search->matches,
				      .matched = &matched,
				      .name = found->name};
	_cleanup_free_ struct function_probes *probes = calloc(1, sizeof(*probes));
	_cleanup_free_ uint8_t *code = NULL;
	uint64_t left;
	int err;

	if (!probes)
		return -ENOMEM;
	if (!found->size || found->size > MAX_FUNCTION_BYTES ||
	    !elf_segments_offset(&search->file->segments, found->address, &place.offset, &left) ||
	    left < found->size)
		return 0;
	code = malloc(found->size);
	if (!code)
		return -ENOMEM;
	if (elf_file_read_address(search->file, found->address, code, found->size))
		return 0;
	function_probes_find(code, found->size, probes);
	if (probes->refusal != FUNCTION_IS_KNOWN)
		return 0;
	err = function_sites_find(&place, probes, sites);
	if (err == -ENOMEM)
		return err;
	/* The entry is our own: arguments are read there. */
	if (sites->items.count > first + 1 &&
	    sites->items.items[first + 1].description.role == PKBPF_SITE_CALL) {
		sites->items.items[first + 1] = sites->items.items[sites->items.count - 1];
		sites->items.count--;
	}
	if (err || !ends_are_known(search->file, sites, first))
		sites->items.count = first + 1;
	return 0;
}

static bool takes_later_arguments(enum pkbpf_gpu_shape shape)
{
	return shape == PKBPF_GPU_AREA_5_6_KIND_7 || shape == PKBPF_GPU_BYTES_3_KIND_5 ||
	       shape == PKBPF_GPU_BYTES_5 || shape == PKBPF_GPU_HANDLE_THREADS;
}

/* Where the entry of a function gets its probe: before anything has changed its arguments. -1:
 * nowhere. */
static int64_t entry_of(const struct search *search, const struct found_function *found,
			uint64_t *ret_from_start)
{
	uint8_t code[CODE_BYTES];
	uint64_t offset, left;
	int place;

	if (!elf_segments_offset(&search->file->segments, found->address, &offset, &left) || !left)
		return -1;
	left = left < sizeof(code) ? left : sizeof(code);
	if (elf_file_read(search->file, offset, code, left))
		return -1;
	place = probe_place_find(code, left);
	/* That place may be behind a change of the fifth argument. */
	if (place > ENDBR_BYTES && takes_later_arguments(found->function->shape))
		place = 0;
	*ret_from_start = place < 0 ? 0 : (uint64_t)place;
	return place < 0 ? -1 : (int64_t)offset + place;
}

static bool wants_end(const struct gpu_function *function)
{
	return function->group != PKBPF_GPU_LAUNCH && function->shape != PKBPF_GPU_REGISTER;
}

/* Is the end of this function seen at returns of its own? */
static int look_for_ends(struct search *search, const struct found_function *found,
			 bool *ret_are_seen)
{
	size_t first = search->result->sites.items.count;
	struct region_site *site = array_add(&search->result->sites.items);
	int err;

	if (!site)
		return -ENOMEM;
	*site = (struct region_site){.role = REGION_FUNCTION};
	err = add_exits(search, found, first);
	*ret_are_seen = search->result->sites.items.count > first + 1;
	search->result->sites.items.count = first;
	return err;
}

/* An exported function of HIP passes its call on to an inner one: with a jump, or with a call,
 * after which it returns. One of both has the probe: the one that returns. */
static int choose_of_both(struct search *search, struct found_function *inner)
{
	struct found_function *outer = NULL;
	bool are_seen = false;
	int err;

	array_foreach(&search->found, found)
		if (!found->is_inner && strcmp(found->name, inner->name) == 0)
			outer = found;
	inner->is_left_out = true;
	/* The library alone calls it. */
	if (!outer)
		return 0;
	err = look_for_ends(search, outer, &are_seen);
	inner->is_left_out = are_seen;
	outer->is_left_out = !are_seen;
	return err;
}

/* How much code its segment has before the function, and in all. */
static void note_library(const struct elf_file *file, uint64_t address,
			 struct pkbpf_span_site *site)
{
	for (size_t i = 0; i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (!elf_segment_is_code(segment) ||
		    address - segment->address >= segment->memory_size)
			continue;
		site->library.before = address - segment->address;
		site->library.bytes = segment->memory_size;
	}
}

static uint32_t way_of(const struct found_function *found)
{
	bool is_launch = found->function->group == PKBPF_GPU_LAUNCH;

	return found->function->way |
	       (is_launch && gpu_function_is_per_thread(found->name) ? PKBPF_GPU_OF_THREAD : 0);
}

static int add_function(struct search *search, const struct found_function *found)
{
	struct gpu_function_sites *result = search->result;
	const struct gpu_function *function = found->function;
	size_t first = result->sites.items.count;
	uint64_t from_start;
	int64_t offset = entry_of(search, found, &from_start);
	struct region_site *site;
	int err = 0;

	if (offset < 0) {
		result->refused++;
		note(result->refused_names, sizeof(result->refused_names), found->name);
		return 0;
	}
	site = array_add(&result->sites.items);
	if (!site)
		return -ENOMEM;
	*site = (struct region_site){.role = REGION_FUNCTION, .offset = (uint64_t)offset};
	if (wants_end(function))
		err = add_exits(search, found, first);
	if (err)
		return err;
	site = &result->sites.items.items[first];
	site->description.from_start = from_start;
	site->description.function_size = found->size;
	if (search->is_runtime_alone && gpu_function_layer(function) == PKBPF_GPU_RUNTIME)
		note_library(search->file, found->address, &site->description);
	result->count++;
	site->description.role =
		result->sites.items.count > first + 1 ? PKBPF_SITE_CALL : PKBPF_SITE_COUNT;
	if (wants_end(function) && site->description.role == PKBPF_SITE_COUNT) {
		result->unmeasured++;
		note(result->unmeasured_names, sizeof(result->unmeasured_names), found->name);
	}
	for (size_t i = first; i < result->sites.items.count; i++)
		result->sites.items.items[i].description.pair = PKBPF_GPU_SITE(
			function - gpu_function_at(0), function->group, function->shape,
			way_of(found), gpu_function_layer(function));
	return 0;
}

int gpu_function_sites_find(const struct elf_file *file, bool is_runtime_alone,
			    struct gpu_function_sites *ret_sites)
{
	struct search search = {
		.file = file, .result = ret_sites, .is_runtime_alone = is_runtime_alone};
	int err;

	*ret_sites = (struct gpu_function_sites){.count = 0};
	err = take_table(&search, SHT_DYNSYM);
	err = err ? err : take_table(&search, SHT_SYMTAB);
	array_foreach(&search.found, found)
		if (!err && found->is_inner)
			err = choose_of_both(&search, found);
	array_foreach(&search.found, found)
		if (!err && !found->is_left_out)
			err = add_function(&search, found);
	array_free(&search.found);
	array_free(&search.matches.cold);
	if (err)
		gpu_function_sites_done(ret_sites);
	return err;
}

void gpu_function_sites_done(struct gpu_function_sites *sites)
{
	region_sites_done(&sites->sites);
	*sites = (struct gpu_function_sites){.count = 0};
}
