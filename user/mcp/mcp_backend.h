/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tools of `pkbpf mcp` ask of recordings, histories and servers. */
#ifndef PKBPF_MCP_MCP_BACKEND_H
#define PKBPF_MCP_MCP_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum mcp_what {
	MCP_REPORT,  /* the JSON report */
	MCP_STACKS,  /* folded stacks of a kind of event */
	MCP_SERIES,  /* JSON of a figure over time; not of recordings */
	MCP_WINDOWS, /* JSON of the windows of a history; not of recordings */
	MCP_DIFF,    /* the text of a comparison */
	MCP_PROFILE, /* a new recording, which becomes a source: its name */
};

/* Texts are as the caller gave them, checked for their form alone. NULL: not given. */
struct mcp_question {
	enum mcp_what what;
	const char *source; /* name; NULL: the first one */
	const char *base;   /* of a comparison: a source, or before, hour, yesterday, lastweek */
	const char *from, *to, *base_from, *base_to;
	const char *comm, *container, *kind, *figure, *by;
	unsigned int pid, seconds; /* 0: not given */
	bool wait_states;	   /* of stacks of waits: [sleep], [disk] as leaves */
};

enum mcp_source_kind { MCP_RECORDING, MCP_STORE, MCP_SERVER };

struct mcp_source {
	const char *name;
	enum mcp_source_kind kind;
};

struct mcp_backend {
	/* false: there is no such source. */
	bool (*source_at)(void *context, size_t index, struct mcp_source *ret_source);
	/* The text ends in a NUL, and is the caller's. -ENODATA: there is nothing of what was
	 * chosen; other errors; with the sentence. */
	int (*ask)(void *context, const struct mcp_question *question, char **ret_text,
		   struct error *error);
	void *context;
	bool allows_profile;
};

#endif
