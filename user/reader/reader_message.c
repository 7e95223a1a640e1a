// SPDX-License-Identifier: BSD-2-Clause
#include "reader/reader_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int reader_send(int socket_fd, const void *head, size_t head_size, const struct iovec *pieces,
		size_t count, int fd)
{
	struct iovec parts[READER_REPLY_PIECES + 1] = {{(void *)head, head_size}};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = count + 1};

	if (count > READER_REPLY_PIECES)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		parts[i + 1] = pieces[i];
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	while (sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Takes the first descriptor, and closes those that nobody asked for. Returns how many came. */
static size_t take_descriptors(struct msghdr *message, int *ret_fd)
{
	size_t count = 0;

	for (struct cmsghdr *each = CMSG_FIRSTHDR(message); each;
	     each = CMSG_NXTHDR(message, each)) {
		size_t size = each->cmsg_len - CMSG_LEN(0);

		if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(each) + at, sizeof(fd));
			if (count++ == 0)
				*ret_fd = fd;
			else
				close(fd);
		}
	}
	return count;
}

ssize_t reader_receive(int socket_fd, int flags, struct reader_packet *packet, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec part = {packet, sizeof(*packet)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t got;

	*ret_fd = -1;
	do
		got = recvmsg(socket_fd, &message, flags | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (take_descriptors(&message, ret_fd) > 1 ||
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		if (*ret_fd >= 0)
			close(*ret_fd);
		*ret_fd = -1;
		return -EBADMSG;
	}
	return got;
}
