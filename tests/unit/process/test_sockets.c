// SPDX-License-Identifier: BSD-2-Clause
/* Tests whose answer a process waits for. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/relation/relation_writer.h"

/* Accepts, and never reads. */
static int start_server(struct sockaddr_in *ret_address)
{
	socklen_t size = sizeof(*ret_address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*ret_address = (struct sockaddr_in){.sin_family = AF_INET,
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)ret_address, size), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret_address, &size), 0);
	return fd;
}

static int ask(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	assert_int_equal(write(fd, "a request", 9), 9);
	return fd;
}

/* Whether there is one; text: of its peer. */
static bool find_reply(uint32_t pid, char text[128], uint32_t *ret_other)
{
	struct event_buffer buffer = {0};
	struct relation_view view;
	bool found = false;

	relation_sockets(
		&(struct relation_writer){.buffer = &buffer, .pids = &pid, .pid_count = 1});
	for (size_t at = 0; at < buffer.size && !found;) {
		const struct pkbpf_event_header *header = (const void *)(buffer.data + at);

		assert_int_equal(relation_event_decode(header, &view), 0);
		found = view.relation == PKBPF_RELATION_REPLY;
		at += header->size;
	}
	if (found) {
		snprintf(text, 128, "%s", view.text);
		*ret_other = view.other_pid;
	}
	event_buffer_done(&buffer);
	return found;
}

static void who_asked_waits_for_the_server(void **state)
{
	struct sockaddr_in address;
	char text[128], expected[128];
	int server, client;
	uint32_t other;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	server = start_server(&address);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(1);
	}
	close(server);
	client = ask(&address);
	assert_true(find_reply((uint32_t)getpid(), text, &other));
	snprintf(expected, sizeof(expected), "127.0.0.1:%u", ntohs(address.sin_port));
	assert_string_equal(text, expected);
	assert_int_equal(other, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(client);
}

/* It sends, too, and waits for nobody. */
static void a_server_waits_for_no_client(void **state)
{
	struct sockaddr_in address;
	int server, accepted;
	char text[128];
	uint32_t other;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	server = start_server(&address);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(server);
		ask(&address);
		pause();
		_exit(1);
	}
	accepted = accept(server, NULL, NULL);
	assert_true(accepted >= 0);
	assert_int_equal(read(accepted, text, 9), 9);
	/* Later than what it has received, by the ticks of sockets' clock. */
	usleep(50000);
	assert_int_equal(write(accepted, "news", 4), 4);
	assert_false(find_reply((uint32_t)getpid(), text, &other));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(accepted);
	close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_asked_waits_for_the_server),
		cmocka_unit_test(a_server_waits_for_no_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
