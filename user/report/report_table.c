// SPDX-License-Identifier: BSD-2-Clause
// The reports there are: a row each.
#include "report/views.h"

#include <string.h>

#include "base/array.h"

static const struct report_ops *const reports[] = {
	&report_text,
	&report_json,
	&report_csv,
};

const struct report_ops *report_at(size_t index)
{
	return index < ARRAY_SIZE(reports) ? reports[index] : NULL;
}

const struct report_ops *report_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++)
		if (!strcmp(reports[i]->name, name))
			return reports[i];
	return NULL;
}

const struct report_ops *report_by_suffix(const char *path)
{
	const struct report_ops *best = NULL;
	size_t best_length = 0, path_length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		size_t length = strlen(reports[i]->suffix);

		if (length > best_length && length < path_length &&
		    !strcmp(path + path_length - length, reports[i]->suffix)) {
			best = reports[i];
			best_length = length;
		}
	}
	return best;
}
