// SPDX-License-Identifier: BSD-2-Clause
/* Writes the sections of the report. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/kind_table.h"
#include "rows/human.h"
#include "report/text_kind.h"
#include "report/text_sections.h"
#include "report/text_table.h"

void text_heading(const struct text_report *report, const char *format, ...)
{
	va_list arguments;

	fputs(report->options->color ? "\n\x1b[1m" : "\n", report->out);
	va_start(arguments, format);
	vfprintf(report->out, format, arguments);
	va_end(arguments);
	fputs(report->options->color ? "\x1b[0m\n" : "\n", report->out);
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

static bool kind_has_rows(const struct profile *profile, enum pkbpf_profile_kind kind)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == kind)
			return true;
	return false;
}

static int write_kind(const struct text_report *report, enum pkbpf_profile_kind kind)
{
	_cleanup_(tally_done) struct tally tally = {0};
	int err;

	err = tally_init(&tally, report->profile, kind, report->options->lines);
	if (err)
		return err;
	err = text_processes(report, &tally);
	if (err)
		return err;
	err = text_functions(report, &tally);
	if (err)
		return err;
	text_stacks(report, &tally);
	for (size_t i = 0; text_kind_of(kind)->sections[i] && !err; i++)
		err = text_kind_of(kind)->sections[i](report);
	return err ? err : text_unnamed(report, &tally);
}

int report_write(struct results *results, const struct report_options *options, FILE *out)
{
	const struct profile *profile = results->profile;
	const struct text_report report = {.profile = profile, .options = options, .out = out};
	const struct findings *findings;
	const struct resource_rows *rows;
	bool is_accounted = resource_usage_known(profile_resources(profile)), empty = true;
	int err;

	text_header(&report);
	if (is_accounted) {
		err = results_rows(results, &rows);
		err = err ? err : text_resources(&report, rows);
		if (err)
			return err;
		empty = !rows->count;
	}
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		if (!kind_has_rows(profile, kind))
			continue;
		empty = false;
		err = write_kind(&report, kind);
		if (err)
			return err;
	}
	if (empty) {
		fputc('\n', out);
		text_wrap(
			out, "", 0,
			"Nothing was recorded: the targets caused none of the chosen events in the "
			"interval, or all of them were lost (see \"samples\").");
	}
	if (!is_accounted)
		return 0;
	err = results_findings(results, &findings);
	if (err)
		return err;
	text_findings(&report, findings);
	return 0;
}
