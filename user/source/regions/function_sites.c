// SPDX-License-Identifier: BSD-2-Clause
/* Where a function gets its probes: its entry, and all of its exits, also those in its cold part.
 */
#include "source/regions/function_sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

static struct pkbpf_span_operand target_of(const struct function_exit *exit)
{
	/* Words of struct pt_regs, by the number of the register. */
	static const uint8_t words[X86_REGISTER_COUNT] = {10, 11, 12, 5, 19, 4, 13, 14,
							  9,  8,  7,  6, 3,  2, 1,  0};
	const struct x86_instruction *jump = &exit->instruction;
	struct pkbpf_span_operand operand = {.size = 8, .offset = jump->displacement};

	if (exit->kind != FUNCTION_EXIT_INDIRECT)
		return operand;
	operand.kind = jump->mod == 3 ? PKBPF_OPERAND_REGISTER : PKBPF_OPERAND_MEMORY;
	operand.word = words[jump->rm & 15];
	if (jump->mod == 3)
		return operand;
	/* Without a base the index is all there is. */
	operand.scale = exit->scale;
	operand.index_word = words[jump->index & 15];
	if (!jump->has_base)
		operand.word = UINT16_MAX;
	return operand;
}

static int add_site(struct region_sites *sites, uint64_t offset,
		    const struct pkbpf_span_site *description)
{
	struct region_site *site = array_add(&sites->items);

	if (!site)
		return -ENOMEM;
	*site = (struct region_site){
		.role = REGION_FUNCTION, .offset = offset, .description = *description};
	return 0;
}

struct adding {
	const struct function_code *code;
	struct region_sites *sites;
};

/* Files may say anything of their symbols. */
static bool is_code(const struct elf_file *file, const struct cold_part *part)
{
	uint64_t offset, bytes;

	return part->size <= MAX_FUNCTION_BYTES &&
	       elf_segments_offset(&file->segments, part->address, &offset, &bytes) &&
	       bytes >= part->size;
}

/* The cold part that a jump at an address leads to; NULL: it leads elsewhere. */
static const struct cold_part *find_cold(const struct adding *adding, uint64_t address,
					 const struct function_exit *exit)
{
	uint64_t target = address + exit->instruction.size + (uint64_t)exit->instruction.immediate;

	if (!function_exit_is_direct(exit))
		return NULL;
	array_foreach(&adding->code->matches->cold, part)
		if (target - part->address < (part->size ? part->size : 1) &&
		    is_code(adding->code->file, part))
			return part;
	return NULL;
}

static bool is_back(const struct adding *adding, uint64_t address, const struct function_exit *exit)
{
	uint64_t target = address + exit->instruction.size + (uint64_t)exit->instruction.immediate;

	return function_exit_is_direct(exit) &&
	       target - adding->code->matched->address < adding->code->matched->size;
}

static int add_exit(const struct adding *adding, uint64_t address, const struct function_exit *exit)
{
	const struct pkbpf_span_site description = {
		.role = PKBPF_SITE_RETURN,
		.pair = adding->code->pair,
		.condition = exit->kind == FUNCTION_EXIT_ALWAYS	  ? PKBPF_EXIT_ALWAYS
			     : exit->kind == FUNCTION_EXIT_BRANCH ? exit->condition
								  : PKBPF_EXIT_INDIRECT,
		.value = target_of(exit),
		.from_start = address - adding->code->matched->address,
		.function_size = adding->code->matched->size,
	};
	uint64_t offset, bytes;

	if (!elf_segments_offset(&adding->code->file->segments, address, &offset, &bytes))
		return -EBADMSG;
	return add_site(adding->sites, offset, &description);
}

static int add_exits(const struct adding *adding, uint64_t start,
		     const struct function_probes *probes, int depth);

/* The exits that a function has in its cold part. */
static int add_cold_exits(const struct adding *adding, const struct cold_part *part, int depth)
{
	_cleanup_free_ struct function_probes *probes = malloc(sizeof(*probes));
	_cleanup_free_ uint8_t *code = malloc(part->size + 1);

	if (!probes || !code)
		return -ENOMEM;
	if (elf_file_read_address(adding->code->file, part->address, code, part->size) < 0)
		return -EBADMSG;
	function_probes_find(code, part->size, probes);
	return add_exits(adding, part->address, probes, depth);
}

static bool has_site(const struct region_sites *sites, uint64_t offset)
{
	array_foreach(&sites->items, site)
		if (site->offset == offset)
			return true;
	return false;
}

/* Exits of the function or of its cold part, which begins at `start`. Parts do not lead to more
 * parts but their own function. */
static int add_exits(const struct adding *adding, uint64_t start,
		     const struct function_probes *probes, int depth)
{
	int err = 0;

	for (size_t i = 0; i < probes->exit_count && !err; i++) {
		const struct function_exit *exit = &probes->exits[i];
		uint64_t address = start + exit->at, offset, bytes;
		const struct cold_part *part = find_cold(adding, address, exit);

		if (part && depth == 0)
			err = add_cold_exits(adding, part, 1);
		else if (!part && !is_back(adding, address, exit) &&
			 elf_segments_offset(&adding->code->file->segments, address, &offset,
					     &bytes) &&
			 !has_site(adding->sites, offset))
			err = add_exit(adding, address, exit);
	}
	return err;
}

int function_sites_find(const struct function_code *code, const struct function_probes *probes,
			struct region_sites *sites)
{
	const struct adding adding = {code, sites};
	struct pkbpf_span_site entry = {
		.role = PKBPF_SITE_CALL,
		.pair = code->pair,
		.has_loop = probes->has_loop,
		.stack_bytes = (int32_t)probes->stack_bytes,
	};
	int err;

	snprintf(entry.name, sizeof(entry.name), "%s", code->name);
	err = add_site(sites, code->offset + probes->entry, &entry);
	return err ? err : add_exits(&adding, code->matched->address, probes, 0);
}
