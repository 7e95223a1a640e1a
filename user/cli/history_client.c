// SPDX-License-Identifier: BSD-2-Clause
#include "cli/history_client.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "cli/server_address.h"
#include "http/http_client.h"
#include "recording/slice_codec.h"

#define TIMEOUT_SECONDS	 10
#define ANSWER_MAX_BYTES (64U << 20)
#define URL_SIZE	 (SERVER_BASE_SIZE + 128)

/* Where the first picture is looked for: the last slice is there some seconds after its end. */
static const unsigned int first_seconds[] = {15, 60, 300};

struct history_client {
	struct http_client *http;
	struct server_address address;
	int64_t end_unix_ns; /* of the last slice; 0: none yet */
};

int history_client_new(const char *address, const char *token_file,
		       struct history_client **ret_client, struct error *error)
{
	struct history_client *client = calloc(1, sizeof(*client));
	int err;

	if (!client)
		return error_set(error, ENOMEM, "cannot ask: out of memory");
	err = server_address_read(address, "--connect", token_file, &client->address, error);
	err = err < 0 ? err : http_client_new(&client->http, error);
	if (err < 0) {
		history_client_free(client);
		return err;
	}
	*ret_client = client;
	return 0;
}

/* The block of an answer, checked as a file of anybody. */
static int decode(const uint8_t *bytes, size_t size, const struct slice_choice *choice,
		  struct profile **ret_slice)
{
	_cleanup_close_ int fd = memfd_create("pkbpf-answer", MFD_CLOEXEC);
	struct recording_reader reader;
	struct recording_block block;
	struct error unused;
	int err;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
		return -ENOMEM;
	err = recording_reader_open(&reader, fd, &unused);
	if (err < 0)
		return err;
	err = reader.blocks.count ? recording_reader_read(&reader, 0, &block) : -EBADMSG;
	if (err == 0) {
		err = slice_decode(&block, choice, ret_slice);
		recording_block_done(&block);
	}
	recording_reader_done(&reader);
	return err;
}

/* *ret_slice NULL: nothing was recorded then. */
static int ask(struct history_client *client, const char *from, const struct slice_choice *choice,
	       struct profile **ret_slice, struct error *error)
{
	const char *headers[] = {client->address.authorization, NULL};
	char url[URL_SIZE];
	struct http_request request = {.url = url,
				       .socket_path = client->address.socket_path,
				       .headers = headers,
				       .timeout_seconds = TIMEOUT_SECONDS};
	struct http_answer answer;
	struct http_body body = {.most = ANSWER_MAX_BYTES};
	struct error why;
	int err;

	*ret_slice = NULL;
	snprintf(url, sizeof(url), "%s/api/v1/profile?format=recording&from=%s",
		 client->address.base, from);
	err = http_get(client->http, &request, &body, &answer, &why);
	if (err < 0)
		return error_set(error, err == -EIO ? EAGAIN : -err, "cannot ask %s: %s",
				 client->address.socket_path ? client->address.socket_path
							     : client->address.base,
				 why.text);
	if (answer.status == 200) {
		err = decode(body.bytes, body.size, choice, ret_slice);
		if (err < 0)
			error_set(error, err == -ENOMEM ? ENOMEM : EIO,
				  "the answer of %s is no recording: %s", client->address.base,
				  strerror(-err));
	} else if (answer.status != 404) {
		err = server_address_explain(&client->address, &answer, error);
	}
	free(body.bytes);
	return err == -ENOMEM || err == -EAGAIN || err == 0 ? err : -EIO;
}

int history_client_next(struct history_client *client, const struct slice_choice *choice,
			struct profile **ret_slice, struct error *error)
{
	const struct profile_info *info;
	int64_t end_unix_ns;
	char from[32];
	int err = 0;

	*ret_slice = NULL;
	for (size_t i = 0;
	     i < ARRAY_SIZE(first_seconds) && !client->end_unix_ns && !*ret_slice && err == 0;
	     i++) {
		snprintf(from, sizeof(from), "-%us", first_seconds[i]);
		err = ask(client, from, choice, ret_slice, error);
	}
	if (client->end_unix_ns) {
		/* Rounded up: what begins at the end of the last one goes on behind it. */
		snprintf(from, sizeof(from), "%" PRId64,
			 (client->end_unix_ns + (int64_t)NS_PER_SECOND - 1) /
				 (int64_t)NS_PER_SECOND);
		err = ask(client, from, choice, ret_slice, error);
	}
	if (err < 0 || !*ret_slice)
		return err;
	info = profile_info_read(*ret_slice);
	end_unix_ns = info->start_unix_ns + (int64_t)(info->end_ns - info->start_ns);
	/* Where only a longer window is left, it holds what was told before. */
	if (end_unix_ns <= client->end_unix_ns) {
		profile_free(*ret_slice);
		*ret_slice = NULL;
	} else {
		client->end_unix_ns = end_unix_ns;
	}
	return 0;
}

void history_client_free(struct history_client *client)
{
	if (!client)
		return;
	http_client_free(client->http);
	server_address_done(&client->address);
	free(client);
}
