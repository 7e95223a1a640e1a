/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of servers, and answers of HTTP/1.1 (RFC 9112) as they come in pieces. No I/O. */
#ifndef PKBPF_HTTP_HTTP_MESSAGE_H
#define PKBPF_HTTP_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_LINE_MAX	 8192
#define HTTP_HEADERS_MAX 65536 /* bytes of all lines before the body, and behind it */

struct http_url {
	bool is_https;
	char host[256]; /* without the brackets of an IPv6 address */
	char port[6];
	char authority[272]; /* as the Host header has it */
	const char *target;  /* path and query, of the text; "" means "/" */
};

/* -EINVAL: user names, long or empty hosts and odd ports, too. */
int http_url_parse(const char *text, struct http_url *ret_url);

enum http_part {
	HTTP_STATUS_LINE,
	HTTP_HEADER,
	HTTP_BODY,	 /* of the length that was said, or up to the end of the connection */
	HTTP_CHUNK_SIZE, /* the line before a chunk */
	HTTP_CHUNK,
	HTTP_CHUNK_END, /* the empty line behind it */
	HTTP_TRAILER,
	HTTP_DONE,
};

struct http_message {
	/* Takes bytes of the body; false: no more is wanted, http_message_feed() says -ECANCELED.
	 */
	bool (*take)(void *context, const uint8_t *bytes, size_t size);
	void *context;
	unsigned int status;		  /* 0: not known yet */
	unsigned int retry_after_seconds; /* 0: not said in seconds */
	enum http_part part;
	bool has_length, is_chunked;
	uint64_t left; /* of the body or chunk */
	size_t header_bytes;
	size_t line_size;
	char line[HTTP_LINE_MAX];
};

void http_message_init(struct http_message *message,
		       bool (*take)(void *context, const uint8_t *bytes, size_t size),
		       void *context);
/* Bytes that have come. 1: the answer is complete; 0: more is to come; -EBADMSG: no HTTP;
 * -ECANCELED. */
int http_message_feed(struct http_message *message, const uint8_t *bytes, size_t size);
/* The connection has ended. 0: so the answer is complete; -EPIPE: it is cut off. */
int http_message_end(const struct http_message *message);

#endif
