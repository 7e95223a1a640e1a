// SPDX-License-Identifier: BSD-2-Clause
/* Writes parts of metrics. */
#include "web/metric_text.h"

#include <inttypes.h>

#include "base/escape.h"

void metric_text_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_text_label(FILE *out, const char *text)
{
	char clean[METRIC_LABEL_SIZE];

	escape_terminal(clean, sizeof(clean), text);
	for (const char *c = clean; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
}

void metric_text_begin(FILE *out, int64_t unix_ns)
{
	fprintf(out, METRIC_TEXT_BEGIN "%" PRId64 "\n", unix_ns);
}
