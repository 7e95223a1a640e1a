// SPDX-License-Identifier: BSD-2-Clause
// ldflags: -lpthread
/*
 * Opens and closes connections to itself as fast as it can, beside idle ones, with so few ports
 *that they wrap; then asks many addresses where nobody listens. In a network namespace of its own.
 *
 *	connections MS IDLE ADDRESSES		says "OPENED ACCEPTED REFUSED PER_SECOND"
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORTS_OF_ADDRESS 200

static int churned, kept; /* listeners: whose connections are closed at once, and stay */
static atomic_ulong accepted;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void write_setting(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

static void isolate(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	struct rlimit limit;
	int fd;

	if (unshare(CLONE_NEWNET))
		exit(77);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		die("lo");
	close(fd);
	write_setting("/proc/sys/net/ipv4/ip_local_port_range", "40000 40255");
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int listen_at(struct sockaddr_in *at, unsigned int port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (void *)at, sizeof(*at)) || listen(fd, 1024))
		die("listen");
	return fd;
}

static void *accept_all(void *context)
{
	struct pollfd waiting[2] = {{.fd = churned, .events = POLLIN},
				    {.fd = kept, .events = POLLIN}};

	(void)context;
	for (;;) {
		if (poll(waiting, 2, -1) < 0)
			die("poll");
		for (int i = 0; i < 2; i++) {
			int fd = waiting[i].revents ? accept(waiting[i].fd, NULL, NULL) : -1;

			if (fd < 0)
				continue;
			atomic_fetch_add(&accepted, 1);
			if (waiting[i].fd == churned)
				close(fd);
		}
	}
	return NULL;
}

/* From 127.0.1.1 on, each with as many ports as it has. */
static void keep_idle(const struct sockaddr_in *to, int number)
{
	for (int i = 0; i < number; i++) {
		struct sockaddr_in from = {.sin_family = AF_INET};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

		from.sin_addr.s_addr =
			htonl(INADDR_LOOPBACK + 256 + (uint32_t)(i / PORTS_OF_ADDRESS));
		if (fd < 0 ||
		    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one)) ||
		    bind(fd, (void *)&from, sizeof(from)) ||
		    connect(fd, (const void *)to, sizeof(*to)))
			die("an idle connection");
	}
}

static unsigned long churn(const struct sockaddr_in *to, double seconds)
{
	double end = now() + seconds;
	unsigned long opened = 0;
	char byte;

	while (now() < end) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || connect(fd, (const void *)to, sizeof(*to)))
			die("a connection");
		opened++;
		/* Who closes first is the server. */
		while (read(fd, &byte, 1) > 0)
			;
		close(fd);
	}
	return opened;
}

static unsigned long scan(int addresses)
{
	unsigned long refused = 0;

	for (int i = 0; i < addresses; i++) {
		struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(1)};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 65536 + (uint32_t)i);
		refused += connect(fd, (void *)&to, sizeof(to)) && errno == ECONNREFUSED;
		close(fd);
	}
	return refused;
}

int main(int argc, char **argv)
{
	struct sockaddr_in churned_at, kept_at;
	unsigned long opened, refused;
	double start, seconds;
	pthread_t server;

	if (argc < 4)
		return 2;
	isolate();
	churned = listen_at(&churned_at, 7001);
	kept = listen_at(&kept_at, 7002);
	if (pthread_create(&server, NULL, accept_all, NULL))
		die("thread");
	keep_idle(&kept_at, atoi(argv[2]));
	start = now();
	opened = churn(&churned_at, atof(argv[1]) / 1000);
	seconds = now() - start;
	refused = scan(atoi(argv[3]));
	while (atomic_load(&accepted) < opened + (unsigned long)atoi(argv[2]))
		usleep(1000);
	printf("%lu %lu %lu %.0f\n", opened + (unsigned long)atoi(argv[2]), atomic_load(&accepted),
	       refused, (double)opened / seconds);
	return 0;
}
