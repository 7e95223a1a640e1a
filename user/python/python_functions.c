// SPDX-License-Identifier: BSD-2-Clause
/* Interns Python functions and remembers what is at each address of each process. */
#include "python/python_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

/* Names and line tables together. A hostile program has 64 KiB of them for each function. */
#define MAX_BYTES (64U << 20)

/* Code objects of one process. */
struct process_codes {
	uint32_t process;
	struct hash_map by_address; /* code address -> number */
};

struct python_functions {
	uint64_t seed;
	ARRAY_OF(struct python_code) codes; /* by number; name NULL: free */
	ARRAY_OF(uint32_t) free;	    /* numbers */
	struct hash_index index;	    /* by contents */
	size_t bytes;			    /* of names and line tables */
	uint64_t refused;
	struct hash_map processes; /* number of the process -> index of process_codes */
	ARRAY_OF(struct process_codes) process_codes;
};

struct python_functions *python_functions_new(void)
{
	struct python_functions *functions = calloc(1, sizeof(*functions));

	if (functions)
		functions->seed = hash_random_seed();
	return functions;
}

void python_functions_free(struct python_functions *functions)
{
	if (!functions)
		return;
	array_foreach(&functions->codes, code)
		python_code_done(code);
	array_free(&functions->codes);
	array_free(&functions->free);
	hash_index_done(&functions->index);
	array_foreach(&functions->process_codes, codes)
		hash_map_done(&codes->by_address);
	array_free(&functions->process_codes);
	hash_map_done(&functions->processes);
	free(functions);
}

static uint64_t hash_code(const struct python_functions *functions, const struct python_code *code)
{
	uint64_t hash = hash_bytes(code->name, strlen(code->name), functions->seed);

	hash = hash_bytes(code->file, strlen(code->file), hash);
	if (code->line_bytes)
		hash = hash_bytes(code->lines, code->line_bytes, hash);
	return hash ^ hash_u64(code->first_line);
}

static bool equal_codes(const void *context, uint32_t item, const void *key)
{
	const struct python_functions *functions = context;
	const struct python_code *a = &functions->codes.items[item], *b = key;

	return a->first_line == b->first_line && a->minor == b->minor &&
	       a->line_bytes == b->line_bytes && !strcmp(a->name, b->name) &&
	       !strcmp(a->file, b->file) &&
	       (!a->line_bytes || !memcmp(a->lines, b->lines, a->line_bytes));
}

static size_t bytes_of(const struct python_code *code)
{
	return strlen(code->name) + strlen(code->file) + 2 + code->line_bytes;
}

/* A free number, for which there is room; -ENOSPC, -ENOMEM. */
static int take_number(struct python_functions *functions, uint32_t *ret_number)
{
	if (functions->free.count) {
		*ret_number = functions->free.items[--functions->free.count];
		return 0;
	}
	if (functions->codes.count >= PYTHON_MAX_FUNCTIONS)
		return -ENOSPC;
	if (!array_reserve(&functions->free, functions->codes.count + 1) ||
	    !array_add(&functions->codes))
		return -ENOMEM;
	*ret_number = (uint32_t)functions->codes.count - 1;
	return 0;
}

/* Takes over the code's memory on success. */
static int intern(struct python_functions *functions, struct python_code *code,
		  uint32_t *ret_number)
{
	uint64_t hash = hash_code(functions, code);
	uint32_t number = hash_index_find(&functions->index, hash, equal_codes, functions, code);
	size_t bytes = bytes_of(code);
	int err;

	if (number != HASH_INDEX_NONE) {
		python_code_done(code);
		*ret_number = number;
		return 0;
	}
	if (functions->bytes + bytes > MAX_BYTES)
		return -ENOSPC;
	err = take_number(functions, &number);
	if (err)
		return err;
	if (!hash_index_add(&functions->index, hash, number)) {
		*array_add(&functions->free) = number;
		return -ENOMEM;
	}
	functions->codes.items[number] = *code;
	*code = (struct python_code){0};
	functions->bytes += bytes;
	*ret_number = number;
	return 0;
}

/* NULL: out of memory. */
static struct process_codes *codes_of(struct python_functions *functions, uint32_t process)
{
	size_t next = functions->process_codes.count;
	uint64_t *index;
	bool added;

	if (!array_reserve(&functions->process_codes, next + 1))
		return NULL;
	index = hash_map_get(&functions->processes, process, next, &added);
	if (!index)
		return NULL;
	if (added)
		array_add(&functions->process_codes)->process = process;
	return &functions->process_codes.items[*index];
}

int python_functions_put(struct python_functions *functions, uint32_t process, uint64_t address,
			 struct python_code *code)
{
	struct process_codes *codes = codes_of(functions, process);
	uint32_t number;
	int err = codes ? intern(functions, code, &number) : -ENOMEM;

	if (err) {
		functions->refused += err == -ENOSPC;
		python_code_done(code);
		/* Another function was there. */
		if (codes)
			hash_map_remove(&codes->by_address, address);
		return err;
	}
	return hash_map_put(&codes->by_address, address, number) ? 0 : -ENOMEM;
}

int python_functions_note(struct python_functions *functions, uint32_t process,
			  const struct pkbpf_event_python_code *record, size_t size)
{
	struct python_code code;
	int err = python_code_decode(record, size, &code);

	return err ? err : python_functions_put(functions, process, record->code, &code);
}

bool python_functions_knows(const struct python_functions *functions, uint32_t process)
{
	return functions->processes.count && hash_map_find(&functions->processes, process);
}

uint32_t python_functions_at(const struct python_functions *functions, uint32_t process,
			     uint64_t code)
{
	const uint64_t *index = hash_map_find(&functions->processes, process), *number;

	if (!index)
		return PYTHON_FUNCTION_NONE;
	number = hash_map_find(&functions->process_codes.items[*index].by_address, code);
	return number ? (uint32_t)*number : PYTHON_FUNCTION_NONE;
}

const struct python_code *python_functions_get(const struct python_functions *functions,
					       uint32_t number)
{
	return number < functions->codes.count && functions->codes.items[number].name
		       ? &functions->codes.items[number]
		       : NULL;
}

uint64_t python_functions_refused(const struct python_functions *functions)
{
	return functions->refused;
}

size_t python_functions_count(const struct python_functions *functions)
{
	return functions->codes.count;
}

void python_functions_forget_process(struct python_functions *functions, uint32_t process)
{
	const uint64_t *found = hash_map_find(&functions->processes, process);
	struct process_codes *codes, *last;

	if (!found)
		return;
	codes = &functions->process_codes.items[*found];
	last = &functions->process_codes.items[functions->process_codes.count - 1];
	hash_map_done(&codes->by_address);
	if (codes != last) {
		*codes = *last;
		*hash_map_find(&functions->processes, codes->process) = *found;
	}
	functions->process_codes.count--;
	hash_map_remove(&functions->processes, process);
}

static void mark_mapped(const struct python_functions *functions, bool *is_used)
{
	array_foreach(&functions->process_codes, codes) {
		const struct hash_map_slot *slot;
		size_t cursor = 0;

		while ((slot = hash_map_next(&codes->by_address, &cursor)))
			is_used[slot->value] = true;
	}
}

void python_functions_forget(struct python_functions *functions, bool *is_used)
{
	mark_mapped(functions, is_used);
	hash_index_done(&functions->index);
	functions->index = (struct hash_index){0};
	for (uint32_t i = 0; i < functions->codes.count; i++) {
		struct python_code *code = &functions->codes.items[i];

		if (!code->name)
			continue;
		if (is_used[i]) {
			/* Without memory it is kept a second time when it comes again. */
			hash_index_add(&functions->index, hash_code(functions, code), i);
			continue;
		}
		functions->bytes -= bytes_of(code);
		python_code_done(code);
		/* Room was made when the number was first given. */
		*array_add(&functions->free) = i;
	}
}
