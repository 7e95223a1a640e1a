// SPDX-License-Identifier: BSD-2-Clause
/* A row per run. */
#include "base/escape.h"
#include "bench/bench_format.h"

static void write_run(const struct bench *bench, const struct bench_run *run, size_t order,
		      FILE *out)
{
	fprintf(out, "%zu,%u,", order, run->variant + 1);
	escape_csv(out, bench->variants.items[run->variant].label);
	fprintf(out, ",%u,%d,%d,%d", run->number, run->is_warmup, run->status, run->has_failed);
	for (size_t figure = 0; figure < BENCH_COLUMN + bench->columns.count; figure++) {
		fputc(',', out);
		if (bench_run_knows(run, (enum bench_figure)figure))
			fprintf(out,
				figure >= BENCH_COLUMN	    ? "%.15g"
				: run->values[figure] < 1e6 ? "%.9g"
							    : "%.0f",
				run->values[figure]);
	}
	fputs("\r\n", out);
}

static int csv_write(const struct bench_document *document, FILE *out)
{
	size_t order = 0;

	fputs("order,variant,command,run,warmup,status,failed", out);
	for (size_t figure = 0; figure < BENCH_COLUMN + document->bench->columns.count; figure++)
		fprintf(out, ",%s%s", bench_figure_name(document->bench, (enum bench_figure)figure),
			bench_unit_suffix(bench_figures[figure].unit));
	fputs("\r\n", out);
	array_foreach(&document->bench->runs, run)
		write_run(document->bench, run, ++order, out);
	return 0;
}

const struct bench_format_ops bench_format_csv = {
	.file = {"csv", ".csv", "a row per run, in the order of the runs"},
	.write = csv_write,
};
