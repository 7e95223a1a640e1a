// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/relation/port_owners with sockets of this process. */
#include "process/relation/port_owners.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t own_net(void)
{
	struct stat status;

	assert_int_equal(stat("/proc/self/ns/net", &status), 0);
	return (uint32_t)status.st_ino;
}

static int serve(int family, int type, uint16_t *ret_port)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	struct sockaddr *address =
		family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	socklen_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);

	if (fd < 0 || bind(fd, address, size)) {
		close(fd);
		return -1;
	}
	assert_int_equal(getsockname(fd, address, &size), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 5), 0);
	*ret_port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

static void assert_owned(int family, int type, uint32_t asked_pid)
{
	struct port_owners *owners = port_owners_new();
	bool is_udp = type == SOCK_DGRAM;
	uint32_t net = own_net();
	uint16_t port;
	int fd = serve(family, type, &port);

	assert_non_null(owners);
	if (fd >= 0) {
		port_owners_want(owners, asked_pid, net, is_udp, port);
		assert_int_equal(port_owners_pid(owners, net, is_udp, port), 0);
		port_owners_look(owners);
		assert_int_equal(port_owners_pid(owners, net, is_udp, port), getpid());
		/* Nobody asked for these. */
		assert_int_equal(port_owners_pid(owners, net, !is_udp, port), 0);
		assert_int_equal(port_owners_pid(owners, net + 1, is_udp, port), 0);
		close(fd);
	}
	port_owners_free(owners);
}

static void finds_who_serves_a_port(void **state)
{
	assert_owned(AF_INET, SOCK_STREAM, (uint32_t)getpid());
	assert_owned(AF_INET, SOCK_DGRAM, (uint32_t)getpid());
	assert_owned(AF_INET6, SOCK_STREAM, (uint32_t)getpid());
	assert_owned(AF_INET6, SOCK_DGRAM, (uint32_t)getpid());
}

/* Who was seen in the namespace has ended; it is our own. */
static void the_one_who_asked_may_have_ended(void **state)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_owned(AF_INET, SOCK_STREAM, (uint32_t)pid);
}

/* A client's end has a peer. */
static void a_client_does_not_own_its_port(void **state)
{
	struct port_owners *owners = port_owners_new();
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	uint32_t net = own_net();
	uint16_t port;
	int server = serve(AF_INET, SOCK_STREAM, &port);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_port = htons(port);
	assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(client, (struct sockaddr *)&address, &size), 0);
	port_owners_want(owners, (uint32_t)getpid(), net, false, ntohs(address.sin_port));
	port_owners_look(owners);
	assert_int_equal(port_owners_pid(owners, net, false, ntohs(address.sin_port)), 0);
	close(client);
	close(server);
	port_owners_free(owners);
}

/* Two have the socket: the first is taken. */
static void a_worker_is_not_the_server(void **state)
{
	struct port_owners *owners = port_owners_new();
	uint32_t net = own_net();
	uint16_t port;
	int server = serve(AF_INET, SOCK_STREAM, &port);
	pid_t worker = fork();
	uint32_t owner;

	if (worker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	port_owners_want(owners, (uint32_t)getpid(), net, false, port);
	port_owners_look(owners);
	owner = port_owners_pid(owners, net, false, port);
	assert_int_equal(owner, getpid() < worker ? getpid() : worker);
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
	close(server);
	port_owners_free(owners);
}

/* Of many namespaces only some are read; ports of others stay unknown. */
static void many_namespaces_are_bounded(void **state)
{
	struct port_owners *owners = port_owners_new();
	uint32_t net = own_net();
	uint16_t port;
	int server = serve(AF_INET, SOCK_STREAM, &port);

	for (uint32_t i = 1; i <= 40; i++)
		port_owners_want(owners, UINT32_MAX, net + i, false, port);
	port_owners_want(owners, (uint32_t)getpid(), net, false, port);
	port_owners_look(owners);
	for (uint32_t i = 0; i <= 40; i++)
		assert_int_equal(port_owners_pid(owners, net + i, false, port), 0);
	close(server);
	port_owners_free(owners);
	port_owners_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_who_serves_a_port),
		cmocka_unit_test(the_one_who_asked_may_have_ended),
		cmocka_unit_test(a_client_does_not_own_its_port),
		cmocka_unit_test(a_worker_is_not_the_server),
		cmocka_unit_test(many_namespaces_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
