// SPDX-License-Identifier: BSD-2-Clause
/* Interns Python functions and remembers what is at each address of each process. */
#include "python/python_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

/* Code objects of one process. */
struct process_codes {
	struct hash_map by_address; /* code address -> number */
};

struct python_functions {
	uint64_t seed;
	ARRAY_OF(struct python_code) codes; /* by number */
	struct hash_index index;	    /* by contents */
	struct hash_map processes;	    /* number of the process -> index of process_codes */
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

/* Takes over the code's memory. A negative errno: it was not kept. */
static int intern(struct python_functions *functions, struct python_code *code,
		  uint32_t *ret_number)
{
	uint64_t hash = hash_code(functions, code);
	uint32_t number = hash_index_find(&functions->index, hash, equal_codes, functions, code);

	if (number != HASH_INDEX_NONE) {
		python_code_done(code);
		*ret_number = number;
		return 0;
	}
	number = (uint32_t)functions->codes.count;
	if (number >= PYTHON_MAX_FUNCTIONS)
		return -ENOSPC;
	if (!array_reserve(&functions->codes, number + 1) ||
	    !hash_index_add(&functions->index, hash, number))
		return -ENOMEM;
	*array_add(&functions->codes) = *code;
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
		array_add(&functions->process_codes);
	return &functions->process_codes.items[*index];
}

int python_functions_note(struct python_functions *functions, uint32_t process,
			  const struct pkbpf_event_python_code *record, size_t size)
{
	struct process_codes *codes = codes_of(functions, process);
	struct python_code code;
	uint32_t number;
	int err;

	if (!codes)
		return -ENOMEM;
	err = python_code_decode(record, size, &code);
	if (err)
		return err;
	err = intern(functions, &code, &number);
	if (err) {
		python_code_done(&code);
		/* Another function was there. */
		hash_map_remove(&codes->by_address, record->code);
		return err;
	}
	return hash_map_put(&codes->by_address, record->code, number) ? 0 : -ENOMEM;
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
	return number < functions->codes.count ? &functions->codes.items[number] : NULL;
}
