// SPDX-License-Identifier: BSD-2-Clause
#include "history/series_subject.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history/series.h"

int series_subject_parse(const char *text, struct series_subject *ret_subject, struct error *error)
{
	*ret_subject = (struct series_subject){0};
	if (strncmp(text, "region[", strlen("region[")) == 0)
		return region_figure_parse(text, &ret_subject->region, error);
	ret_subject->figure = figure_find(text);
	return ret_subject->figure
		       ? 0
		       : error_set(error, EINVAL,
				   "unknown figure '%.64s': expected one of FIGURES in pkbpf(1), "
				   "or one of a region as region[NAME].p99",
				   text);
}

const char *series_subject_text(const struct series_subject *subject,
				char text[SERIES_SUBJECT_SIZE])
{
	if (subject->figure)
		snprintf(text, SERIES_SUBJECT_SIZE, "%s.%s", subject->figure->group,
			 subject->figure->name);
	else
		snprintf(text, SERIES_SUBJECT_SIZE, "region[%s].%s", subject->region.name,
			 subject->region.figure->name);
	return text;
}

const char *series_subject_summary(const struct series_subject *subject)
{
	return subject->figure ? subject->figure->summary : subject->region.figure->summary;
}

enum figure_unit series_subject_unit(const struct series_subject *subject)
{
	return subject->figure ? subject->figure->unit : subject->region.figure->unit;
}

bool series_subject_adds_up(const struct series_subject *subject)
{
	return subject->figure ? figure_adds_up(subject->figure) : subject->region.figure->adds_up;
}
