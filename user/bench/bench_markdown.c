// SPDX-License-Identifier: BSD-2-Clause
/* A comment for a merge request: the verdict first, then a table. */
#include <string.h>

#include "base/escape.h"
#include "bench/bench_format.h"
#include "bench/bench_tradeoff.h"

static void write_pair(const struct bench_document *document, const struct bench_pair *pair,
		       FILE *out)
{
	const struct bench *base = bench_document_base(document);
	char verdict[BENCH_SENTENCE_SIZE];

	bench_decision_text(document, pair, verdict, sizeof(verdict));
	escape_markdown_code(out, document->bench->variants.items[pair->new].label);
	if (document->baseline)
		fputs(" against the baseline", out);
	else {
		fputs(" against ", out);
		escape_markdown_code(out, base->variants.items[pair->base].label);
	}
	fprintf(out, ": **%s**", verdict);
	if (pair->states[0])
		fprintf(out, " (%s)", pair->states);
	fputs("\n\n", out);
}

static void write_value(const struct bench *bench, uint32_t variant, enum bench_figure figure,
			FILE *out)
{
	struct bench_summary summary;
	char text[BENCH_VALUE_SIZE], high[BENCH_VALUE_SIZE];

	if (bench_summarize(bench, variant, figure, &summary) < 0 || !summary.count) {
		fputs(" - |", out);
		return;
	}
	fprintf(out, " %s", bench_value_text(text, bench_figures[figure].unit, summary.median));
	if (figure == BENCH_WALL && summary.interval.known)
		fprintf(out, " (%s to %s)", bench_value_text(text, BENCH_NS, summary.interval.low),
			bench_value_text(high, BENCH_NS, summary.interval.high));
	fputs(" |", out);
}

static void write_row(const struct bench *bench, uint32_t variant, size_t columns, const char *mark,
		      FILE *out)
{
	static const enum bench_figure figures[] = {BENCH_WALL,	       BENCH_CPU,  BENCH_RUNQUEUE,
						    BENCH_SLEEP,       BENCH_DISK, BENCH_PEAK_RSS,
						    BENCH_MINOR_FAULTS};

	fprintf(out, "| %s", mark);
	escape_markdown_code(out, bench->variants.items[variant].label);
	fputs(" |", out);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		write_value(bench, variant, figures[i], out);
	for (size_t i = 0; i < columns; i++)
		write_value(bench, variant, (enum bench_figure)(BENCH_COLUMN + i), out);
	fprintf(out, " %zu |\n", bench_run_count(bench, variant));
}

static void write_table(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;

	fputs("\n| command | wall (95 % interval) | CPU | run queue | sleep | disk | peak RSS | "
	      "minor faults |",
	      out);
	array_foreach(&bench->columns, column)
		fprintf(out, " %s |", column->name);
	fputs(" runs |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|", out);
	for (size_t i = 0; i < bench->columns.count; i++)
		fputs("--:|", out);
	fputc('\n', out);
	for (uint32_t i = 0; document->baseline && i < document->baseline->variants.count; i++)
		write_row(document->baseline, i, bench->columns.count, "base: ", out);
	for (uint32_t i = 0; i < bench->variants.count; i++)
		write_row(bench, i, bench->columns.count, "", out);
}

static int markdown_write(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;
	char text[4 * BENCH_SENTENCE_SIZE];

	array_foreach(&document->pairs, pair)
		write_pair(document, pair, out);
	array_foreach(&document->gates, gate) {
		fputs(gate->outcome == BENCH_GATE_PASSED   ? "- passed: "
		      : gate->outcome == BENCH_GATE_FAILED ? "- **failed**: "
							   : "- **not checked**: ",
		      out);
		escape_markdown_code(out, gate->sentence);
		fputc('\n', out);
	}
	write_table(document, out);
	bench_tradeoff_text(bench, text, sizeof(text));
	if (text[0]) {
		fputc('\n', out);
		escape_markup(out, text);
		fputc('\n', out);
	}
	fputs("\n<sub>Medians.", out);
	for (size_t i = 0; i < document->outliers.count && i < 10; i++) {
		const struct outlier *outlier = &document->outliers.items[i];
		const struct bench_run *run = &bench->runs.items[outlier->run];

		outlier_text(outlier, text, sizeof(text));
		fprintf(out, "<br>run %u of command %u: ", run->number, run->variant + 1);
		escape_markup(out, text);
	}
	array_foreach(&bench->environment.dangers, danger) {
		fputs("<br>", out);
		escape_markup(out, *danger);
	}
	fputs("</sub>\n", out);
	return 0;
}

const struct bench_format_ops bench_format_markdown = {
	.file = {"markdown", ".md", "verdicts and a table, for a comment"},
	.write = markdown_write,
};
