// SPDX-License-Identifier: BSD-2-Clause
/* Tools that compare, show a figure over time, and make a recording. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_append.h"
#include "mcp/mcp_text.h"
#include "mcp/mcp_tool.h"
#include "rows/human.h"

#define POINTS_MAX 24 /* of a figure over time */

/* ---- a comparison: its text has a line each for what changed ---- */

int mcp_tool_diff(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_DIFF);
	_cleanup_free_ char *text = NULL;
	char *rest, *line;
	int err = call->backend->ask(call->backend->context, &question, &text, error);

	if (err < 0)
		return err;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			mcp_answer_row(answer, "%s", line);
	mcp_answer_end_rows(answer);
	return 0;
}

/* ---- a figure over time ---- */

struct point_sum {
	double value;
	size_t count;
};

/* The mean of the values of each of at most POINTS_MAX parts. */
static void write_points(const json_t *values, char *line, size_t size)
{
	size_t count = json_array_size(values), width = (count + POINTS_MAX - 1) / POINTS_MAX;

	for (size_t i = 0; i < count; i += width) {
		struct point_sum sum = {0};

		for (size_t j = i; j < i + width && j < count; j++) {
			const json_t *value = json_array_get(values, j);

			if (!json_is_number(value))
				continue;
			sum.value += json_number_value(value);
			sum.count++;
		}
		if (sum.count)
			text_append(line, size, " %.4g", sum.value / (double)sum.count);
		else
			text_append(line, size, " -");
	}
}

static void write_series(const json_t *series, struct mcp_answer *answer)
{
	const json_t *values = mcp_json_at(series, "values");
	double least = INFINITY, most = -INFINITY, last = NAN;
	char line[MCP_ANSWER_LINE] = "";
	json_t *value;
	size_t i;

	json_array_foreach(values, i, value)
	{
		if (!json_is_number(value))
			continue;
		last = json_number_value(value);
		least = fmin(least, last);
		most = fmax(most, last);
	}
	if (isnan(last))
		return;
	write_points(values, line, sizeof(line));
	mcp_answer_row(answer, "%s: least %.4g, most %.4g, last %.4g; over time:%s",
		       mcp_json_text(series, "name"), least, most, last, line);
}

/* To stay within --max-cpu, in some windows. */
static void write_left_out(const json_t *series, struct mcp_answer *answer)
{
	const char *last = NULL;
	size_t i, count = 0;
	json_t *text;

	json_array_foreach(mcp_json_at(series, "left_out"), i, text)
	{
		if (!json_is_string(text))
			continue;
		last = json_string_value(text);
		count++;
	}
	if (count)
		mcp_answer_note(answer,
				"not seen: left out in %zu windows to stay within --max-cpu: %s",
				count, last);
}

int mcp_tool_series(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_SERIES);
	json_t *json, *each;
	size_t i, windows;
	int err = mcp_call_ask_json(call, &question, &json, error);

	if (err < 0)
		return err;
	windows = json_array_size(mcp_json_at(json, "windows"));
	mcp_answer_head(answer, "%s in %zu windows%s; '-': no value there",
			mcp_json_text(json, "figure"), windows,
			windows > POINTS_MAX ? ", values over time are means of some" : "");
	json_array_foreach(mcp_json_at(json, "series"), i, each) write_series(each, answer);
	mcp_answer_end_rows(answer);
	write_left_out(json, answer);
	json_decref(json);
	return 0;
}

/* ---- a new recording, and what it finds ---- */

int mcp_tool_profile(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_PROFILE);
	_cleanup_free_ char *name = NULL;
	struct mcp_call then = {.backend = call->backend};
	int err;

	if (!question.seconds)
		question.seconds = 10;
	err = call->backend->ask(call->backend->context, &question, &name, error);
	if (err < 0)
		return err;
	mcp_answer_head(answer, "new source '%s'; its findings:", name);
	then.text[MCP_SOURCE] = name;
	return mcp_tool_findings(&then, answer, error);
}
