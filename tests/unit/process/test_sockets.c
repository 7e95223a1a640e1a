// SPDX-License-Identifier: BSD-2-Clause
/* Tests whose answer a process waits for. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
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

/* Whether there is one of this kind; text: of its peer. */
static bool find_relation(enum pkbpf_relation kind, uint32_t pid, char text[128],
			  uint32_t *ret_other)
{
	struct event_buffer buffer = {0};
	struct relation_view view;
	bool found = false;

	relation_sockets(
		&(struct relation_writer){.buffer = &buffer, .pids = &pid, .pid_count = 1});
	for (size_t at = 0; at < buffer.size && !found;) {
		const struct pkbpf_event_header *header = (const void *)(buffer.data + at);

		assert_int_equal(relation_event_decode(header, &view), 0);
		found = view.relation == kind;
		at += header->size;
	}
	if (found) {
		snprintf(text, 128, "%s", view.text);
		*ret_other = view.other_pid;
	}
	event_buffer_done(&buffer);
	return found;
}

static bool find_reply(uint32_t pid, char text[128], uint32_t *ret_other)
{
	return find_relation(PKBPF_RELATION_REPLY, pid, text, ret_other);
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
		/* Numbers of descriptors may have gaps. */
		dup2(server, 900);
		close(server);
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

/* Leaves a descriptor in a message that nobody has received: it stays open, in no process. */
static int send_away(int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	char text[] = "";
	struct iovec byte = {.iov_base = text, .iov_len = 1};
	struct msghdr message = {.msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	assert_int_equal(sendmsg(ends[0], &message, 0), 1);
	close(ends[0]);
	close(fd);
	return ends[1];
}

/* Only the port is the same, as of a distant server's and a local one's. */
static void a_listener_at_another_address_is_not_the_server(void **state)
{
	struct sockaddr_in address, beside;
	char text[128], expected[128];
	int server, client, listener;
	uint32_t other;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	server = start_server(&address);
	beside = address;
	beside.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&beside, sizeof(beside)), 0);
	assert_int_equal(listen(listener, 5), 0);
	client = ask(&address);
	server = send_away(server);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(1);
	}
	close(listener);
	assert_true(find_reply((uint32_t)getpid(), text, &other));
	snprintf(expected, sizeof(expected), "127.0.0.1:%u", ntohs(address.sin_port));
	assert_string_equal(text, expected);
	assert_int_equal(other, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(client);
	close(server);
}

/* Whoever listens is asked at this address, which is called so. */
static void assert_asked_at(const struct in6_addr *ip, const char *name)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = *ip};
	int server = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), client, none = 0;
	socklen_t size = sizeof(address);
	char text[128], expected[128];
	uint32_t other;
	pid_t pid;

	/* Not every machine has it. */
	if (server < 0 || setsockopt(server, IPPROTO_IPV6, IPV6_V6ONLY, &none, sizeof(none)) ||
	    bind(server, (struct sockaddr *)&address, size)) {
		close(server);
		return;
	}
	assert_int_equal(listen(server, 5), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &size), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(1);
	}
	close(server);
	client = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
	assert_int_equal(write(client, "a request", 9), 9);
	assert_true(find_reply((uint32_t)getpid(), text, &other));
	snprintf(expected, sizeof(expected), "%s:%u", name, ntohs(address.sin6_port));
	assert_string_equal(text, expected);
	assert_int_equal(other, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(client);
}

static void addresses_of_the_newer_protocol_are_told_apart(void **state)
{
	static const struct in6_addr mapped = {
		.s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};

	if (geteuid() != 0)
		skip();
	assert_asked_at(&in6addr_loopback, "[::1]");
	assert_asked_at(&mapped, "127.0.0.1");
}

/* Nobody knows whether something was sent, so it counts while the process reads. */
static void clients_of_unix_sockets_wait_for_who_has_accepted(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char text[128], expected[64], byte;
	int server, client, ready[2];
	socklen_t size;
	uint32_t other;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	/* Abstract: nothing has to be removed. */
	snprintf(expected, sizeof(expected), "@pkbpf-unit-%d", (int)getpid());
	strcpy(address.sun_path + 1, expected + 1);
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(expected));
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(server, 5), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (accept(server, NULL, NULL) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	close(server);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(
		find_relation(PKBPF_RELATION_REPLY_IF_READING, (uint32_t)getpid(), text, &other));
	assert_string_equal(text, expected);
	assert_int_equal(other, pid);
	/* The server's end has a name of its own. */
	assert_false(find_relation(PKBPF_RELATION_REPLY_IF_READING, (uint32_t)pid, text, &other));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
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
		cmocka_unit_test(a_listener_at_another_address_is_not_the_server),
		cmocka_unit_test(addresses_of_the_newer_protocol_are_told_apart),
		cmocka_unit_test(clients_of_unix_sockets_wait_for_who_has_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
