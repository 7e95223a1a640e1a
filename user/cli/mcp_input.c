// SPDX-License-Identifier: BSD-2-Clause
#include "cli/mcp_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/mcp_server.h"

#define CHUNK (64U << 10)

static bool make_room(struct mcp_input *input)
{
	size_t room = input->room ? 2 * input->room : CHUNK;
	char *bytes;

	if (input->begin) {
		memmove(input->bytes, input->bytes + input->begin, input->size - input->begin);
		input->size -= input->begin;
		input->begin = 0;
	}
	if (input->size < input->room)
		return true;
	bytes = realloc(input->bytes, room);
	if (!bytes)
		return false;
	input->bytes = bytes;
	input->room = room;
	return true;
}

/* Reads once. 1: something came; 0: the end. */
static int fill(struct mcp_input *input)
{
	ssize_t count;

	if (!make_room(input))
		return -ENOMEM;
	count = read(input->fd, input->bytes + input->size, input->room - input->size);
	if (count < 0)
		return -errno;
	input->size += (size_t)count;
	input->has_ended = count == 0;
	return count > 0;
}

/* A line that is too long is dropped as it comes. */
static void drop_long(struct mcp_input *input, const char *end)
{
	if (end || input->size - input->begin <= MCP_MESSAGE_MAX)
		return;
	input->size = input->begin = input->looked = 0;
	input->is_too_long = true;
}

/* The last line may lack its end. */
static bool take_line(struct mcp_input *input, const char *end, const char **ret_line,
		      size_t *ret_size)
{
	if (!end && (!input->has_ended || input->begin == input->size))
		return false;
	*ret_line = input->bytes + input->begin;
	*ret_size = end ? (size_t)(end - *ret_line) : input->size - input->begin;
	input->begin += *ret_size + (end != NULL);
	input->looked = 0;
	return true;
}

int mcp_input_next(struct mcp_input *input, const char **ret_line, size_t *ret_size)
{
	for (;;) {
		const char *end = input->size > input->begin
					  ? memchr(input->bytes + input->begin, '\n',
						   input->size - input->begin)
					  : NULL;
		int err;

		drop_long(input, end);
		if (take_line(input, end, ret_line, ret_size)) {
			bool was_too_long = input->is_too_long;

			input->is_too_long = false;
			return was_too_long || *ret_size > MCP_MESSAGE_MAX ? -EFBIG : 1;
		}
		if (input->has_ended)
			return input->is_too_long ? (input->is_too_long = false, -EFBIG) : 0;
		err = fill(input);
		if (err < 0)
			return err;
	}
}

bool mcp_input_cancels(struct mcp_input *input, const char *id)
{
	struct pollfd waiting = {.fd = input->fd, .events = POLLIN};
	const char *line, *end, *last;

	while (!input->has_ended && input->size - input->begin < MCP_MESSAGE_MAX &&
	       poll(&waiting, 1, 0) > 0 && fill(input) > 0)
		;
	if (input->size == input->begin)
		return false;
	line = input->bytes + input->begin + input->looked;
	last = input->bytes + input->size;
	while (line < last && (end = memchr(line, '\n', (size_t)(last - line)))) {
		if (mcp_message_cancels(line, (size_t)(end - line), id))
			return true;
		line = end + 1;
		input->looked = (size_t)(line - input->bytes) - input->begin;
	}
	return false;
}

void mcp_input_done(struct mcp_input *input)
{
	free(input->bytes);
	*input = (struct mcp_input){0};
}
