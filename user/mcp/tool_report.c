// SPDX-License-Identifier: BSD-2-Clause
/* Tools that read the report of a source: findings, rows, the machine; and the list of sources. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text_append.h"
#include "mcp/mcp_text.h"
#include "mcp/mcp_tool.h"
#include "rows/human.h"

/* ---- sources ---- */

static void write_recording(const struct mcp_source *source, const json_t *report,
			    struct mcp_answer *answer)
{
	char duration[HUMAN_SIZE], kinds[128] = "";
	json_t *kind;
	size_t i;

	json_array_foreach(mcp_json_at(report, "events"), i, kind)
		text_append(kinds, sizeof(kinds), "%s%s", i ? ", " : "", json_string_value(kind));
	mcp_answer_row(
		answer, "%s: recording of %s on %s, %s from %.19sZ; kinds: %s; findings: %zu",
		source->name, mcp_json_text(report, "targets"), mcp_json_text(report, "host.name"),
		human_time(duration, mcp_json_count(report, "time.duration_ns")),
		mcp_json_text(report, "time.start"), kinds,
		json_array_size(mcp_json_at(report, "findings")));
}

static void write_history(const struct mcp_source *source, const json_t *windows,
			  struct mcp_answer *answer)
{
	json_t *list = mcp_json_at(windows, "windows");
	size_t count = json_array_size(list);
	const json_t *first = json_array_get(list, 0), *last = json_array_get(list, count - 1);
	time_t begin = (time_t)json_number_value(json_array_get(first, 0)),
	       end = (time_t)json_number_value(json_array_get(last, 1));
	char from[32], to[32];
	struct tm parts;

	if (!count) {
		mcp_answer_row(answer, "%s: history without a window of the last hour",
			       source->name);
		return;
	}
	strftime(from, sizeof(from), "%FT%TZ", gmtime_r(&begin, &parts));
	strftime(to, sizeof(to), "%FT%TZ", gmtime_r(&end, &parts));
	mcp_answer_row(answer,
		       "%s: history of pkbpf serve%s; %zu windows of level %s in the last hour, "
		       "from %s to %s; gaps: %zu",
		       source->name, source->kind == MCP_SERVER ? ", asked over HTTP" : "", count,
		       mcp_json_text(windows, "level"), from, to,
		       json_array_size(mcp_json_at(windows, "gaps")));
}

int mcp_tool_sources(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = {0};
	struct mcp_source source;
	json_t *json;

	for (size_t i = 0; call->backend->source_at(call->backend->context, i, &source); i++) {
		question.source = source.name;
		question.what = source.kind == MCP_RECORDING ? MCP_REPORT : MCP_WINDOWS;
		question.from = source.kind == MCP_RECORDING ? NULL : "-1h";
		if (mcp_call_ask_json(call, &question, &json, error) < 0) {
			mcp_answer_row(answer, "%s: cannot be read: %s", source.name, error->text);
			continue;
		}
		if (source.kind == MCP_RECORDING)
			write_recording(&source, json, answer);
		else
			write_history(&source, json, answer);
		json_decref(json);
	}
	mcp_answer_end_rows(answer);
	if (!answer->rows)
		mcp_answer_note(answer, "no source: start pkbpf mcp with recordings or a history%s",
				call->backend->allows_profile ? ", or call the tool profile" : "");
	return 0;
}

/* ---- findings ---- */

int mcp_tool_findings(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_REPORT);
	json_t *report, *finding;
	size_t i;
	int err = mcp_call_ask_json(call, &question, &report, error);

	if (err < 0)
		return err;
	mcp_report_head(answer, report);
	json_array_foreach(mcp_json_at(report, "findings"), i, finding)
		mcp_answer_row(answer, "%zu. %s (rule %s, severity %.0f %%)", i + 1,
			       mcp_json_text(finding, "text"), mcp_json_text(finding, "rule"),
			       mcp_json_decimal(finding, "severity_percent"));
	if (!answer->rows)
		mcp_answer_head(answer, "no finding: no rule's threshold was exceeded");
	mcp_answer_end_rows(answer);
	mcp_report_losses(answer, report);
	json_decref(report);
	return 0;
}

/* ---- rows ---- */

static void name_row(const json_t *row, char *name, size_t size)
{
	const char *container = mcp_json_text(row, "container");

	snprintf(name, size, "%s", mcp_json_text(row, "comm"));
	if (!name[0])
		snprintf(name, size, "%s", container[0] ? container : mcp_json_text(row, "cgroup"));
	mcp_append_count(name, size, "pid", row, "pid");
	mcp_append_count(name, size, "tid", row, "tid");
	if (mcp_json_count(row, "processes") > 1)
		mcp_append_count(name, size, "processes", row, "processes");
	if (container[0] && strcmp(container, "/") != 0 && mcp_json_text(row, "comm")[0])
		text_append(name, size, ", in %s", container);
}

static void write_row(const json_t *row, struct mcp_answer *answer)
{
	static const struct {
		const char *name, *path;
	} times[] = {{"run queue", "waiting.runqueue_ns"},
		     {"sleep", "offcpu.sleep_ns"},
		     {"GPU wait", "gpu.state_ns"},
		     {"disk wait", "offcpu.disk_ns"},
		     {"D state", "offcpu.uninterruptible_ns"},
		     {"stopped", "offcpu.stopped_ns"},
		     {"longest wait", "offcpu.max_ns"}},
	  bytes[] = {{"read", "storage.read_bytes"},
		     {"written", "storage.written_bytes"},
		     {"RSS", "memory.rss_bytes"},
		     {"RSS growth", "memory.rss_growth_bytes"},
		     {"received", "network.received_bytes"},
		     {"sent", "network.sent_bytes"}},
	  counts[] = {{"block requests", "blockio.requests"},
		      {"major faults", "memory.major_faults"},
		      {"minor faults", "memory.minor_faults"},
		      {"threads", "threads.seen"}};
	char name[256], line[MCP_ANSWER_LINE] = "", cpu[HUMAN_SIZE];

	name_row(row, name, sizeof(name));
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		mcp_append_time(line, sizeof(line), times[i].name, row, times[i].path);
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
		mcp_append_bytes(line, sizeof(line), bytes[i].name, row, bytes[i].path);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		mcp_append_count(line, sizeof(line), counts[i].name, row, counts[i].path);
	mcp_answer_row(answer, "%s: CPU %s (%.1f %% of a CPU)%s", name,
		       human_time(cpu, mcp_json_count(row, "cpu.total_ns")),
		       mcp_json_decimal(row, "cpu.share_percent"), line);
}

int mcp_tool_rows(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_REPORT);
	json_t *report, *row;
	size_t i;
	int err = mcp_call_ask_json(call, &question, &report, error);

	if (err < 0)
		return err;
	mcp_report_head(answer, report);
	json_array_foreach(mcp_json_at(report, "rows"), i, row) write_row(row, answer);
	mcp_answer_end_rows(answer);
	mcp_report_losses(answer, report);
	json_decref(report);
	return 0;
}

/* ---- machine ---- */

static void write_limits(const json_t *report, const char *key, struct mcp_answer *answer)
{
	json_t *limit;
	char *text;
	size_t i;

	json_array_foreach(mcp_json_at(report, key), i, limit)
	{
		text = json_dumps(limit, JSON_COMPACT);
		mcp_answer_row(answer, "%s: %s", key, text ? text : "?");
		free(text);
	}
}

int mcp_tool_machine(const struct mcp_call *call, struct mcp_answer *answer, struct error *error)
{
	struct mcp_question question = mcp_call_question(call, MCP_REPORT);
	char memory[HUMAN_SIZE], available[HUMAN_SIZE], cpu[HUMAN_SIZE], bpf[HUMAN_SIZE];
	json_t *report, *item;
	const char *key;
	size_t i;
	int err = mcp_call_ask_json(call, &question, &report, error);

	if (err < 0)
		return err;
	mcp_report_head(answer, report);
	mcp_answer_head(
		answer, "kernel %s; memory %s, %s available; %s stolen by the hypervisor",
		mcp_json_text(report, "host.kernel"),
		human_bytes(memory, mcp_json_count(report, "host.memory_bytes")),
		human_bytes(available, mcp_json_count(report, "host.memory_available_bytes")),
		human_time(cpu, mcp_json_count(report, "host.steal_ns")));
	mcp_answer_head(answer, "profiler overhead: %s of CPU time, %s of it in BPF programs",
			human_time(cpu, mcp_json_count(report, "cost.cpu_ns")),
			human_time(bpf, mcp_json_count(report, "cost.bpf_cpu_ns")));
	write_limits(report, "cpu_limits", answer);
	write_limits(report, "memory_limits", answer);
	json_array_foreach(mcp_json_at(report, "counters"), i, item)
		mcp_answer_row(answer, "%s%s: %" PRIu64,
			       json_is_true(json_object_get(item, "is_loss")) ? "lost: " : "",
			       mcp_json_text(item, "text"), mcp_json_count(item, "count"));
	json_object_foreach(mcp_json_at(report, "machine.missing"), key, item)
		mcp_answer_row(answer, "not measured: %s: %s", key, json_string_value(item));
	mcp_answer_end_rows(answer);
	json_decref(report);
	return 0;
}
