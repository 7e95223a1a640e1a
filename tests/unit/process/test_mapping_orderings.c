// SPDX-License-Identifier: BSD-2-Clause
/* What a process table knows to be mapped after each step of some histories: mmap, munmap,
 * mprotect, mremap, fork, exec, exit, huge pages, records that come late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/array.h"
#include "process_table_fixture.h"

#define APP   0x400000
#define OTHER 0x7f0000000000
#define MIB   (1ULL << 20)

enum step_kind { END, MAP, DATA, FORK, THREAD, EXEC, EXIT, WAIT };

struct step {
	enum step_kind kind;
	uint32_t pid;
	uint64_t start, size,
		offset; /* WAIT: start is how long; FORK, THREAD, EXIT: the other id */
	const char *path;
	/* What is mapped at `at` of process `of` after it; NULL: not asked. */
	uint32_t of;
	uint64_t at;
	const char *expected;
};

struct history {
	const char *name;
	struct step steps[8];
};

static const struct history histories[] = {
	{"munmap is not announced; what is mapped there next counts",
	 {{MAP, 10, OTHER, 0x4000, 0, "/a", 10, OTHER + 0x3000, "/a"},
	  {MAP, 10, OTHER + 0x1000, 0x1000, 0, "/b", 10, OTHER + 0x1fff, "/b"},
	  {WAIT, .of = 10, .at = OTHER + 0x2000, .expected = "/a"}}},
	{"mprotect takes the code away and brings it back",
	 {{MAP, 10, OTHER, 0x4000, 0, "/a", 10, OTHER, "/a"},
	  {DATA, 10, OTHER, 0x1000, 0, "/a", 10, OTHER, "nothing"},
	  {WAIT, .of = 10, .at = OTHER + 0x1000, .expected = "/a"},
	  {MAP, 10, OTHER, 0x1000, 0, "/a", 10, OTHER, "/a"}}},
	{"mremap announces the new place alone",
	 {{MAP, 10, OTHER, 0x2000, 0x5000, "/a", 10, OTHER, "/a"},
	  {MAP, 10, OTHER + MIB, 0x2000, 0x5000, "/a", 10, OTHER + MIB, "/a"},
	  {MAP, 10, OTHER, 0x2000, 0, "//anon", 10, OTHER, "anonymous"},
	  {WAIT, .of = 10, .at = OTHER + MIB, .expected = "/a"}}},
	{"a child keeps what its parent had mapped when it was forked",
	 {{MAP, 10, OTHER, 0x1000, 0, "/a", 10, OTHER, "/a"},
	  {FORK, 10, 20, .of = 20, .at = OTHER, .expected = "/a"},
	  {MAP, 10, OTHER, 0x1000, 0, "/b", 20, OTHER, "/a"},
	  {MAP, 20, OTHER, 0x1000, 0, "/c", 10, OTHER, "/b"},
	  {EXIT, 10, 10, .of = 20, .at = OTHER, .expected = "/c"}}},
	{"exec leaves nothing of the image before, nor of what its parent maps since",
	 {{MAP, 10, APP, 0x1000, 0, "/sh", 10, APP, "/sh"},
	  {FORK, 10, 20, .of = 20, .at = APP, .expected = "/sh"},
	  {EXEC, 20, .path = "app", .of = 20, .at = APP, .expected = "nothing"},
	  {MAP, 20, APP + 0x10000, 0x1000, 0, "/app", 20, APP + 0x10000, "/app"},
	  {MAP, 10, OTHER, 0x1000, 0, "/b", 20, OTHER, "nothing"},
	  {WAIT, .of = 10, .at = APP, .expected = "/sh"}}},
	{"mappings end with the last thread and a while",
	 {{MAP, 10, APP, 0x1000, 0, "/app", 10, APP, "/app"},
	  {THREAD, 10, .start = 11},
	  {EXIT, 10, 10, .of = 10, .at = APP, .expected = "/app"},
	  {WAIT, .start = 2 * PROCESS_GRACE_NS, .of = 10, .at = APP, .expected = "/app"},
	  {EXIT, 10, 11, .of = 10, .at = APP, .expected = "/app"},
	  {WAIT, .start = 2 * PROCESS_GRACE_NS, .of = 10, .at = APP, .expected = "nothing"}}},
	{"a pid given again has none of the mappings",
	 {{MAP, 20, APP, 0x1000, 0, "/app", 20, APP, "/app"},
	  {EXIT, 20, 20, .of = 20, .at = APP, .expected = "/app"},
	  {FORK, 10, 20, .of = 20, .at = APP, .expected = "nothing"}}},
	{"text in huge pages stays its file's, in a child, too",
	 {{MAP, 10, 3 * MIB, 6 * MIB, 0x1000, "/app", 10, 5 * MIB, "/app"},
	  {MAP, 10, 4 * MIB, 4 * MIB, 0, "//anon", 10, 5 * MIB, "/app"},
	  {FORK, 10, 20, .of = 20, .at = 7 * MIB, .expected = "/app"},
	  {MAP, 20, 5 * MIB, 4096, 0, "//anon", 20, 5 * MIB, "anonymous"},
	  {WAIT, .of = 10, .at = 5 * MIB, .expected = "/app"}}},
	{"huge pages whose file is announced later",
	 {{MAP, 10, 3 * MIB, MIB, 0x1000, "/app", 10, 3 * MIB, "/app"},
	  {MAP, 10, 4 * MIB, 4 * MIB, 0, "//anon", 10, 4 * MIB, "anonymous"},
	  {MAP, 10, 8 * MIB, MIB, 0x1000 + 5 * MIB, "/app", 10, 4 * MIB, "/app"}}},
};

static void take(struct fixture *fixture, const struct step *step)
{
	struct fake_machine *machine = fixture->machine;

	switch (step->kind) {
	case MAP:
		fake_map(machine, step->pid, step->start, step->start + step->size, step->offset,
			 step->path);
		break;
	case DATA:
		fake_map_view(machine, &(struct mapping_view){.pid = step->pid,
							      .start = step->start,
							      .end = step->start + step->size,
							      .path = step->path});
		break;
	case FORK:
		fake_fork(machine, step->pid, (uint32_t)step->start);
		break;
	case THREAD:
		fake_thread(machine, step->pid, (uint32_t)step->start);
		break;
	case EXEC:
		fake_exec(machine, step->pid, step->path);
		break;
	case EXIT:
		fake_exit(machine, step->pid, (uint32_t)step->start);
		break;
	case WAIT:
		fake_machine_at(machine, fake_machine_now_ns(machine) + step->start);
		fake_process(machine, 1, 0, "init"); /* somebody's record moves time on */
		break;
	case END:
		break;
	}
	play(fixture);
}

static void every_history_shows_what_is_mapped_now(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(histories); i++) {
		struct fixture *fixture;

		assert_int_equal(setup((void **)&fixture), 0);
		fake_process(fixture->machine, 10, 1, "ten");
		fake_process(fixture->machine, 20, 1, "twenty");
		for (const struct step *step = histories[i].steps; step->kind != END; step++) {
			const char *path;

			take(fixture, step);
			path = step->expected ? path_at(fixture, step->of, step->at) : "";
			if (step->expected && strcmp(path, step->expected) != 0)
				fail_msg("%s: step %zu: %s instead of %s", histories[i].name,
					 (size_t)(step - histories[i].steps), path, step->expected);
		}
		teardown((void **)&fixture);
	}
}

/* Rings of several CPUs give them in any order; the queue sorts them. */
static void records_that_arrive_out_of_order_count_by_their_times(void **state)
{
	struct fixture *fixture = *state;
	struct fake_machine *machine = fixture->machine;

	fake_process(machine, 10, 1, "ten");
	fake_machine_at(machine, FAKE_START_NS + 50 * FAKE_STEP_NS);
	fake_map(machine, 20, APP, APP + 0x1000, 0, "/app");
	fake_machine_at(machine, FAKE_START_NS + 40 * FAKE_STEP_NS);
	fake_exec(machine, 20, "app");
	fake_machine_at(machine, FAKE_START_NS + 30 * FAKE_STEP_NS);
	fake_fork(machine, 10, 20);
	fake_machine_at(machine, FAKE_START_NS + 20 * FAKE_STEP_NS);
	fake_map(machine, 10, OTHER, OTHER + 0x1000, 0, "/a");
	play(fixture);
	assert_string_equal(path_at(fixture, 20, APP), "/app");
	assert_string_equal(path_at(fixture, 20, OTHER), "nothing");
	assert_string_equal(path_at(fixture, 10, OTHER), "/a");
}

/* What comes behind an exit with an earlier time belongs to who has ended, and does not revive
 * it. */
static void a_mapping_that_comes_late_is_of_the_process_that_ended(void **state)
{
	struct fixture *fixture = *state;
	struct fake_machine *machine = fixture->machine;

	fake_process(machine, 20, 1, "twenty");
	fake_machine_at(machine, FAKE_START_NS + 50 * FAKE_STEP_NS);
	fake_exit(machine, 20, 20);
	play(fixture);
	fake_machine_at(machine, FAKE_START_NS + 40 * FAKE_STEP_NS);
	fake_map(machine, 20, APP, APP + 0x1000, 0, "/app");
	play(fixture);
	assert_string_equal(path_at(fixture, 20, APP), "/app");
	assert_int_not_equal(process_table_find(fixture->table, 20)->end_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_history_shows_what_is_mapped_now),
		cmocka_unit_test_setup_teardown(
			records_that_arrive_out_of_order_count_by_their_times, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_mapping_that_comes_late_is_of_the_process_that_ended, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
