// SPDX-License-Identifier: BSD-2-Clause
/* Demangles C++ (Itanium) and Rust (legacy and v0) names with libiberty, within bounds. */
#include "elf/demangle.h"

#include <setjmp.h>
#include <string.h>

#include <libiberty/demangle.h>

struct output {
	char *text;
	size_t size; /* with the NUL */
	size_t used;
	size_t dropped; /* bytes that did not fit */
	jmp_buf full;
};

/*
 * Repeated parts make the output grow exponentially with the input, and the decoders have no way to
 * be told to stop. What does not fit is dropped; a decoder that still has not ended after so many
 * bytes is left by a jump.
 */
#define MAX_DROPPED_BYTES (64U << 10)
/*
 * Decoders keep everything on the stack, but for the letters of a non-ASCII Rust identifier, which
 * come out one by one: jumping between two of them leaks that identifier, so the jump waits for a
 * longer part, though not for ever.
 */
#define MAX_LETTER_BYTES	 4
#define MAX_DROPPED_BYTES_AT_ALL (1U << 20)

static void write_output(const char *part, size_t size, void *opaque)
{
	struct output *output = opaque;
	size_t left = output->size - 1 - output->used;

	/* Empty parts come as NULL. */
	if (size == 0)
		return;
	if (size > left) {
		output->dropped += size - left;
		if (output->dropped > MAX_DROPPED_BYTES_AT_ALL ||
		    (output->dropped > MAX_DROPPED_BYTES && size > MAX_LETTER_BYTES))
			longjmp(output->full, 1);
		size = left;
	}
	memcpy(output->text + output->used, part, size);
	output->used += size;
}

static void finish_output(struct output *output)
{
	static const char ellipsis[] = "...";

	output->text[output->used] = '\0';
	if (output->dropped > 0 && output->size > sizeof(ellipsis))
		memcpy(output->text + output->size - sizeof(ellipsis), ellipsis, sizeof(ellipsis));
}

static bool run_decoder(const char *name, bool rust, struct output *output)
{
	int done;

	output->used = output->dropped = 0;
	if (setjmp(output->full)) {
		finish_output(output);
		return true;
	}
	/* Without DMGL_NO_RECURSE_LIMIT both stop at their recursion limits. */
	if (rust)
		done = rust_demangle_callback(name, DMGL_NO_OPTS, write_output, output);
	else
		done = cplus_demangle_v3_callback(name, DMGL_NO_OPTS, write_output, output);
	if (!done || output->used == 0)
		return false;
	finish_output(output);
	return true;
}

bool demangle(const char *name, char *text, size_t size)
{
	struct output output = {.text = text, .size = size};
	bool cplus = name[0] == '_' && name[1] == 'Z';
	bool rust = name[0] == '_' && name[1] == 'R';

	if ((!cplus && !rust) || size == 0 ||
	    strnlen(name, DEMANGLE_MAX_INPUT_BYTES + 1) > DEMANGLE_MAX_INPUT_BYTES)
		return false;
	/* Legacy Rust names are C++ names that end in a hash: the stricter decoder goes first. */
	return run_decoder(name, true, &output) || (cplus && run_decoder(name, false, &output));
}

const char *demangle_name(struct string_pool *strings, const char *name)
{
	char text[DEMANGLE_MAX_OUTPUT_BYTES];

	if (demangle(name, text, sizeof(text)))
		return string_pool_get(strings, string_pool_add(strings, text));
	return string_pool_get(strings, string_pool_add_n(strings, name, sizeof(text)));
}
