/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings, histories and servers as the sources of `pkbpf mcp`. Reports are made by this program
 * in processes of their own, so that files of anybody are read apart from what talks. One owner
 * thread.
 */
#ifndef PKBPF_CLI_MCP_SOURCES_H
#define PKBPF_CLI_MCP_SOURCES_H

#include <stdbool.h>

#include "base/error.h"
#include "mcp/mcp_backend.h"

struct mcp_sources;

struct mcp_sources_options {
	const char *token_file; /* of servers; NULL: none */
	bool allows_profile;
	/* Asked while an answer is made; true: it is given up. */
	bool (*is_cancelled)(void *context);
	void *context;
};

/* Borrows the strings of the options. */
struct mcp_sources *mcp_sources_new(const struct mcp_sources_options *options);
/* path: a recording, a folder with recordings, the store of a history, a socket, or
 * http://ADDRESS:PORT. -ENOENT and others with the sentence. */
int mcp_sources_add(struct mcp_sources *sources, const char *path, struct error *error);
/* Borrows the sources. */
struct mcp_backend mcp_sources_backend(struct mcp_sources *sources);
/* Removes the recordings that were made. */
void mcp_sources_free(struct mcp_sources *sources);

#endif
