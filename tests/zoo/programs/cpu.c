// SPDX-License-Identifier: BSD-2-Clause
/* Programs that use CPUs, well or badly. */
#include "planted.h"

#include <poll.h>

static volatile int ready;

/* ---- waits by yielding ---- */

static NOINLINE void wait_for_batch(void)
{
	while (!ready)
		sched_yield();
}

static void yield_spin(int argc, char **argv)
{
	(void)argc, (void)argv;
	wait_for_batch();
}

/* ---- waits by looking ---- */

static NOINLINE void spin_until_ready(void)
{
	while (!ready)
		__builtin_ia32_pause();
}

static void *spinner(void *unused)
{
	(void)unused;
	spin_until_ready();
	return NULL;
}

static void busy_wait(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(1, spinner);
	pause();
}

/* ---- asks without end whether there is something ---- */

static NOINLINE void poll_mailbox(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	poll(&poll_fd, 1, 0);
}

static void poll_spin(int argc, char **argv)
{
	int fds[2];

	(void)argc, (void)argv;
	if (pipe(fds))
		exit(2);
	for (;;)
		poll_mailbox(fds[0]);
}

/* ---- a byte per system call ---- */

static uint64_t sum;

static NOINLINE int next_char(int fd)
{
	unsigned char c;

	if (read(fd, &c, 1) != 1) {
		lseek(fd, 0, SEEK_SET);
		return '\n';
	}
	return c;
}

static NOINLINE void parse_records(int fd)
{
	for (;;)
		sum += (uint64_t)next_char(fd);
}

static void byte_reader(int argc, char **argv)
{
	parse_records(open(argc > 1 ? argv[1] : "/etc/services", O_RDONLY));
}

static NOINLINE void put_char(int fd, char c)
{
	if (write(fd, &c, 1) != 1)
		exit(2);
}

static NOINLINE void write_records(int fd)
{
	for (uint64_t i = 0;; i++) {
		put_char(fd, (char)('a' + i % 26));
		if (i % (1 << 20) == 0 && ftruncate(fd, 0))
			exit(2);
	}
}

static void byte_writer(int argc, char **argv)
{
	write_records(open(argc > 1 ? argv[1] : "out", O_WRONLY | O_CREAT | O_TRUNC, 0600));
}

/* ---- one function uses it all ---- */

static NOINLINE void score_matrix(void)
{
	static double a[256][256], b[256][256];

	for (int i = 0; i < 256; i++)
		for (int j = 0; j < 256; j++)
			b[i][j] += a[j][i] * 1.0001 + 0.5;
}

static void hot_function(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;)
		score_matrix();
}

/* ---- a server: some work per request, each ten milliseconds ---- */

static NOINLINE void serve_request(void)
{
	burn_us(4000);
}

static void server(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;) {
		serve_request();
		usleep(6000);
	}
}

static NOINLINE void compute_forever(void)
{
	for (;;)
		burn_us(1000000);
}

static void rival(int argc, char **argv)
{
	(void)argc, (void)argv;
	compute_forever();
}

/* ---- all CPUs, more threads than there are ---- */

static void *computer(void *unused)
{
	compute_forever();
	return unused;
}

static void many_threads(int argc, char **argv)
{
	start_threads(argc > 1 ? atoi(argv[1]) : 8, computer);
	pause();
}

/* ---- a byte there and back, without end ---- */

static NOINLINE void exchange(int from, int to)
{
	char c = 0;

	if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
		exit(2);
}

static void pipe_pingpong(int argc, char **argv)
{
	int there[2], back[2];
	char c;

	(void)argc, (void)argv;
	if (pipe(there) || pipe(back))
		exit(2);
	if (fork() == 0) {
		close(there[1]);
		close(back[0]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1)
				break;
		exit(0);
	}
	close(there[0]);
	close(back[1]);
	for (;;)
		exchange(back[0], there[1]);
}

/* ---- sleeps between short looks ---- */

static NOINLINE void check_for_updates(void)
{
	burn_us(2);
}

static void sleep_poll(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;) {
		check_for_updates();
		usleep(100);
	}
}

/* ---- a message there and back through a socket ---- */

static NOINLINE void send_token(int fd)
{
	char c = 0;

	if (send(fd, &c, 1, MSG_NOSIGNAL) != 1 || recv(fd, &c, 1, 0) != 1)
		exit(2);
}

static void socket_pingpong(int argc, char **argv)
{
	int fds[2];
	char c;

	(void)argc, (void)argv;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		exit(2);
	if (fork() == 0) {
		while (recv(fds[1], &c, 1, 0) == 1)
			if (send(fds[1], &c, 1, MSG_NOSIGNAL) != 1)
				break;
		exit(0);
	}
	for (;;)
		send_token(fds[0]);
}

/* ---- looks without end whether a message has come ---- */

static NOINLINE void look_for_message(int fd)
{
	char c;

	if (recv(fd, &c, 1, MSG_DONTWAIT) == 1)
		exit(2);
}

static void recv_spin(int argc, char **argv)
{
	int fds[2];

	(void)argc, (void)argv;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		exit(2);
	for (;;)
		look_for_message(fds[0]);
}

/* ---- asks for a file that seldom changes, all the time ---- */

static NOINLINE void check_config(void)
{
	struct stat status;

	sum += stat("/etc/passwd", &status) == 0;
}

static void stat_storm(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;)
		check_config();
}

/* ---- a spin lock, held for longer than a few instructions ---- */

static pthread_spinlock_t stats_lock;

static NOINLINE void update_stats(void)
{
	pthread_spin_lock(&stats_lock);
	burn_us(200);
	pthread_spin_unlock(&stats_lock);
}

static void *stats_user(void *unused)
{
	(void)unused;
	for (;;)
		update_stats();
	return NULL;
}

static void spin_lock(int argc, char **argv)
{
	(void)argc, (void)argv;
	pthread_spin_init(&stats_lock, 0);
	start_threads(3, stats_user);
	pause();
}

static const struct mode modes[] = {
	{"yield_spin", yield_spin},
	{"busy_wait", busy_wait},
	{"poll_spin", poll_spin},
	{"byte_reader", byte_reader},
	{"byte_writer", byte_writer},
	{"hot_function", hot_function},
	{"server", server},
	{"rival", rival},
	{"many_threads", many_threads},
	{"pipe_pingpong", pipe_pingpong},
	{"sleep_poll", sleep_poll},
	{"socket_pingpong", socket_pingpong},
	{"recv_spin", recv_spin},
	{"stat_storm", stat_storm},
	{"spin_lock", spin_lock},
};

int main(int argc, char **argv)
{
	return run_mode(modes, sizeof(modes) / sizeof(*modes), argc, argv);
}
