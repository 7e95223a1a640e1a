// SPDX-License-Identifier: BSD-2-Clause
/* Unwinds copied stacks with tables that were not ready when the stacks were copied, and
 * re-verifies others. */
#include "unwind/raw_unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unused.h"
#include "event/raw_stack.h"
#include "unwind/process_tracker.h"
#include "unwind/step.h"

#include <pkbpf/python.h>
#include <pkbpf/v8.h>
#include <pkbpf/unwind_state.h>

/* Tables are requested when a mapping is announced, long before its records arrive in order, so
 * only large files are still being built. Limits: TABLE_WAIT_NS per wait; in total
 * WAIT_ALWAYS_NS plus 1/WAIT_TIME_PART of the time that the records span. */
#define TABLE_WAIT_NS  (200 * NS_PER_MS)
#define WAIT_ALWAYS_NS (1000 * NS_PER_MS)
#define WAIT_TIME_PART 20

struct raw_unwinder {
	struct raw_unwinder_options options;
	struct event_sink next;
	bool without_generated;	    /* unwinds ignore rows of generated code */
	uint64_t generated_address; /* last address with such a rule in the last unwind; 0: none */
	uint64_t first_ns, now_ns;  /* first and current time of the record stream */
	struct raw_unwinder_stats stats;
	uint64_t ips[PKBPF_MAX_USER_FRAMES];
};

struct raw_walk {
	struct raw_unwinder *unwinder;
	const struct raw_stack_view *raw;
	const struct mapping_list *mappings;
	uint32_t file;	  /* of the mapping entered last; MAPPING_NO_FILE: generated code */
	bool in_java;	  /* it has code of a JVM */
	bool went_beyond; /* the last read was beyond the end of the copy */
};

struct raw_unwinder *raw_unwinder_new(const struct raw_unwinder_options *options,
				      const struct event_sink *next)
{
	struct raw_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->options = *options;
	unwinder->next = *next;
	return unwinder;
}

void raw_unwinder_free(struct raw_unwinder *unwinder)
{
	free(unwinder);
}

static bool may_wait(const struct raw_unwinder *unwinder)
{
	return unwinder->stats.waited_ns <
	       WAIT_ALWAYS_NS + (unwinder->now_ns - unwinder->first_ns) / WAIT_TIME_PART;
}

/* Waits for a table, or for the postponed part of it that covers the address. */
static void wait_for_table(struct raw_unwinder *unwinder, uint32_t file, uint64_t elf_address)
{
	uint64_t start_ns = clock_now_ns();

	if (!may_wait(unwinder))
		return;
	table_cache_want_code(unwinder->options.tables, file, elf_address);
	table_cache_wait_file(unwinder->options.tables, file, TABLE_WAIT_NS);
	unwinder->stats.waited_ns += clock_now_ns() - start_ns;
}

static bool find_generated(struct raw_walk *walk, uint64_t address,
			   struct pkbpf_unwind_rule *ret_rule)
{
	struct generated_code *generated = walk->unwinder->options.generated;

	if (!generated || walk->unwinder->without_generated ||
	    !generated_code_find_rule(generated, walk->raw->sample.pid, address, ret_rule))
		return false;
	walk->unwinder->generated_address = address;
	return true;
}

static uint32_t find_code(void *context, uint64_t address, struct unwind_code *ret_code)
{
	struct raw_walk *walk = context;
	struct raw_unwinder *unwinder = walk->unwinder;
	const struct mapping *code = mapping_list_find(walk->mappings, address);
	struct pkbpf_unwind_mapping mapping;

	if (!code || !mapping_is_unwound(code))
		return PKBPF_END_NO_MAPPING;
	walk->in_java = false;
	walk->file = table_cache_know(unwinder->options.tables, code->file);
	ret_code->start = code->start;
	ret_code->end = code->end;
	table_cache_describe(unwinder->options.tables, walk->file, code->start, code->end,
			     code->file_offset, &mapping);
	if (mapping.flags & PKBPF_MAPPING_ANONYMOUS) {
		struct pkbpf_unwind_rule rule;

		if (unwinder->options.hotspot &&
		    hotspot_tracker_covers(unwinder->options.hotspot, walk->raw->sample.pid,
					   code->start, code->end)) {
			walk->file = MAPPING_NO_FILE;
			walk->in_java = true;
			return 0;
		}
		walk->file = MAPPING_NO_FILE;
		ret_code->flags =
			find_generated(walk, address, &rule) ? 0 : PKBPF_MAPPING_ANONYMOUS;
		return 0;
	}
	if (mapping.flags & PKBPF_MAPPING_NO_ROOM)
		return PKBPF_END_NO_ROOM;
	if (!table_cache_ready(unwinder->options.tables, walk->file))
		wait_for_table(unwinder, walk->file, address - mapping.bias);
	table_cache_describe(unwinder->options.tables, walk->file, code->start, code->end,
			     code->file_offset, &mapping);
	if (!(mapping.flags & PKBPF_MAPPING_NO_FILE) &&
	    !table_cache_ready(unwinder->options.tables, walk->file))
		return PKBPF_END_NO_TABLE;
	ret_code->bias = mapping.bias;
	ret_code->flags = mapping.flags;
	return 0;
}

/* Waits until the code of the JVM may be looked at again. */
static void wait_for_code(struct raw_unwinder *unwinder, uint32_t pid)
{
	uint64_t start_ns = clock_now_ns(),
		 wait_ns = hotspot_tracker_wait_ns(unwinder->options.hotspot, pid, start_ns);

	if (wait_ns > TABLE_WAIT_NS || !may_wait(unwinder))
		return;
	usleep((useconds_t)(wait_ns / 1000 + 1));
	unwinder->stats.waited_ns += clock_now_ns() - start_ns;
}

/* Code that is not listed has no guessed frame pointer. */
static bool find_java(struct raw_walk *walk, uint64_t address, struct pkbpf_unwind_rule *ret_rule)
{
	struct raw_unwinder *unwinder = walk->unwinder;
	struct hotspot_tracker *code = unwinder->options.hotspot;
	uint32_t pid = walk->raw->sample.pid;
	enum hotspot_tracker_rule found = hotspot_tracker_find_rule(code, pid, address, ret_rule);

	if (found == HOTSPOT_TRACKER_PENDING) {
		wait_for_code(unwinder, pid);
		found = hotspot_tracker_find_rule(code, pid, address, ret_rule);
	}
	if (found != HOTSPOT_TRACKER_KNOWN)
		*ret_rule = (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_PENDING};
	return true;
}

static bool find_rule(void *context, _unused_ const struct unwind_code *code, uint64_t elf_address,
		      struct pkbpf_unwind_rule *ret_rule)
{
	struct raw_walk *walk = context;
	struct table_cache *tables = walk->unwinder->options.tables;

	if (walk->in_java)
		return find_java(walk, elf_address, ret_rule);
	if (walk->file == MAPPING_NO_FILE)
		return find_generated(walk, elf_address, ret_rule);
	if (!table_cache_find_rule(tables, walk->file, elf_address, ret_rule))
		return false;
	if (ret_rule->cfa != PKBPF_CFA_PENDING)
		return true;
	wait_for_table(walk->unwinder, walk->file, elf_address);
	return table_cache_find_rule(tables, walk->file, elf_address, ret_rule);
}

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	struct raw_walk *walk = context;
	const struct raw_stack_view *raw = walk->raw;
	struct raw_stack_extent extent = {raw->stack_start, raw->stack_size, raw->holes};
	enum raw_stack_place place;
	size_t offset;

	place = raw_stack_find(&extent, address, size, &offset);
	walk->went_beyond = place == RAW_STACK_BEYOND;
	if (place != RAW_STACK_COPIED)
		return -EFAULT;
	memcpy(buffer, raw->stack + offset, size);
	return 0;
}

/* Mappings at the time of the last record. NULL: unknown. */
static const struct mapping_list *mappings_of(const struct raw_unwinder *unwinder, uint32_t pid)
{
	struct process_table *processes = unwinder->options.processes;
	const struct process *process = process_table_find(processes, pid);
	const struct address_space *space =
		process ? process_table_mappings(processes, process) : NULL;
	const struct tracked_process *live;

	if (space)
		return address_space_mappings(space);
	live = unwinder->options.live ? process_tracker_find(unwinder->options.live, pid) : NULL;
	return live && live->map ? &live->map->list : NULL;
}

static const struct pkbpf_python_process *interpreter_of(const struct raw_unwinder *unwinder,
							 uint32_t pid)
{
	const struct tracked_process *live =
		unwinder->options.live ? process_tracker_find(unwinder->options.live, pid) : NULL;

	return live ? &live->python : NULL;
}

static struct unwind_walk_result walk_raw(struct raw_unwinder *unwinder,
					  const struct raw_stack_view *raw)
{
	static const struct unwind_walk_ops ops = {find_code, find_rule, read_memory, NULL};
	struct unwind_walk_options options = {
		.exact = !raw->sample.after_syscall,
		.no_guess = unwinder->options.no_guess,
		.python = raw->python,
		.python_count = raw->python_count,
		.interpreter = raw->python_count ? interpreter_of(unwinder, raw->sample.pid) : NULL,
	};
	struct raw_walk walk = {
		.unwinder = unwinder,
		.raw = raw,
		.mappings = mappings_of(unwinder, raw->sample.pid),
	};
	struct unwind_walk_result result;

	unwinder->generated_address = 0;
	if (!walk.mappings) {
		unwinder->ips[0] = raw->regs[PKBPF_REG_IP];
		return (struct unwind_walk_result){.end = PKBPF_END_NO_PROCESS, .depth = 1};
	}
	result =
		unwind_walk(&ops, &walk, raw->regs, &options, unwinder->ips, PKBPF_MAX_USER_FRAMES);
	if (result.end == PKBPF_END_FAULT_RA && raw->cut && walk.went_beyond)
		result.end = PKBPF_END_COPY_CUT;
	return result;
}

/* Whether these are the native frames of the sample. */
static bool has_frames(const struct sample_view *sample, const uint64_t *ips, size_t count)
{
	size_t native = 0;

	for (size_t i = 0; i < sample->user_count; i++) {
		if (pkbpf_is_python(sample->user_ips[i]))
			continue;
		if (native >= count || sample->user_ips[i] != ips[native++])
			return false;
	}
	return native == count;
}

/* The copy has no heap, in which functions are described. */
static bool has_javascript(const struct sample_view *sample)
{
	for (size_t i = 0; i < sample->user_count; i++)
		if (pkbpf_is_v8(sample->user_ips[i]))
			return true;
	return false;
}

/* The kernel side had the same registers and memory, so it must have found the same frames. A copy
 * that is too short, or a table or mapping that is gone by now, does not count as a difference. */
static void check_walk(struct raw_unwinder *unwinder, const struct raw_stack_view *raw)
{
	const struct sample_view *found = &raw->sample;
	struct unwind_walk_result result;

	/* Words of functions are no frames that can be found here. */
	if (has_javascript(found))
		return;
	result = walk_raw(unwinder, raw);
	/* The kernel side has no rows of generated code. It had those of a JVM at that time. */
	if (unwinder->generated_address ||
	    (unwinder->options.hotspot &&
	     hotspot_tracker_changed_since(unwinder->options.hotspot, found->pid, found->time_ns)))
		return;
	switch (result.end) {
	case PKBPF_END_NO_PROCESS:
	case PKBPF_END_NO_MAPPING:
	case PKBPF_END_NO_TABLE:
	case PKBPF_END_NO_ROOM:
	case PKBPF_END_NO_FILE:
	case PKBPF_END_FAULT_RA:
	case PKBPF_END_FAULT_FP:
	case PKBPF_END_COPY_CUT:
	case PKBPF_END_OTHER_STACK:
		return;
	default:
		break;
	}
	unwinder->stats.checked++;
	if (result.end != found->user_end || result.guessed != found->guessed_count ||
	    !has_frames(found, unwinder->ips, result.depth))
		unwinder->stats.check_wrong++;
}

static bool is_whole(const struct unwind_walk_result *result)
{
	return result->end <= PKBPF_END_LAST_COMPLETE || result->end == PKBPF_END_COPY_CUT;
}

/* Records whether rows of generated code led to a complete stack. Where they mislead, frame
 * pointers may do. */
static struct unwind_walk_result judge_rows(struct raw_unwinder *unwinder,
					    const struct raw_stack_view *raw,
					    struct unwind_walk_result result)
{
	if (!generated_code_note_walk(unwinder->options.generated, raw->sample.pid,
				      unwinder->generated_address, is_whole(&result)) ||
	    is_whole(&result))
		return result;
	unwinder->without_generated = true;
	result = walk_raw(unwinder, raw);
	unwinder->without_generated = false;
	return is_whole(&result) ? result : walk_raw(unwinder, raw);
}

/* Sends the frames of a stack to which later records refer by number. */
static void send_numbered(struct raw_unwinder *unwinder, uint64_t stack_id,
			  const struct sample_view *sample)
{
	struct stack_view stack = stack_view_of(stack_id, sample);

	if (unwinder->next.ops->on_stack)
		unwinder->next.ops->on_stack(unwinder->next.context, &stack);
}

static void on_raw_stack(void *context, const struct raw_stack_view *raw)
{
	struct raw_unwinder *unwinder = context;
	struct sample_view sample = raw->sample;
	struct unwind_walk_result result;

	if (raw->check) {
		check_walk(unwinder, raw);
		return;
	}
	result = walk_raw(unwinder, raw);
	if (unwinder->generated_address)
		result = judge_rows(unwinder, raw, result);
	sample.user_end = result.end;
	sample.user_ips = unwinder->ips;
	sample.user_count = result.depth;
	sample.guessed_count = result.guessed;
	unwinder->stats.walked++;
	unwinder->stats.by_end[result.end]++;
	unwinder->stats.complete += result.end <= PKBPF_END_LAST_COMPLETE;
	if (raw->stack_id)
		send_numbered(unwinder, raw->stack_id, &sample);
	else if (unwinder->next.ops->on_sample)
		unwinder->next.ops->on_sample(unwinder->next.context, &sample);
}

static void note_time(struct raw_unwinder *unwinder, uint64_t time_ns)
{
	if (!unwinder->first_ns)
		unwinder->first_ns = time_ns;
	if (time_ns > unwinder->now_ns)
		unwinder->now_ns = time_ns;
}

static void on_sample(void *context, const struct sample_view *sample)
{
	struct raw_unwinder *unwinder = context;

	if (unwinder->next.ops->on_sample)
		unwinder->next.ops->on_sample(unwinder->next.context, sample);
}

static void on_task(void *context, const struct task_view *task)
{
	struct raw_unwinder *unwinder = context;

	note_time(unwinder, task->time_ns);
	if (unwinder->next.ops->on_task)
		unwinder->next.ops->on_task(unwinder->next.context, task);
}

static void on_mapping(void *context, const struct mapping_view *mapping)
{
	struct raw_unwinder *unwinder = context;

	note_time(unwinder, mapping->time_ns);
	if (unwinder->next.ops->on_mapping)
		unwinder->next.ops->on_mapping(unwinder->next.context, mapping);
}

static void on_lost(void *context, const struct lost_view *lost)
{
	struct raw_unwinder *unwinder = context;

	if (unwinder->next.ops->on_lost)
		unwinder->next.ops->on_lost(unwinder->next.context, lost);
}

static void on_stack(void *context, const struct stack_view *stack)
{
	struct raw_unwinder *unwinder = context;

	if (unwinder->next.ops->on_stack)
		unwinder->next.ops->on_stack(unwinder->next.context, stack);
}

static void on_totals(void *context, const struct totals_view *totals)
{
	struct raw_unwinder *unwinder = context;

	if (unwinder->next.ops->on_totals)
		unwinder->next.ops->on_totals(unwinder->next.context, totals);
}

static void on_cut(void *context, const struct cut_view *cut)
{
	struct raw_unwinder *unwinder = context;

	if (unwinder->next.ops->on_cut)
		unwinder->next.ops->on_cut(unwinder->next.context, cut);
}

static void on_slow_io(void *context, const struct slow_io_view *slow_io)
{
	struct raw_unwinder *unwinder = context;

	if (unwinder->next.ops->on_slow_io)
		unwinder->next.ops->on_slow_io(unwinder->next.context, slow_io);
}

static void on_other(void *context, const struct pkbpf_event_header *record)
{
	struct raw_unwinder *unwinder = context;

	if (unwinder->next.ops->on_other)
		unwinder->next.ops->on_other(unwinder->next.context, record);
}

struct event_sink raw_unwinder_sink(struct raw_unwinder *unwinder)
{
	static const struct event_sink_ops ops = {
		.on_sample = on_sample,
		.on_task = on_task,
		.on_mapping = on_mapping,
		.on_lost = on_lost,
		.on_raw_stack = on_raw_stack,
		.on_stack = on_stack,
		.on_totals = on_totals,
		.on_cut = on_cut,
		.on_slow_io = on_slow_io,
		.on_other = on_other,
	};

	return (struct event_sink){&ops, unwinder};
}

struct raw_unwinder_stats raw_unwinder_stats(const struct raw_unwinder *unwinder)
{
	return unwinder->stats;
}
