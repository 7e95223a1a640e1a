// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A body without end is broken off. */
#define BEGINNING_MAX 65536
#define FIRST_ROOM    65536

bool http_beginning_take(void *context, const uint8_t *bytes, size_t size)
{
	struct http_beginning *beginning = context;
	size_t room = sizeof(beginning->answer->text) - 1 - beginning->used;
	size_t part = size < room ? size : room;

	memcpy(beginning->answer->text + beginning->used, bytes, part);
	beginning->used += part;
	beginning->seen += size;
	return beginning->seen <= BEGINNING_MAX;
}

void http_collected_begin(struct http_collected *collected, struct http_body *body)
{
	body->bytes = NULL;
	body->size = 0;
	*collected = (struct http_collected){.body = body};
}

bool http_collected_take(void *context, const uint8_t *bytes, size_t size)
{
	struct http_collected *collected = context;
	struct http_body *body = collected->body;
	size_t room = collected->room ? collected->room : FIRST_ROOM;
	uint8_t *more;

	if (size > body->most - body->size) {
		collected->err = -EFBIG;
		return false;
	}
	while (room < body->size + size)
		room *= 2;
	if (room != collected->room) {
		more = realloc(body->bytes, room);
		if (!more) {
			collected->err = -ENOMEM;
			return false;
		}
		body->bytes = more;
		collected->room = room;
	}
	memcpy(body->bytes + body->size, bytes, size);
	body->size += size;
	return true;
}

int http_collected_end(struct http_collected *collected, struct http_answer *answer, int err,
		       struct error *error)
{
	struct http_body *body = collected->body;

	if (body->size)
		memcpy(answer->text, body->bytes,
		       body->size < HTTP_ANSWER_SIZE ? body->size : HTTP_ANSWER_SIZE - 1);
	if (err == 0 && !collected->err)
		return 0;
	free(body->bytes);
	body->bytes = NULL;
	if (collected->err == -EFBIG)
		return error_set(error, EFBIG, "the answer is longer than %zu bytes", body->most);
	if (collected->err)
		return error_set(error, ENOMEM, "out of memory");
	return -EIO;
}
