// SPDX-License-Identifier: BSD-2-Clause
/* Captures without a command line: options in, a profile out, several in one process. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/live_run.h"
#include "profile/function_table.h"

#define SKIPPED 77

static unsigned int failures;

static __attribute__((format(printf, 2, 3))) void expect(bool holds, const char *format, ...)
{
	va_list arguments;

	if (holds)
		return;
	failures++;
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

/* ---- a process to profile ---- */

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec time = {0};

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static __attribute__((noinline)) void spin_until(uint64_t end_ns)
{
	while (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		for (volatile int i = 0; i < 100000; i++)
			;
}

/* for_ns: of CPU time, however long a busy machine takes to give it. */
static uint32_t start_spinning(uint64_t for_ns)
{
	pid_t pid = fork();

	if (pid == 0) {
		spin_until(for_ns);
		_exit(0);
	}
	return (uint32_t)pid;
}

static void end(uint32_t pid)
{
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
}

/* ---- reading the profile ---- */

/* Samples whose stack has the function. */
static uint64_t samples_in(const struct profile *profile, const char *name, uint64_t *ret_all)
{
	const struct function_table_options options = {0};
	struct function_table *table = function_table_new(profile, &options);
	size_t row_count;
	const struct profile_row *rows = profile_rows(profile, &row_count);
	uint64_t found = 0, all = 0;

	if (!table)
		abort();
	for (size_t i = 0; i < row_count; i++) {
		uint32_t functions[128];
		size_t count = function_table_stack(table, profile, rows[i].stack, functions, 128);

		if (rows[i].kind != PKBPF_PROFILE_CPU)
			continue;
		all += rows[i].count;
		for (size_t k = 0; k < count && k < 128; k++) {
			if (strcmp(function_table_get(table, functions[k])->name, name) == 0) {
				found += rows[i].count;
				break;
			}
		}
	}
	function_table_free(table);
	*ret_all = all;
	return found;
}

static void expect_spinning(const struct profile *profile, uint64_t least)
{
	struct profile_account account = profile_account(profile);
	uint64_t all, found = samples_in(profile, "spin_until", &all);

	expect(account.expected == account.recorded + account.lost,
	       "expected %llu samples, recorded %llu and lost %llu",
	       (unsigned long long)account.expected, (unsigned long long)account.recorded,
	       (unsigned long long)account.lost);
	expect(account.recorded == all, "%llu samples recorded, %llu in the profile",
	       (unsigned long long)account.recorded, (unsigned long long)all);
	expect(all >= least, "%llu samples, expected %llu", (unsigned long long)all,
	       (unsigned long long)least);
	expect(found * 10 >= all * 9, "%llu of %llu samples are in spin_until()",
	       (unsigned long long)found, (unsigned long long)all);
}

/* ---- captures ---- */

/* Asked for again after 50 ms, later where a machine is busy; and what CPU time the target has had
 * in between. */
struct looks {
	clockid_t clock; /* of the target */
	unsigned int count;
	uint64_t first_ns, last_ns;
};

static uint64_t count_looks(void *context, struct live_run *run, uint64_t now_ns)
{
	struct looks *looks = context;

	looks->last_ns = cpu_ns(looks->clock);
	if (looks->count++ == 0)
		looks->first_ns = looks->last_ns;
	return now_ns + 50 * NS_PER_MS;
}

static struct live_run *start(const struct live_options *options)
{
	struct live_run *run;
	struct error error;

	if (live_run_new(options, &run, &error) < 0 || live_run_start(run, &error) < 0) {
		printf("%s\n", error.text);
		exit(1);
	}
	return run;
}

static void time_is_up(void)
{
	uint32_t pid = start_spinning(60 * NS_PER_SECOND);
	struct looks looks = {0};
	const struct live_observer observer = {count_looks, NULL, &looks};
	const struct profile_info *info;
	struct live_options options;
	struct profile *profile;
	struct live_run *run;
	enum run_end reason;
	char targets[64];

	clock_getcpuclockid((pid_t)pid, &looks.clock);
	live_options_init(&options);
	options.targets.pids = (struct u32_list){&pid, 1, 0};
	options.kinds_mask |= 1U << PKBPF_PROFILE_OFFCPU;
	options.frequency_hz = 199;
	options.duration_ns = NS_PER_SECOND;
	run = start(&options);
	expect(live_run_until_end(run, &observer, &reason) == 0, "the capture broke");
	expect(reason == RUN_TIME_IS_UP, "ended for reason %d", reason);
	expect(looks.count >= 3, "looked %u times in a second, every 50 ms", looks.count);
	expect(live_run_stop(run) == 0, "the capture did not stop");
	profile = live_run_finish(run, NULL);
	info = profile_info_read(profile);
	snprintf(targets, sizeof(targets), "pid %u and workers", pid);
	expect(strcmp(info->targets, targets) == 0, "targets are '%s'", info->targets);
	expect(info->kinds_mask == options.kinds_mask, "kinds are %x", info->kinds_mask);
	expect(info->end_ns - info->start_ns >= NS_PER_SECOND, "took %llu ns",
	       (unsigned long long)(info->end_ns - info->start_ns));
	/* The target has a part of a busy machine only; samples come a period apart. */
	expect_spinning(profile, (looks.last_ns - looks.first_ns) * 199 / NS_PER_SECOND * 9 / 10);
	live_run_free(run);
	end(pid);
}

static void targets_exit(void)
{
	uint32_t pid = start_spinning(2 * NS_PER_SECOND);
	struct live_options options;
	struct live_run *run;
	enum run_end reason;

	live_options_init(&options);
	options.targets.pids = (struct u32_list){&pid, 1, 0};
	run = start(&options);
	expect(live_run_until_end(run, NULL, &reason) == 0, "the capture broke");
	expect(reason == RUN_TARGETS_ENDED, "ended for reason %d", reason);
	expect(live_run_stop(run) == 0, "the capture did not stop");
	/* Some of its time has passed before the capture began. */
	expect_spinning(live_run_finish(run, NULL), 10);
	live_run_free(run);
	waitpid((pid_t)pid, NULL, 0);
}

static void somebody_stops_it(void)
{
	uint32_t pid = start_spinning(60 * NS_PER_SECOND);
	int fd = eventfd(1, EFD_CLOEXEC);
	struct live_options options;
	struct live_run *run;
	struct error error;
	enum run_end reason;

	live_options_init(&options);
	options.targets.pids = (struct u32_list){&pid, 1, 0};
	run = start(&options);
	expect(live_run_set_stop(run, fd, &error) == 0, "cannot be stopped");
	expect(live_run_until_end(run, NULL, &reason) == 0, "the capture broke");
	expect(reason == RUN_STOPPED, "ended for reason %d", reason);
	expect(live_run_stop(run) == 0, "the capture did not stop");
	live_run_finish(run, NULL);
	live_run_free(run);
	close(fd);
	end(pid);
}

int main(void)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) < 0) {
		printf("skipped: needs root and a kernel with BTF\n");
		return SKIPPED;
	}
	time_is_up();
	targets_exit();
	somebody_stops_it();
	return failures ? 1 : 0;
}
