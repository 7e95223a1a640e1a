/* SPDX-License-Identifier: BSD-2-Clause */
/* This program once more, in a process of its own, for one answer. */
#ifndef PKBPF_CLI_MCP_CHILD_H
#define PKBPF_CLI_MCP_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define MCP_CHILD_WORDS 32
#define MCP_OUTPUT_MAX	(256U << 20)

struct mcp_child {
	const char *words[MCP_CHILD_WORDS + 1]; /* the command's name and arguments; ends in NULL */
	size_t count;
	unsigned int limit_seconds;
	/* Asked some times a second; true: the process is ended. */
	bool (*is_cancelled)(void *context);
	void *context;
};

void mcp_child_add(struct mcp_child *child, const char *word);
/* Both, if there is a value. */
void mcp_child_add_option(struct mcp_child *child, const char *name, const char *value);
/* Runs it, and returns what it wrote, which ends in a NUL and is the caller's. -ENODATA: there is
 * nothing, -EIO: it failed, both with its own sentence; -ECANCELED; -ETIMEDOUT; -EFBIG: the output
 * is too long; -ENOMEM. */
int mcp_child_run(const struct mcp_child *child, char **ret_text, struct error *error);

#endif
