// SPDX-License-Identifier: BSD-2-Clause
/* An address in the first line, and an answer behind it, which comes in pieces: each gives the
 * same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool count(void *context, const uint8_t *bytes, size_t size)
{
	size_t *sum = context;

	for (size_t i = 0; i < size; i++)
		*sum += bytes[i] + 1U;
	return true;
}

static int read_answer(const uint8_t *data, size_t size, size_t piece, struct http_message *message,
		       size_t *ret_sum)
{
	int result = 0;

	*ret_sum = 0;
	http_message_init(message, count, ret_sum);
	for (size_t at = 0; at < size && result == 0; at += piece) {
		/* Of its own, so that a read beyond it is seen. */
		size_t part = size - at < piece ? size - at : piece;
		uint8_t *copy = malloc(part);

		if (!copy)
			abort();
		memcpy(copy, data + at, part);
		result = http_message_feed(message, copy, part);
		free(copy);
	}
	return result ? result : http_message_end(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_message whole, pieces;
	const uint8_t *end = memchr(data, '\n', size);
	size_t length = end ? (size_t)(end - data) : size, whole_sum, sum;
	char *text = malloc(length + 1);
	struct http_url url;

	if (!text)
		return 0;
	memcpy(text, data, length);
	text[length] = '\0';
	if (http_url_parse(text, &url) == 0 &&
	    (!url.host[0] || !url.port[0] || strchr(url.authority, '@') ||
	     strpbrk(url.target, " \r\n#")))
		abort();
	free(text);
	if (!end)
		return 0;
	data += length + 1;
	size -= length + 1;
	if (read_answer(data, size, size ? size : 1, &whole, &whole_sum) !=
		    read_answer(data, size, 3, &pieces, &sum) ||
	    sum != whole_sum || whole.status != pieces.status || whole.status > 999)
		abort();
	return 0;
}
