// SPDX-License-Identifier: BSD-2-Clause
/* Tools about functions and lines. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "mcp/mcp_stacks.h"
#include "mcp/mcp_text.h"
#include "mcp/mcp_tool.h"
#include "profile/kind_table.h"
#include "rows/human.h"

#define AROUND_MAX    8 /* callers, callees, leaves of a function */
#define CANDIDATE_MAX 20
#define WEIGHT_SIZE   (2 * HUMAN_SIZE + 16)

static enum pkbpf_profile_kind kind_of(const char *name)
{
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (strcmp(kind_ops_of(kind)->name, name) == 0)
			return kind;
	return PKBPF_PROFILE_CPU;
}

/* "1.23 s (4.5%)" */
static const char *weight_text(const char *kind, uint64_t weight, uint64_t all,
			       char text[WEIGHT_SIZE])
{
	enum pkbpf_profile_kind number = kind_of(kind);
	const struct kind_ops *ops = kind_ops_of(number);
	char value[HUMAN_SIZE], share[HUMAN_SIZE];

	if (kind_has_measure(ops))
		human_weight(value, number, weight * ops->folded_divisor);
	else
		human_counted(value, weight, ops->count_unit);
	snprintf(text, WEIGHT_SIZE, "%s (%s)", value, human_share(share, weight, all));
	return text;
}

static int read_stacks(const struct mcp_call *call, const char *kind, bool wait_states,
		       struct mcp_stacks *ret_stacks, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_STACKS);
	_cleanup_free_ char *text = NULL;
	int err;

	question.kind = kind;
	question.wait_states = wait_states;
	err = call->backend->ask(call->backend->context, &question, &text, error);
	if (err < 0 && err != -ENODATA)
		return err;
	/* Where there is nothing of this kind, there are no stacks. */
	err = mcp_stacks_read(text, strcmp(kind, "cpu") != 0, ret_stacks);
	if (err < 0)
		return error_set(error, -err, "cannot read the stacks: %s", strerror(-err));
	return 0;
}

/* ---- functions ---- */

int mcp_tool_functions(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	const char *kind = call->text[MCP_KIND] ? call->text[MCP_KIND] : "cpu";
	bool by_total = call->text[MCP_SORT] && strcmp(call->text[MCP_SORT], "total") == 0;
	struct mcp_question question = mcp_call_question(call, MCP_REPORT);
	char self[WEIGHT_SIZE], total[WEIGHT_SIZE];
	struct mcp_stacks stacks;
	struct mcp_weights weights;
	json_t *report;
	int err = mcp_call_ask_json(call, &question, &report, error);

	if (err < 0)
		return err;
	err = read_stacks(call, kind, false, &stacks, error);
	if (err < 0) {
		json_decref(report);
		return err;
	}
	mcp_report_head(answer, report);
	err = mcp_stacks_weigh(&stacks, by_total, &weights);
	if (err == 0) {
		mcp_answer_head(answer, "%s: %s in %zu stacks; %zu functions, sorted by %s", kind,
				weight_text(kind, stacks.weight, stacks.weight, total),
				stacks.stacks.count, weights.items.count,
				by_total ? "total" : "self");
		array_foreach(&weights.items, each)
			mcp_answer_row(answer, "%s: self %s, total %s",
				       string_pool_get(stacks.names, each->name),
				       weight_text(kind, each->self, stacks.weight, self),
				       weight_text(kind, each->total, stacks.weight, total));
		if (!weights.items.count)
			mcp_answer_head(answer, "no events of this kind were recorded of what was "
						"asked for");
		mcp_answer_end_rows(answer);
		mcp_report_losses(answer, report);
		mcp_weights_done(&weights);
	}
	json_decref(report);
	mcp_stacks_done(&stacks);
	return err < 0 ? error_set(error, -err, "cannot add up functions: %s", strerror(-err)) : 0;
}

/* ---- a function ---- */

static void write_part(struct mcp_answer *answer, const struct mcp_stacks *stacks, const char *kind,
		       const char *what, const struct mcp_weights *weights, uint64_t all)
{
	char text[WEIGHT_SIZE];
	size_t count = 0;
	uint64_t rest = 0;

	array_foreach(&weights->items, each) {
		if (count++ < AROUND_MAX)
			mcp_answer_row(answer, "  %s %s: %s", what,
				       string_pool_get(stacks->names, each->name),
				       weight_text(kind, each->total, all, text));
		else
			rest += each->total;
	}
	if (rest)
		mcp_answer_row(answer, "  %s %zu others: %s", what, count - AROUND_MAX,
			       weight_text(kind, rest, all, text));
}

static int write_function(struct mcp_answer *answer, const struct mcp_stacks *stacks,
			  const char *kind, uint32_t name)
{
	char self[WEIGHT_SIZE], total[WEIGHT_SIZE];
	struct mcp_around around;
	int err = mcp_stacks_around(stacks, name, &around);

	if (err < 0)
		return err;
	mcp_answer_row(answer,
		       "%s of %s: total %s of all, self %s of its total; shares below are of its "
		       "total",
		       kind, string_pool_get(stacks->names, name),
		       weight_text(kind, around.total, stacks->weight, total),
		       weight_text(kind, around.self, around.total, self));
	write_part(answer, stacks, kind, "called by", &around.callers, around.total);
	write_part(answer, stacks, kind, "calls", &around.callees, around.total);
	write_part(answer, stacks, kind, "ends in", &around.leaves, around.total);
	mcp_around_done(&around);
	return 0;
}

static void write_candidates(struct mcp_answer *answer, const struct mcp_stacks *stacks,
			     const char *kind, const struct mcp_weights *weights)
{
	char text[WEIGHT_SIZE];
	size_t count = 0;

	mcp_answer_row(answer, "%s: %zu functions have that in their names; name one of them", kind,
		       weights->items.count);
	array_foreach(&weights->items, each)
		if (count++ < CANDIDATE_MAX)
			mcp_answer_row(answer, "  %s: total %s",
				       string_pool_get(stacks->names, each->name),
				       weight_text(kind, each->total, stacks->weight, text));
	if (count > CANDIDATE_MAX)
		mcp_answer_row(answer, "  and %zu with less", count - CANDIDATE_MAX);
}

/* The one that has exactly this name: "f" beside "f [inlined]"; else one that is alone. NULL: none
 * of them is meant more than others. */
static const struct mcp_weight *choose(const struct mcp_stacks *stacks, const char *name,
				       const struct mcp_weights *weights)
{
	array_foreach(&weights->items, each)
		if (strcmp(string_pool_get(stacks->names, each->name), name) == 0)
			return each;
	return weights->items.count == 1 ? weights->items.items : NULL;
}

static void write_namesakes(struct mcp_answer *answer, const struct mcp_stacks *stacks,
			    const char *kind, const struct mcp_weights *weights,
			    const struct mcp_weight *chosen)
{
	char text[WEIGHT_SIZE];

	array_foreach(&weights->items, each)
		if (each != chosen)
			mcp_answer_row(answer, "  not in these figures: %s: total %s",
				       string_pool_get(stacks->names, each->name),
				       weight_text(kind, each->total, stacks->weight, text));
}

/* Counts what was found in *found. */
static int write_kind(const struct mcp_call *call, const char *kind, struct mcp_answer *answer,
		      size_t *found, struct error *error)
{
	struct mcp_stacks stacks;
	struct mcp_weights weights;
	int err = read_stacks(call, kind, true, &stacks, error);

	if (err < 0)
		return err;
	err = mcp_stacks_find(&stacks, call->text[MCP_NAME], &weights);
	if (err == 0) {
		const struct mcp_weight *chosen = choose(&stacks, call->text[MCP_NAME], &weights);

		*found += weights.items.count;
		if (chosen)
			err = write_function(answer, &stacks, kind, chosen->name);
		if (chosen && !err)
			write_namesakes(answer, &stacks, kind, &weights, chosen);
		else if (weights.items.count && !err)
			write_candidates(answer, &stacks, kind, &weights);
		mcp_weights_done(&weights);
	}
	mcp_stacks_done(&stacks);
	return err < 0 ? error_set(error, -err, "cannot add up a function: %s", strerror(-err)) : 0;
}

static bool has_kind(const json_t *report, const char *kind)
{
	json_t *each;
	size_t i;

	json_array_foreach(mcp_json_at(report, "events"), i,
			   each) if (strcmp(json_string_value(each) ? json_string_value(each) : "",
					    kind) == 0) return true;
	return false;
}

int mcp_tool_function(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	static const char *const kinds[] = {"cpu", "offcpu", "blockio", "faults"};
	struct mcp_question question = mcp_call_question(call, MCP_REPORT);
	size_t found = 0;
	json_t *report;
	int err = mcp_call_ask_json(call, &question, &report, error);

	if (err < 0)
		return err;
	mcp_report_head(answer, report);
	for (size_t i = 0; err == 0 && i < ARRAY_SIZE(kinds); i++)
		if (has_kind(report, kinds[i]))
			err = write_kind(call, kinds[i], answer, &found, error);
	if (err == 0 && !found)
		err = error_set(error, ENOENT,
				"no function of this source has '%.100s' in its name; the tool "
				"functions lists those that were seen",
				call->text[MCP_NAME]);
	mcp_answer_end_rows(answer);
	mcp_report_losses(answer, report);
	json_decref(report);
	return err;
}

/* ---- lines ---- */

int mcp_tool_lines(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_REPORT);
	const char *kind = call->text[MCP_KIND] ? call->text[MCP_KIND] : "cpu";
	json_t *report, *line;
	size_t i;
	int err = mcp_call_ask_json(call, &question, &report, error);

	if (err < 0)
		return err;
	mcp_report_head(answer, report);
	json_array_foreach(json_object_get(mcp_json_at(report, "hottest_lines"), kind), i, line)
		mcp_answer_row(
			answer, "%s:%" PRIu64 " %s: self %.1f %%, total %.1f %%%s%s",
			mcp_json_text(line, "file"), mcp_json_count(line, "line"),
			mcp_json_text(line, "function"), mcp_json_decimal(line, "self_percent"),
			mcp_json_decimal(line, "total_percent"),
			mcp_json_text(line, "text")[0] ? "  | " : "", mcp_json_text(line, "text"));
	if (!answer->rows)
		mcp_answer_head(answer, has_kind(report, kind)
						? "no source line is known of these events; record "
						  "with --lines (Python has them always)"
						: "this kind of event was not recorded");
	mcp_answer_end_rows(answer);
	mcp_report_losses(answer, report);
	json_decref(report);
	return 0;
}
