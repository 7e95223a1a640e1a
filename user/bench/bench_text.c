// SPDX-License-Identifier: BSD-2-Clause
/* A screen for people. */
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/text_append.h"
#include "bench/bench_format.h"
#include "bench/bench_tradeoff.h"
#include "diff/diff_format.h"
#include "report/text_table.h"
#include "rows/human.h"

#define WIDTH	      100
#define OUTLIERS_MAX  5
#define LABEL_COLUMNS 48
/* A table has room for these in any case. */
#define LABEL_COLUMNS_MAX 24
#define LINE_SIZE	  2048

static size_t width_of(const struct bench_document *document)
{
	return document->width ? document->width : WIDTH;
}

static void write_wrapped(const struct bench_document *document, const char *label,
			  const char *text, FILE *out)
{
	char clean[LINE_SIZE];

	text_wrap(out, width_of(document), label, *label ? 2 : 0,
		  escape_terminal(clean, sizeof(clean), text));
}

/* ---- head ---- */

static void write_head(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;
	const char *cpu = environment_find(&bench->environment, "cpu");
	const char *kernel = environment_find(&bench->environment, "kernel");
	size_t runs = 0, warmups = 0, variants = bench->variants.count;
	char time[HUMAN_SIZE], line[LINE_SIZE];

	array_foreach(&bench->runs, run) {
		runs += !run->is_warmup;
		warmups += run->is_warmup;
	}
	snprintf(line, sizeof(line), "%zu run%s of %zu command%s", runs, runs == 1 ? "" : "s",
		 variants, variants == 1 ? "" : "s");
	if (warmups)
		text_append(line, sizeof(line), " after %zu warm-up%s", warmups,
			    warmups == 1 ? "" : "s");
	text_append(line, sizeof(line), " in %s", human_time(time, bench->duration_ns));
	if (variants > 1)
		text_append(line, sizeof(line), "; %s, seed %llu",
			    bench->interleaved ? "in random order" : "one after the other",
			    (unsigned long long)bench->seed);
	text_append(line, sizeof(line), ". %s%sLinux %s", cpu ? cpu : "", cpu ? ", " : "",
		    kernel ? kernel : "?");
	write_wrapped(document, "", line, out);
	if (bench->interrupted)
		write_wrapped(document, "", "Stopped early: fewer runs than asked for.", out);
	array_foreach(&bench->environment.dangers, danger)
		write_wrapped(document, "note: ", *danger, out);
	if (bench->without_account) {
		snprintf(line, sizeof(line), "no account of waits: %s", bench->without_account);
		write_wrapped(document, "note: ", line, out);
	}
}

/* ---- table ---- */

static const struct text_column columns[] = {
	{.title = "", .left = true},
	{.title = "command", .left = true, .flexible = true, .max_columns = LABEL_COLUMNS},
	{.title = "wall"},
	{.title = "95 % interval", .left = true},
	{.title = "min", .expendable = 3},
	{.title = "max", .expendable = 2},
	{.title = "CPU"},
	{.title = "run queue"},
	{.title = "sleep"},
	{.title = "disk", .expendable = 1},
	{.title = "peak RSS"},
	{.title = "faults", .expendable = 5},
	{.title = "read", .expendable = 4},
	{.title = "cswch", .expendable = 6},
	{.title = "runs"},
};

static void put_value(struct text_table *table, const struct bench *bench, uint32_t variant,
		      enum bench_figure figure)
{
	struct bench_summary summary;
	char text[BENCH_VALUE_SIZE];

	if (bench_summarize(bench, variant, figure, &summary) < 0 || !summary.count)
		text_table_cell(table, "-");
	else if (summary.median <= 0)
		text_table_cell(table, ".");
	else
		text_table_cell(table,
				bench_value_text(text, bench_figures[figure].unit, summary.median));
}

static void put_wall(struct text_table *table, const struct bench_summary *wall)
{
	char low[BENCH_VALUE_SIZE], high[BENCH_VALUE_SIZE];

	text_table_cell(table, bench_value_text(low, BENCH_NS, wall->median));
	if (wall->interval.known)
		text_table_cellf(table, "%s to %s",
				 bench_value_text(low, BENCH_NS, wall->interval.low),
				 bench_value_text(high, BENCH_NS, wall->interval.high));
	else
		text_table_cell(table, "-");
	text_table_cell(table, bench_value_text(low, BENCH_NS, wall->min));
	text_table_cell(table, bench_value_text(high, BENCH_NS, wall->max));
}

static void put_variant(struct text_table *table, const struct bench *bench, uint32_t variant,
			const char *number)
{
	static const enum bench_figure figures[] = {BENCH_CPU,	BENCH_RUNQUEUE, BENCH_SLEEP,
						    BENCH_DISK, BENCH_PEAK_RSS, BENCH_MINOR_FAULTS,
						    BENCH_READ, BENCH_VOLUNTARY};
	struct bench_summary wall;

	text_table_cell(table, number);
	text_table_cell(table, bench->variants.items[variant].label);
	if (bench_summarize(bench, variant, BENCH_WALL, &wall) < 0 || !wall.count) {
		for (size_t i = 2; i + 1 < ARRAY_SIZE(columns); i++)
			text_table_cell(table, "-");
	} else {
		put_wall(table, &wall);
		for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
			put_value(table, bench, variant, figures[i]);
	}
	text_table_cellf(table, "%zu", bench_run_count(bench, variant));
}

/* What the table would cut so that commands look alike. */
static void write_commands(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;
	bool is_long = false;

	array_foreach(&bench->variants, variant)
		is_long |= text_columns(variant->label) > LABEL_COLUMNS_MAX;
	for (uint32_t i = 0; is_long && i < bench->variants.count; i++) {
		char label[16];

		snprintf(label, sizeof(label), "%u: ", i + 1);
		write_wrapped(document, label, bench->variants.items[i].label, out);
	}
}

static int write_table(const struct bench_document *document, FILE *out)
{
	struct text_table *table = text_table_new(columns, ARRAY_SIZE(columns));
	char number[32];
	int err;

	if (!table)
		return -1;
	for (uint32_t i = 0; document->baseline && i < document->baseline->variants.count; i++)
		put_variant(table, document->baseline, i, "base");
	for (uint32_t i = 0; i < document->bench->variants.count; i++) {
		snprintf(number, sizeof(number), "%u", i + 1);
		put_variant(table, document->bench, i, number);
	}
	fputc('\n', out);
	err = text_table_write(table, width_of(document), out);
	text_table_free(table);
	return err;
}

static double median_of(const struct bench *bench, uint32_t variant, enum bench_figure figure)
{
	struct bench_summary summary;

	if (bench_summarize(bench, variant, figure, &summary) < 0 || !summary.count)
		return -1;
	return summary.median;
}

static void add_ratio(const struct bench *bench, uint32_t variant, enum bench_figure part,
		      enum bench_figure whole, const char *words, char *line)
{
	double above = median_of(bench, variant, part), below = median_of(bench, variant, whole);
	bool is_share = whole != BENCH_CYCLES;

	if (above < 0 || below <= 0)
		return;
	text_append(line, LINE_SIZE, "%s%.2f%s %s", line[0] ? ", " : "",
		    above / below * (is_share ? 100 : 1), is_share ? " %" : "", words);
}

static void add_value(const struct bench *bench, uint32_t variant, enum bench_figure figure,
		      char *line)
{
	double median = median_of(bench, variant, figure);
	char text[BENCH_VALUE_SIZE];

	if (median >= 0)
		text_append(line, LINE_SIZE, "%s%s %s", line[0] ? ", " : "",
			    bench_figures[figure].title,
			    bench_value_text(text, bench_figures[figure].unit, median));
}

static void write_units(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;

	for (uint32_t i = 0; bench->unit && i < bench->variants.count; i++) {
		char line[LINE_SIZE] = "", label[300], name[256];

		add_value(bench, i, BENCH_UNIT, line);
		add_value(bench, i, BENCH_UNIT_P99, line);
		add_value(bench, i, BENCH_UNITS, line);
		snprintf(label, sizeof(label), "%u, region %s: ", i + 1,
			 escape_terminal(name, sizeof(name), bench->unit));
		write_wrapped(document, label, line[0] ? line : "not seen in any run", out);
	}
}

/* Where the CPU or the machine counts: "1: 2.31 instructions per cycle, energy 12.10 J". */
static void write_counters(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;

	for (uint32_t i = 0; i < bench->variants.count; i++) {
		char line[LINE_SIZE] = "", label[16];

		add_ratio(bench, i, BENCH_INSTRUCTIONS, BENCH_CYCLES, "instructions per cycle",
			  line);
		add_ratio(bench, i, BENCH_CACHE_MISSES, BENCH_CACHE_REFERENCES, "cache misses",
			  line);
		add_ratio(bench, i, BENCH_BRANCH_MISSES, BENCH_BRANCHES, "branch misses", line);
		add_value(bench, i, BENCH_ENERGY, line);
		add_value(bench, i, BENCH_TEMPERATURE, line);
		add_value(bench, i, BENCH_FREQUENCY, line);
		snprintf(label, sizeof(label), "%u: ", i + 1);
		if (line[0])
			write_wrapped(document, label, line, out);
	}
}

/* "1: accuracy 0.93 (0.91 to 0.94)" */
static void write_columns(const struct bench_document *document, const struct bench *bench,
			  const char *prefix, FILE *out)
{
	for (uint32_t i = 0; document->bench->columns.count && i < bench->variants.count; i++) {
		char line[LINE_SIZE] = "", label[32], low[BENCH_VALUE_SIZE], high[BENCH_VALUE_SIZE];

		for (size_t j = 0; j < document->bench->columns.count; j++) {
			struct bench_summary summary;

			if (bench_summarize(bench, i, (enum bench_figure)(BENCH_COLUMN + j),
					    &summary) < 0 ||
			    !summary.count)
				continue;
			text_append(line, sizeof(line), "%s%s %s", line[0] ? ", " : "",
				    document->bench->columns.items[j].name,
				    bench_value_text(low, BENCH_NUMBER, summary.median));
			if (summary.interval.known)
				text_append(
					line, sizeof(line), " (%s to %s)",
					bench_value_text(low, BENCH_NUMBER, summary.interval.low),
					bench_value_text(high, BENCH_NUMBER,
							 summary.interval.high));
		}
		snprintf(label, sizeof(label), "%s%u: ", prefix, i + 1);
		if (line[0])
			write_wrapped(document, label, line, out);
	}
}

static void write_tradeoff(const struct bench_document *document, FILE *out)
{
	char text[LINE_SIZE];

	bench_tradeoff_text(document->bench, text, sizeof(text));
	if (text[0])
		write_wrapped(document, "", text, out);
}

/* ---- verdicts ---- */

/* "; accuracy more: +1.2 % (+1.0 % to +1.4 %)", if that is certain. */
static void add_column(const struct bench_document *document, const struct bench_pair *pair,
		       size_t column, char *line)
{
	const struct bench_comparison *comparison = &pair->figures[BENCH_COLUMN + column];
	char text[BENCH_SENTENCE_SIZE];

	if (!comparison->counts[0] ||
	    (comparison->verdict != BENCH_SLOWER && comparison->verdict != BENCH_FASTER))
		return;
	bench_verdict_text(comparison, &document->judgement, text, sizeof(text));
	text_append(line, LINE_SIZE, "; %s %s", document->bench->columns.items[column].name, text);
}

static void write_pair(const struct bench_document *document, const struct bench_pair *pair,
		       FILE *out)
{
	const struct bench_comparison *tested = &pair->figures[bench_main_figure(document->bench)];
	char line[LINE_SIZE], label[64];

	if (document->baseline)
		snprintf(label, sizeof(label), "%u against the baseline: ", pair->new + 1);
	else
		snprintf(label, sizeof(label), "%u against %u: ", pair->new + 1, pair->base + 1);
	bench_decision_text(document, pair, line, sizeof(line));
	if (pair->states[0])
		text_append(line, sizeof(line), "; %s%s",
			    document->bench->unit ? "of whole runs " : "", pair->states);
	for (size_t i = 0; i < document->bench->columns.count; i++)
		add_column(document, pair, i, line);
	if (tested->counts[0])
		text_append(line, sizeof(line), "; p %.2g, slower in %.0f %% of pairs",
			    tested->test.probability, 100 * tested->test.superiority);
	write_wrapped(document, label, line, out);
}

static void write_outliers(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;
	char line[LINE_SIZE], text[BENCH_SENTENCE_SIZE];
	size_t count = document->outliers.count, shown = 0;

	for (size_t i = 0; i < count && (shown < OUTLIERS_MAX || document->full); i++, shown++) {
		const struct outlier *outlier = &document->outliers.items[i];
		const struct bench_run *run = &bench->runs.items[outlier->run];

		outlier_text(outlier, text, sizeof(text));
		snprintf(line, sizeof(line), "run %u of %u: %s", run->number, run->variant + 1,
			 text);
		write_wrapped(document, "outlier: ", line, out);
	}
	if (shown < count)
		fprintf(out, "... and %zu more outliers (--full shows them)\n", count - shown);
}

static void write_notes(const struct bench_document *document, FILE *out)
{
	const struct bench *bench = document->bench;
	size_t failed = 0, left_behind = 0;

	if (document->trend > 0.5)
		write_wrapped(document,
			      "note: ", "runs get slower all the time: heat, memory or a full disk",
			      out);
	else if (document->trend < -0.5)
		write_wrapped(document,
			      "note: ", "runs get faster all the time: more --warmup would help",
			      out);
	array_foreach(&bench->runs, run) {
		failed += run->status != 0;
		left_behind += run->left_behind > 0;
	}
	if (failed)
		fprintf(out, "note: %zu of %zu runs ended with a status other than 0\n", failed,
			bench->runs.count);
	if (left_behind)
		fprintf(out,
			"note: %zu of %zu runs left processes behind, which may disturb those that "
			"follow\n",
			left_behind, bench->runs.count);
}

static int write_explanations(const struct bench_document *document, FILE *out)
{
	int err = 0;

	array_foreach(&document->explanations, explanation) {
		const struct diff_document functions = {
			.comparison = &explanation->comparison,
			.titles = {explanation->titles[0], explanation->titles[1]},
			.width = (unsigned int)width_of(document),
			.full = document->full,
			.without_head = true,
		};
		char line[LINE_SIZE];

		snprintf(line, sizeof(line),
			 "%zu runs of %s (base) and %zu of %s (new) with stacks, not timed",
			 explanation->sides[DIFF_BASE].slices.count, explanation->titles[DIFF_BASE],
			 explanation->sides[DIFF_NEW].slices.count, explanation->titles[DIFF_NEW]);
		fputc('\n', out);
		write_wrapped(document, "", line, out);
		if (err == 0)
			err = diff_format_text.write(&functions, out);
	}
	return err;
}

static int text_write(const struct bench_document *document, FILE *out)
{
	int err;

	write_head(document, out);
	write_commands(document, out);
	err = write_table(document, out);
	write_units(document, out);
	write_counters(document, out);
	if (document->baseline)
		write_columns(document, document->baseline, "base ", out);
	write_columns(document, document->bench, "", out);
	write_tradeoff(document, out);
	if (document->pairs.count || document->outliers.count)
		fputc('\n', out);
	array_foreach(&document->pairs, pair)
		write_pair(document, pair, out);
	write_outliers(document, out);
	write_notes(document, out);
	array_foreach(&document->gates, gate)
		write_wrapped(document,
			      gate->outcome == BENCH_GATE_PASSED   ? "passed: "
			      : gate->outcome == BENCH_GATE_FAILED ? "FAILED: "
								   : "not checked: ",
			      gate->sentence, out);
	return err < 0 ? err : write_explanations(document, out);
}

const struct bench_format_ops bench_format_text = {
	.file = {"text", ".txt", "a screen for people"},
	.write = text_write,
};
