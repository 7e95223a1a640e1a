// SPDX-License-Identifier: BSD-2-Clause
/* Raw stacks of real stopped processes become the samples that walking the processes themselves
 * gives. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "live_tables.h"
#include "plain_memory.h"
#include "process/file/mapped_file.h"
#include "unwind/raw_unwinder.h"

#define STACK_BYTES (60 * 1024)

struct heard {
	uint32_t samples, tasks, mappings, others;
	struct sample_view last;
	struct stack_view last_stack;
	uint64_t ips[PKBPF_MAX_USER_FRAMES];
	struct event_sink processes;
};

static void hear_sample(void *context, const struct sample_view *sample)
{
	struct heard *heard = context;

	heard->samples++;
	heard->last = *sample;
	if (sample->user_count)
		memcpy(heard->ips, sample->user_ips, sample->user_count * sizeof(*heard->ips));
}

static void hear_task(void *context, const struct task_view *task)
{
	struct heard *heard = context;

	heard->tasks++;
	heard->processes.ops->on_task(heard->processes.context, task);
}

static void hear_mapping(void *context, const struct mapping_view *mapping)
{
	struct heard *heard = context;

	heard->mappings++;
	heard->processes.ops->on_mapping(heard->processes.context, mapping);
}

static void hear_stack(void *context, const struct stack_view *stack)
{
	((struct heard *)context)->last_stack = *stack;
}

static void hear_lost(void *context, const struct lost_view *lost)
{
	((struct heard *)context)->others++;
}

static const struct event_sink_ops heard_ops = {
	.on_sample = hear_sample,
	.on_task = hear_task,
	.on_mapping = hear_mapping,
	.on_lost = hear_lost,
	.on_stack = hear_stack,
};

struct fixture {
	struct plain_memory plain;
	struct mapped_file_table *files;
	struct process_table *processes;
	struct table_cache *tables;
	struct raw_unwinder *unwinder;
	struct event_sink sink;
	struct heard heard;
};

static void begin_with(struct fixture *fixture, struct process_tracker *live)
{
	struct table_cache_options options = {.max_chunks = 8, .initial_chunks = 1};
	struct event_sink next = {&heard_ops, &fixture->heard};

	memset(&fixture->heard, 0, sizeof(fixture->heard));
	plain_memory_init(&fixture->plain, 1 << 16, 256);
	options.files = fixture->files = mapped_file_table_new("");
	assert_non_null(fixture->files);
	fixture->tables = table_cache_new(&fixture->plain.memory, &options);
	assert_non_null(fixture->tables);
	fixture->processes = process_table_new(fixture->files);
	assert_non_null(fixture->processes);
	fixture->heard.processes = process_table_sink(fixture->processes);
	fixture->unwinder = raw_unwinder_new(
		&(struct raw_unwinder_options){
			.tables = fixture->tables, .processes = fixture->processes, .live = live},
		&next);
	assert_non_null(fixture->unwinder);
	fixture->sink = raw_unwinder_sink(fixture->unwinder);
}

static void begin(struct fixture *fixture)
{
	begin_with(fixture, NULL);
}

static void end(struct fixture *fixture)
{
	raw_unwinder_free(fixture->unwinder);
	table_cache_free(fixture->tables);
	process_table_free(fixture->processes);
	mapped_file_table_free(fixture->files);
	plain_memory_done(&fixture->plain);
}

struct feeding {
	struct event_sink sink;
	uint32_t pid;
};

static void feed_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct feeding *feeding = context;
	struct mapping_view view = {
		.time_ns = clock_now_ns(),
		.pid = feeding->pid,
		.tid = feeding->pid,
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.protection = mapping->protection,
		.path = mapping->path,
	};

	if (mapping->protection & PKBPF_PROT_EXEC)
		feeding->sink.ops->on_mapping(feeding->sink.context, &view);
}

static void feed_maps_to(const struct event_sink *sink, uint32_t pid)
{
	struct feeding feeding = {*sink, pid};
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(procfs_maps_read(proc_fd, pid, feed_mapping, &feeding), 0);
	close(proc_fd);
}

static void feed_maps(struct fixture *fixture, uint32_t pid)
{
	feed_maps_to(&fixture->sink, pid);
}

static void feed_task(struct fixture *fixture, enum pkbpf_event_kind kind, uint32_t parent_pid,
		      uint32_t pid, uint32_t tid)
{
	struct task_view task = {.time_ns = clock_now_ns(),
				 .kind = kind,
				 .parent_pid = parent_pid,
				 .pid = pid,
				 .tid = tid,
				 .exec = kind == PKBPF_EVENT_COMM};

	fixture->sink.ops->on_task(fixture->sink.context, &task);
}

static uint8_t stack_copy[STACK_BYTES] __attribute__((aligned(8)));

/* What the kernel side sends: registers and as many pages of stack as there are. */
static struct raw_stack_view raw_of(const struct stopped_child *child, uint32_t pid)
{
	struct raw_stack_view raw = {
		.sample = {.time_ns = 20,
			   .pid = pid,
			   .tid = pid,
			   .kind = PKBPF_PROFILE_CPU,
			   .count = 1,
			   .weight = 1,
			   .user_end = PKBPF_END_NO_TABLE,
			   .after_syscall = true},
		.regs = child->regs,
		.stack_start = child->regs[7] & ~7ULL,
		.stack = stack_copy,
	};
	size_t size = 4096 - (raw.stack_start & 4095);

	while (raw.stack_size + size <= sizeof(stack_copy) &&
	       stopped_child_read(child, raw.stack_start + raw.stack_size,
				  stack_copy + raw.stack_size, size) == 0) {
		raw.stack_size += size;
		size = 4096;
	}
	return raw;
}

static volatile int sink_value;

__attribute__((noinline)) static int recurse(int depth)
{
	int result;

	if (depth == 0) {
		stopped_child_stop();
		return sink_value;
	}
	result = recurse(depth - 1);
	sink_value += result;
	return result + 1;
}

static void run_recursion(int depth)
{
	recurse(depth);
}

/* What walking the stopped child itself finds. */
static struct unwind_walk_result walk_child(const struct stopped_child *child, uint64_t *ips)
{
	struct unwind_walk_options options = {.exact = false};
	struct unwind_walk_result result;
	struct live_tables live;

	live_tables_open(&live, child);
	result = unwind_walk(&live_tables_ops, &live, child->regs, &options, ips,
			     PKBPF_MAX_USER_FRAMES);
	live_tables_close(&live);
	return result;
}

static void raw_stacks_outlive_their_process(void **state)
{
	static uint64_t direct[PKBPF_MAX_USER_FRAMES], regs[PKBPF_REGS];
	struct unwind_walk_result result;
	struct raw_unwinder_stats stats;
	struct stopped_child child;
	struct raw_stack_view raw;
	struct fixture fixture;

	if (!stopped_child_start(&child, run_recursion, 60))
		skip();
	result = walk_child(&child, direct);
	begin(&fixture);
	feed_maps(&fixture, (uint32_t)child.pid);
	memcpy(regs, child.regs, sizeof(regs));
	raw = raw_of(&child, (uint32_t)child.pid);
	raw.regs = regs;
	stopped_child_end(&child);
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(fixture.heard.samples, 1);
	assert_int_equal(fixture.heard.last.user_end, result.end);
	assert_int_equal(fixture.heard.last.user_count, result.depth);
	assert_memory_equal(fixture.heard.ips, direct, result.depth * sizeof(*direct));
	assert_int_equal(fixture.heard.last.guessed_count, 0);
	assert_int_equal(fixture.heard.last.weight, 1);
	stats = raw_unwinder_stats(fixture.unwinder);
	assert_int_equal(stats.walked, 1);
	assert_int_equal(stats.complete, 1);
	end(&fixture);
}

static void on_signal(int number)
{
	stopped_child_stop();
}

static void run_signal(int argument)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	sink_value++;
}

static void copies_say_what_a_signal_has_interrupted(void **state)
{
	static uint64_t direct[PKBPF_MAX_USER_FRAMES];
	struct unwind_walk_result result;
	struct stopped_child child;
	struct raw_stack_view raw;
	struct fixture fixture;
	size_t marked = 0;

	if (!stopped_child_start(&child, run_signal, 0))
		skip();
	result = walk_child(&child, direct);
	begin(&fixture);
	feed_maps(&fixture, (uint32_t)child.pid);
	raw = raw_of(&child, (uint32_t)child.pid);
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(fixture.heard.last.user_count, result.depth);
	assert_memory_equal(fixture.heard.ips, direct, result.depth * sizeof(*direct));
	for (size_t i = 0; i < result.depth; i++)
		marked += pkbpf_is_interrupted(fixture.heard.ips[i]);
	assert_int_equal(marked, 1);
	stopped_child_end(&child);
	end(&fixture);
}

/* The child's tables with a stack that ends early. */
struct short_stack {
	struct live_tables live;
	uint64_t end;
};

static uint32_t short_find_code(void *context, uint64_t address, struct unwind_code *ret_code)
{
	return live_tables_ops.find_code(&((struct short_stack *)context)->live, address, ret_code);
}

static bool short_find_rule(void *context, const struct unwind_code *code, uint64_t elf_address,
			    struct pkbpf_unwind_rule *ret_rule)
{
	return live_tables_ops.find_rule(&((struct short_stack *)context)->live, code, elf_address,
					 ret_rule);
}

static int short_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct short_stack *stack = context;

	if (address + size > stack->end)
		return -1;
	return live_tables_ops.read_memory(&stack->live, address, buffer, size);
}

static void a_copy_that_ends_early_says_so(void **state)
{
	static const struct unwind_walk_ops short_ops = {short_find_code, short_find_rule,
							 short_read, NULL};
	static uint64_t direct[PKBPF_MAX_USER_FRAMES];
	struct unwind_walk_options options = {.exact = false};
	struct unwind_walk_result result;
	struct short_stack stack;
	struct stopped_child child;
	struct raw_stack_view raw;
	struct fixture fixture;

	if (!stopped_child_start(&child, run_recursion, 200))
		skip();
	begin(&fixture);
	feed_maps(&fixture, (uint32_t)child.pid);
	raw = raw_of(&child, (uint32_t)child.pid);
	raw.stack_size = 1024;
	live_tables_open(&stack.live, &child);
	stack.end = raw.stack_start + raw.stack_size;
	result = unwind_walk(&short_ops, &stack, child.regs, &options, direct,
			     PKBPF_MAX_USER_FRAMES);
	live_tables_close(&stack.live);
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(result.end, PKBPF_END_FAULT_RA);
	assert_int_equal(fixture.heard.last.user_end, PKBPF_END_FAULT_RA);
	assert_true(result.depth > 1);
	assert_int_equal(fixture.heard.last.user_count, result.depth);
	assert_memory_equal(fixture.heard.ips, direct, result.depth * sizeof(*direct));
	raw.cut = true;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(fixture.heard.last.user_end, PKBPF_END_COPY_CUT);
	assert_int_equal(fixture.heard.last.user_count, result.depth);
	/* Below the copy nothing is missing for want of room. */
	raw.stack_start += 1 << 20;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(fixture.heard.last.user_end, PKBPF_END_FAULT_RA);
	/* A page that could not be copied is no zeros. */
	raw = raw_of(&child, (uint32_t)child.pid);
	raw.holes = 2;
	stack.end = (raw.stack_start | (PKBPF_RAW_PAGE_BYTES - 1)) + 1;
	live_tables_open(&stack.live, &child);
	result = unwind_walk(&short_ops, &stack, child.regs, &options, direct,
			     PKBPF_MAX_USER_FRAMES);
	live_tables_close(&stack.live);
	raw.cut = true;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(result.end, PKBPF_END_FAULT_RA);
	assert_int_equal(fixture.heard.last.user_end, PKBPF_END_FAULT_RA);
	assert_int_equal(fixture.heard.last.user_count, result.depth);
	stopped_child_end(&child);
	end(&fixture);
}

static void checks_are_compared_and_no_samples(void **state)
{
	static uint64_t direct[PKBPF_MAX_USER_FRAMES];
	struct unwind_walk_result result;
	struct raw_unwinder_stats stats;
	struct stopped_child child;
	struct raw_stack_view raw;
	struct fixture fixture;

	if (!stopped_child_start(&child, run_recursion, 60))
		skip();
	result = walk_child(&child, direct);
	begin(&fixture);
	feed_maps(&fixture, (uint32_t)child.pid);
	raw = raw_of(&child, (uint32_t)child.pid);
	raw.check = true;
	raw.sample.user_end = result.end;
	raw.sample.user_ips = direct;
	raw.sample.user_count = result.depth;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	stats = raw_unwinder_stats(fixture.unwinder);
	assert_int_equal(stats.checked, 1);
	assert_int_equal(stats.check_wrong, 0);
	direct[30]++;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	direct[30]--;
	raw.sample.user_count--;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	raw.sample.user_count++;
	raw.sample.user_end = PKBPF_END_NO_RULE;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	stats = raw_unwinder_stats(fixture.unwinder);
	assert_int_equal(stats.checked, 4);
	assert_int_equal(stats.check_wrong, 3);
	/* Too short a copy proves nothing. */
	raw.stack_size = 1024;
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	stats = raw_unwinder_stats(fixture.unwinder);
	assert_int_equal(stats.checked, 4);
	assert_int_equal(stats.walked, 0);
	assert_int_equal(fixture.heard.samples, 0);
	stopped_child_end(&child);
	end(&fixture);
}

static void a_process_nobody_announced_keeps_its_leaf(void **state)
{
	uint64_t regs[PKBPF_REGS] = {[PKBPF_REG_IP] = 0x1234};
	struct raw_stack_view raw = {.sample = {.time_ns = 20, .pid = 77}, .regs = regs};
	struct fixture fixture;

	begin(&fixture);
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(fixture.heard.last.user_end, PKBPF_END_NO_PROCESS);
	assert_int_equal(fixture.heard.last.user_count, 1);
	assert_int_equal(fixture.heard.ips[0], 0x1234);
	end(&fixture);
}

static void a_numbered_stack_comes_as_a_stack_and_not_as_an_event(void **state)
{
	uint64_t regs[PKBPF_REGS] = {[PKBPF_REG_IP] = 0x1234};
	struct raw_stack_view raw = {
		.sample = {.time_ns = 20, .pid = 77}, .stack_id = 99, .regs = regs};
	struct fixture fixture;

	begin(&fixture);
	fixture.sink.ops->on_raw_stack(fixture.sink.context, &raw);
	assert_int_equal(fixture.heard.samples, 0);
	assert_int_equal(fixture.heard.last_stack.stack_id, 99);
	assert_int_equal(fixture.heard.last_stack.pid, 77);
	assert_int_equal(fixture.heard.last_stack.user_end, PKBPF_END_NO_PROCESS);
	assert_int_equal(fixture.heard.last_stack.user_count, 1);
	end(&fixture);
}

static enum pkbpf_stack_end end_of(struct fixture *fixture, struct raw_stack_view *raw,
				   uint32_t pid)
{
	raw->sample.pid = raw->sample.tid = pid;
	fixture->sink.ops->on_raw_stack(fixture->sink.context, raw);
	return fixture->heard.last.user_end;
}

static uint32_t add_file(void *context, const struct mapping_view *mapping)
{
	return table_cache_add(((struct fixture *)context)->tables, mapping);
}

static void track(void *context, const struct mapping_view *mapping)
{
	process_tracker_on_mapping(context, mapping);
}

static void a_process_nobody_announced_may_be_known_from_procfs(void **state)
{
	static const struct event_sink_ops track_ops = {.on_mapping = track};
	struct fixture fixture;
	struct process_tracker_ops ops = {add_file, NULL, &fixture};
	struct process_tracker *live = process_tracker_new(&ops, false);
	struct stopped_child child;
	struct raw_stack_view raw;

	assert_non_null(live);
	if (!stopped_child_start(&child, run_recursion, 60)) {
		process_tracker_free(live);
		skip();
	}
	begin_with(&fixture, live);
	raw = raw_of(&child, (uint32_t)child.pid);
	assert_int_equal(end_of(&fixture, &raw, (uint32_t)child.pid), PKBPF_END_NO_PROCESS);
	feed_maps_to(&(struct event_sink){&track_ops, live}, (uint32_t)child.pid);
	assert_in_range(end_of(&fixture, &raw, (uint32_t)child.pid), 0, PKBPF_END_LAST_COMPLETE);
	stopped_child_end(&child);
	end(&fixture);
	process_tracker_free(live);
}

static void a_forked_child_is_unwound_by_what_it_inherited_until_it_executes(void **state)
{
	const uint32_t forked = 1U << 30;
	struct stopped_child child;
	struct raw_stack_view raw;
	struct fixture fixture;

	if (!stopped_child_start(&child, run_recursion, 60))
		skip();
	begin(&fixture);
	raw = raw_of(&child, (uint32_t)child.pid);
	feed_maps(&fixture, (uint32_t)child.pid);
	feed_task(&fixture, PKBPF_EVENT_FORK, (uint32_t)child.pid, forked, forked);
	assert_in_range(end_of(&fixture, &raw, forked), 0, PKBPF_END_LAST_COMPLETE);
	feed_task(&fixture, PKBPF_EVENT_COMM, 0, forked, forked);
	assert_int_equal(end_of(&fixture, &raw, forked), PKBPF_END_NO_PROCESS);
	assert_in_range(end_of(&fixture, &raw, (uint32_t)child.pid), 0, PKBPF_END_LAST_COMPLETE);
	stopped_child_end(&child);
	end(&fixture);
}

/* Copies of probed instructions are left to the kernel's own walk; what it emulates has a return
 * address, here on no stack. */
static void code_that_is_not_unwound_counts_as_unmapped(void **state)
{
	static const struct {
		uint64_t start;
		const char *path;
		enum pkbpf_stack_end end;
	} rows[] = {
		{0x7f0000000000, "[uprobes]", PKBPF_END_NO_MAPPING},
		{0xffffffffff600000, "[vsyscall]", PKBPF_END_FAULT_RA},
		{0x7f0000000000, "//anon", PKBPF_END_FAULT_FP},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t regs[PKBPF_REGS] = {[PKBPF_REG_IP] = rows[i].start + 8};
		struct raw_stack_view raw = {.regs = regs};
		struct mapping_view mapping = {.time_ns = 1,
					       .pid = 3,
					       .start = rows[i].start,
					       .end = rows[i].start + 0x1000,
					       .protection = PKBPF_PROT_EXEC,
					       .path = rows[i].path};
		struct fixture fixture;

		begin(&fixture);
		fixture.sink.ops->on_mapping(fixture.sink.context, &mapping);
		assert_int_equal(end_of(&fixture, &raw, 3), rows[i].end);
		end(&fixture);
	}
}

static void code_of_a_file_that_was_refused_ends_a_stack_for_want_of_room(void **state)
{
	uint64_t regs[PKBPF_REGS] = {[PKBPF_REG_IP] = 0x400008};
	struct raw_stack_view raw = {.regs = regs};
	struct mapping_view mapping = {.time_ns = 1,
				       .pid = 3,
				       .start = 0x400000,
				       .end = 0x401000,
				       .inode = 1,
				       .protection = PKBPF_PROT_EXEC,
				       .path = "/other"};
	struct mapped_file *ignored;
	struct fixture fixture;

	begin(&fixture);
	while (!mapped_file_table_add(fixture.files, &mapping, &ignored))
		mapping.inode++;
	fixture.sink.ops->on_mapping(fixture.sink.context, &mapping);
	assert_int_equal(end_of(&fixture, &raw, 3), PKBPF_END_NO_ROOM);
	end(&fixture);
}

/* What the walk finds that long after the leader has ended, and a library was mapped since. */
static enum pkbpf_stack_end walk_after_the_leader(bool others_live)
{
	struct stopped_child child;
	struct raw_stack_view raw;
	struct fixture fixture;
	struct mapping_view later;
	enum pkbpf_stack_end result;
	uint32_t pid;

	if (!stopped_child_start(&child, run_recursion, 60))
		skip();
	pid = (uint32_t)child.pid;
	begin(&fixture);
	raw = raw_of(&child, pid);
	feed_maps(&fixture, pid);
	if (others_live)
		feed_task(&fixture, PKBPF_EVENT_FORK, pid, pid, pid + 1);
	feed_task(&fixture, PKBPF_EVENT_EXIT, 0, pid, pid);
	/* Its other threads map something; where there are none, time passes by what others do. */
	later = (struct mapping_view){.time_ns = clock_now_ns() + 3 * NS_PER_SECOND,
				      .pid = others_live ? pid : 1,
				      .tid = pid,
				      .start = 0x10000,
				      .end = 0x11000,
				      .protection = PKBPF_PROT_EXEC,
				      .path = "//anon"};
	fixture.sink.ops->on_mapping(fixture.sink.context, &later);
	result = end_of(&fixture, &raw, pid);
	stopped_child_end(&child);
	end(&fixture);
	return result;
}

static void threads_that_outlive_the_leader_keep_their_mappings(void **state)
{
	assert_in_range(walk_after_the_leader(true), 0, PKBPF_END_LAST_COMPLETE);
}

static void a_process_that_is_gone_is_forgotten(void **state)
{
	assert_int_equal(walk_after_the_leader(false), PKBPF_END_NO_PROCESS);
}

static void other_records_pass_through(void **state)
{
	struct task_view task = {.time_ns = 5, .kind = PKBPF_EVENT_EXIT, .pid = 3, .tid = 3};
	struct mapping_view mapping = {.time_ns = 4, .pid = 3, .path = ""};
	struct sample_view sample = {.time_ns = 6, .pid = 3};
	struct lost_view lost = {.count = 1};
	struct stack_view stack = {.pid = 3};
	struct fixture fixture;

	begin(&fixture);
	fixture.sink.ops->on_mapping(fixture.sink.context, &mapping);
	fixture.sink.ops->on_task(fixture.sink.context, &task);
	fixture.sink.ops->on_sample(fixture.sink.context, &sample);
	fixture.sink.ops->on_lost(fixture.sink.context, &lost);
	fixture.sink.ops->on_stack(fixture.sink.context, &stack); /* nobody listens */
	assert_int_equal(fixture.heard.mappings, 1);
	assert_int_equal(fixture.heard.tasks, 1);
	assert_int_equal(fixture.heard.samples, 1);
	assert_int_equal(fixture.heard.others, 1);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raw_stacks_outlive_their_process),
		cmocka_unit_test(copies_say_what_a_signal_has_interrupted),
		cmocka_unit_test(a_copy_that_ends_early_says_so),
		cmocka_unit_test(checks_are_compared_and_no_samples),
		cmocka_unit_test(a_process_nobody_announced_keeps_its_leaf),
		cmocka_unit_test(a_numbered_stack_comes_as_a_stack_and_not_as_an_event),
		cmocka_unit_test(a_process_nobody_announced_may_be_known_from_procfs),
		cmocka_unit_test(a_forked_child_is_unwound_by_what_it_inherited_until_it_executes),
		cmocka_unit_test(code_that_is_not_unwound_counts_as_unmapped),
		cmocka_unit_test(code_of_a_file_that_was_refused_ends_a_stack_for_want_of_room),
		cmocka_unit_test(threads_that_outlive_the_leader_keep_their_mappings),
		cmocka_unit_test(a_process_that_is_gone_is_forgotten),
		cmocka_unit_test(other_records_pass_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
