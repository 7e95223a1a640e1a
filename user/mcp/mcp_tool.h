/* SPDX-License-Identifier: BSD-2-Clause */
/* The tools that a client can call: each is a row of mcp_tools[] and a function. */
#ifndef PKBPF_MCP_MCP_TOOL_H
#define PKBPF_MCP_MCP_TOOL_H

#include <jansson.h>
#include <stdint.h>

#include "mcp/mcp_answer.h"
#include "mcp/mcp_backend.h"

/* X(enumerator, name, smallest, largest: numbers alone, description) */
#define MCP_ARGUMENTS(X)                                                                           \
	X(SOURCE, "source", 0, 0, "name of a source, as `sources` lists them; default: the first") \
	X(BASE, "base", 0, 0,                                                                      \
	  "what to compare with: a source; of a history also before, hour, yesterday, lastweek")   \
	X(FROM, "from", 0, 0,                                                                      \
	  "begin: 10s after the start of a recording, -15m before now in a history, or "           \
	  "2026-11-27T13:45:00Z")                                                                  \
	X(TO, "to", 0, 0, "end, like from")                                                        \
	X(PID, "pid", 1, 4194304, "only this process, with its threads and forked workers")        \
	X(COMM, "comm", 0, 0, "only processes of this name (comm, 15 bytes)")                      \
	X(CONTAINER, "container", 0, 0, "only containers, pods or units of this name")             \
	X(KIND, "kind", 0, 0, "kind of event: cpu (default), offcpu, blockio, faults")             \
	X(BY, "by", 0, 0, "a row per process (default), thread, container, comm")                  \
	X(SORT, "sort", 0, 0, "self (default): time in the function itself; total: with callees")  \
	X(NAME, "name", 0, 0, "name of a function, or a part of it")                               \
	X(FIGURE, "figure", 0, 0, "figure such as cpu.share, offcpu.p99, blockio.p99, memory.rss") \
	X(SECONDS, "seconds", 1, 300, "length of the profile; default 10")                         \
	X(OFFSET, "offset", 0, 10000000, "rows to skip, as \"more:\" of the page before says")

enum mcp_argument {
#define X(enumerator, ...) MCP_##enumerator,
	MCP_ARGUMENTS(X)
#undef X
		MCP_ARGUMENT_COUNT,
};

#define MCP_BIT(enumerator) (1U << MCP_##enumerator)

struct mcp_call {
	const char *text[MCP_ARGUMENT_COUNT];	 /* NULL: not given */
	unsigned int number[MCP_ARGUMENT_COUNT]; /* of those that are numbers */
	const struct mcp_backend *backend;
};

struct mcp_tool {
	const char *name, *title, *description;
	uint32_t arguments, required; /* bits */
	bool profiles;		      /* only with --allow-profile */
	/* Negative errno with the sentence: the call failed, and the client is told why. */
	int (*run)(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
};

extern const struct mcp_tool mcp_tools[];
extern const size_t mcp_tool_count;

/* Fills in the arguments, which the call borrows. -EINVAL with the sentence. */
int mcp_call_read(const struct mcp_tool *tool, const json_t *arguments, struct mcp_call *ret_call,
		  struct error *error);
/* The JSON schema of its arguments; NULL: out of memory. */
json_t *mcp_tool_schema(const struct mcp_tool *tool);

/* The question of a call about a source and a range of it. */
struct mcp_question mcp_call_question(const struct mcp_call *call, enum mcp_what what);
/* An answer that is JSON; json_decref(). -EBADMSG: it is none. */
int mcp_call_ask_json(const struct mcp_call *call, const struct mcp_question *question,
		      json_t **ret_json, struct error *error);

/* ---- the tools, by file ---- */

int mcp_tool_sources(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_findings(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_rows(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_machine(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_lines(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_functions(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_function(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_regions(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_diff(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_series(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);
int mcp_tool_profile(const struct mcp_call *call, struct mcp_answer *answer, struct error *error);

#endif
