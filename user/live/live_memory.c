// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the memory of a running capture within bounds. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/kernel/map_memory.h"
#include "capture/kernel/own_memory.h"
#include "live/live_capture_private.h"
#include "profile/shrink/process_merge.h"
#include "profile/shrink/profile_merge.h"
#include "reader/readers.h"
#include "symbol/jit/code_history.h"

/* Back-off after a garbage collection of mapped files: pause = its duration (50 to 400 ms) × times,
 * clamped. */
struct rest {
	uint64_t times, most_ns;
};
static const struct rest rest_after_use = {20, 10 * NS_PER_SECOND};
static const struct rest rest_after_little_use = {400, 60 * NS_PER_SECOND};
#define FORGET_FILES_LEAST_REST_NS (NS_PER_SECOND / 2)
/* Time limit for symbolizing before a collection: unresolved frames keep their file. */
#define FORGET_FILES_NAMING_NS (10 * NS_PER_SECOND)
/* New files since, after which there is one: 300 bytes each, and their descriptors. */
#define FORGET_FILES 4096
/* So long at a time perf maps are read. */
#define CODE_READING_NS (20 * NS_PER_MS)
/* So many processes that have ended are forgotten at once: their frames are looked for among all.
 */
#define FORGET_CODE_COUNT 32

static int forget_files(struct live_capture *live)
{
	size_t count = mapped_file_table_count(live->files);
	_cleanup_free_ bool *is_used = calloc(count + 1, sizeof(*is_used));

	if (!is_used)
		return -ENOMEM;
	aggregator_mark_files(live->aggregator, is_used);
	process_table_mark_files(live->processes, is_used);
	session_mark_files(live->session, is_used, count);
	session_forget_files(live->session, is_used, count);
	if (live->symbolizer)
		symbolizer_forget_files(live->symbolizer, is_used, count);
	return mapped_file_table_forget(live->files, is_used);
}

static void keep_stack(void *context, uint64_t stack_id)
{
	aggregator_keep_stack(context, stack_id);
}

void live_memory_keep_stacks(struct live_capture *live)
{
	source_set_each_stack(live->sources, keep_stack, live->aggregator);
}

/* A table that is needed again has to be read again, which takes 20 ms for a large one. */
#define RELEASE_TABLES_NS (60 * NS_PER_SECOND)
/* So many new files, such as libraries of containers, are not waited for that long: the debug
 * information of one takes 100 KiB or more. */
#define RELEASE_FILES 128

static void release_tables(struct live_capture *live)
{
	size_t count = mapped_file_table_count(live->files);
	_cleanup_free_ bool *is_used = calloc(count + 1, sizeof(*is_used));

	if (!is_used || !live->symbolizer)
		return;
	process_table_mark_files(live->processes, is_used);
	symbolizer_forget_files(live->symbolizer, is_used, count);
}

void live_memory_release(struct live_capture *live)
{
	size_t files = mapped_file_table_live_count(live->files);
	uint64_t now_ns = clock_now_ns();

	aggregator_release_processes(live->aggregator);
	if (now_ns < live->next_release_ns && files < live->files_released + RELEASE_FILES)
		return;
	live->next_release_ns = now_ns + RELEASE_TABLES_NS;
	release_tables(live);
	/* On a machine that builds programs, each is a file of its own. */
	forget_files(live);
	live->files_released = mapped_file_table_live_count(live->files);
	malloc_trim(0);
}

/* A run without an end must not take ever more memory. */
static void limit_memory(struct live_capture *live)
{
	const struct profile *profile = aggregator_running(live->aggregator);
	size_t bytes = profile_stack_bytes(profile), ended = profile_ended_processes(profile);
	uint64_t begin_ns = clock_now_ns();
	int done;

	/* A wait of an hour names the stack that was sent when it began. */
	if (aggregator_forgets_stacks(live->aggregator))
		live_memory_keep_stacks(live);
	done = live->symbolizer ? aggregator_limit_memory(live->aggregator, live->symbolizer) : 0;
	if (done < 0)
		log_warning(
			live->options.session.log,
			"cannot reduce the memory of stacks and exited processes: out of memory");
	if (done > 0)
		log_info(live->options.session.log,
			 "stacks take %.1f MiB, %.1f before; %zu exited processes with their own "
			 "row, %zu before: %.1f ms",
			 (double)profile_stack_bytes(profile) / (1 << 20),
			 (double)bytes / (1 << 20), profile_ended_processes(profile), ended,
			 (double)(clock_now_ns() - begin_ns) / 1e6);
}

static uint64_t rest_ns(const struct rest *rest, uint64_t took_ns)
{
	uint64_t ns = took_ns * rest->times;

	if (ns < FORGET_FILES_LEAST_REST_NS)
		return FORGET_FILES_LEAST_REST_NS;
	return ns < rest->most_ns ? ns : rest->most_ns;
}

/* Only places with names tell which read the same. true: nothing more can be named, or has to
 * be. */
static bool places_are_named(struct live_capture *live, uint64_t now_ns)
{
	if (!live->naming_end_ns)
		live->naming_end_ns = now_ns + FORGET_FILES_NAMING_NS;
	if (live->symbolizer && !aggregator_name_places(live->aggregator, live->symbolizer) &&
	    now_ns < live->naming_end_ns)
		return false;
	live->naming_end_ns = 0;
	return true;
}

/* Those of programs that nobody runs any more, and of which the profile has nothing left, make room
 * for others. */
static void limit_files(struct live_capture *live)
{
	size_t before = mapped_file_table_live_count(live->files), left;
	uint64_t begin_ns, end_ns;

	if (before < live->files_forgotten + FORGET_FILES &&
	    !mapped_file_table_is_nearly_full(live->files))
		return;
	begin_ns = clock_now_ns();
	if (begin_ns < live->next_forget_ns || !places_are_named(live, begin_ns))
		return;
	if (aggregator_forget_places(live->aggregator) || forget_files(live) < 0)
		log_warning(live->options.session.log,
			    "cannot release unused mapped files: out of memory");
	left = live->files_forgotten = mapped_file_table_live_count(live->files);
	end_ns = clock_now_ns();
	live->next_forget_ns =
		end_ns + rest_ns(left < before / 8 * 7 ? &rest_after_use : &rest_after_little_use,
				 end_ns - begin_ns);
	log_info(live->options.session.log, "%zu mapped files in memory, %zu before: %.1f ms", left,
		 before, (double)(end_ns - begin_ns) / 1e6);
}

/* Reads what run-times write about their code, in pieces that no ring has to wait for, and forgets
 * what ended processes had. */
static void follow_code(struct live_capture *live)
{
	struct code_history *code = symbolizer_chain_code_history(live->symbolizer);

	if (!code)
		return;
	live->reads_code = code_history_work(code, clock_now_ns() + CODE_READING_NS);
	if (code_history_ended_count(code) < FORGET_CODE_COUNT ||
	    !aggregator_name_generated(live->aggregator, live->symbolizer))
		return;
	code_history_forget_ended(code);
}

/* ---- a limit of all memory ---- */

/* Maps are counted through as many files as there are descriptors, hundreds of them: 10 ms. */
#define MAP_LOOK_NS	    (10 * NS_PER_SECOND)
#define SPARING_MAP_LOOK_NS (60 * NS_PER_SECOND)
/* Records that wait for unwind tables, processes and threads that live, and their names. */
#define LEAST_ROOM_BYTES (24U << 20)
/* With a fixed threshold, large arrays go back to the system when they are freed. */
#define MAP_ALLOCATION_BYTES (128 << 10)

uint64_t live_memory_map_bytes(struct live_capture *live, uint64_t now_ns)
{
	bool spares = live->options.session.sparing && !live->memory.limit_bytes;

	if (now_ns >= live->next_map_look_ns) {
		live->map_bytes = map_memory_bytes("/proc/self");
		live->next_map_look_ns = now_ns + (spares ? SPARING_MAP_LOOK_NS : MAP_LOOK_NS);
	}
	return live->map_bytes;
}

static uint64_t memory_in_use(struct live_capture *live, uint64_t now_ns)
{
	return own_memory_bytes("/proc/self") + live_memory_map_bytes(live, now_ns) +
	       readers_memory_bytes(live->options.session.readers);
}

int live_memory_begin(struct live_capture *live, struct error *error)
{
	uint64_t limit = live->options.session.max_memory_bytes, used;

	live->memory.limit_bytes = limit;
	if (!limit)
		return 0;
	mallopt(M_MMAP_THRESHOLD, MAP_ALLOCATION_BYTES);
	malloc_trim(0);
	used = memory_in_use(live, clock_now_ns());
	live->memory = (struct memory_limit){.limit_bytes = limit, .peak_bytes = used};
	if (used + LEAST_ROOM_BYTES <= limit)
		return 0;
	return error_set(error, ENOMEM,
			 "cannot stay within --max-memory %.0fM: the capture takes %.0fM when it "
			 "begins, %.0fM of it in BPF maps, and needs %uM for what it collects; "
			 "profile fewer kinds of events (-e), or allow more",
			 (double)limit / (1 << 20), (double)used / (1 << 20) + 1,
			 (double)live->map_bytes / (1 << 20), LEAST_ROOM_BYTES >> 20);
}

void live_memory_counters(struct live_capture *live, uint64_t ret_counters[PKBPF_COUNTER_COUNT])
{
	const struct memory_limit *memory = &live->memory;

	session_counters(live->session, ret_counters);
	ret_counters[PKBPF_COUNTER_MEMORY_TABLES_RELEASED] = memory->taken[MEMORY_STEP_TABLES];
	ret_counters[PKBPF_COUNTER_MEMORY_PROCESSES_GROUPED] = memory->taken[MEMORY_STEP_PROCESSES];
	ret_counters[PKBPF_COUNTER_MEMORY_LINES_LEFT_OUT] = memory->taken[MEMORY_STEP_LINES];
	ret_counters[PKBPF_COUNTER_MEMORY_STACKS_SHORTENED] = memory->taken[MEMORY_STEP_SHORTEN];
	ret_counters[PKBPF_COUNTER_MEMORY_ABOVE_LIMIT] = memory->looks_above;
	ret_counters[PKBPF_COUNTER_OVERHEAD_ABOVE] = live->overhead.unheeded;
}

static void take_step(struct live_capture *live, enum memory_step step)
{
	switch (step) {
	case MEMORY_STEP_TABLES:
		release_tables(live);
		break;
	case MEMORY_STEP_PROCESSES:
		aggregator_group_processes(live->aggregator);
		break;
	case MEMORY_STEP_LINES:
		symbolizer_chain_leave_lines(live->symbolizer);
		release_tables(live);
		break;
	case MEMORY_STEP_SHORTEN:
	case MEMORY_STEP_JOIN:
		aggregator_cut_stacks(live->aggregator, step == MEMORY_STEP_JOIN);
		break;
	case MEMORY_STEP_COUNT:
		break;
	}
}

static void obey_limit(struct live_capture *live)
{
	const struct log *log = live->options.session.log;
	uint64_t now_ns = clock_now_ns(), used;
	enum log_level level;
	int step;

	if (!memory_limit_is_due(&live->memory, now_ns))
		return;
	used = memory_in_use(live, now_ns);
	step = memory_limit_look(&live->memory, used, now_ns);
	if (step < 0)
		return;
	level = live->memory.taken[step] == 1 && step != MEMORY_STEP_TABLES ? LOG_WARNING
									    : LOG_INFO;
	log_write(log, level, "%.1f MiB of memory in use, --max-memory allows %.1f: %s",
		  (double)used / (1 << 20), (double)live->memory.limit_bytes / (1 << 20),
		  memory_step_text(step));
	take_step(live, step);
	limit_memory(live);
	/* The C library gives memory back only when it is asked. */
	malloc_trim(0);
}

void live_memory_limit(struct live_capture *live)
{
	obey_limit(live);
	follow_code(live);
	limit_memory(live);
	limit_files(live);
}
