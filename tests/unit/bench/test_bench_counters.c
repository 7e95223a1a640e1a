// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_counters.h"

#define MOVES 20

/* Goes from one CPU to another and back. */
static void move(const cpu_set_t *allowed)
{
	int cpus[2] = {-1, -1}, count = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
		if (CPU_ISSET(cpu, allowed))
			cpus[count++] = cpu;
	for (int i = 0; i < MOVES && count == 2; i++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpus[i % 2], &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
}

/* The same path as that of instructions and cycles, which not every machine has. */
static void counts_what_children_do_between_begin_and_end(void **state)
{
	struct bench_counters *counters = bench_counters_open(getpid());
	struct bench_run run = {0}, idle = {0};
	cpu_set_t allowed;
	pid_t pid;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	assert_non_null(counters);
	bench_counters_begin(counters);
	pid = fork();
	if (pid == 0) {
		move(&allowed);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	bench_counters_end(counters, &run);
	bench_counters_begin(counters);
	bench_counters_end(counters, &idle);
	bench_counters_free(counters);
	if (CPU_COUNT(&allowed) < 2 || !bench_run_knows(&run, BENCH_MIGRATIONS)) {
		print_message("NOT CHECKED: one CPU, or no right to count\n");
		return;
	}
	assert_true(run.values[BENCH_MIGRATIONS] >= MOVES - 1);
	assert_true(idle.values[BENCH_MIGRATIONS] < MOVES / 2.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_what_children_do_between_begin_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
