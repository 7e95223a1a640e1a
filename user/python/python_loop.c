// SPDX-License-Identifier: BSD-2-Clause
/* Finds the loop by its symbol, and its seldom used part by the jumps that lead there. */
#include "python/python_loop.h"

#include <stdlib.h>
#include <string.h>

#include <pkbpf/unwind_state.h>

#include "base/cleanup.h"
#include "elf/elf_file.h"
#include "elf/elf_functions.h"
#include "python/python_symbol.h"

/* The loop of a debug build has 100 KiB. */
#define MAX_LOOP_BYTES (1U << 20)
#define MIN_LOOP_BYTES 1024
/* Functions that jumps lead to. The loop leaves itself for its own part only, but for a few calls
 * in tail position. */
#define MAX_TARGETS 128
#define MIN_JUMPS   8

struct target {
	uint64_t function;
	uint32_t jumps;
};

static void count_target(struct target *targets, size_t *count, uint64_t function)
{
	for (size_t i = 0; i < *count; i++) {
		if (targets[i].function == function) {
			targets[i].jumps++;
			return;
		}
	}
	if (*count < MAX_TARGETS)
		targets[(*count)++] = (struct target){function, 1};
}

/* Length of a jump with a displacement of 32 bits; 0: none (x86-64). */
static size_t jump_length(const uint8_t *code, size_t left)
{
	if (left >= 5 && code[0] == 0xe9)
		return 5;
	return left >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 6 : 0;
}

uint64_t python_loop_cold_part(const uint8_t *code, size_t size, uint64_t address,
			       uint64_t (*function_of)(void *context, uint64_t address),
			       void *context)
{
	struct target targets[MAX_TARGETS], best = {0};
	size_t count = 0;

	for (size_t at = 0; at < size; at++) {
		size_t length = jump_length(code + at, size - at);
		int32_t distance;
		uint64_t target, function;

		if (!length)
			continue;
		memcpy(&distance, code + at + length - 4, sizeof(distance));
		target = address + at + length + (uint64_t)(int64_t)distance;
		if (target - address < size)
			continue;
		function = function_of(context, target);
		/* A jump to the start of a function is a call in tail position. */
		if (function && function != target)
			count_target(targets, &count, function);
	}
	for (size_t i = 0; i < count; i++)
		if (targets[i].jumps > best.jumps)
			best = targets[i];
	return best.jumps >= MIN_JUMPS ? best.function : 0;
}

struct search {
	const struct elf_file *file;
	struct elf_functions functions;
};

static uint64_t function_of(void *context, uint64_t address)
{
	struct search *search = context;
	uint64_t start;

	return elf_functions_find(&search->functions, search->file, address, &start) ? 0 : start;
}

static void find_cold_part(const struct elf_file *file, const struct python_loop_part *loop,
			   struct python_loop_part *ret_part)
{
	_cleanup_free_ uint8_t *code = malloc(loop->size);
	struct search search = {.file = file};
	uint64_t start, end;

	if (!code || elf_file_read_address(file, loop->start, code, loop->size) ||
	    elf_functions_load(&search.functions, file))
		return;
	start = python_loop_cold_part(code, loop->size, loop->start, function_of, &search);
	end = start ? elf_functions_end(&search.functions, file, start) : 0;
	if (end > start && end - start <= MAX_LOOP_BYTES)
		*ret_part = (struct python_loop_part){start, end - start};
	elf_functions_done(&search.functions);
}

void python_loop_find(const struct elf_file *file,
		      struct python_loop_part ret_parts[PKBPF_PYTHON_LOOP_PARTS])
{
	struct elf_symbol symbol;

	memset(ret_parts, 0, PKBPF_PYTHON_LOOP_PARTS * sizeof(*ret_parts));
	if (!python_symbol_find(file, STT_FUNC, "_PyEval_EvalFrameDefault", MIN_LOOP_BYTES,
				&symbol) ||
	    symbol.size > MAX_LOOP_BYTES)
		return;
	ret_parts[0] = (struct python_loop_part){symbol.address, symbol.size};
	if (!PKBPF_UNWIND_ARM64)
		find_cold_part(file, &ret_parts[0], &ret_parts[1]);
}
