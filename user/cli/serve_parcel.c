// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_parcel.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int serve_parcel_send(int socket, const struct serve_parcel *parcel, int fd)
{
	union control control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS}};
	struct iovec data = {.iov_base = (void *)parcel, .iov_len = sizeof(*parcel)};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return errno == ECONNRESET ? -EPIPE : -errno;
}

int serve_parcel_receive(int socket, struct serve_parcel *ret_parcel)
{
	union control control = {0};
	struct iovec data = {.iov_base = ret_parcel, .iov_len = sizeof(*ret_parcel)};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t size;
	int fd;

	do {
		size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof(*ret_parcel))
		return -EPIPE;
	/* Without a number to spare the kernel leaves it out (MSG_CTRUNC). */
	if (message.msg_controllen < CMSG_LEN(sizeof(int)) ||
	    control.header.cmsg_level != SOL_SOCKET || control.header.cmsg_type != SCM_RIGHTS)
		return -EMFILE;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

size_t serve_parcels_waiting(int socket)
{
	int bytes = 0;

	return ioctl(socket, FIONREAD, &bytes) < 0 || bytes < 0
		       ? 0
		       : (size_t)bytes / sizeof(struct serve_parcel);
}
