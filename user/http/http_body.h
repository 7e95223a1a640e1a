/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies of answers as they come in pieces, for both ways to ask a server. */
#ifndef PKBPF_HTTP_HTTP_BODY_H
#define PKBPF_HTTP_HTTP_BODY_H

#include "http/http_client.h"

/* The beginning of a body, as text of an answer. */
struct http_beginning {
	struct http_answer *answer;
	size_t used, seen;
};

/* Context: struct http_beginning. false: the rest is not needed. */
bool http_beginning_take(void *context, const uint8_t *bytes, size_t size);

/* All of a body. */
struct http_collected {
	struct http_body *body;
	size_t room;
	int err; /* -EFBIG, -ENOMEM */
};

/* Empties the body. */
void http_collected_begin(struct http_collected *collected, struct http_body *body);
/* Context: struct http_collected. false: it has failed. */
bool http_collected_take(void *context, const uint8_t *bytes, size_t size);
/* Copies the beginning to the answer's text. err: of the exchange, which has set the sentence. On
 * failure the body is freed, and its own failures set the sentence. Returns what http_get() does.
 */
int http_collected_end(struct http_collected *collected, struct http_answer *answer, int err,
		       struct error *error);

#endif
