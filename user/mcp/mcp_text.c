// SPDX-License-Identifier: BSD-2-Clause
#include "mcp/mcp_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text_append.h"
#include "rows/human.h"

#define LOSSES_MAX 6

json_t *mcp_json_at(const json_t *json, const char *path)
{
	char key[64];

	while (json && *path) {
		size_t length = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		json = json_object_get(json, key);
		path += length + (path[length] == '.');
	}
	return (json_t *)json;
}

const char *mcp_json_text(const json_t *json, const char *path)
{
	const char *text = json_string_value(mcp_json_at(json, path));

	return text ? text : "";
}

uint64_t mcp_json_count(const json_t *json, const char *path)
{
	json_int_t count = json_integer_value(mcp_json_at(json, path));

	return count > 0 ? (uint64_t)count : 0;
}

double mcp_json_decimal(const json_t *json, const char *path)
{
	return json_number_value(mcp_json_at(json, path));
}

void mcp_append_time(char *line, size_t size, const char *name, const json_t *json,
		     const char *path)
{
	char text[HUMAN_SIZE];
	uint64_t ns = mcp_json_count(json, path);

	if (ns)
		text_append(line, size, ", %s %s", name, human_time(text, ns));
}

void mcp_append_bytes(char *line, size_t size, const char *name, const json_t *json,
		      const char *path)
{
	char text[HUMAN_SIZE];
	uint64_t bytes = mcp_json_count(json, path);

	if (bytes)
		text_append(line, size, ", %s %s", name, human_bytes(text, bytes));
}

void mcp_append_count(char *line, size_t size, const char *name, const json_t *json,
		      const char *path)
{
	uint64_t count = mcp_json_count(json, path);

	if (count)
		text_append(line, size, ", %s %" PRIu64, name, count);
}

void mcp_report_head(struct mcp_answer *answer, const json_t *report)
{
	char duration[HUMAN_SIZE], kinds[128] = "";
	json_t *kind;
	size_t i;

	json_array_foreach(mcp_json_at(report, "events"), i, kind)
		text_append(kinds, sizeof(kinds), "%s%s", i ? ", " : "", json_string_value(kind));
	mcp_answer_head(
		answer, "%s on %s: %s from %.19sZ; recorded: %s; %" PRIu64 " CPUs %.1f %% busy",
		mcp_json_text(report, "targets"), mcp_json_text(report, "host.name"),
		human_time(duration, mcp_json_count(report, "time.duration_ns")),
		mcp_json_text(report, "time.start"), kinds, mcp_json_count(report, "host.cpus"),
		mcp_json_decimal(report, "host.busy_percent"));
}

void mcp_report_losses(struct mcp_answer *answer, const json_t *report)
{
	char line[MCP_ANSWER_LINE] = "";
	json_t *counter;
	size_t i, told = 0, more = 0;

	json_array_foreach(mcp_json_at(report, "counters"), i, counter)
	{
		if (!json_is_true(json_object_get(counter, "is_loss")) ||
		    !mcp_json_count(counter, "count"))
			continue;
		if (told++ < LOSSES_MAX)
			text_append(line, sizeof(line), "%s%s: %" PRIu64, told > 1 ? "; " : "",
				    mcp_json_text(counter, "text"),
				    mcp_json_count(counter, "count"));
		else
			more++;
	}
	if (more)
		text_append(line, sizeof(line), "; %zu more kinds (tool machine)", more);
	if (told)
		mcp_answer_note(answer, "not seen: %s", line);
}
