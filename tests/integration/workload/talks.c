// SPDX-License-Identifier: BSD-2-Clause
/*
 * talks: a process and its child send each other 50 times 3 bytes over TCP on 127.0.0.1, and as
 * often over a UNIX socket, in turns.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 50
#define BYTES 3

static void need(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	_exit(1);
}

static void answer(int listener)
{
	int fd = accept(listener, NULL, NULL);
	char data[BYTES];

	need(fd >= 0, "accept");
	for (int i = 0; i < TURNS; i++) {
		need(recv(fd, data, BYTES, MSG_WAITALL) == BYTES, "recv");
		need(send(fd, data, BYTES, 0) == BYTES, "send");
	}
	/* The client closes first. */
	need(recv(fd, data, BYTES, 0) == 0, "end");
	close(fd);
}

static void ask(int family, const struct sockaddr *address, socklen_t size)
{
	int fd = socket(family, SOCK_STREAM, 0);
	char data[BYTES] = "abc";

	need(fd >= 0 && connect(fd, address, size) == 0, "connect");
	for (int i = 0; i < TURNS; i++) {
		need(send(fd, data, BYTES, 0) == BYTES, "send");
		need(recv(fd, data, BYTES, MSG_WAITALL) == BYTES, "recv");
	}
	close(fd);
}

static void talk(int family, struct sockaddr *address, socklen_t size)
{
	int listener = socket(family, SOCK_STREAM, 0), status;
	pid_t server;

	need(listener >= 0 && bind(listener, address, size) == 0 && listen(listener, 1) == 0,
	     "listen");
	if (family == AF_INET)
		getsockname(listener, address, &size);
	server = fork();
	need(server >= 0, "fork");
	if (server == 0) {
		answer(listener);
		_exit(0);
	}
	ask(family, address, size);
	close(listener);
	need(waitpid(server, &status, 0) == server && status == 0, "server");
}

int main(void)
{
	struct sockaddr_in internet = {.sin_family = AF_INET};
	struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "\0talks"};

	internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	talk(AF_INET, (struct sockaddr *)&internet, sizeof(internet));
	talk(AF_UNIX, (struct sockaddr *)&local, sizeof(local));
	return 0;
}
