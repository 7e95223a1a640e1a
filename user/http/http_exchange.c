// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "http/http_body.h"
#include "http/http_connection.h"
#include "http/http_message.h"

#define RECEIVE_SIZE 16384

/* ---- the request ---- */

static bool has_line_break(const char *text)
{
	return strpbrk(text, "\r\n") != NULL;
}

static int write_head(FILE *out, const struct http_request *request, const struct http_url *url)
{
	const char *slash = *url->target == '/' ? "" : "/";

	if (request->body)
		fprintf(out, "POST %s%s HTTP/1.1\r\nContent-Length: %zu\r\n", slash, url->target,
			request->size);
	else
		fprintf(out, "GET %s%s HTTP/1.1\r\n", slash, url->target);
	fprintf(out, "Host: %s\r\nUser-Agent: pkbpf/" PKBPF_VERSION "\r\nConnection: close\r\n",
		url->authority);
	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		if (has_line_break(request->headers[i]))
			return -EINVAL;
		fprintf(out, "%s\r\n", request->headers[i]);
	}
	fprintf(out, "\r\n");
	return 0;
}

static int send_request(struct http_connection *connection, const struct http_request *request,
			const struct http_url *url, struct error *error)
{
	_cleanup_free_ char *head = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&head, &size);
	int err;

	if (!out)
		return error_set(error, ENOMEM, "out of memory");
	err = write_head(out, request, url);
	if (fclose(out) != 0)
		return error_set(error, ENOMEM, "out of memory");
	if (err < 0)
		return error_set(error, EIO, "a header of the request has two lines");
	err = http_connection_send(connection, head, size, error);
	if (err == 0 && request->body)
		err = http_connection_send(connection, request->body, request->size, error);
	return err;
}

/* ---- the answer ---- */

static int receive_answer(struct http_connection *connection, struct http_message *message,
			  struct error *error)
{
	uint8_t bytes[RECEIVE_SIZE];
	ssize_t got;

	while ((got = http_connection_receive(connection, bytes, sizeof(bytes), error)) > 0) {
		int result = http_message_feed(message, bytes, (size_t)got);

		if (result == -EBADMSG)
			return error_set(error, EIO, "the answer is no HTTP");
		if (result)
			return result < 0 ? result : 0;
	}
	if (got < 0)
		return (int)got;
	return http_message_end(message) < 0 ? error_set(error, EIO, "the answer is cut off") : 0;
}

static int exchange(const struct http_request *request, struct http_message *message,
		    struct error *error)
{
	struct http_connection *connection = NULL;
	struct http_url url;
	const struct http_peer peer = {
		.url = &url,
		.socket_path = request->socket_path,
		.until_ns = clock_now_ns() + request->timeout_seconds * NS_PER_SECOND,
		.is_cancelled = request->is_cancelled,
		.context = request->context,
	};
	struct error late;
	int err, send_err;

	if (http_url_parse(request->url, &url) < 0)
		return error_set(error, EINVAL, "'%.200s' is no address", request->url);
	err = http_connection_open(&peer, &connection, error);
	if (err < 0)
		return err;
	/* A server may answer, and close, before it has all: that answer says why. */
	send_err = send_request(connection, request, &url, error);
	err = receive_answer(connection, message, send_err < 0 ? &late : error);
	http_connection_close(connection);
	if (message->status && err != -ENOMEM)
		return err == -ECANCELED || send_err < 0 ? 0 : err;
	return send_err < 0 ? send_err : err;
}

static void fill_answer(const struct http_message *message, struct http_answer *answer)
{
	answer->status = message->status;
	answer->retry_after_seconds = message->retry_after_seconds;
}

int http_exchange_post(const struct http_request *request, struct http_answer *ret_answer,
		       struct error *error)
{
	struct http_beginning beginning = {.answer = ret_answer};
	_cleanup_free_ struct http_message *message = malloc(sizeof(*message));
	int err;

	*ret_answer = (struct http_answer){0};
	if (!message)
		return error_set(error, ENOMEM, "out of memory");
	http_message_init(message, http_beginning_take, &beginning);
	err = exchange(request, message, error);
	fill_answer(message, ret_answer);
	return err < 0 ? -EIO : 0;
}

int http_exchange_get(const struct http_request *request, struct http_body *body,
		      struct http_answer *ret_answer, struct error *error)
{
	struct http_collected collected;
	_cleanup_free_ struct http_message *message = malloc(sizeof(*message));
	int err;

	*ret_answer = (struct http_answer){0};
	http_collected_begin(&collected, body);
	if (!message)
		return error_set(error, ENOMEM, "out of memory");
	http_message_init(message, http_collected_take, &collected);
	err = exchange(request, message, error);
	fill_answer(message, ret_answer);
	return http_collected_end(&collected, ret_answer, err, error);
}
