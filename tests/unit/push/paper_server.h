/* SPDX-License-Identifier: BSD-2-Clause */
/* A server that answers each request with one status, and keeps the last one. */
#ifndef PAPER_SERVER_H
#define PAPER_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct paper_server {
	int fd;
	unsigned int status, count;
	char request[16384]; /* head and body; the body may have zero bytes */
	size_t size;
	char url[64];
	sem_t is_asked;
	pthread_t thread;
};

/* false: the client is gone. */
static inline bool paper_server_read(struct paper_server *server, int fd)
{
	const char *body, *length;

	server->size = 0;
	for (;;) {
		ssize_t got = recv(fd, server->request + server->size,
				   sizeof(server->request) - 1 - server->size, 0);

		if (got <= 0)
			return false;
		server->size += (size_t)got;
		server->request[server->size] = '\0';
		body = strstr(server->request, "\r\n\r\n");
		length = strcasestr(server->request, "Content-Length:");
		if (body && length &&
		    server->size >= (size_t)(body + 4 - server->request) +
					    strtoul(length + strlen("Content-Length:"), NULL, 10))
			return true;
	}
}

static inline void *paper_server_run(void *context)
{
	struct paper_server *server = context;
	char answer[128];
	int fd;

	while ((fd = accept(server->fd, NULL, NULL)) >= 0) {
		if (paper_server_read(server, fd)) {
			snprintf(
				answer, sizeof(answer),
				"HTTP/1.1 %u Said\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
				"said",
				server->status);
			server->count++;
			(void)!send(fd, answer, strlen(answer), MSG_NOSIGNAL);
			sem_post(&server->is_asked);
		}
		close(fd);
	}
	return NULL;
}

static inline void paper_server_start(struct paper_server *server, unsigned int status)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	*server = (struct paper_server){.status = status};
	sem_init(&server->is_asked, 0, 0);
	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(server->fd >= 0);
	assert_int_equal(bind(server->fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(server->fd, 8), 0);
	assert_int_equal(getsockname(server->fd, (struct sockaddr *)&address, &size), 0);
	snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	assert_int_equal(pthread_create(&server->thread, NULL, paper_server_run, server), 0);
}

static inline void paper_server_stop(struct paper_server *server)
{
	shutdown(server->fd, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->fd);
	sem_destroy(&server->is_asked);
}

#endif
