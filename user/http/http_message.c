// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_message.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- addresses ---- */

static bool take_port(const char *text, size_t length, struct http_url *url)
{
	unsigned int port = 0;

	if (!length || length >= sizeof(url->port))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		port = port * 10 + (unsigned int)(text[i] - '0');
	}
	if (!port || port > 65535)
		return false;
	snprintf(url->port, sizeof(url->port), "%u", port);
	return true;
}

static bool is_visible(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] == 0x7f)
			return false;
	return true;
}

/* "host", "host:port", "[address]:port" */
static bool take_authority(const char *text, size_t length, struct http_url *url)
{
	const char *host = text, *rest;
	size_t host_length;

	if (!length || length >= sizeof(url->authority) || memchr(text, '@', length) ||
	    !is_visible(text, length))
		return false;
	if (*text == '[') {
		const char *end = memchr(text, ']', length);

		if (!end)
			return false;
		host = text + 1;
		host_length = (size_t)(end - host);
		rest = end + 1;
	} else {
		const char *colon = memchr(text, ':', length);

		host_length = colon ? (size_t)(colon - text) : length;
		rest = text + host_length;
	}
	if (!host_length || host_length >= sizeof(url->host))
		return false;
	memcpy(url->host, host, host_length);
	url->host[host_length] = '\0';
	memcpy(url->authority, text, length);
	url->authority[length] = '\0';
	length -= (size_t)(rest - text);
	return !length || (*rest == ':' && take_port(rest + 1, length - 1, url));
}

int http_url_parse(const char *text, struct http_url *ret_url)
{
	struct http_url url = {.port = "80"};
	size_t length;

	if (strncmp(text, "https://", 8) == 0) {
		url.is_https = true;
		strcpy(url.port, "443");
		text += 8;
	} else if (strncmp(text, "http://", 7) == 0) {
		text += 7;
	} else {
		return -EINVAL;
	}
	length = strcspn(text, "/?#");
	if (!take_authority(text, length, &url))
		return -EINVAL;
	url.target = text + length;
	/* A request line has neither blanks nor fragments. */
	if (!is_visible(url.target, strlen(url.target)) || strchr(url.target, '#') ||
	    *url.target == '?')
		return -EINVAL;
	*ret_url = url;
	return 0;
}

/* ---- answers ---- */

void http_message_init(struct http_message *message,
		       bool (*take)(void *context, const uint8_t *bytes, size_t size),
		       void *context)
{
	memset(message, 0, offsetof(struct http_message, line));
	message->take = take;
	message->context = context;
}

/* "HTTP/1.1 200 OK" */
static int take_status(struct http_message *message, const char *line)
{
	const char *code = line + 9;

	if (strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)line[7]) ||
	    line[8] != ' ' || code[0] < '1' || code[0] > '9' || !isdigit((unsigned char)code[1]) ||
	    !isdigit((unsigned char)code[2]) || (code[3] && code[3] != ' '))
		return -EBADMSG;
	message->status =
		(unsigned int)((code[0] - '0') * 100 + (code[1] - '0') * 10 + code[2] - '0');
	message->part = HTTP_HEADER;
	return 0;
}

/* The value of a header of this name; NULL: another one. */
static const char *value_of(const char *line, const char *name)
{
	size_t length = strlen(name);

	if (strncasecmp(line, name, length) != 0 || line[length] != ':')
		return NULL;
	line += length + 1;
	return line + strspn(line, " \t");
}

/* 16: no digit. */
static unsigned int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (unsigned int)(found - digits) % 16 : 16;
}

/* -EBADMSG: no number of this base, or one that no body has. */
static int take_number(const char *text, unsigned int base, uint64_t *ret_value)
{
	const char *at = text;
	uint64_t value = 0;

	for (; digit_of(*at) < base; at++) {
		value = value * base + digit_of(*at);
		if (value > INT64_MAX / 32)
			return -EBADMSG;
	}
	if (at == text || !strchr("; \t", *at))
		return -EBADMSG;
	*ret_value = value;
	return 0;
}

/* Chunks come last of all codings, and are the only one that was not asked for. */
static int take_header(struct http_message *message, const char *line)
{
	const char *value;
	uint64_t number;

	if ((value = value_of(line, "Transfer-Encoding"))) {
		if (strcasecmp(value, "chunked") != 0)
			return -EBADMSG;
		message->is_chunked = true;
	} else if ((value = value_of(line, "Content-Length"))) {
		if (take_number(value, 10, &number) ||
		    (message->has_length && number != message->left))
			return -EBADMSG;
		message->has_length = true;
		message->left = number;
	} else if ((value = value_of(line, "Retry-After"))) {
		/* A date is not used. */
		if (take_number(value, 10, &number) == 0 && number < 86400)
			message->retry_after_seconds = (unsigned int)number;
	}
	return 0;
}

/* What an empty line ends. */
static void end_headers(struct http_message *message)
{
	if (message->status < 200) {
		/* "100 Continue": the answer comes later. */
		message->status = 0;
		message->has_length = message->is_chunked = false;
		message->part = HTTP_STATUS_LINE;
	} else if (message->status == 204 || message->status == 304) {
		message->part = HTTP_DONE;
	} else if (message->is_chunked) {
		message->part = HTTP_CHUNK_SIZE;
	} else {
		message->part = message->has_length && !message->left ? HTTP_DONE : HTTP_BODY;
	}
}

static int take_chunk_size(struct http_message *message, const char *line)
{
	int err = take_number(line, 16, &message->left);

	message->part = message->left ? HTTP_CHUNK : HTTP_TRAILER;
	return err;
}

static int take_line(struct http_message *message)
{
	const char *line = message->line;

	switch (message->part) {
	case HTTP_STATUS_LINE:
		return take_status(message, line);
	case HTTP_HEADER:
		if (*line)
			return take_header(message, line);
		end_headers(message);
		return 0;
	case HTTP_CHUNK_SIZE:
		return take_chunk_size(message, line);
	case HTTP_CHUNK_END:
		message->part = HTTP_CHUNK_SIZE;
		return *line ? -EBADMSG : 0;
	case HTTP_TRAILER:
		if (!*line)
			message->part = HTTP_DONE;
		return 0;
	default:
		return -EBADMSG;
	}
}

/* Adds a byte to the line; CR LF or LF ends it. */
static int feed_line(struct http_message *message, uint8_t byte)
{
	if (++message->header_bytes > HTTP_HEADERS_MAX && message->part != HTTP_CHUNK_SIZE &&
	    message->part != HTTP_CHUNK_END)
		return -EBADMSG;
	if (byte != '\n') {
		if (!byte || message->line_size == HTTP_LINE_MAX - 1)
			return -EBADMSG;
		message->line[message->line_size++] = (char)byte;
		return 0;
	}
	if (message->line_size && message->line[message->line_size - 1] == '\r')
		message->line_size--;
	message->line[message->line_size] = '\0';
	message->line_size = 0;
	return take_line(message);
}

/* Gives bytes of the body on; returns how many of them there were. */
static int feed_body(struct http_message *message, const uint8_t *bytes, size_t size,
		     size_t *ret_used)
{
	bool is_bounded = message->part == HTTP_CHUNK || message->has_length;
	size_t part = is_bounded && message->left < size ? (size_t)message->left : size;

	*ret_used = part;
	if (!message->take(message->context, bytes, part))
		return -ECANCELED;
	if (!is_bounded)
		return 0;
	message->left -= part;
	if (!message->left)
		message->part = message->part == HTTP_CHUNK ? HTTP_CHUNK_END : HTTP_DONE;
	return 0;
}

int http_message_feed(struct http_message *message, const uint8_t *bytes, size_t size)
{
	while (size && message->part != HTTP_DONE) {
		size_t used = 1;
		int err = message->part == HTTP_BODY || message->part == HTTP_CHUNK
				  ? feed_body(message, bytes, size, &used)
				  : feed_line(message, *bytes);

		if (err)
			return err;
		bytes += used;
		size -= used;
	}
	return message->part == HTTP_DONE;
}

int http_message_end(const struct http_message *message)
{
	bool is_complete =
		message->part == HTTP_DONE || (message->part == HTTP_BODY && !message->has_length);

	return is_complete ? 0 : -EPIPE;
}
