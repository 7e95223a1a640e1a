// SPDX-License-Identifier: BSD-2-Clause
/* Tests what a capture may still ask of the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/kernel/syscall_filter.h"

/* Exit status of a child that the filter applies to. */
static int in_child(bool has_network, int (*check)(bool has_network))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(syscall_filter_load(has_network) ? 99 : check(has_network));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool is_refused(long result)
{
	return result < 0 && errno == EPERM;
}

static int try_what_takes_a_machine_over(bool has_network)
{
	char name[] = "true", *const arguments[] = {name, NULL}, *const environment[] = {NULL};

	(void)has_network;
	if (!is_refused(execve("/bin/true", arguments, environment)))
		return 1;
	if (!is_refused(mount("none", "/proc/self/fd", "tmpfs", 0, NULL)))
		return 2;
	return is_refused(chroot("/")) ? 0 : 3;
}

static int try_sockets(bool has_network)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0), udp6;

	if (has_network)
		return udp < 0;
	if (!is_refused(udp))
		return 2;
	udp6 = socket(AF_INET6, SOCK_DGRAM, 0);
	if (!is_refused(udp6) || !is_refused(socket(AF_PACKET, SOCK_RAW, 0)))
		return 3;
	return socket(AF_UNIX, SOCK_DGRAM, 0) < 0 || socket(AF_NETLINK, SOCK_RAW, 0) < 0;
}

static int try_what_a_capture_does(bool has_network)
{
	int fd = open("/proc/self/maps", O_RDONLY), ends[2];
	pid_t child;

	(void)has_network;
	if (fd < 0 || pipe(ends))
		return 1;
	child = fork();
	if (child == 0)
		_exit(0);
	return child < 0 || waitpid(child, NULL, 0) != child;
}

static int try_what_a_front_may(void)
{
	char name[] = "true", *const arguments[] = {name, NULL}, *const environment[] = {NULL};

	if (!is_refused(syscall(SYS_bpf, 0, NULL, 0)) ||
	    !is_refused(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)) ||
	    !is_refused(syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0)))
		return 1;
	if (!is_refused(mount("none", "/proc/self/fd", "tmpfs", 0, NULL)) ||
	    !is_refused(socket(AF_PACKET, SOCK_RAW, 0)))
		return 2;
	if (socket(AF_INET, SOCK_STREAM, 0) < 0 || socket(AF_UNIX, SOCK_DGRAM, 0) < 0)
		return 3;
	execve("/bin/true", arguments, environment);
	return 4;
}

static void a_front_answers_and_starts_commands(void **state)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(syscall_filter_load_front() ? 99 : try_what_a_front_may());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void neither_programs_nor_mounts_are_left(void **state)
{
	assert_int_equal(in_child(false, try_what_takes_a_machine_over), 0);
	assert_int_equal(in_child(true, try_what_takes_a_machine_over), 0);
}

static void the_network_is_left_only_when_asked_for(void **state)
{
	assert_int_equal(in_child(false, try_sockets), 0);
	assert_int_equal(in_child(true, try_sockets), 0);
}

static void files_pipes_and_children_are_left(void **state)
{
	assert_int_equal(in_child(false, try_what_a_capture_does), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_front_answers_and_starts_commands),
		cmocka_unit_test(neither_programs_nor_mounts_are_left),
		cmocka_unit_test(the_network_is_left_only_when_asked_for),
		cmocka_unit_test(files_pipes_and_children_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
