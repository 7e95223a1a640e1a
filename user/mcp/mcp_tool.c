// SPDX-License-Identifier: BSD-2-Clause
/* The table of tools, and their arguments. */
#include "mcp/mcp_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define TEXT_MAX 256

#define RANGE                                                                                      \
	(MCP_BIT(SOURCE) | MCP_BIT(FROM) | MCP_BIT(TO) | MCP_BIT(PID) | MCP_BIT(COMM) |            \
	 MCP_BIT(CONTAINER))

const struct mcp_tool mcp_tools[] = {
	{"sources", "Recordings and histories",
	 "Lists recordings and histories, with their times, targets and kinds of events. Call it "
	 "first.",
	 MCP_BIT(OFFSET), 0, false, mcp_tool_sources},
	{"findings", "Bottlenecks",
	 "The bottleneck of each program, with place, evidence and the next step. Ask this first "
	 "about a slow program.",
	 RANGE | MCP_BIT(OFFSET), 0, false, mcp_tool_findings},
	{"processes", "Resource use",
	 "A row per process, container, comm or recorded thread: CPU time, run queue, sleep, disk, "
	 "block "
	 "I/O, memory, faults.",
	 RANGE | MCP_BIT(BY) | MCP_BIT(OFFSET), 0, false, mcp_tool_rows},
	{"functions", "Hottest functions",
	 "Functions with most CPU time, time off the CPU, block I/O or page faults, in themselves "
	 "or with what they call.",
	 RANGE | MCP_BIT(KIND) | MCP_BIT(SORT) | MCP_BIT(OFFSET), 0, false, mcp_tool_functions},
	{"function", "One function",
	 "Callers, callees and waits of a function, with their shares of its time.",
	 RANGE | MCP_BIT(NAME) | MCP_BIT(OFFSET), MCP_BIT(NAME), false, mcp_tool_function},
	{"lines", "Hottest source lines",
	 "Source lines with most weight, where lines were recorded (Python always; others with "
	 "--lines).",
	 RANGE | MCP_BIT(KIND) | MCP_BIT(OFFSET), 0, false, mcp_tool_lines},
	{"regions", "Regions and requests",
	 "Named regions (requests, steps, counted functions): calls, percentiles, parts of their "
	 "time; and the slowest ones one by one.",
	 RANGE | MCP_BIT(OFFSET), 0, false, mcp_tool_regions},
	{"diff", "Comparison",
	 "Changes beyond noise between a base and a source: two recordings, or two ranges of a "
	 "history.",
	 MCP_BIT(SOURCE) | MCP_BIT(BASE) | MCP_BIT(FROM) | MCP_BIT(TO) | MCP_BIT(PID) |
		 MCP_BIT(COMM) | MCP_BIT(CONTAINER) | MCP_BIT(OFFSET),
	 MCP_BIT(BASE), false, mcp_tool_diff},
	{"series", "A figure over time",
	 "A figure of a history over time, of the programs or containers with most of it.",
	 MCP_BIT(SOURCE) | MCP_BIT(FROM) | MCP_BIT(TO) | MCP_BIT(COMM) | MCP_BIT(CONTAINER) |
		 MCP_BIT(FIGURE) | MCP_BIT(BY) | MCP_BIT(OFFSET),
	 0, false, mcp_tool_series},
	{"machine", "Machine and losses",
	 "The machine, limits of CPU and memory, lost and unmeasured events, and profiler "
	 "overhead.",
	 RANGE | MCP_BIT(OFFSET), 0, false, mcp_tool_machine},
	{"profile", "New profile",
	 "Profiles a process, a container or the host now, for some seconds. The recording is a "
	 "new source.",
	 MCP_BIT(PID) | MCP_BIT(COMM) | MCP_BIT(CONTAINER) | MCP_BIT(SECONDS), 0, true,
	 mcp_tool_profile},
};

const size_t mcp_tool_count = ARRAY_SIZE(mcp_tools);

static const struct {
	const char *name;
	json_int_t least, most; /* 0, 0: a text */
	const char *description;
} rows[] = {
#define X(enumerator, name, least, most, description) {name, least, most, description},
	MCP_ARGUMENTS(X)
#undef X
};

static const char *const kinds[] = {"cpu", "offcpu", "blockio", "faults", NULL};
static const char *const groups[] = {"process", "thread", "container", "comm", "name", NULL};
static const char *const orders[] = {"self", "total", NULL};

static const char *const *choices_of(size_t argument)
{
	switch (argument) {
	case MCP_KIND:
		return kinds;
	case MCP_BY:
		return groups;
	case MCP_SORT:
		return orders;
	default:
		return NULL;
	}
}

static int read_text(size_t argument, const json_t *value, struct mcp_call *call,
		     struct error *error)
{
	const char *text = json_string_value(value), *const *choice = choices_of(argument);

	if (!text || !*text || json_string_length(value) > TEXT_MAX || strpbrk(text, "\n\r"))
		return error_set(error, EINVAL,
				 "'%s' has to be a text of 1 to %d bytes in one line",
				 rows[argument].name, TEXT_MAX);
	while (choice && *choice && strcmp(*choice, text) != 0)
		choice++;
	if (choice && !*choice)
		return error_set(error, EINVAL, "'%s' cannot be '%.40s'; it is: %s",
				 rows[argument].name, text, rows[argument].description);
	call->text[argument] = text;
	return 0;
}

static int read_number(size_t argument, const json_t *value, struct mcp_call *call,
		       struct error *error)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < rows[argument].least ||
	    number > rows[argument].most)
		return error_set(error, EINVAL, "'%s' has to be a number from %lld to %lld",
				 rows[argument].name, (long long)rows[argument].least,
				 (long long)rows[argument].most);
	call->number[argument] = (unsigned int)number;
	return 0;
}

static int read_argument(const struct mcp_tool *tool, const char *name, const json_t *value,
			 struct mcp_call *call, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!(tool->arguments & 1U << i) || strcmp(rows[i].name, name) != 0)
			continue;
		return rows[i].most ? read_number(i, value, call, error)
				    : read_text(i, value, call, error);
	}
	return error_set(error, EINVAL, "the tool '%s' has no argument '%.40s'", tool->name, name);
}

int mcp_call_read(const struct mcp_tool *tool, const json_t *arguments, struct mcp_call *ret_call,
		  struct error *error)
{
	const char *name;
	json_t *value;
	void *each;

	*ret_call = (struct mcp_call){.backend = ret_call->backend};
	for (each = json_object_iter((json_t *)arguments); each;
	     each = json_object_iter_next((json_t *)arguments, each)) {
		name = json_object_iter_key(each);
		value = json_object_iter_value(each);
		if (read_argument(tool, name, value, ret_call, error) < 0)
			return -EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (tool->required & 1U << i && !ret_call->text[i])
			return error_set(error, EINVAL, "the tool '%s' needs '%s': %s", tool->name,
					 rows[i].name, rows[i].description);
	return 0;
}

static json_t *describe(size_t argument)
{
	const char *const *choice = choices_of(argument);
	json_t *property, *list;

	if (rows[argument].most)
		return json_pack("{s:s, s:s, s:I, s:I}", "type", "integer", "description",
				 rows[argument].description, "minimum", rows[argument].least,
				 "maximum", rows[argument].most);
	property = json_pack("{s:s, s:s, s:i}", "type", "string", "description",
			     rows[argument].description, "maxLength", TEXT_MAX);
	if (!choice)
		return property;
	list = json_array();
	for (; *choice; choice++)
		json_array_append_new(list, json_string(*choice));
	json_object_set_new(property, "enum", list);
	return property;
}

json_t *mcp_tool_schema(const struct mcp_tool *tool)
{
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (tool->arguments & 1U << i)
			json_object_set_new(properties, rows[i].name, describe(i));
		if (tool->required & 1U << i)
			json_array_append_new(required, json_string(rows[i].name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			 "required", required, "additionalProperties", 0);
}

struct mcp_question mcp_call_question(const struct mcp_call *call, enum mcp_what what)
{
	return (struct mcp_question){
		.what = what,
		.source = call->text[MCP_SOURCE],
		.base = call->text[MCP_BASE],
		.from = call->text[MCP_FROM],
		.to = call->text[MCP_TO],
		.comm = call->text[MCP_COMM],
		.container = call->text[MCP_CONTAINER],
		.kind = call->text[MCP_KIND],
		.figure = call->text[MCP_FIGURE],
		.by = call->text[MCP_BY],
		.pid = call->number[MCP_PID],
		.seconds = call->number[MCP_SECONDS],
	};
}

int mcp_call_ask_json(const struct mcp_call *call, const struct mcp_question *question,
		      json_t **ret_json, struct error *error)
{
	_cleanup_free_ char *text = NULL;
	json_error_t where;
	int err = call->backend->ask(call->backend->context, question, &text, error);

	if (err < 0)
		return err;
	*ret_json = json_loads(text, 0, &where);
	if (!*ret_json)
		return error_set(error, EBADMSG, "the answer of the source is no JSON: %s",
				 where.text);
	return 0;
}
