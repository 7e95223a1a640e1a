// SPDX-License-Identifier: BSD-2-Clause
// Tests that folded stacks are what flamegraph.pl, inferno and speedscope take.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app_fixture.h"
#include "base/array.h"
#include "base/clock.h"

#include <pkbpf/blockio.h>
#include <pkbpf/offcpu.h>

static const struct fake_symbol symbols[] = {
	FAKE_FUNCTION(APP, 0x1000, 0x1100, "main"),
	FAKE_FUNCTION(APP, 0x1100, 0x1200, "work"),
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1200,
	 .end = 0x1300,
	 .lines = {{.function = "tiny", .file = "/src/tiny.h", .line = 3, .inlined = true},
		   {.function = "caller", .file = "/src/app.c", .line = 40}}},
	{.space = FRAME_KERNEL,
	 .start = 0x100,
	 .end = 0x200,
	 .lines = {{.function = "do_syscall_64"}}},
	{.space = FRAME_KERNEL,
	 .start = 0x200,
	 .end = 0x300,
	 .lines = {{.function = "hrtimer_interrupt"}}},
	{.space = FRAME_KERNEL,
	 .start = 0x300,
	 .end = 0x400,
	 .lines = {{.function = "asm_sysvec_apic_timer_interrupt"}}},
	{.space = FRAME_ANONYMOUS,
	 .start = 0x900000,
	 .end = 0x900100,
	 .lines = {{.function = "jitted"}}},
	{.space = FRAME_ANONYMOUS,
	 .start = 0x901000,
	 .end = 0x901100,
	 .flags = SYMBOL_IS_PYTHON,
	 .lines = {{.function = "Pool.run", .file = "/app/pool.py", .line = 7}}},
};

static void assert_folded(struct fixture *fixture, const struct format_options *options,
			  const char *expected)
{
	char *text;

	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
	text = fake_profile_write(&fixture->fake, "folded", options);
	assert_string_equal(text, expected);
	free(text);
}

static void the_root_comes_first_and_numbers_add_up(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401110, 0x401010));
	/* Another address in the same functions is the same line. */
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401120, 0x401020));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	assert_folded(fixture, NULL, "app;main 1\napp;main;work 2\n");
}

static void processes_of_one_comm_share_lines(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 200, 1, "app");
	fake_map(fixture->machine, 200, 0x401000, 0x410000, 0x1000, APP);
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x401010));
	assert_folded(fixture, NULL, "app;main 2\n");
}

static void the_root_frame_carries_the_pid_when_asked(void **state)
{
	struct fixture *fixture = *state;
	struct format_options options = {.pid_frame = true};

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	/* Write-back is no process's. */
	fake_process(fixture->machine, PKBPF_PID_WRITEBACK | 7, 1, PKBPF_WRITEBACK_COMM);
	fake_sample(fixture->machine, PKBPF_PID_WRITEBACK | 7, 100, FAKE_IPS(0x110), FAKE_IPS());
	assert_folded(fixture, &options, "[writeback];do_syscall_64_[k] 1\napp-100;main 1\n");
}

static void the_root_frame_carries_pid_and_tid_for_threads(void **state)
{
	struct fixture *fixture = *state;
	struct aggregator_options apart = {
		.want_user = true, .want_kernel = true, .per_thread = true};
	struct format_options options = {.per_thread = true};

	fake_profile_done(&fixture->fake);
	fake_profile_init(&fixture->fake, &apart);
	fake_thread(fixture->machine, 100, 101);
	fake_sample(fixture->machine, 100, 101, FAKE_IPS(), FAKE_IPS(0x401010));
	assert_folded(fixture, &options, "app-100/101;main 1\n");
}

static void suffixes_tell_kernel_inlined_and_jit_frames(void **state)
{
	struct fixture *fixture = *state;

	fake_map(fixture->machine, 100, 0x900000, 0x910000, 0, "//anon");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x110), FAKE_IPS(0x900010, 0x401210));
	assert_folded(fixture, NULL, "app;caller;tiny_[i];jitted_[j];do_syscall_64_[k] 1\n");
}

static void python_frames_show_their_file_and_with_lines_their_line(void **state)
{
	struct fixture *fixture = *state;
	struct format_options options = {.lines = true};

	fake_map(fixture->machine, 100, 0x900000, 0x910000, 0, "//anon");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x901010));
	assert_folded(fixture, NULL, "app;Pool.run (pool.py)_[p] 1\n");
	assert_folded(fixture, &options, "app;Pool.run (pool.py:7)_[p] 2\n");
}

static void lines_show_file_and_line(void **state)
{
	struct fixture *fixture = *state;
	struct format_options options = {.lines = true};

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401210, 0x401010));
	assert_folded(fixture, &options, "app;main;caller (app.c:40);tiny (tiny.h:3)_[i] 1\n");
}

static void unknown_addresses_show_what_is_known(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x405678, 0x99));
	assert_folded(fixture, NULL, "app;[unknown];[app+0x5678] 1\n");
}

static void a_cut_stack_begins_with_the_reason(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t user[] = {0x401110, 0x401010};
	struct sample_view sample = {
		.pid = 100,
		.tid = 100,
		.count = 1,
		.weight = 1,
		.user_end = PKBPF_END_NO_RULE,
		.user_ips = user,
		.user_count = 2,
	};

	fake_sample_view(fixture->machine, &sample);
	assert_folded(fixture, NULL, "app;[truncated: no unwind info];main;work 1\n");
}

static void a_sample_without_a_stack_keeps_its_weight(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS());
	assert_folded(fixture, NULL, "app 1\n");
}

static void only_the_chosen_kind_is_written_in_its_unit(void **state)
{
	struct fixture *fixture = *state;
	struct format_options options = {.kind = PKBPF_PROFILE_OFFCPU};
	const uint64_t user[] = {0x401010};
	struct sample_view sample = {
		.pid = 100,
		.tid = 100,
		.kind = PKBPF_PROFILE_OFFCPU,
		.count = 2,
		.weight = 700,
		.user_end = PKBPF_END_ROOT,
		.user_ips = user,
		.user_count = 1,
	};
	const uint64_t other[] = {0x401110};

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	/* 700 ns twice are 1.4 us: rounded once, after the sum. */
	fake_sample_view(fixture->machine, &sample);
	fake_sample_view(fixture->machine, &sample);
	/* Less than half a microsecond is no line. */
	sample.weight = 300;
	sample.user_ips = other;
	fake_sample_view(fixture->machine, &sample);
	assert_folded(fixture, &options, "app;main 1\n");
}

static void add_stack(struct fixture *fixture, uint64_t id, struct fake_ips kernel,
		      struct fake_ips user)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);
	struct stack_view view = {
		.stack_id = id,
		.pid = 100,
		.after_syscall = true,
		.user_end = PKBPF_END_ROOT,
		.kernel_ips = kernel.items,
		.kernel_count = kernel.count,
		.user_ips = user.items,
		.user_count = user.count,
	};

	sink.ops->on_stack(sink.context, &view);
}

static void add_wait(struct fixture *fixture, uint64_t waker_id)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);
	struct totals_view totals = {
		.pid = 100,
		.tid = 100,
		.kind = PKBPF_PROFILE_OFFCPU,
		.measure = PKBPF_OFFCPU_WAITS,
		.stack_id = 1,
		.waker_id = waker_id,
		.count = 1,
		.total = 2000,
		.max = 2000,
	};

	sink.ops->on_totals(sink.context, &totals);
}

static void a_waker_is_told_up_to_the_interrupt_and_not_whom_that_hit(void **state)
{
	struct fixture *fixture = *state;
	struct format_options options = {.kind = PKBPF_PROFILE_OFFCPU};
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);

	fake_play_new(fixture->machine, &sink);
	add_stack(fixture, 1, FAKE_IPS(0x110), FAKE_IPS(0x401010));
	/* In user code, in other user code, in a system call. */
	add_stack(fixture, 2, FAKE_IPS(0x210, 0x310), FAKE_IPS(0x401110, 0x401010));
	add_stack(fixture, 3, FAKE_IPS(0x210, 0x310), FAKE_IPS(0x401010));
	add_stack(fixture, 4, FAKE_IPS(0x210, 0x310, 0x110), FAKE_IPS(0x401010));
	add_stack(fixture, 5, FAKE_IPS(0x110), FAKE_IPS(0x401110, 0x401010));
	for (uint64_t id = 2; id <= 5; id++)
		add_wait(fixture, id);
	assert_folded(fixture, &options,
		      "app;main;do_syscall_64_[k];--;do_syscall_64_[w];work_[w];main_[w] 2\n"
		      "app;main;do_syscall_64_[k];--;hrtimer_interrupt_[w];asm_sysvec_apic_timer_"
		      "interrupt_[w] 6\n");
}

static void an_empty_profile_is_an_empty_file(void **state)
{
	assert_folded(*state, NULL, "");
}

struct hostile_row {
	const char *comm, *function, *expected;
};

static void hostile_names_cannot_break_a_line(void **state)
{
	static const struct hostile_row rows[] = {
		{"a b c", "f", "a_b_c;f 1\n"},
		{"a;b", "f;g", "a:b;f:g 1\n"},
		{"x\ny", "f\tg\nh", "x?y;f?g?h 1\n"},
		{"x", "f\x1b[31m", "x;f?[31m 1\n"},
		{"x", "bad\xff\xfe utf", "x;bad?? utf 1\n"},
		{"x", "cut\xe2\x82", "x;cut? 1\n"},
		{"x", "caf\xc3\xa9 \xe2\x82\xac", "x;caf\xc3\xa9 \xe2\x82\xac 1\n"},
		{"x", "work item 2", "x;work item_2 1\n"},
		{"x", "size 1.5", "x;size_1.5 1\n"},
		{"x", "size 12.", "x;size_12. 1\n"},
		{"x", "v 1.2.3", "x;v 1.2.3 1\n"},
		{"x", "item 2x", "x;item 2x 1\n"},
		{"x", " 12", "x;_12 1\n"},
		{"x", "12", "x;12 1\n"},
		{"x", "trailing  ", "x;trailing__ 1\n"},
		{"x", " ", "x;_ 1\n"},
		{"# x", "f", "?_x;f 1\n"},
		{"w 7", "f", "w_7;f 1\n"},
		{"x", "operator()(int, char)", "x;operator()(int, char) 1\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct fake_symbol hostile[] = {
			{.space = FRAME_FILE,
			 .path = APP,
			 .start = 0x1000,
			 .end = 0x1100,
			 .lines = {{.function = rows[i].function}}},
		};
		struct fake_machine *machine = fake_machine_new();
		struct fake_profile fake;
		char *text;

		fake_profile_init(&fake, NULL);
		fake_process(machine, 100, 1, rows[i].comm);
		fake_map(machine, 100, 0x401000, 0x410000, 0x1000, APP);
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
		fake_profile_run(&fake, machine, hostile, ARRAY_SIZE(hostile));
		text = fake_profile_write(&fake, "folded", NULL);
		assert_string_equal(text, rows[i].expected);
		free(text);
		fake_machine_free(machine);
		fake_profile_done(&fake);
	}
}

static void a_name_without_end_is_cut_and_keeps_its_suffix(void **state)
{
	struct fixture *fixture = *state;
	char *name = malloc(100001), *text;
	const char *end = "\xc3\xa9_[k] 1\n";

	assert_non_null(name);
	for (size_t i = 0; i < 100000; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	name[100000] = '\0';
	const struct fake_symbol hostile[] = {
		{.space = FRAME_KERNEL,
		 .start = 0x100,
		 .end = 0x200,
		 .lines = {{.function = name}}},
	};
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x110), FAKE_IPS());
	fake_profile_run(&fixture->fake, fixture->machine, hostile, 1);
	text = fake_profile_write(&fixture->fake, "folded", NULL);
	assert_true(strlen(text) > 4000 && strlen(text) < 4200);
	assert_string_equal(text + strlen(text) - strlen(end), end);
	free(text);
	free(name);
}

/* Frames whose order as lines differs from their order as names. */
static void lines_are_sorted_bytewise(void **state)
{
	static const char *const names[] = {"a",   "a b", "a!", "a 1x", "a.b",
					    "a;b", "ab",  "A",	"b",	"\xc3\xa9"};
	struct fake_symbol table[ARRAY_SIZE(names)];
	struct fixture *fixture = *state;
	char *text, *line, *previous = NULL, *save = NULL;
	size_t lines = 0;

	memset(table, 0, sizeof(table));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		table[i].space = FRAME_KERNEL;
		table[i].start = 0x1000 * (i + 1);
		table[i].end = table[i].start + 0x100;
		table[i].lines[0].function = names[i];
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			fake_sample(fixture->machine, 100, 100,
				    FAKE_IPS(table[i].start, table[j].start + 1), FAKE_IPS());
		/* Numbers of several lengths take part in the order too. */
		for (size_t n = 0; n < i * i + 1; n++)
			fake_sample(fixture->machine, 100, 100, FAKE_IPS(table[i].start),
				    FAKE_IPS());
	}
	fake_profile_run(&fixture->fake, fixture->machine, table, ARRAY_SIZE(names));
	text = fake_profile_write(&fixture->fake, "folded", NULL);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (previous)
			assert_true(strcmp(previous, line) < 0);
		previous = line;
		lines++;
	}
	assert_int_equal(lines, ARRAY_SIZE(names) * (ARRAY_SIZE(names) + 1));
	free(text);
}

static void the_sum_of_all_lines_is_the_number_of_samples(void **state)
{
	struct fixture *fixture = *state;
	uint64_t sum = 0, seed = 1;
	char *text, *save = NULL;

	for (size_t i = 0; i < 3000; i++) {
		uint64_t ips[5];

		for (size_t j = 0; j < ARRAY_SIZE(ips); j++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			ips[j] = 0x401000 + (seed >> 40) % 0x400;
		}
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
			    (struct fake_ips){ips, 1 + i % ARRAY_SIZE(ips)});
	}
	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
	text = fake_profile_write(&fixture->fake, "folded", NULL);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	assert_int_equal(sum, 3000);
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_root_comes_first_and_numbers_add_up),
		TEST(processes_of_one_comm_share_lines),
		TEST(the_root_frame_carries_the_pid_when_asked),
		TEST(the_root_frame_carries_pid_and_tid_for_threads),
		TEST(suffixes_tell_kernel_inlined_and_jit_frames),
		TEST(python_frames_show_their_file_and_with_lines_their_line),
		TEST(lines_show_file_and_line),
		TEST(unknown_addresses_show_what_is_known),
		TEST(a_cut_stack_begins_with_the_reason),
		TEST(a_sample_without_a_stack_keeps_its_weight),
		TEST(only_the_chosen_kind_is_written_in_its_unit),
		TEST(a_waker_is_told_up_to_the_interrupt_and_not_whom_that_hit),
		TEST(an_empty_profile_is_an_empty_file),
		TEST(hostile_names_cannot_break_a_line),
		TEST(a_name_without_end_is_cut_and_keeps_its_suffix),
		TEST(lines_are_sorted_bytewise),
		TEST(the_sum_of_all_lines_is_the_number_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
