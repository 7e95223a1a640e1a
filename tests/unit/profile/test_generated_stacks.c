// SPDX-License-Identifier: BSD-2-Clause
/* Tests how stacks that are sent once are named when other code comes under their addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <pkbpf/hotspot.h>

#include "base/clock.h"
#include "fake_machine.h"
#include "profile/aggregator.h"
#include "symbol/jit/code_history.h"
#include "symbol/symbolizer.h"

#define PID	4711
#define ADDRESS 0x1010
/* Longer than a tick of the clock of file times. */
#define TICK_US 30000

struct fixture {
	char root[32], map[96];
	struct mapped_file_table *files;
	struct process_table *processes;
	struct symbolizer_options options;
	struct symbolizer *symbolizer;
	struct profile *profile;
	struct aggregator *aggregator;
	struct event_sink sink;
};

static void write_map(struct fixture *fixture, const char *text)
{
	FILE *file = fopen(fixture->map, "a");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	usleep(TICK_US);
}

static int start(void **state, uint64_t begin, const char *path)
{
	static struct fixture fixture;
	struct fake_machine *machine = fake_machine_new();
	struct aggregator_options options = {.want_user = true};
	char command[256];

	strcpy(fixture.root, "/tmp/pkbpf-jit-XXXXXX");
	assert_non_null(mkdtemp(fixture.root));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p proc/%d/root/tmp && printf "
		 "'Name:\\tnode\\nUid:\\t%u\\t%u\\t%u\\t%u\\n"
		 "Gid:\\t0\\t0\\t0\\t0\\n' >proc/%d/status",
		 fixture.root, PID, getuid(), getuid(), getuid(), getuid(), PID);
	assert_int_equal(system(command), 0);
	snprintf(fixture.map, sizeof(fixture.map), "%s/proc/%d/root/tmp/perf-%d.map", fixture.root,
		 PID, PID);
	write_map(&fixture, "1000 100 first\n");
	fixture.files = mapped_file_table_new(fixture.root);
	fixture.processes = process_table_new(fixture.files);
	fixture.options = (struct symbolizer_options){.root = fixture.root};
	fixture.symbolizer = symbolizer_chain_new(&fixture.options, fixture.processes);
	fixture.profile = profile_new(fixture.processes);
	options.code_history = symbolizer_chain_code_history(fixture.symbolizer);
	fixture.aggregator = aggregator_new(&options, fixture.profile);
	fixture.sink = aggregator_sink(fixture.aggregator);
	fake_process(machine, PID, 1, "node");
	fake_map_view(machine, &(struct mapping_view){.pid = PID,
						      .start = begin,
						      .end = begin + 0x1000,
						      .protection = PKBPF_PROT_EXEC,
						      .path = path});
	fake_play_new(machine, &fixture.sink);
	fake_machine_free(machine);
	*state = &fixture;
	return 0;
}

static int setup(void **state)
{
	return start(state, 0x1000, "//anon");
}

static int setup_plain(void **state)
{
	return start(state, 0xffffffffff600000, "[vsyscall]");
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	char command[64];

	aggregator_free(fixture->aggregator);
	symbolizer_free(fixture->symbolizer);
	process_table_free(fixture->processes);
	mapped_file_table_free(fixture->files);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->root);
	return system(command);
}

static void wait_once(struct fixture *fixture)
{
	struct totals_view view = {
		.time_ns = clock_now_ns(),
		.stack_id = 7,
		.pid = PID,
		.kind = PKBPF_PROFILE_OFFCPU,
		.comm = "node",
		.count = 1,
		.total = 10,
	};

	fixture->sink.ops->on_totals(fixture->sink.context, &view);
}

static void assert_row(struct fixture *fixture, size_t number, const char *name, uint64_t count)
{
	size_t rows, frames;
	const struct profile_row *row = profile_rows(fixture->profile, &rows) + number;
	const uint32_t *stack;
	const struct symbol *symbol;

	assert_true(number < rows);
	assert_int_equal(row->count, count);
	stack = profile_stack(fixture->profile, row->stack, &frames);
	assert_int_equal(frames, 1);
	symbol = &profile_frame(fixture->profile, stack[0])->symbol;
	assert_int_equal(symbol->result, SYMBOL_FOUND);
	assert_string_equal(symbol->lines[0].function, name);
}

static void waits_are_named_by_the_code_of_their_time(void **state)
{
	struct fixture *fixture = *state;
	struct stack_view view = {
		.stack_id = 7,
		.pid = PID,
		.user_end = PKBPF_END_ROOT,
		.user_ips = (const uint64_t[]){ADDRESS},
		.user_count = 1,
	};

	fixture->sink.ops->on_stack(fixture->sink.context, &view);
	wait_once(fixture);
	wait_once(fixture);
	usleep(TICK_US);
	write_map(fixture, "1000 100 second\n");
	wait_once(fixture);
	code_history_settle(symbolizer_chain_code_history(fixture->symbolizer));
	profile_symbolize(fixture->profile, fixture->symbolizer);
	assert_row(fixture, 0, "first", 2);
	assert_row(fixture, 1, "second", 1);
}

static void files_of_processes_with_nothing_but_the_vsyscall_page_are_not_sought(void **state)
{
	struct fixture *fixture = *state;
	struct code_history *code = symbolizer_chain_code_history(fixture->symbolizer);

	code_history_work(code, clock_now_ns());
	assert_false(code_history_is_busy(code));
}

/* A word of HotSpot's interpreter says nothing where no JVM is; the code before it stays. */
static void a_word_of_an_interpreter_without_a_jvm_is_left_out(void **state)
{
	struct fixture *fixture = *state;
	struct stack_view view = {
		.stack_id = 7,
		.pid = PID,
		.user_end = PKBPF_END_ROOT,
		.user_ips = (const uint64_t[]){ADDRESS, pkbpf_hotspot_word(0x7f0000001000, 5)},
		.user_count = 2,
	};

	fixture->sink.ops->on_stack(fixture->sink.context, &view);
	wait_once(fixture);
	code_history_settle(symbolizer_chain_code_history(fixture->symbolizer));
	profile_symbolize(fixture->profile, fixture->symbolizer);
	assert_row(fixture, 0, "first", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			files_of_processes_with_nothing_but_the_vsyscall_page_are_not_sought,
			setup_plain, teardown),
		cmocka_unit_test_setup_teardown(waits_are_named_by_the_code_of_their_time, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_word_of_an_interpreter_without_a_jvm_is_left_out,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
