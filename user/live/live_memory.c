// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the memory of a running capture within bounds. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "live/live_capture_private.h"
#include "profile/shrink/process_merge.h"
#include "profile/shrink/profile_merge.h"
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
	uint64_t now_ns = clock_now_ns();

	aggregator_release_processes(live->aggregator);
	if (now_ns < live->next_release_ns)
		return;
	live->next_release_ns = now_ns + RELEASE_TABLES_NS;
	release_tables(live);
	/* On a machine that builds programs, each is a file of its own. */
	forget_files(live);
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

	if (!mapped_file_table_is_nearly_full(live->files))
		return;
	begin_ns = clock_now_ns();
	if (begin_ns < live->next_forget_ns || !places_are_named(live, begin_ns))
		return;
	if (aggregator_forget_places(live->aggregator) || forget_files(live) < 0)
		log_warning(live->options.session.log,
			    "cannot release unused mapped files: out of memory");
	left = mapped_file_table_live_count(live->files);
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

void live_memory_limit(struct live_capture *live)
{
	follow_code(live);
	limit_memory(live);
	limit_files(live);
}
