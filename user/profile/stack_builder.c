// SPDX-License-Identifier: BSD-2-Clause
/* Turns addresses into stacks of frames that stay valid after their processes exit. */
#include "profile/stack_builder.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/hotspot.h>
#include <pkbpf/ruby.h>
#include <pkbpf/v8.h>

#include "base/array.h"
#include "pkbpf/unwind_state.h"
#include "profile/region_names.h"
#include "profile/stack_end.h"
#include "profile/own_code.h"
#include "python/python_functions.h"
#include "symbol/jit/code_history.h"
#include "symbol/jit/v8_machine.h"

/* A direct-mapped cache of frames. Most addresses of a sample were in earlier samples of the
 * same process; the cache saves searching the mappings and the frame table. 32,768 entries are
 * 512 KiB.
 *
 * An entry belongs to an era: the time in which a process keeps its mappings unchanged. A change
 * of the mappings begins the next era, so older entries no longer match. */
#define FRAME_CACHE_BITS 15
#define FRAME_CACHE_SIZE (1U << FRAME_CACHE_BITS)
/* A word without a frame of its own. */
#define FRAME_LEFT_OUT (UINT32_MAX - 1)
/* A word that is the frame of its address, after all. */
#define FRAME_NATIVE (UINT32_MAX - 2)

#define ERA_NONE   0 /* unused entries */
#define ERA_KERNEL 1
#define ERA_FIRST  2

struct cached_frame {
	uint64_t key; /* address and whether it is a return address */
	uint32_t era;
	uint32_t frame;
};

/* The user stack of the previous sample, leaf first. */
struct last_stack {
	uint32_t era;
	ARRAY_OF(uint64_t) ips;
	ARRAY_OF(uint32_t) frames; /* one for each ip */
};

struct stack_builder {
	struct profile *profile;
	struct process_table *processes;
	struct code_history *code_history;
	const struct own_code *own_code; /* NULL: none */
	const struct python_functions *python;
	const struct region_names *regions;
	bool python_full;
	bool want_kernel, want_user;
	ARRAY_OF(uint32_t) eras; /* per incarnation; ERA_NONE: not begun */
	uint32_t next_era;
	bool is_generated;	   /* the stack being built has a generated frame */
	bool is_cut;		   /* … has Python frames behind the end of its native part */
	ARRAY_OF(uint32_t) frames; /* the stack being built, leaf first */
	struct last_stack last;
	struct cached_frame cache[FRAME_CACHE_SIZE];
};

struct stack_builder *stack_builder_new(struct profile *profile, bool want_kernel, bool want_user,
					struct code_history *code_history)
{
	struct stack_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	builder->profile = profile;
	builder->processes = profile_processes(profile);
	builder->code_history = code_history;
	builder->want_kernel = want_kernel;
	builder->want_user = want_user;
	builder->next_era = ERA_FIRST;
	return builder;
}

void stack_builder_use_own_code(struct stack_builder *builder, const struct own_code *own_code)
{
	builder->own_code = own_code;
}

void stack_builder_use_python(struct stack_builder *builder, const struct python_functions *python,
			      bool full)
{
	builder->python = python;
	builder->python_full = full;
}

void stack_builder_use_regions(struct stack_builder *builder, const struct region_names *names)
{
	builder->regions = names;
}

void stack_builder_free(struct stack_builder *builder)
{
	if (!builder)
		return;
	array_free(&builder->eras);
	array_free(&builder->frames);
	array_free(&builder->last.ips);
	array_free(&builder->last.frames);
	free(builder);
}

void stack_builder_set_profile(struct stack_builder *builder, struct profile *profile)
{
	builder->profile = profile;
}

/* The flag replaces the top bit, which is the same in all addresses of one side; other addresses
 * are not cached. */
static uint64_t cache_key(uint64_t ip, bool is_return_address)
{
	return ip << 1 | is_return_address;
}

static struct cached_frame *cache_slot(struct stack_builder *builder, uint32_t era, uint64_t key)
{
	/* Fibonacci hashing: the upper bits of the product depend on every bit of the factor. */
	uint64_t mixed = (key + ((uint64_t)era << 40)) * 0x9e3779b97f4a7c15ULL;

	return &builder->cache[mixed >> (64 - FRAME_CACHE_BITS)];
}

void stack_builder_forget_frames(struct stack_builder *builder)
{
	for (size_t i = 0; i < FRAME_CACHE_SIZE; i++)
		builder->cache[i].era = ERA_NONE;
	builder->last.era = ERA_NONE;
}

static uint32_t era_begin(struct stack_builder *builder)
{
	/* After 2^32 eras the numbers repeat. */
	if (builder->next_era == ERA_NONE) {
		stack_builder_forget_frames(builder);
		builder->next_era = ERA_FIRST;
		array_foreach(&builder->eras, era)
			*era = ERA_NONE;
	}
	return builder->next_era++;
}

/* ERA_NONE: out of memory; such a process is not cached. */
static uint32_t era_of(struct stack_builder *builder, uint32_t process)
{
	while (builder->eras.count <= process)
		if (!array_add(&builder->eras))
			return ERA_NONE;
	if (builder->eras.items[process] == ERA_NONE)
		builder->eras.items[process] = era_begin(builder);
	return builder->eras.items[process];
}

void stack_builder_forget_mappings(struct stack_builder *builder, uint32_t process)
{
	if (process < builder->eras.count)
		builder->eras.items[process] = ERA_NONE;
}

static bool is_generated(const struct stack_builder *builder, uint32_t file)
{
	struct mapped_file_table *files = process_table_files(builder->processes);

	return mapped_file_is_generated(files, mapped_file_table_get(files, file));
}

static struct frame_location user_location(struct stack_builder *builder,
					   const struct process *process,
					   const struct address_space *space, uint64_t ip,
					   bool is_return_address)
{
	struct frame_location location = {
		.space = FRAME_UNMAPPED,
		.object = process->id,
		.address = ip,
		.is_return_address = is_return_address,
	};
	const struct mapping *mapping;

	/* Its mapping looks like executable memory without a file, as generated code does. */
	if (PKBPF_IS_VSYSCALL(ip))
		return location;
	/* A call may be the last instruction of its mapping; then the return address is outside. */
	mapping = space ? address_space_find(space, ip - is_return_address) : NULL;
	if (!mapping || mapping->file == MAPPING_REFUSED)
		return location;
	if (mapping_has_file(mapping) && !is_generated(builder, mapping->file)) {
		location.space = FRAME_FILE;
		location.object = mapping->file;
		location.address = ip - mapping->start + mapping->file_offset;
	} else if (mapping->protection & PKBPF_PROT_EXEC) {
		location.space = FRAME_ANONYMOUS;
	}
	return location;
}

void stack_builder_note_mapping(struct stack_builder *builder, const struct process *process,
				const struct mapping_view *view)
{
	const struct address_space *space = process_table_mappings(builder->processes, process);
	const struct mapping *mapping;

	if (!builder->code_history || !(view->protection & PKBPF_PROT_EXEC) || !space)
		return;
	/* Every process has this page: none would be without generated code. */
	if (PKBPF_IS_VSYSCALL(view->start))
		return;
	mapping = address_space_find(space, view->start);
	if (!mapping || !(mapping->file == MAPPING_NO_FILE ||
			  (mapping_has_file(mapping) && is_generated(builder, mapping->file))))
		return;
	code_history_expect(builder->code_history, process->id, mapping);
}

/* Addresses of generated code may have other code at the next sample, so they are not cached. */
static void note_generated(struct stack_builder *builder, uint64_t time_ns,
			   struct frame_location *location)
{
	builder->is_generated = true;
	location->code = code_history_at(builder->code_history, location->object,
					 location->address - location->is_return_address, time_ns);
}

/* Whose code the frames of a sample are in, and when. */
struct code_moment {
	const struct process *process;
	const struct address_space *space;
	uint32_t era;
	uint64_t time_ns;
	/* Elsewhere a word that looks like a Python frame is what lies in a damaged stack. */
	bool has_python;
	size_t callers; /* words at the end of the stack that have a Python frame before them */
	bool has_javascript;
};

static uint32_t intern_user(struct stack_builder *builder, const struct code_moment *moment,
			    uint64_t ip, bool is_return_address, enum frame_neighbours neighbours)
{
	uint64_t key = cache_key(ip, is_return_address) | (uint64_t)neighbours << 61;
	struct cached_frame *slot = cache_slot(builder, moment->era, key);
	bool cached = moment->era != ERA_NONE && !(ip >> 63);
	struct frame_location location;
	uint32_t frame;

	if (cached && slot->era == moment->era && slot->key == key)
		return slot->frame;
	location = user_location(builder, moment->process, moment->space, ip, is_return_address);
	location.neighbours = neighbours;
	if (location.space == FRAME_ANONYMOUS && builder->code_history) {
		note_generated(builder, moment->time_ns, &location);
		cached = false;
	}
	frame = profile_intern_frame(builder->profile, &location);
	if (cached && frame != UINT32_MAX)
		*slot = (struct cached_frame){key, moment->era, frame};
	return frame;
}

static uint32_t intern_truncated(struct stack_builder *builder, enum pkbpf_stack_end end)
{
	struct frame_location location = {.space = FRAME_TRUNCATED, .address = end};

	return profile_intern_frame(builder->profile, &location);
}

/* A Python frame. Without a record of its code object it has no name. FRAME_LEFT_OUT: code of the
 * interpreter's own. */
static uint32_t intern_python(struct stack_builder *builder, const struct code_moment *moment,
			      uint64_t word)
{
	struct cached_frame *slot = cache_slot(builder, moment->era, word);
	struct frame_location location = {
		.space = FRAME_PYTHON,
		.object = PYTHON_FUNCTION_NONE,
	};
	const struct python_code *code;
	uint32_t frame;

	/* No address has a key like this: bit 63 is set. */
	if (moment->era != ERA_NONE && slot->era == moment->era && slot->key == word)
		return slot->frame;
	location.object = python_functions_at(builder->python, moment->process->id,
					      pkbpf_python_code_address(word));
	code = python_functions_get(builder->python, location.object);
	if (code)
		location.address = python_code_line(code, pkbpf_python_instruction(word));
	else if (pkbpf_python_code_address(word) == PKBPF_RUBY_UNKNOWN_CODE)
		location.address = PYTHON_UNKNOWN_IS_RUBY;
	frame = code && code->is_glue && !builder->python_full
			? FRAME_LEFT_OUT
			: profile_intern_frame(builder->profile, &location);
	if (moment->era != ERA_NONE && frame != UINT32_MAX)
		*slot = (struct cached_frame){word, moment->era, frame};
	return frame;
}

/* The method that runs in the interpreter's frame at index, in its place. FRAME_LEFT_OUT: it is not
 * known. */
static uint32_t intern_interpreted(struct stack_builder *builder, const struct code_moment *moment,
				   const struct sample_view *sample, size_t index)
{
	struct frame_location location = {
		.space = FRAME_ANONYMOUS,
		.object = moment->process->id,
		.address = sample->user_ips[index + 1],
	};

	location.code = code_history_interpreted(builder->code_history, moment->process->id,
						 location.address, index ? 0 : sample->user_ips[0],
						 moment->time_ns);
	if (!location.code)
		return FRAME_LEFT_OUT;
	builder->is_generated = true;
	return profile_intern_frame(builder->profile, &location);
}

static bool is_javascript(const struct sample_view *sample, size_t index)
{
	return index + 1 < sample->user_count &&
	       pkbpf_is_v8_pair(sample->user_ips[index], sample->user_ips[index + 1]);
}

/* The JavaScript function whose words are behind the native frame at index. FRAME_LEFT_OUT: it is
 * not known. */
static uint32_t intern_javascript(struct stack_builder *builder, const struct code_moment *moment,
				  const struct sample_view *sample, size_t index, bool is_compiled)
{
	const uint64_t *ips = sample->user_ips;
	bool is_leaf = !stack_builder_is_return_address(ips, sample->user_count, index,
							sample->after_syscall);
	uint64_t pc = index ? pkbpf_address(ips[index]) : ips[index];
	struct v8_site site = {
		.words = {ips[index + 1], ips[index + 2]},
		.pc = is_compiled ? pc - !is_leaf : 0,
		.is_leaf = is_leaf && !index,
	};
	struct frame_location location = {
		.space = FRAME_ANONYMOUS,
		.object = moment->process->id,
		.address = site.words[0],
	};

	location.code = code_history_javascript(builder->code_history, location.object, &site);
	if (!location.code)
		return FRAME_LEFT_OUT;
	return profile_intern_frame(builder->profile, &location);
}

/* Whether a native frame is in code that V8 compiled; the rest of its code is in its file. */
static bool is_compiled(struct stack_builder *builder, const struct code_moment *moment,
			const struct sample_view *sample, size_t index)
{
	uint64_t pc = index ? pkbpf_address(sample->user_ips[index]) : sample->user_ips[index];

	return user_location(builder, moment->process, moment->space, pc, index > 0).space ==
	       FRAME_ANONYMOUS;
}

/* The frame of a word of a JavaScript function. Compiled code is the function's frame itself; the
 * interpreter, and what else is V8's own, has a frame before it. */
static uint32_t frame_behind_native(struct stack_builder *builder, const struct code_moment *moment,
				    const struct sample_view *sample, size_t index)
{
	if (!index || !is_javascript(sample, index) ||
	    is_compiled(builder, moment, sample, index - 1))
		return FRAME_LEFT_OUT;
	return intern_javascript(builder, moment, sample, index - 1, false);
}

/* The frame of a word of a stack with JavaScript. FRAME_NATIVE: it stands for itself. */
static uint32_t frame_of_javascript(struct stack_builder *builder, const struct code_moment *moment,
				    const struct sample_view *sample, size_t index)
{
	uint32_t frame;

	if (pkbpf_is_v8(sample->user_ips[index]))
		return frame_behind_native(builder, moment, sample, index);
	if (!is_javascript(sample, index + 1) || !is_compiled(builder, moment, sample, index))
		return FRAME_NATIVE;
	frame = intern_javascript(builder, moment, sample, index, true);
	return frame == FRAME_LEFT_OUT ? FRAME_NATIVE : frame;
}

static bool has_javascript(const struct sample_view *sample)
{
	for (size_t i = 0; i + 1 < sample->user_count; i++)
		if (is_javascript(sample, i))
			return true;
	return false;
}

static uint32_t intern_kernel(struct stack_builder *builder, uint64_t ip, bool is_return_address)
{
	uint64_t key = cache_key(ip, is_return_address);
	struct cached_frame *slot = cache_slot(builder, ERA_KERNEL, key);
	struct frame_location location = {
		.space = FRAME_KERNEL,
		.address = ip,
		.is_return_address = is_return_address,
	};
	bool cached = ip >> 63;
	uint32_t frame;

	if (cached && slot->era == ERA_KERNEL && slot->key == key)
		return slot->frame;
	frame = profile_intern_frame(builder->profile, &location);
	if (cached && frame != UINT32_MAX)
		*slot = (struct cached_frame){key, ERA_KERNEL, frame};
	return frame;
}

static bool push_truncated(struct stack_builder *builder, enum pkbpf_stack_end end)
{
	uint32_t frame = intern_truncated(builder, end);

	if (frame == UINT32_MAX)
		return false;
	builder->frames.items[builder->frames.count++] = frame;
	return true;
}

/* Code built without frame pointers keeps data in that register, and the kernel then reads
 * "return addresses" from anywhere: text, counters. Addresses without a mapping at the root end
 * are such garbage. The leaf is the sampled register and stays. Without any known mapping of the
 * process, nothing is dropped. */
static bool drop_garbage(struct stack_builder *builder, const struct address_space *space,
			 size_t first_user)
{
	size_t count = builder->frames.count;

	if (!space || !address_space_mappings(space)->count)
		return false;
	while (count > first_user + 1) {
		uint32_t outermost = builder->frames.items[count - 1];

		if (profile_frame(builder->profile, outermost)->location.space != FRAME_UNMAPPED)
			break;
		count--;
	}
	if (count == builder->frames.count)
		return false;
	builder->frames.count = count;
	return true;
}

/* Number of frames from the root on that this stack shares with the previous one, and that need
 * no lookup. A program that does one thing shares most. The leaf is looked up: its address is no
 * return address. */
static size_t shared_frames(const struct last_stack *last, uint32_t era,
			    const struct sample_view *sample)
{
	const uint64_t *ips = sample->user_ips, *last_ips = last->ips.items;
	size_t count = sample->user_count, last_count = last->ips.count, shared = 0;

	if (era == ERA_NONE || era != last->era)
		return 0;
	while (shared + 1 < count && shared + 1 < last_count &&
	       ips[count - 1 - shared] == last_ips[last_count - 1 - shared])
		shared++;
	return shared;
}

static void remember_stack(struct last_stack *last, uint32_t era, const struct sample_view *sample,
			   const uint32_t *frames)
{
	size_t count = sample->user_count;

	last->era = ERA_NONE;
	if (!count || !array_reserve(&last->ips, count) || !array_reserve(&last->frames, count))
		return;
	memcpy(last->ips.items, sample->user_ips, count * sizeof(*last->ips.items));
	memcpy(last->frames.items, frames, count * sizeof(*last->frames.items));
	last->ips.count = last->frames.count = count;
	last->era = era;
}

/* Frames other than the leaf depend only on callers: stacks that share those give the same
 * answer. */
bool stack_builder_is_return_address(const uint64_t *user_ips, size_t count, size_t index,
				     bool after_syscall)
{
	if (!index)
		return after_syscall;
	return !pkbpf_is_interrupted(user_ips[index]) &&
	       !(index + 1 < count && pkbpf_is_interrupted(user_ips[index + 1]));
}

/* The native frame that runs the Python frames behind it: the interpreter's loop. */
static bool is_interpreter(const struct code_moment *moment, const struct sample_view *sample,
			   size_t index)
{
	const uint64_t *ips = sample->user_ips;

	return moment->has_python && index + 1 < sample->user_count &&
	       !pkbpf_is_python(ips[index]) && pkbpf_is_python(ips[index + 1]) &&
	       pkbpf_python_kind(ips[index + 1]) == PKBPF_PYTHON_FRAME;
}

/* Where a native frame stands: the `left`-th word from the root. */
static enum frame_neighbours among_python(const struct code_moment *moment, size_t left)
{
	if (!moment->callers)
		return FRAME_ALONE;
	return left <= moment->callers ? FRAME_CALLS_PYTHON : FRAME_CALLED_BY_PYTHON;
}

static enum frame_neighbours neighbours_of(struct stack_builder *builder,
					   const struct code_moment *moment,
					   const struct sample_view *sample, size_t index)
{
	/* The interpreter stands for a function without a name. */
	if (moment->has_javascript)
		return is_javascript(sample, index + 1) &&
				       intern_javascript(builder, moment, sample, index, false) ==
					       FRAME_LEFT_OUT
			       ? FRAME_ALONE
			       : FRAME_AMONG_JAVASCRIPT;
	return builder->python_full ? FRAME_ALONE
				    : among_python(moment, sample->user_count - index);
}

/* The frame of one word of the user stack; FRAME_LEFT_OUT: none. UINT32_MAX: out of memory. */
static uint32_t frame_of_word(struct stack_builder *builder, const struct code_moment *moment,
			      const struct sample_view *sample, size_t index)
{
	const uint64_t *ips = sample->user_ips;
	bool is_return_address;

	if (moment->has_python && pkbpf_is_python(ips[index])) {
		if (pkbpf_python_kind(ips[index]) == PKBPF_PYTHON_FRAME)
			return intern_python(builder, moment, ips[index]);
		/* Here the native stack ends, and its end is this sample's. */
		builder->is_cut = true;
		return stack_end_is_truncated(sample->user_end)
			       ? intern_truncated(builder, sample->user_end)
			       : FRAME_LEFT_OUT;
	}
	if (!builder->python_full && is_interpreter(moment, sample, index))
		return FRAME_LEFT_OUT;
	if (builder->code_history && pkbpf_is_hotspot(ips[index]))
		return FRAME_LEFT_OUT;
	if (builder->code_history && index + 1 < sample->user_count &&
	    pkbpf_is_hotspot(ips[index + 1])) {
		uint32_t frame = intern_interpreted(builder, moment, sample, index);

		if (frame != FRAME_LEFT_OUT)
			return frame;
	}
	if (moment->has_javascript) {
		uint32_t frame = frame_of_javascript(builder, moment, sample, index);

		if (frame != FRAME_NATIVE)
			return frame;
	}
	is_return_address = stack_builder_is_return_address(ips, sample->user_count, index,
							    sample->after_syscall);
	return intern_user(builder, moment, index ? pkbpf_address(ips[index]) : ips[index],
			   is_return_address, neighbours_of(builder, moment, sample, index));
}

static size_t remove_left_out(uint32_t *frames, size_t count)
{
	size_t to = 0;

	for (size_t i = 0; i < count; i++)
		if (frames[i] != FRAME_LEFT_OUT)
			frames[to++] = frames[i];
	return to;
}

/* Words behind the first Python frame. */
static size_t callers_of_python(const uint64_t *ips, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pkbpf_is_python(ips[i]))
			return count - 1 - i;
	return 0;
}

/* Frames that call Python functions in one stack and not in the other differ. */
static size_t shared_callers(const struct last_stack *last, size_t callers, size_t shared)
{
	size_t last_callers = callers_of_python(last->ips.items, last->ips.count);
	size_t least = callers < last_callers ? callers : last_callers;

	return callers == last_callers || shared < least ? shared : least;
}

static bool push_user(struct stack_builder *builder, const struct sample_view *sample,
		      const struct process *process)
{
	const struct address_space *space = process_table_mappings(builder->processes, process);
	uint32_t era = era_of(builder, process->id);
	struct code_moment moment = {
		.process = process,
		.space = space,
		.era = era,
		.time_ns = sample->time_ns,
		.has_python =
			builder->python && python_functions_knows(builder->python, process->id),
	};
	size_t first_user = builder->frames.count,
	       shared = shared_frames(&builder->last, era, sample);
	uint32_t *frames = builder->frames.items + first_user;

	moment.has_javascript = builder->code_history &&
				code_history_has_javascript(builder->code_history, process->id) &&
				has_javascript(sample);
	/* A function's frame depends on what is behind it, and on what is there now. */
	builder->is_generated |= moment.has_javascript;
	if (moment.has_javascript)
		shared = 0;
	if (moment.has_python) {
		moment.callers = callers_of_python(sample->user_ips, sample->user_count);
		shared = shared_callers(&builder->last, moment.callers, shared);
	}
	for (size_t i = 0; i < sample->user_count - shared; i++) {
		frames[i] = frame_of_word(builder, &moment, sample, i);
		if (frames[i] == UINT32_MAX)
			return false;
	}
	if (shared)
		memcpy(frames + sample->user_count - shared,
		       builder->last.frames.items + builder->last.frames.count - shared,
		       shared * sizeof(*frames));
	remember_stack(&builder->last, builder->is_generated || builder->is_cut ? ERA_NONE : era,
		       sample, frames);
	builder->frames.count += remove_left_out(frames, sample->user_count);
	if (builder->is_cut)
		return true;
	if (stack_end_is_truncated(sample->user_end))
		return push_truncated(builder, sample->user_end);
	if (sample->user_end == PKBPF_END_UNVERIFIED && drop_garbage(builder, space, first_user))
		return push_truncated(builder, PKBPF_END_UNVERIFIED);
	return true;
}

/* Puts one frame for all that our own programs called, and for themselves. Returns how many words
 * of the sample that are; SIZE_MAX: out of memory. */
static size_t push_own(struct stack_builder *builder, const struct sample_view *sample,
		       size_t count)
{
	size_t own = builder->own_code ? count : 0;
	uint32_t frame;

	while (own && !own_code_has(builder->own_code, sample->kernel_ips[own - 1]))
		own--;
	if (!own)
		return 0;
	frame = profile_intern_own(builder->profile);
	if (frame == UINT32_MAX)
		return SIZE_MAX;
	builder->frames.items[builder->frames.count++] = frame;
	return own;
}

static bool push_kernel(struct stack_builder *builder, const struct sample_view *sample)
{
	size_t count = sample->kernel_count, own;

	/* The kernel takes the emulated vsyscall page for kernel text and continues there. */
	while (count && PKBPF_IS_VSYSCALL(sample->kernel_ips[count - 1]))
		count--;
	own = push_own(builder, sample, count);
	if (own == SIZE_MAX)
		return false;
	for (size_t i = own; i < count; i++) {
		uint32_t frame = intern_kernel(builder, sample->kernel_ips[i], i > 0);

		if (frame == UINT32_MAX)
			return false;
		builder->frames.items[builder->frames.count++] = frame;
	}
	return true;
}

/* From the innermost region outwards: the root is last. */
static bool push_regions(struct stack_builder *builder, uint32_t region)
{
	const struct region_name *name;

	for (uint32_t i = 0; region && builder->regions && i < PKBPF_SPAN_DEPTH; i++) {
		uint32_t frame;

		name = region_names_get(builder->regions, region - 1);
		if (!name)
			return true;
		frame = profile_intern_region(builder->profile, region - 1, name->name);
		if (frame == UINT32_MAX)
			return false;
		builder->frames.items[builder->frames.count++] = frame;
		region = name->parent == PKBPF_NO_ROW ? 0 : name->parent + 1;
	}
	return true;
}

uint32_t stack_builder_add(struct stack_builder *builder, const struct sample_view *sample,
			   const struct process *process)
{
	/* One more for the frame that says where the stack was truncated. */
	if (!array_reserve(&builder->frames,
			   sample->kernel_count + sample->user_count + 1 + PKBPF_SPAN_DEPTH))
		return UINT32_MAX;
	builder->frames.count = 0;
	builder->is_generated = false;
	builder->is_cut = false;
	if (builder->want_kernel && !push_kernel(builder, sample))
		return UINT32_MAX;
	if (builder->want_user && !push_user(builder, sample, process))
		return UINT32_MAX;
	if (!push_regions(builder, sample->region))
		return UINT32_MAX;
	return profile_intern_stack(builder->profile, builder->frames.items, builder->frames.count);
}

bool stack_builder_has_generated(const struct stack_builder *builder)
{
	return builder->is_generated;
}

uint32_t stack_builder_read_again(struct stack_builder *builder, uint32_t stack, uint64_t time_ns)
{
	size_t count;
	const uint32_t *frames = profile_stack(builder->profile, stack, &count);

	if (!array_reserve(&builder->frames, count))
		return UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		struct frame_location location =
			profile_frame(builder->profile, frames[i])->location;
		uint32_t frame = frames[i];

		if (location.space == FRAME_ANONYMOUS && builder->code_history &&
		    !pkbpf_is_hotspot(location.address) && !pkbpf_is_v8(location.address)) {
			note_generated(builder, time_ns, &location);
			frame = profile_intern_frame(builder->profile, &location);
		}
		if (frame == UINT32_MAX)
			return UINT32_MAX;
		builder->frames.items[i] = frame;
	}
	return profile_intern_stack(builder->profile, builder->frames.items, count);
}
