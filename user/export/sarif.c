// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes findings and the hottest lines of source as SARIF 2.1.0, which editors and code scanning
 * show at their lines: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Files below the working
 * directory are relative to it, as those of a repository have to be.
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/text_append.h"
#include "base/unused.h"
#include "export/formats.h"
#include "export/json/json_writer.h"
#include "profile/kind_table.h"
#include "rows/human.h"
#include "rows/line_rows.h"

#define LINES_MAX     50
#define LEAST_PERCENT 1 /* of the weight of its kind, */
#define LEAST_EVENTS  5 /* and of those that are counted: fewer may be chance */
#define RULE_SIZE     64
#define ROOT	      "%SRCROOT%"

struct sarif {
	struct json_writer writer;
	char folder[PATH_MAX]; /* working directory, ends in '/'; "": not known */
	const struct findings *findings;
	struct line_rows lines[PKBPF_PROFILE_KINDS]; /* of kinds that were recorded */
};

static void write_place(struct sarif *sarif, const struct function *function)
{
	size_t length = strlen(sarif->folder);
	bool is_below = length && strncmp(function->file, sarif->folder, length) == 0;
	char uri[3 * PATH_MAX + 16] = "";

	if (!is_below)
		text_append(uri, sizeof(uri), "file://");
	escape_uri(uri, sizeof(uri), function->file + (is_below ? length : 0), "/");
	json_writer_array_begin(&sarif->writer, "locations");
	json_writer_object_begin(&sarif->writer, NULL);
	json_writer_object_begin(&sarif->writer, "physicalLocation");
	json_writer_object_begin(&sarif->writer, "artifactLocation");
	json_writer_string(&sarif->writer, "uri", uri);
	if (is_below)
		json_writer_string(&sarif->writer, "uriBaseId", ROOT);
	json_writer_object_end(&sarif->writer);
	json_writer_object_begin(&sarif->writer, "region");
	json_writer_u64(&sarif->writer, "startLine", function->line);
	json_writer_object_end(&sarif->writer);
	json_writer_object_end(&sarif->writer);
	json_writer_object_end(&sarif->writer);
	json_writer_array_end(&sarif->writer);
}

static void write_message(struct sarif *sarif, const char *text)
{
	json_writer_object_begin(&sarif->writer, "message");
	json_writer_string(&sarif->writer, "text", text);
	json_writer_object_end(&sarif->writer);
}

/* ---- findings, at the line of the innermost function of their place that has one ---- */

/* NULL: "<string>", "<frozen site>", or a path that no file can have. */
static const struct function *file_function(const struct line_rows *lines,
					    const struct line_row *row)
{
	const struct function *function = function_table_get(lines->functions, row->function);

	return function->file[0] == '/' && strlen(function->file) < PATH_MAX ? function : NULL;
}

/* Its line with most weight; NULL: none is known. */
static const struct function *find_line(const struct sarif *sarif, const char *name, size_t length)
{
	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		const struct line_rows *lines = &sarif->lines[kind];

		for (size_t i = 0; i < lines->count; i++) {
			const struct function *function = file_function(lines, &lines->rows[i]);

			if (function && strncmp(function->name, name, length) == 0 &&
			    !function->name[length])
				return function;
		}
	}
	return NULL;
}

/* "caller > callee" */
static const struct function *find_place(const struct sarif *sarif, const char *place)
{
	static const char arrow[] = " > ";
	const struct function *found = NULL, *function;

	while (*place) {
		const char *end = strstr(place, arrow);
		size_t length = end ? (size_t)(end - place) : strlen(place);

		function = find_line(sarif, place, length);
		found = function ? function : found;
		place += length + (end ? sizeof(arrow) - 1 : 0);
	}
	return found;
}

static void write_finding(struct sarif *sarif, const struct finding *finding,
			  const struct function *place)
{
	json_writer_object_begin(&sarif->writer, NULL);
	json_writer_string(&sarif->writer, "ruleId", finding->rule);
	json_writer_string(&sarif->writer, "level", finding->is_alarm ? "warning" : "note");
	write_message(sarif, finding->text);
	write_place(sarif, place);
	json_writer_object_end(&sarif->writer);
}

/* Those without a line: who shows results shows them at lines alone. */
static void write_notification(struct sarif *sarif, const struct finding *finding)
{
	json_writer_object_begin(&sarif->writer, NULL);
	json_writer_object_begin(&sarif->writer, "descriptor");
	json_writer_string(&sarif->writer, "id", finding->rule);
	json_writer_object_end(&sarif->writer);
	json_writer_string(&sarif->writer, "level", finding->is_alarm ? "warning" : "note");
	write_message(sarif, finding->text);
	json_writer_object_end(&sarif->writer);
}

/* ---- lines ---- */

static void write_line(struct sarif *sarif, const struct line_rows *lines,
		       const struct line_row *row)
{
	const struct function *function = function_table_get(lines->functions, row->function);
	const struct kind_ops *kind = kind_ops_of(lines->kind);
	char self[HUMAN_SIZE], total[HUMAN_SIZE], weight[HUMAN_SIZE], rule[RULE_SIZE], text[512];

	if (kind_has_measure(kind))
		human_weight(weight, lines->kind, row->self);
	else
		human_counted(weight, row->self, kind->count_unit);
	snprintf(text, sizeof(text), "%.200s: %s of %s here (%s), %s with what it calls",
		 function->name, human_share(self, row->self, lines->weight), kind->title, weight,
		 human_share(total, row->total, lines->weight));
	snprintf(rule, sizeof(rule), "hot_line_%s", kind->name);
	json_writer_object_begin(&sarif->writer, NULL);
	json_writer_string(&sarif->writer, "ruleId", rule);
	json_writer_string(&sarif->writer, "level", "note");
	write_message(sarif, text);
	write_place(sarif, function);
	json_writer_object_end(&sarif->writer);
}

static bool is_hot(const struct line_rows *lines, const struct line_row *row)
{
	return row->self * 100 >= lines->weight * LEAST_PERCENT &&
	       (kind_has_measure(kind_ops_of(lines->kind)) || row->self >= LEAST_EVENTS);
}

static void write_lines(struct sarif *sarif, const struct line_rows *lines)
{
	size_t written = 0;

	for (size_t i = 0; i < lines->count && written < LINES_MAX; i++) {
		if (!is_hot(lines, &lines->rows[i]))
			break;
		if (!file_function(lines, &lines->rows[i]))
			continue;
		write_line(sarif, lines, &lines->rows[i]);
		written++;
	}
}

/* ---- the run ---- */

static void write_rule(struct sarif *sarif, const char *id, const char *text)
{
	json_writer_object_begin(&sarif->writer, NULL);
	json_writer_string(&sarif->writer, "id", id);
	json_writer_object_begin(&sarif->writer, "shortDescription");
	json_writer_string(&sarif->writer, "text", text);
	json_writer_object_end(&sarif->writer);
	json_writer_object_end(&sarif->writer);
}

static void write_rules(struct sarif *sarif)
{
	char id[RULE_SIZE], text[2 * RULE_SIZE];
	const char *rule;

	json_writer_array_begin(&sarif->writer, "rules");
	for (size_t i = 0; (rule = finding_rule_name_at(i))[0]; i++)
		write_rule(sarif, rule, rule);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		if (!sarif->lines[kind].count)
			continue;
		snprintf(id, sizeof(id), "hot_line_%s", kind_ops_of(kind)->name);
		snprintf(text, sizeof(text), "line with a large part of: %s",
			 kind_ops_of(kind)->title);
		write_rule(sarif, id, text);
	}
	json_writer_array_end(&sarif->writer);
}

static void write_tool(struct sarif *sarif)
{
	json_writer_object_begin(&sarif->writer, "tool");
	json_writer_object_begin(&sarif->writer, "driver");
	json_writer_string(&sarif->writer, "name", "pkbpf");
	json_writer_string(&sarif->writer, "version", PKBPF_VERSION);
	write_rules(sarif);
	json_writer_object_end(&sarif->writer);
	json_writer_object_end(&sarif->writer);
}

static void write_root(struct sarif *sarif)
{
	char uri[3 * PATH_MAX + 16] = "file://";

	if (!sarif->folder[0])
		return;
	escape_uri(uri, sizeof(uri), sarif->folder, "/");
	json_writer_object_begin(&sarif->writer, "originalUriBaseIds");
	json_writer_object_begin(&sarif->writer, ROOT);
	json_writer_string(&sarif->writer, "uri", uri);
	json_writer_object_end(&sarif->writer);
	json_writer_object_end(&sarif->writer);
}

static void write_results(struct sarif *sarif)
{
	json_writer_array_begin(&sarif->writer, "results");
	for (size_t i = 0; i < sarif->findings->count; i++) {
		const struct finding *finding = &sarif->findings->findings[i];
		const struct function *place = find_place(sarif, finding->place);

		if (place)
			write_finding(sarif, finding, place);
	}
	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		write_lines(sarif, &sarif->lines[kind]);
	json_writer_array_end(&sarif->writer);
}

static void write_notifications(struct sarif *sarif)
{
	json_writer_array_begin(&sarif->writer, "invocations");
	json_writer_object_begin(&sarif->writer, NULL);
	json_writer_bool(&sarif->writer, "executionSuccessful", true);
	json_writer_array_begin(&sarif->writer, "toolExecutionNotifications");
	for (size_t i = 0; i < sarif->findings->count; i++)
		if (!find_place(sarif, sarif->findings->findings[i].place))
			write_notification(sarif, &sarif->findings->findings[i]);
	json_writer_array_end(&sarif->writer);
	json_writer_object_end(&sarif->writer);
	json_writer_array_end(&sarif->writer);
}

static int read_lines(struct sarif *sarif, const struct profile *profile)
{
	uint32_t recorded = profile_info_read(profile)->kinds_mask;
	int err = 0;

	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		if (recorded & 1U << kind)
			err = line_rows_init(&sarif->lines[kind], profile, kind);
	return err;
}

static void write_run(struct sarif *sarif)
{
	json_writer_object_begin(&sarif->writer, NULL);
	json_writer_string(&sarif->writer, "$schema",
			   "https://json.schemastore.org/sarif-2.1.0.json");
	json_writer_string(&sarif->writer, "version", "2.1.0");
	json_writer_array_begin(&sarif->writer, "runs");
	json_writer_object_begin(&sarif->writer, NULL);
	write_tool(sarif);
	write_root(sarif);
	write_notifications(sarif);
	write_results(sarif);
	json_writer_object_end(&sarif->writer);
	json_writer_array_end(&sarif->writer);
	json_writer_object_end(&sarif->writer);
	fputc('\n', sarif->writer.out);
}

static int sarif_write(struct results *results, _unused_ const struct format_options *options,
		       FILE *out)
{
	struct sarif sarif = {.writer = {.out = out}};
	int err = results_findings(results, &sarif.findings);

	if (!getcwd(sarif.folder, sizeof(sarif.folder) - 1) || sarif.folder[0] != '/')
		sarif.folder[0] = '\0';
	else if (sarif.folder[1])
		strcat(sarif.folder, "/");
	err = err ? err : read_lines(&sarif, results->profile);
	if (!err)
		write_run(&sarif);
	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		line_rows_done(&sarif.lines[kind]);
	return err;
}

const struct format_ops format_sarif = {
	.file = {"sarif", ".sarif", "findings and hottest lines, for editors and code scanning"},
	.needs_lines = true,
	.write = sarif_write,
};
