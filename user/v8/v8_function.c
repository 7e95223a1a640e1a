// SPDX-License-Identifier: BSD-2-Clause
/* Reads names and positions of functions: src/objects/scope-info.tq. */
#include "v8/v8_function.h"

#include <errno.h>
#include <stdio.h>

#include "v8/v8_string.h"

uint64_t v8_function_identity(const struct v8_memory *memory, const struct v8_layout *layout,
			      uint64_t shared)
{
	uint32_t ids[2];
	uint64_t script;
	int32_t script_id;

	if (v8_read_bytes(memory, shared, layout->kernel.shared_literal, ids, sizeof(ids)))
		return 0;
	if (layout->kernel.has_unique)
		return ids[1];
	if (v8_read_word(memory, shared, layout->kernel.shared_script, &script) ||
	    v8_read_smi(memory, script, layout->kernel.script_id, &script_id))
		return 0;
	return pkbpf_v8_identity((uint32_t)script_id, ids[0]);
}

static int check_type(const struct v8_memory *memory, uint64_t object, uint16_t wanted)
{
	uint16_t type;
	int err = v8_read_type(memory, object, &type);

	return err ? err : type == wanted ? 0 : -ENOENT;
}

struct scope {
	const struct v8_memory *memory;
	uint64_t reference;
	uint32_t flags;
};

static int read_flags(const struct v8_layout *layout, struct scope *scope)
{
	int32_t flags = 0;
	int err;

	if (layout->kernel.scope_is_raw)
		return v8_read_bytes(scope->memory, scope->reference, PKBPF_V8_SCOPE_AT(0),
				     &scope->flags, sizeof(scope->flags));
	err = v8_read_smi(scope->memory, scope->reference, PKBPF_V8_SCOPE_AT(0), &flags);
	scope->flags = (uint32_t)flags;
	return err;
}

/* Index of the word behind the local variables. */
static int find_names(const struct v8_layout *layout, const struct scope *scope,
		      uint32_t *ret_index)
{
	int32_t locals;
	int err = v8_read_smi(scope->memory, scope->reference,
			      PKBPF_V8_SCOPE_AT(PKBPF_V8_SCOPE_LOCALS), &locals);

	if (err)
		return err;
	if (locals < 0 || locals > PKBPF_V8_MOST_LOCALS)
		return -EINVAL;
	*ret_index = pkbpf_v8_scope_names(&layout->kernel, scope->flags, (uint32_t)locals);
	return 0;
}

/* Names are strings; anything else in their place is no name. */
static void read_name(const struct v8_memory *memory, uint64_t reference, char *name)
{
	uint16_t type;

	name[0] = '\0';
	if (!v8_is_object(reference))
		return;
	if (v8_read_type(memory, reference, &type) ||
	    (type < PKBPF_V8_FIRST_NO_STRING &&
	     v8_string_read(memory, reference, name, V8_NAME_BYTES)))
		snprintf(name, V8_NAME_BYTES, "%s", V8_NAME_UNREADABLE);
}

static int read_scope_name(const struct scope *scope, uint32_t index, char *name)
{
	uint64_t word;
	int err = v8_read_word(scope->memory, scope->reference, PKBPF_V8_SCOPE_AT(index), &word);

	if (!err)
		read_name(scope->memory, word, name);
	return err;
}

static int read_positions(const struct v8_layout *layout, const struct scope *scope, uint32_t index,
			  struct v8_function *function)
{
	if (layout->kernel.scope_is_raw)
		index = PKBPF_V8_SCOPE_POSITIONS;
	return v8_read_smi(scope->memory, scope->reference, PKBPF_V8_SCOPE_AT(index),
			   &function->start)
		       ? -EINVAL
		       : v8_read_smi(scope->memory, scope->reference, PKBPF_V8_SCOPE_AT(index + 1),
				     &function->end);
}

static int read_scope(const struct v8_memory *memory, const struct v8_layout *layout,
		      uint64_t reference, struct v8_function *function)
{
	struct scope scope = {.memory = memory, .reference = reference};
	uint32_t index;
	int err = read_flags(layout, &scope);

	if (!err)
		err = find_names(layout, &scope, &index);
	if (err)
		return err;
	if (PKBPF_V8_SCOPE_HAS_FUNCTION(scope.flags)) {
		err = read_scope_name(&scope, index, function->name);
		index += 2;
	}
	if (!err && PKBPF_V8_SCOPE_HAS_INFERRED(scope.flags)) {
		if (!function->name[0])
			err = read_scope_name(&scope, index, function->name);
		index++;
	}
	return err ? err : read_positions(layout, &scope, index, function);
}

/* Functions that are not compiled have their name in the place of the ScopeInfo. */
static int read_description(const struct v8_memory *memory, const struct v8_layout *layout,
			    uint64_t shared, struct v8_function *function)
{
	uint64_t name;
	int err = v8_read_word(memory, shared, layout->kernel.shared_name, &name);

	if (err)
		return err;
	if (!check_type(memory, name, layout->kernel.scope_type))
		return read_scope(memory, layout, name, function);
	read_name(memory, name, function->name);
	return 0;
}

int v8_function_read(const struct v8_memory *memory, const struct v8_layout *layout,
		     uint64_t shared, struct v8_function *ret_function)
{
	struct v8_function *function = ret_function;
	int err = check_type(memory, shared, layout->kernel.shared_type);

	*function = (struct v8_function){.start = -1, .end = -1};
	function->identity = v8_function_identity(memory, layout, shared);
	if (!err)
		err = v8_read_word(memory, shared, layout->kernel.shared_script, &function->script);
	if (!err)
		err = check_type(memory, function->script, layout->kernel.script_type);
	if (!err)
		err = v8_read_smi(memory, function->script, layout->kernel.script_id,
				  &function->script_id);
	if (!err)
		err = read_description(memory, layout, shared, function);
	if (err)
		return err;
	if (!function->identity ||
	    function->identity != v8_function_identity(memory, layout, shared))
		return -ESTALE;
	return 0;
}
