// SPDX-License-Identifier: BSD-2-Clause
// The output formats there are: a row each.
#include "export/formats.h"

#include <string.h>

#include "base/array.h"

static const struct exporter_ops *const exporters[] = {
	&exporter_folded,
};

const struct exporter_ops *exporter_at(size_t index)
{
	return index < ARRAY_SIZE(exporters) ? exporters[index] : NULL;
}

const struct exporter_ops *exporter_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(exporters); i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

const struct exporter_ops *exporter_by_suffix(const char *path)
{
	const struct exporter_ops *best = NULL;
	size_t best_length = 0, path_length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(exporters); i++) {
		size_t length = strlen(exporters[i]->suffix);

		if (length > best_length && length < path_length &&
		    !strcmp(path + path_length - length, exporters[i]->suffix)) {
			best = exporters[i];
			best_length = length;
		}
	}
	return best;
}
