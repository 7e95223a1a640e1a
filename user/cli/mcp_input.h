/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of `pkbpf mcp`, one a line, read while a tool works as well. One owner thread. */
#ifndef PKBPF_CLI_MCP_INPUT_H
#define PKBPF_CLI_MCP_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct mcp_input { /* zero-initialised: standard input, of which nothing was read */
	int fd;
	char *bytes;
	size_t begin, size, room; /* unread bytes are from begin to size */
	size_t looked;		  /* of them, those that do not cancel the present request */
	bool has_ended, is_too_long;
};

/* Waits for a line; *ret_line is valid until the next call, without the line's end. 1: there is
 * one. 0: the end. -EFBIG: a line longer than MCP_MESSAGE_MAX was left out. -EINTR: a signal.
 * -ENOMEM, errors of read(). */
int mcp_input_next(struct mcp_input *input, const char **ret_line, size_t *ret_size);
/* Reads what has come, without waiting, and says whether a line cancels the request with this id.
 */
bool mcp_input_cancels(struct mcp_input *input, const char *id);
void mcp_input_done(struct mcp_input *input);

#endif
