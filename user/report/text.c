// SPDX-License-Identifier: BSD-2-Clause
/* Writes the sections of the report. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/kind_table.h"
#include "rows/human.h"
#include "report/summary.h"
#include "report/text_kind.h"
#include "report/text_sections.h"
#include "report/text_table.h"

#define MEMORY_LIMITS_MAX 10

void text_heading(const struct text_report *report, const char *format, ...)
{
	char text[TEXT_CELL_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_cut(text, report->width);
	/* Sections of the page are set apart where they are laid out. */
	fprintf(report->out, report->options->color ? "%s\x1b[1m%s\x1b[0m\n" : "%s%s\n",
		report->options->full ? "\n" : "", text);
}

void text_more(const struct text_report *report, uint64_t count, const char *noun)
{
	char number[HUMAN_SIZE], noun_number[HUMAN_SIZE];

	if (count)
		fprintf(report->out, " ... and %s more%s\n", human_count(number, count),
			strchr(human_counted(noun_number, count, noun), ' '));
}

uint64_t text_interval_ns(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);

	return info->end_ns > info->start_ns ? info->end_ns - info->start_ns : 0;
}

bool text_kind_has_rows(const struct profile *profile, enum pkbpf_profile_kind kind)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == kind)
			return true;
	return false;
}

static int write_sections(const struct text_report *report, enum pkbpf_profile_kind kind)
{
	int err = 0;

	for (size_t i = 0; text_kind_of(kind)->sections[i] && !err; i++)
		err = text_kind_of(kind)->sections[i](report);
	return err;
}

static int write_kind(const struct text_report *report, enum pkbpf_profile_kind kind)
{
	_cleanup_(tally_done) struct tally tally = {0};
	bool has_lines;
	int err;

	if (text_kind_of(kind)->without_stacks)
		return write_sections(report, kind);
	err = tally_init(&tally, report->profile, kind, report->options->lines);
	if (err)
		return err;
	err = text_processes(report, &tally);
	if (err)
		return err;
	err = text_functions(report, &tally);
	if (err)
		return err;
	err = text_lines(report, kind, &has_lines);
	if (err)
		return err;
	text_stacks(report, &tally);
	err = write_sections(report, kind);
	return err ? err : text_unnamed(report, &tally);
}

static int write_rows(struct results *results, struct text_report *report, bool *ret_empty)
{
	const struct resource_rows *rows;
	int err = results_rows(results, &rows);

	if (err)
		return err;
	*ret_empty = !rows->count;
	report->order = row_order_sort(rows, report->options->order);
	err = report->order ? text_resources(report, rows) : -ENOMEM;
	free(report->order);
	report->order = NULL;
	text_memory_limits(report, MEMORY_LIMITS_MAX);
	return err;
}

static int write_requests(struct results *results, const struct text_report *report, bool *empty)
{
	const struct resource_rows *rows;
	int err = request_list_max(profile_contexts(report->profile)) ? results_rows(results, &rows)
								      : -ENOENT;

	if (err)
		return err == -ENOENT ? 0 : err;
	*empty = false;
	return text_requests(report, rows);
}

static int write_all(struct results *results, struct text_report *report)
{
	bool is_accounted = resource_usage_known(profile_resources(report->profile)), empty = true;
	const struct findings *findings;
	int err = 0;

	text_header(report);
	if (is_accounted) {
		err = results_findings(results, &findings);
		if (err)
			return err;
		text_findings(report, findings);
		err = write_rows(results, report, &empty);
	}
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++) {
		if (!text_kind_has_rows(report->profile, kind))
			continue;
		empty = false;
		err = write_kind(report, kind);
	}
	if (!err && region_table_count(profile_regions(report->profile))) {
		empty = false;
		err = text_calls(report);
		err = err ? err : text_regions(report);
		err = err ? err : text_slow_regions(report);
	}
	if (!err && profile_gpu_calls(report->profile)->items.count) {
		empty = false;
		err = text_gpu_calls(report);
	}
	if (!err && profile_python_calls(report->profile)->items.count) {
		empty = false;
		err = text_python_calls(report);
	}
	if (!err)
		err = write_requests(results, report, &empty);
	if (!err && empty) {
		fputc('\n', report->out);
		text_wrap(report->out, report->width, "", 0, TEXT_NOTHING);
	}
	return err;
}

static size_t width_of(const struct report_options *options)
{
	if (!options->width)
		return REPORT_WIDTH_DEFAULT;
	if (options->width < REPORT_WIDTH_MIN)
		return REPORT_WIDTH_MIN;
	return options->width > REPORT_WIDTH_MAX ? REPORT_WIDTH_MAX : options->width;
}

int report_write(struct results *results, const struct report_options *options, FILE *out)
{
	struct text_report report = {.profile = results->profile,
				     .sources = results->sources,
				     .options = options,
				     .width = width_of(options),
				     .out = out};

	return options->full && !options->tree && !options->by_line
		       ? write_all(results, &report)
		       : summary_write(results, &report);
}
