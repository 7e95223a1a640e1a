// SPDX-License-Identifier: BSD-2-Clause
/* The tool about named regions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text_append.h"
#include "mcp/mcp_text.h"
#include "mcp/mcp_tool.h"
#include "rows/human.h"

#define FRAMES_MAX 4

static const struct {
	const char *name, *path;
} parts[] = {
	{"on CPU", "on_cpu_ns"},
	{"run queue", "runqueue_ns"},
	{"sleep", "sleep_ns"},
	{"disk wait", "disk_ns"},
	{"D state", "uninterruptible_ns"},
	{"stopped", "stopped_ns"},
	{"not divided", "undivided_ns"},
};

static void append_parts(const json_t *region, char *line, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		mcp_append_time(line, size, parts[i].name, region, parts[i].path);
}

static void write_name(const json_t *region, struct mcp_answer *answer)
{
	char line[MCP_ANSWER_LINE] = "", wall[HUMAN_SIZE];

	mcp_append_time(line, sizeof(line), "p50", region, "p50_ns");
	mcp_append_time(line, sizeof(line), "p95", region, "p95_ns");
	mcp_append_time(line, sizeof(line), "p99", region, "p99_ns");
	mcp_append_time(line, sizeof(line), "max", region, "max_ns");
	append_parts(region, line, sizeof(line));
	mcp_append_count(line, sizeof(line), "items", region, "items");
	mcp_append_count(line, sizeof(line), "never left", region, "not_left");
	mcp_append_count(line, sizeof(line), "unfinished", region, "unfinished");
	mcp_append_time(line, sizeof(line), "not watched for", region, "missed_ns");
	if (json_is_true(json_object_get(region, "let_go")))
		text_append(line, sizeof(line),
			    ", called too often: counted for a part of the time");
	mcp_answer_row(answer, "%s: %" PRIu64 " times, wall %s%s", mcp_json_text(region, "name"),
		       mcp_json_count(region, "count"),
		       human_time(wall, mcp_json_count(region, "wall_ns")), line);
}

static void write_slow(const json_t *region, struct mcp_answer *answer)
{
	char line[MCP_ANSWER_LINE] = "", wall[HUMAN_SIZE], at[HUMAN_SIZE];
	json_t *frame;
	size_t i;

	append_parts(region, line, sizeof(line));
	json_array_foreach(mcp_json_at(region, "frames"), i, frame) if (i < FRAMES_MAX) text_append(
		line, sizeof(line), "%s%s", i ? " < " : "; in ", mcp_json_text(frame, "name"));
	mcp_answer_row(answer, "slow: %s in %s %" PRIu64 " after %s: wall %s%s",
		       mcp_json_text(region, "name"), mcp_json_text(region, "comm"),
		       mcp_json_count(region, "tid"),
		       human_time(at, mcp_json_count(region, "at_ns")),
		       human_time(wall, mcp_json_count(region, "wall_ns")), line);
}

int mcp_tool_regions(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_REPORT);
	json_t *report, *region;
	size_t i;
	int err = mcp_call_ask_json(call, &question, &report, error);

	if (err < 0)
		return err;
	mcp_report_head(answer, report);
	json_array_foreach(mcp_json_at(report, "regions_by_name"), i, region)
		write_name(region, answer);
	json_array_foreach(mcp_json_at(report, "slow_regions"), i, region)
		write_slow(region, answer);
	if (!answer->rows)
		mcp_answer_head(answer, "no regions: none were recorded (--regions, --function), "
					"or none was entered");
	mcp_answer_end_rows(answer);
	mcp_report_losses(answer, report);
	json_decref(report);
	return 0;
}
