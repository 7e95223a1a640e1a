/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Model Context Protocol, as a server with tools alone: one message in, at most one out. Both
 * the revision 2026-07-28, in which every request says its version, and those before it, which
 * begin with `initialize`. https://modelcontextprotocol.io/specification
 * Messages are hostile: bounded, and malformed ones are answered with errors. One owner thread.
 */
#ifndef PKBPF_MCP_MCP_SERVER_H
#define PKBPF_MCP_MCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/mcp_backend.h"

/* A longer message is not read; longer arguments are refused. */
#define MCP_MESSAGE_MAX	  (16U << 20)
#define MCP_ARGUMENTS_MAX (64U << 10)

struct mcp_server {
	const struct mcp_backend *backend;
	const char *version;	    /* of the program */
	unsigned int answer_tokens; /* bound of an answer's text */
	bool is_initialized;	    /* by a client of an earlier revision */
};

/* Answers a message, without its line's end. The answer, without one as well, is the caller's;
 * NULL: there is none to be sent (a notification), or memory is short. */
char *mcp_server_answer(struct mcp_server *server, const char *message, size_t size);
/* The answer to a message that was too long to be read. */
char *mcp_server_refuse_long(void);
/* Does this message cancel the request with this id, which is JSON ("7", "\"a\"")? */
bool mcp_message_cancels(const char *message, size_t size, const char *id);
/* The id of a request, as JSON; the caller frees it. NULL: it has none. */
char *mcp_message_id(const char *message, size_t size);

#endif
