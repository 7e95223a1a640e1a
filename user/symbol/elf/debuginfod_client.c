// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/debuginfod_client.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "http/http_client.h"

/* What the library waits for a server, by DEBUGINFOD_TIMEOUT. */
#define TIMEOUT_SECONDS 90
/* The largest debug files known, of browsers, have 2 GiB. */
#define MAX_FILE_BYTES (3ULL << 30)
#define HTTP_OK	       200
#define HTTP_NOT_FOUND 404

static int make_folder(const char *path)
{
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* All folders up to the last '/'. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int err;

		*slash = '\0';
		err = make_folder(path);
		*slash = '/';
		if (err)
			return err;
	}
	return 0;
}

static int name_file(const char *hex, char *path, size_t size)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"),
		   *xdg = getenv("XDG_CACHE_HOME");
	int length;

	if (cache && *cache)
		length = snprintf(path, size, "%s/%s/debuginfo", cache, hex);
	else if (xdg && *xdg)
		length = snprintf(path, size, "%s/debuginfod_client/%s/debuginfo", xdg, hex);
	else if (home && *home)
		length =
			snprintf(path, size, "%s/.cache/debuginfod_client/%s/debuginfo", home, hex);
	else
		return -ENOENT;
	return (size_t)length < size && *path == '/' ? 0 : -ENAMETOOLONG;
}

/* Other programs use this cache: a rename shows all of a file, or nothing. */
static int keep(char *path, const struct http_body *body)
{
	_cleanup_close_ int fd = -1;
	char fresh[PATH_MAX];
	int err = make_folders(path);

	if (err)
		return err;
	if ((size_t)snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path) >= sizeof(fresh))
		return -ENAMETOOLONG;
	fd = mkstemp(fresh);
	if (fd < 0)
		return -errno;
	err = file_write_all(fd, body->bytes, body->size);
	if (!err && rename(fresh, path) < 0)
		err = -errno;
	if (err)
		unlink(fresh);
	return err;
}

static int ask(struct http_client *client, const char *server, const char *hex, char *path)
{
	static const char *const headers[] = {"Accept: application/octet-stream", NULL};
	size_t length = strlen(server);
	struct http_body body = {.most = MAX_FILE_BYTES};
	struct http_answer answer;
	struct error error;
	char url[PATH_MAX];
	struct http_request request = {
		.url = url, .headers = headers, .timeout_seconds = TIMEOUT_SECONDS};
	int err;

	while (length && server[length - 1] == '/')
		length--;
	if ((size_t)snprintf(url, sizeof(url), "%.*s/buildid/%s/debuginfo", (int)length, server,
			     hex) >= sizeof(url))
		return -ENAMETOOLONG;
	err = http_get(client, &request, &body, &answer, &error);
	if (err == 0 && answer.status == HTTP_OK)
		err = keep(path, &body);
	else if (err == 0)
		err = answer.status == HTTP_NOT_FOUND ? -ENOENT : -EIO;
	free(body.bytes);
	return err;
}

static int ask_all(const char *servers, const char *hex, char *path)
{
	_cleanup_free_ char *copy = strdup(servers);
	struct http_client *client;
	struct error error;
	char *rest = copy, *server;
	int err = -ENOSYS;

	if (!copy || http_client_new(&client, &error) < 0)
		return -ENOMEM;
	while ((server = strsep(&rest, " \t"))) {
		int one;

		if (!*server)
			continue;
		one = ask(client, server, hex, path);
		/* One that failed may have it: that it is nowhere only all can say. */
		err = one == -ENOENT && err != -ENOSYS ? err : one;
		if (!one)
			break;
	}
	http_client_free(client);
	return err;
}

int debuginfod_client_find(const struct build_id *id, char *path, size_t size)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char hex[2 * sizeof(id->bytes) + 1] = "";
	struct stat status;
	int err;

	for (size_t i = 0; i < id->size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	err = name_file(hex, path, size);
	if (err)
		return err;
	if (stat(path, &status) == 0 && status.st_size)
		return 0;
	return servers ? ask_all(servers, hex, path) : -ENOSYS;
}
