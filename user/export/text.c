// SPDX-License-Identifier: BSD-2-Clause
/* The text report as an output format. */
#include "export/formats.h"
#include "report/report.h"

static int text_write(struct results *results, const struct format_options *options, FILE *out)
{
	const struct report_options wanted = {
		.top = options->top,
		.width = options->width,
		.order = options->order,
		.full = options->full,
		.tree = options->tree,
		.by_line = options->by_line,
		.color = options->color,
		.details = options->details,
		.lines = options->lines,
	};

	return report_write(results, &wanted, out);
}

const struct format_ops format_text = {
	.file = {"text", ".txt", "resource report"},
	.shows_gpu_calls = true,
	.write = text_write,
};
