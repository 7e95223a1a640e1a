/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to servers, by libcurl, which is loaded when the first client is made. One owner thread.
 */
#ifndef PKBPF_HTTP_HTTP_CLIENT_H
#define PKBPF_HTTP_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HTTP_ANSWER_SIZE 512

struct http_client;

struct http_request {
	const char *url;
	const char *socket_path;    /* where to ask instead of the URL's host; NULL: there */
	const char *const *headers; /* "Name: value", ends in NULL */
	const char *body;
	size_t size;
	unsigned int timeout_seconds;
	/* Asked some times a second; true: the request is given up. NULL: never. */
	bool (*is_cancelled)(void *context);
	void *context;
};

struct http_answer {
	unsigned int status;
	unsigned int retry_after_seconds; /* 0: not said */
	char text[HTTP_ANSWER_SIZE];	  /* the beginning of the body; not escaped */
};

/* -ENOTSUP: libcurl is not there; -ENOMEM; with the sentence. */
int http_client_new(struct http_client **ret_client, struct error *error);
/* "http://…" or "https://…" with a host. */
int http_url_check(const char *url, struct error *error);
/* POST. Redirects are not followed, proxies of the environment not used. 0: there is an answer, of
 * any status. -EIO with the sentence: there is none. */
int http_post(struct http_client *client, const struct http_request *request,
	      struct http_answer *ret_answer, struct error *error);
struct http_body {
	size_t most;	/* bytes that it may have */
	uint8_t *bytes; /* the caller frees it */
	size_t size;
};

/* The same as GET, for the whole body. -EFBIG with the sentence: it is longer than body->most. */
int http_get(struct http_client *client, const struct http_request *request, struct http_body *body,
	     struct http_answer *ret_answer, struct error *error);
void http_client_free(struct http_client *client);

#endif
