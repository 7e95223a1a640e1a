// SPDX-License-Identifier: BSD-2-Clause
// Threads that change their number or name, and numbers that change their thread; says what was
// used meanwhile. cflags: -O2 -pthread ldflags: -pthread
/* usage: renumbered exec|zombie|reuse|at-once|rename. Waits for a line on stdin before and after.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *after_exec[] = {"after", NULL, NULL, NULL};

static long long cpu_us(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000LL +
	       usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
}

static void tell(const struct rusage *usage, long long less_us, long less_minor)
{
	printf("{\"cpu_ns\": %lld, \"minor\": %ld}\n", (cpu_us(usage) - less_us) * 1000,
	       usage->ru_minflt - less_minor);
	fflush(stdout);
}

static void wait_for_line(void)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

__attribute__((noinline)) static void work(int milliseconds, int faults)
{
	struct timespec now;
	long long end_us;

	for (int i = 0; i < faults; i++) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (page == MAP_FAILED)
			exit(1);
		*page = 1;
		munmap(page, 4096);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	end_us = now.tv_sec * 1000000LL + now.tv_nsec / 1000 + milliseconds * 1000LL;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec * 1000000LL + now.tv_nsec / 1000 < end_us);
}

static void *work_and_exec(void *argument)
{
	work(100, 1000);
	usleep(50000);
	execv("/proc/self/exe", (char **)after_exec);
	exit(1);
	return argument;
}

static int exec_by_another_thread(void)
{
	struct rusage before;
	pthread_t thread;
	char us[32], minor[32];

	puts("ready");
	fflush(stdout);
	wait_for_line();
	getrusage(RUSAGE_SELF, &before);
	snprintf(us, sizeof(us), "%lld", cpu_us(&before));
	snprintf(minor, sizeof(minor), "%ld", before.ru_minflt);
	after_exec[1] = us;
	after_exec[2] = minor;
	work(300, 3000);
	if (pthread_create(&thread, NULL, work_and_exec, NULL))
		return 1;
	pause();
	return 0;
}

static int after(char **arguments)
{
	struct rusage now;

	usleep(50000);
	work(200, 2000);
	getrusage(RUSAGE_SELF, &now);
	tell(&now, atoll(arguments[1]), atol(arguments[2]));
	wait_for_line();
	return 0;
}

/* Until its parent has ended; says what the child had used. */
static int leave_zombie(void)
{
	struct rusage used = {0};
	siginfo_t info;
	pid_t child;

	puts("ready");
	fflush(stdout);
	wait_for_line();
	child = fork();
	if (child == 0) {
		work(100, 3000);
		_exit(0);
	}
	if (child < 0 || syscall(SYS_waitid, P_PID, child, &info, WEXITED | WNOWAIT, &used))
		return 1;
	tell(&used, 0, 0);
	wait_for_line();
	return 0;
}

static pid_t fork_as(pid_t number)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&number,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

static int use_number_again(void)
{
	pid_t former = fork(), latter = -1;
	struct rusage used = {0};
	siginfo_t info;

	if (former == 0) {
		work(0, 3000);
		_exit(0);
	}
	if (former < 0 || waitid(P_PID, (id_t)former, &info, WEXITED | WNOWAIT))
		return 1;
	puts("ready");
	fflush(stdout);
	wait_for_line();
	waitpid(former, NULL, 0);
	/* The kernel frees it a little later; no kernel gives a number out again as fast when
	 * nobody tells it to. */
	usleep(200000);
	for (int tries = 0; latter != former && tries < 1000; tries++) {
		int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

		if (fd < 0 || dprintf(fd, "%d", former - 1) < 0)
			return 77;
		close(fd);
		latter = fork();
		if (latter == 0) {
			if (getpid() == former)
				work(100, 700);
			_exit(0);
		}
		wait4(latter, NULL, 0, &used);
	}
	if (latter != former)
		return 77;
	tell(&used, 0, 0);
	wait_for_line();
	return 0;
}

/* The number of a child, once it was asked for, is the next child's. */
static int use_number_at_once(void)
{
	struct rusage used = {0};
	pid_t former, latter;

	puts("ready");
	fflush(stdout);
	wait_for_line();
	former = fork();
	if (former == 0)
		_exit(0);
	if (waitpid(former, NULL, 0) != former)
		return 1;
	latter = fork_as(former);
	if (latter < 0)
		return 77;
	if (latter == 0) {
		work(1000, 0);
		_exit(0);
	}
	wait4(latter, NULL, 0, &used);
	tell(&used, 0, 0);
	wait_for_line();
	return 0;
}

static int change_name(void)
{
	struct rusage before, now;

	work(0, 3000);
	puts("ready");
	fflush(stdout);
	wait_for_line();
	getrusage(RUSAGE_SELF, &before);
	prctl(PR_SET_NAME, "latecomer");
	work(200, 2000);
	usleep(50000);
	getrusage(RUSAGE_SELF, &now);
	tell(&now, cpu_us(&before), before.ru_minflt);
	wait_for_line();
	return 0;
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";

	if (strcmp(arguments[0], "after") == 0 && count > 2)
		return after(arguments);
	if (strcmp(mode, "exec") == 0)
		return exec_by_another_thread();
	if (strcmp(mode, "zombie") == 0)
		return leave_zombie();
	if (strcmp(mode, "reuse") == 0)
		return use_number_again();
	if (strcmp(mode, "at-once") == 0)
		return use_number_at_once();
	if (strcmp(mode, "rename") == 0)
		return change_name();
	return 2;
}
