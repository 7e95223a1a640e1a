// SPDX-License-Identifier: BSD-2-Clause
/* Holds the frames, stacks and strings that slices share, and imports frames of other profiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "profile/account/peer_text.h"
#include "profile/profile_private.h"
#include "symbol/dwarf/line_store.h"

void profile_names_unref(struct profile_names *names)
{
	if (!names || --names->references)
		return;
	string_pool_free(names->strings);
	stack_table_free(names->stacks);
	line_store_free(names->lines);
	frame_table_done(&names->frames);
	free(names);
}

struct profile_names *profile_names_new(void)
{
	struct profile_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->references = 1;
	frame_table_init(&names->frames);
	names->strings = string_pool_new();
	names->stacks = stack_table_new();
	names->lines = line_store_new();
	if (names->strings && names->stacks && names->lines)
		return names;
	profile_names_unref(names);
	return NULL;
}

static bool put_text(struct profile_names *names, const char **text)
{
	uint32_t string = *text ? string_pool_add(names->strings, *text) : 0;

	if (string == STRING_POOL_NONE)
		return false;
	if (*text)
		*text = string_pool_get(names->strings, string);
	return true;
}

static bool put_lines(struct profile_names *names, struct symbol *symbol)
{
	_cleanup_free_ struct symbol_line *lines = NULL;

	if (!symbol->line_count)
		return true;
	lines = malloc(symbol->line_count * sizeof(*lines));
	if (!lines)
		return false;
	for (size_t i = 0; i < symbol->line_count; i++) {
		lines[i] = symbol->lines[i];
		if (!put_text(names, &lines[i].function) || !put_text(names, &lines[i].file))
			return false;
	}
	symbol->lines = line_store_add(names->lines, lines, symbol->line_count);
	return symbol->lines;
}

bool profile_names_keep(struct profile_names *names, struct symbol *symbol)
{
	return put_text(names, &symbol->module) && put_text(names, &symbol->build_id) &&
	       put_lines(names, symbol);
}

uint32_t profile_put_frame(struct profile *profile, const struct frame *frame)
{
	struct frame copy = *frame;

	copy.location.object = 0;
	if (!profile_names_keep(profile->names, &copy.symbol))
		return UINT32_MAX;
	return frame_table_put(&profile->names->frames, &copy);
}

/* A frame that is no address, but has a name. */
static uint32_t intern_named(struct profile *profile, const struct frame_location *location,
			     const char *text, uint32_t flags)
{
	uint32_t id = frame_table_add(&profile->names->frames, location);
	struct symbol_line line = {.function = text, .file = ""};
	struct symbol symbol = {
		.result = SYMBOL_FOUND, .flags = flags, .lines = &line, .line_count = 1};
	struct frame *frame;

	if (id == FRAME_TABLE_NONE)
		return UINT32_MAX;
	frame = frame_table_at(&profile->names->frames, id);
	if (frame->named && !strcmp(frame->symbol.lines[0].function, text))
		return id;
	if (!put_lines(profile->names, &symbol))
		return UINT32_MAX;
	frame->symbol = symbol;
	frame->named = true;
	return id;
}

uint32_t profile_intern_own(struct profile *profile)
{
	/* No kernel has code at that address. */
	return intern_named(profile, &(struct frame_location){.space = FRAME_KERNEL, .address = 1},
			    PROFILE_OWN_NAME, SYMBOL_IS_KERNEL);
}

uint32_t profile_intern_region(struct profile *profile, uint32_t number, const char *name)
{
	char text[PKBPF_SPAN_NAME + 2];

	snprintf(text, sizeof(text), "[%.*s]", PKBPF_SPAN_NAME - 1, name);
	/* Another name may get the number of a process that has ended. */
	return intern_named(profile,
			    &(struct frame_location){.space = FRAME_REGION,
						     .object = number,
						     .address = hash_bytes(text, strlen(text), 0)},
			    text, 0);
}

uint32_t profile_intern_peer(struct profile *profile, uint32_t number, const struct peer *peer)
{
	char name[PEER_TEXT_SIZE], text[PEER_TEXT_SIZE + 2];

	snprintf(text, sizeof(text), "[%s]", peer_text(name, peer));
	return intern_named(
		profile, &(struct frame_location){.space = FRAME_PEER, .object = number}, text, 0);
}

/* Estimated bytes of a string with its place in the index; names of threads and cgroups are
 * short. */
#define STRING_BYTES 96

size_t profile_names_bytes(const struct profile *profile)
{
	return profile_stack_bytes(profile) +
	       string_pool_count(profile->names->strings) * STRING_BYTES;
}

static uint32_t adopt_frame(struct profile *profile, const struct frame *from)
{
	uint32_t number = frame_table_add(&profile->names->frames, &from->location);
	struct frame *frame;
	struct symbol symbol = from->symbol;

	if (number == FRAME_TABLE_NONE || !from->named)
		return number;
	frame = frame_table_at(&profile->names->frames, number);
	if (frame->named)
		return number;
	if (!profile_names_keep(profile->names, &symbol))
		return number;
	frame->symbol = symbol;
	frame->named = true;
	return number;
}

uint32_t profile_adopt_stack(struct profile *profile, const struct profile *other, uint32_t stack)
{
	size_t count;
	const uint32_t *from = profile_stack(other, stack, &count);
	_cleanup_free_ uint32_t *frames = malloc((count + 1) * sizeof(*frames));

	for (size_t i = 0; frames && i < count; i++) {
		frames[i] = adopt_frame(profile, profile_frame(other, from[i]));
		if (frames[i] == FRAME_TABLE_NONE)
			return UINT32_MAX;
	}
	return frames ? profile_intern_stack(profile, frames, count) : UINT32_MAX;
}
