// SPDX-License-Identifier: BSD-2-Clause
/* Messages with more descriptors or bytes than anybody asked for, and that no descriptor of theirs
 * is left open. */
#include "reader/reader_message.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int ends[2];
static struct reader_packet packet;

static int start(void **state)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int stop(void **state)
{
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* The number that the next one gets: the same again where none is left open. */
static int next_fd(void)
{
	int fd = dup(0);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

/* Sends `count` descriptors with so many bytes. */
static void send_all(size_t size, size_t count)
{
	static unsigned char bytes[sizeof(packet) + 4096];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control = {0};
	struct iovec part = {bytes, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	int fds[8];

	assert_true(count <= 8);
	for (size_t i = 0; i < count; i++)
		fds[i] = ends[1];
	if (count) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	assert_int_equal(sendmsg(ends[0], &message, 0), size);
}

static void one_descriptor_comes_with_the_bytes(void **state)
{
	char text[] = "hello";
	const struct iovec piece = {text, 5};
	uint64_t head = 7;
	int fd;

	assert_int_equal(reader_send(ends[0], &head, sizeof(head), &piece, 1, ends[0]), 0);
	assert_int_equal(reader_receive(ends[1], 0, &packet, &fd), sizeof(head) + 5);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_memory_equal((char *)&packet + sizeof(head), "hello", 5);
	close(fd);
	assert_int_equal(reader_receive(ends[1], MSG_DONTWAIT, &packet, &fd), -EAGAIN);
	assert_int_equal(fd, -1);
	assert_int_equal(reader_send(ends[0], &head, 8, NULL, READER_REPLY_PIECES + 1, -1),
			 -EINVAL);
}

static void more_descriptors_are_refused_and_closed(void **state)
{
	for (size_t count = 2; count <= 8; count++) {
		int before = next_fd(), fd = 0;

		send_all(16, count);
		assert_int_equal(reader_receive(ends[1], 0, &packet, &fd), -EBADMSG);
		assert_int_equal(fd, -1);
		assert_int_equal(next_fd(), before);
	}
	/* The next message is taken as ever. */
	send_all(16, 0);
	assert_int_equal(reader_receive(ends[1], 0, &packet, &(int){0}), 16);
}

static void messages_that_are_cut_are_refused(void **state)
{
	int before = next_fd(), fd = 0;

	send_all(sizeof(packet) + 1, 1);
	assert_int_equal(reader_receive(ends[1], 0, &packet, &fd), -EBADMSG);
	assert_int_equal(fd, -1);
	assert_int_equal(next_fd(), before);
	send_all(sizeof(packet), 0);
	assert_int_equal(reader_receive(ends[1], 0, &packet, &fd), sizeof(packet));
}

static void an_end_is_told(void **state)
{
	int fd = 0;

	close(ends[0]);
	assert_int_equal(reader_receive(ends[1], 0, &packet, &fd), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(reader_send(ends[1], &fd, sizeof(fd), NULL, 0, -1), -EPIPE);
	ends[0] = dup(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)
		test(one_descriptor_comes_with_the_bytes),
		test(more_descriptors_are_refused_and_closed),
		test(messages_that_are_cut_are_refused),
		test(an_end_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
