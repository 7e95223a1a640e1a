// SPDX-License-Identifier: BSD-2-Clause
/* Sockets that listen: IPv4, IPv6, and the file system's. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/parse_value.h"
#include "web/web.h"

/* The kernel has a limit of its own (net.core.somaxconn). */
#define BACKLOG 4096

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un path;
	};
	socklen_t length;
	bool is_local; /* no other machine reaches it */
};

static int parse_path(const char *text, struct listen_address *address, struct error *error)
{
	if (strlen(text) >= sizeof(address->path.sun_path))
		return error_set(error, EINVAL,
				 "invalid value for --listen: the path %.64s is too long", text);
	address->path.sun_family = AF_UNIX;
	strcpy(address->path.sun_path, text);
	address->length = sizeof(address->path);
	address->is_local = true;
	return 0;
}

static int parse_host(const char *host, uint16_t port, struct listen_address *address)
{
	size_t length = strlen(host);
	char name[64];

	if (host[0] == '[' && length > 2 && host[length - 1] == ']') {
		snprintf(name, sizeof(name), "%.*s", (int)length - 2, host + 1);
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = htons(port);
		address->length = sizeof(address->v6);
		if (inet_pton(AF_INET6, name, &address->v6.sin6_addr) != 1)
			return -EINVAL;
		address->is_local = IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
		return 0;
	}
	address->v4.sin_family = AF_INET;
	address->v4.sin_port = htons(port);
	address->length = sizeof(address->v4);
	if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
		      &address->v4.sin_addr) != 1)
		return -EINVAL;
	address->is_local = ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return 0;
}

static int parse_address(const char *text, struct listen_address *address, struct error *error)
{
	const char *colon = strrchr(text, ':');
	char host[64];
	uint64_t port;

	memset(address, 0, sizeof(*address));
	if (text[0] == '/')
		return parse_path(text, address, error);
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return error_set(error, EINVAL,
				 "invalid value '%.64s' for --listen: expected ADDRESS:PORT, such "
				 "as 127.0.0.1:7747 or [::1]:7747, or the path of a socket",
				 text);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	if (parse_u64(colon + 1, "the port of --listen", 0, 65535, &port, error) < 0)
		return -EINVAL;
	if (parse_host(host, (uint16_t)port, address) < 0)
		return error_set(error, EINVAL,
				 "invalid value '%.64s' for --listen: '%s' is no IP address", text,
				 host);
	return 0;
}

/* One that nobody listens at was left by an end by force. */
static void remove_stale(const struct listen_address *address)
{
	struct stat st;
	int fd;

	if (lstat(address->path.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, &address->any, address->length) < 0 && errno == ECONNREFUSED)
		unlink(address->path.sun_path);
	close(fd);
}

/* -errno */
static int open_socket(struct listen_address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, err;
	bool is_path = address->any.sa_family == AF_UNIX;
	mode_t before;

	if (fd < 0)
		return -errno;
	if (is_path)
		remove_stale(address);
	/* Of the owner and the group from the beginning: by its name it could be another file. */
	before = umask(0117);
	err = (is_path || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0) &&
			      bind(fd, &address->any, address->length) == 0
		      ? 0
		      : -errno;
	umask(before);
	errno = -err;
	if (err == 0 && listen(fd, BACKLOG) == 0 &&
	    (is_path || getsockname(fd, &address->any, &address->length) == 0))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

static int check_address(const char *text, bool has_token, struct listen_address *ret_address,
			 struct error *error)
{
	if (parse_address(text, ret_address, error) < 0)
		return -EINVAL;
	if (has_token || ret_address->is_local)
		return 0;
	return error_set(error, EINVAL,
			 "--listen %.64s can be reached from other machines: it requires "
			 "--token-file",
			 text);
}

int web_listen_check(const char *text, bool has_token, struct error *error)
{
	struct listen_address address;

	return check_address(text, has_token, &address, error);
}

int web_listen(const char *text, bool has_token, int *ret_socket, uint16_t *ret_port,
	       struct error *error)
{
	struct listen_address address;
	int fd;

	if (check_address(text, has_token, &address, error) < 0)
		return -EINVAL;
	fd = open_socket(&address);
	if (fd < 0)
		return error_set(error, -fd, "cannot listen on %.64s: %s", text, strerror(-fd));
	*ret_socket = fd;
	*ret_port = 0;
	if (address.any.sa_family == AF_INET)
		*ret_port = ntohs(address.v4.sin_port);
	else if (address.any.sa_family == AF_INET6)
		*ret_port = ntohs(address.v6.sin6_port);
	return 0;
}
