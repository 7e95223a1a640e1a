// SPDX-License-Identifier: BSD-2-Clause
/* The figures rules ask for, and the words all findings share. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "finding/finding_rules.h"

double finding_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

double finding_seconds(const struct resource_rows *rows)
{
	return rows->interval_ns ? (double)rows->interval_ns / (double)NS_PER_SECOND : 0;
}

void finding_say(struct finding *finding, const char *format, ...)
{
	size_t length = strlen(finding->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(finding->text + length, sizeof(finding->text) - length, format, arguments);
	va_end(arguments);
}

const char *finding_name(const struct resource_row *row)
{
	return row->name[0] ? row->name : row->container[0] ? row->container : "[unknown]";
}

/* "postgres 812", "postgres (4 processes)", "docker:0123456789ab" */
void finding_say_who(struct finding *finding, const struct row_group *group)
{
	const struct resource_row *row = group->worst;

	finding_say(finding, "%s", finding_name(row));
	if (group->count > 1)
		finding_say(finding, " (%zu %s)", group->count, row->tid ? "threads" : "processes");
	else if (row->tid)
		finding_say(finding, " %" PRIu32 "/%" PRIu32, row->pid, row->tid);
	else if (row->pid)
		finding_say(finding, " %" PRIu32, row->pid);
	finding->pid = row->pid;
}

void finding_say_functions(struct finding *finding, const struct resource_rows *rows,
			   const struct row_group *group, const struct finding_evidence *evidence)
{
	struct row_explanation explanation =
		resource_rows_explain(rows, group->members, group->count, evidence->kind,
				      evidence->states, evidence->choice);

	if (explanation.whole < evidence->whole)
		explanation.whole = evidence->whole;
	if (!explanation.count || explanation.weight < explanation.whole / 2)
		return;
	finding_say(finding, ", %.0f %% of %s below `",
		    finding_percent((double)explanation.weight, (double)explanation.whole),
		    evidence->what);
	for (size_t i = 0; i < explanation.count; i++)
		finding_say(finding, "%s%s", i ? " > " : "", explanation.functions[i]->name);
	finding_say(finding, "`");
}

double finding_queue_percent(const struct resource_row *total)
{
	return finding_percent((double)total->waits.runqueue_ns,
			       (double)total->waits.runqueue_ns + (double)total->cpu.total_ns);
}

/* A process that lived for a moment is no worse off than that moment is long. */
double finding_severity(const struct resource_rows *rows, uint64_t time_ns)
{
	double share = finding_percent((double)time_ns, (double)rows->interval_ns);

	return share > 100 ? 100 : share;
}
