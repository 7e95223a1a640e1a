// SPDX-License-Identifier: BSD-2-Clause
/* Programs that talk to others. */
#include "planted.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

static struct sockaddr_in at_port(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_to(int port)
{
	struct sockaddr_in address = at_port(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static int listen_at(int port)
{
	struct sockaddr_in address = at_port(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64))
		exit(2);
	return fd;
}

/* ---- a server that takes its time, one thread per connection ---- */

static int work_ms;

static void *answer(void *context)
{
	int fd = (int)(intptr_t)context;
	char request[64];

	while (read(fd, request, sizeof(request)) > 0) {
		usleep((useconds_t)work_ms * 1000);
		if (write(fd, "answer\n", 7) != 7)
			break;
	}
	close(fd);
	return NULL;
}

static void slow_backend(int argc, char **argv)
{
	int fd = listen_at(argc > 1 ? atoi(argv[1]) : 7100);
	pthread_t thread;

	work_ms = argc > 2 ? atoi(argv[2]) : 40;
	for (;;) {
		int client = accept(fd, NULL, NULL);

		pthread_create(&thread, NULL, answer, (void *)(intptr_t)client);
		pthread_detach(thread);
	}
}

/* ---- a client of it ---- */

static NOINLINE void fetch_price(int fd)
{
	char answer[64];

	if (send(fd, "price?\n", 7, MSG_NOSIGNAL) != 7 || recv(fd, answer, sizeof(answer), 0) <= 0)
		exit(2);
}

static void frontend(int argc, char **argv)
{
	int fd = connect_to(argc > 1 ? atoi(argv[1]) : 7100);

	if (fd < 0)
		exit(2);
	for (;;) {
		fetch_price(fd);
		burn_us(500);
	}
}

/* ---- nobody listens ---- */

static NOINLINE void connect_with_retry(int port)
{
	while (connect_to(port) < 0)
		usleep(50000);
}

static void reconnect(int argc, char **argv)
{
	connect_with_retry(argc > 1 ? atoi(argv[1]) : 7199);
}

/* ---- a reader that reads slowly, and who writes to it ---- */

static NOINLINE void send_chunk(int fd)
{
	static char chunk[65536];

	if (send(fd, chunk, sizeof(chunk), MSG_NOSIGNAL) < 0)
		exit(2);
}

static void slow_client(int argc, char **argv)
{
	int fd = connect_to(argc > 1 ? atoi(argv[1]) : 7101);
	char buffer[4096];

	if (fd < 0)
		exit(2);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		usleep(5000);
}

static void sender(int argc, char **argv)
{
	int fd = accept(listen_at(argc > 1 ? atoi(argv[1]) : 7101), NULL, NULL);

	for (;;)
		send_chunk(fd);
}

/* ---- a pool of two connections for eight threads ---- */

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_returned = PTHREAD_COND_INITIALIZER;
static int pool[2], pool_free = 2;

static NOINLINE int acquire_connection(void)
{
	int fd;

	pthread_mutex_lock(&pool_lock);
	while (!pool_free)
		pthread_cond_wait(&pool_returned, &pool_lock);
	fd = pool[--pool_free];
	pthread_mutex_unlock(&pool_lock);
	return fd;
}

static NOINLINE void release_connection(int fd)
{
	pthread_mutex_lock(&pool_lock);
	pool[pool_free++] = fd;
	pthread_cond_signal(&pool_returned);
	pthread_mutex_unlock(&pool_lock);
}

static void *pool_user(void *unused)
{
	(void)unused;
	for (;;) {
		int fd = acquire_connection();

		fetch_price(fd);
		release_connection(fd);
		burn_us(100);
	}
	return NULL;
}

static void pool_exhausted(int argc, char **argv)
{
	for (int i = 0; i < 2; i++)
		pool[i] = connect_to(argc > 1 ? atoi(argv[1]) : 7100);
	start_threads(8, pool_user);
	pause();
}

/* ---- requests that are given up, and sent again ---- */

static NOINLINE int ask_with_timeout(int fd)
{
	char answer[64];

	if (send(fd, "price?\n", 7, MSG_NOSIGNAL) != 7)
		exit(2);
	return recv(fd, answer, sizeof(answer), 0) > 0;
}

static void timeouts(int argc, char **argv)
{
	int port = argc > 1 ? atoi(argv[1]) : 7100;
	struct timeval limit = {.tv_usec = 60000};

	for (;;) {
		int fd = connect_to(port);

		if (fd < 0)
			exit(2);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (ask_with_timeout(fd))
			exit(2);
		close(fd);
	}
}

/* ---- a client with work of its own between fast answers: nothing is wrong ---- */

static void paced_client(int argc, char **argv)
{
	int fd = connect_to(argc > 1 ? atoi(argv[1]) : 7100);

	for (;;) {
		fetch_price(fd);
		burn_us(300);
		usleep(10000);
	}
}

static const struct mode modes[] = {
	{"slow_backend", slow_backend},
	{"fast_backend", slow_backend},
	{"frontend", frontend},
	{"reconnect", reconnect},
	{"slow_client", slow_client},
	{"sender", sender},
	{"pool_exhausted", pool_exhausted},
	{"timeouts", timeouts},
	{"paced_client", paced_client},
};

int main(int argc, char **argv)
{
	return run_mode(modes, sizeof(modes) / sizeof(*modes), argc, argv);
}
