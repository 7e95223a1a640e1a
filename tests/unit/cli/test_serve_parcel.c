// SPDX-License-Identifier: BSD-2-Clause
/* Tests for cli/serve_parcel: a front without a descriptor to spare loses a slice, not its life. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/serve_parcel.h"

static int ends[2];

static int setup(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int teardown(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void send_text(const char *text, uint64_t dropped)
{
	struct serve_parcel parcel = {SERVE_PARCEL_CONFIG, 3, dropped};
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(serve_parcel_send(ends[0], &parcel, fd), 0);
	close(fd);
}

static void a_parcel_arrives_with_its_descriptor(void **state)
{
	struct serve_parcel parcel;
	char text[8] = "";
	int fd;

	(void)state;
	send_text("abc", 7);
	send_text("def", 0);
	assert_int_equal(serve_parcels_waiting(ends[1]), 2);
	fd = serve_parcel_receive(ends[1], &parcel);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, text, sizeof(text), 0), 3);
	assert_string_equal(text, "abc");
	close(fd);
	assert_int_equal(parcel.kind, SERVE_PARCEL_CONFIG);
	assert_int_equal(parcel.detail_step, 3);
	assert_int_equal(parcel.dropped, 7);
	assert_int_equal(serve_parcels_waiting(ends[1]), 1);
}

static void the_end_of_the_collector_is_told_from_a_lack_of_descriptors(void **state)
{
	struct rlimit before, none;
	struct serve_parcel parcel;
	int fd;

	(void)state;
	send_text("abc", 1);
	send_text("def", 2);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	fd = serve_parcel_receive(ends[1], &parcel);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(fd, -EMFILE);
	assert_int_equal(parcel.dropped, 1);
	/* The next one is whole. */
	fd = serve_parcel_receive(ends[1], &parcel);
	assert_true(fd >= 0);
	assert_int_equal(parcel.dropped, 2);
	close(fd);
	shutdown(ends[0], SHUT_WR);
	assert_int_equal(serve_parcel_receive(ends[1], &parcel), -EPIPE);
}

static void sending_never_waits(void **state)
{
	struct serve_parcel parcel = {0};
	int size = 4096, sent = 0, err;

	(void)state;
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	while ((err = serve_parcel_send(ends[0], &parcel, STDERR_FILENO)) == 0)
		sent++;
	assert_int_equal(err, -EAGAIN);
	assert_int_equal(serve_parcels_waiting(ends[1]), sent);
	close(ends[1]);
	assert_int_equal(serve_parcel_send(ends[0], &parcel, STDERR_FILENO), -EPIPE);
	ends[1] = dup(ends[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_parcel_arrives_with_its_descriptor),
		TEST(the_end_of_the_collector_is_told_from_a_lack_of_descriptors),
		TEST(sending_never_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
