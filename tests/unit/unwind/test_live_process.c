// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/live_process: tables and stacks of a child that waits at a known place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/decoder.h"
#include "process/process_table.h"
#include "process/snapshot.h"
#include "unwind/live_process.h"

#define DEPTH 20

struct fixture {
	pid_t child;
	struct mapped_file_table *files;
	struct process_table *processes;
	struct live_process *live;
};

static volatile int sink;

__attribute__((noinline)) static int wait_deep(int depth, int ready_fd)
{
	if (depth == 0) {
		if (write(ready_fd, "x", 1) == 1)
			pause();
		return 1;
	}
	sink = wait_deep(depth - 1, ready_fd);
	return sink + 1;
}

static void feed_snapshot(struct fixture *fixture)
{
	struct event_sink table_sink = process_table_sink(fixture->processes);
	uint32_t pid = (uint32_t)fixture->child;
	struct event_buffer buffer = {0};
	struct snapshot_stats stats;

	assert_int_equal(snapshot_processes("/proc", &pid, 1, 0, &buffer, &stats), 0);
	for (size_t offset = 0; offset < buffer.size;) {
		int size = event_decode(buffer.data + offset, buffer.size - offset, &table_sink);

		assert_true(size > 0);
		offset += (size_t)size;
	}
	event_buffer_done(&buffer);
}

static int set_up(void **state)
{
	static struct fixture fixture;
	struct process *process;
	struct error error;
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	fixture.child = fork();
	if (fixture.child == 0)
		_exit(wait_deep(DEPTH, ready[1]));
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	fixture.files = mapped_file_table_new("");
	fixture.processes = process_table_new(fixture.files);
	feed_snapshot(&fixture);
	process = process_table_get(fixture.processes, (uint32_t)fixture.child, "");
	assert_int_equal(live_process_new((uint32_t)fixture.child, fixture.files,
					  process_table_mappings(fixture.processes, process),
					  &fixture.live, &error),
			 0);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	kill(fixture->child, SIGKILL);
	waitpid(fixture->child, NULL, 0);
	live_process_free(fixture->live);
	process_table_free(fixture->processes);
	mapped_file_table_free(fixture->files);
	return 0;
}

static void has_a_table_for_every_library_and_the_program(void **state)
{
	struct fixture *fixture = *state;
	const struct live_mapping *mapping;
	bool program = false, libc = false, vdso = false;

	for (size_t i = 0; (mapping = live_process_mapping(fixture->live, i)); i++) {
		bool ready = mapping->state == LIVE_TABLE_READY && mapping->rows > 0 &&
			     mapping->bytes > 0;

		program =
			program || (ready && strstr(mapping->path, program_invocation_short_name));
		libc = libc || (ready && strstr(mapping->path, "libc.so"));
		vdso = vdso || (ready && strcmp(mapping->path, "[vdso]") == 0);
	}
	assert_true(program);
	assert_true(libc);
	assert_true(vdso);
}

static void walks_a_waiting_thread_to_its_root(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_walk_result result;
	bool in_system_call = false;
	uint64_t ips[256];
	size_t same = 0;

	assert_int_equal(live_process_walk(fixture->live, (uint32_t)fixture->child, ips, 256,
					   &result, &in_system_call),
			 0);
	assert_true(in_system_call);
	assert_true(result.end == PKBPF_END_ROOT || result.end == PKBPF_END_ZERO_RA);
	/* All calls of the recursion but the first return to the same place. */
	for (size_t i = 1; i < result.depth; i++)
		same += ips[i] == ips[i - 1];
	assert_int_equal(same, DEPTH - 1);
}

static void lets_the_thread_go_on(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_walk_result result;
	bool in_system_call;
	uint64_t ips[256];

	for (int i = 0; i < 3; i++)
		assert_int_equal(live_process_walk(fixture->live, (uint32_t)fixture->child, ips,
						   256, &result, &in_system_call),
				 0);
	assert_int_equal(kill(fixture->child, SIGTERM), 0);
	assert_int_equal(waitpid(fixture->child, NULL, 0), fixture->child);
	assert_int_equal(live_process_walk(fixture->live, (uint32_t)fixture->child, ips, 256,
					   &result, &in_system_call),
			 -ESRCH);
}

/* Counts in memory that both see: a signal that raise() sent is handled before it returns. */
struct counts {
	volatile sig_atomic_t handled, lost;
};

static struct counts *counts;

static void note_signal(int number)
{
	(void)number;
	counts->handled++;
}

/* Onto the first (0) or the last (1) of the CPUs that `allowed` has. */
static void move_to(const cpu_set_t *allowed, bool last)
{
	cpu_set_t one;
	int cpu = last ? CPU_SETSIZE - 1 : 0;

	while (!CPU_ISSET(cpu, allowed))
		cpu += last ? -1 : 1;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void raise_for_ever(void)
{
	signal(SIGUSR1, note_signal);
	for (int raised = 1;; raised++) {
		raise(SIGUSR1);
		counts->lost = raised - counts->handled;
	}
}

static void takes_no_signal_from_the_thread(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_walk_result result;
	bool in_system_call;
	uint64_t ips[256];
	uint64_t end_ns = clock_now_ns() + 10 * NS_PER_SECOND;
	cpu_set_t allowed;
	pid_t child;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(counts, MAP_FAILED);
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		move_to(&allowed, false);
		raise_for_ever();
	}
	/* Both run at the same time: every third time or so, a signal comes between the two steps
	 * of the stop. */
	move_to(&allowed, true);
	for (int i = 0; i < 1000 && clock_now_ns() < end_ns; i++) {
		int err;

		usleep(50);
		err = live_process_walk(fixture->live, (uint32_t)child, ips, 256, &result,
					&in_system_call);
		/* Beside much else, it may not get its CPU for a second. */
		assert_true(err == 0 || err == -ETIMEDOUT);
	}
	sched_setaffinity(0, sizeof(allowed), &allowed);
	assert_true(counts->handled > 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(counts->lost, 0);
	munmap(counts, sizeof(*counts));
}

static void vfork_and_end_with_7(int ready_fd)
{
	pid_t borrower;

	/* The child has its memory, so it sleeps until that is given back. */
	borrower = vfork();
	if (borrower == 0) {
		borrower = getpid();
		if (write(ready_fd, &borrower, sizeof(borrower)) == sizeof(borrower))
			pause();
		_exit(0);
	}
	_exit(7);
}

static void gives_up_on_a_thread_that_cannot_be_stopped_and_leaves_it_as_it_was(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_walk_result result;
	bool in_system_call;
	pid_t child, borrower;
	uint64_t ips[256];
	int ready[2], status;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0)
		vfork_and_end_with_7(ready[1]);
	assert_int_equal(read(ready[0], &borrower, sizeof(borrower)), sizeof(borrower));
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(live_process_walk(fixture->live, (uint32_t)child, ips, 256, &result,
					   &in_system_call),
			 -ETIMEDOUT);
	assert_int_equal(kill(borrower, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(has_a_table_for_every_library_and_the_program,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(walks_a_waiting_thread_to_its_root, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(lets_the_thread_go_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_no_signal_from_the_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			gives_up_on_a_thread_that_cannot_be_stopped_and_leaves_it_as_it_was, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
