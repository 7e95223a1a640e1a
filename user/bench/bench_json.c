// SPDX-License-Identifier: BSD-2-Clause
/* Everything, described by bench.schema.json: also what --baseline reads. */
#include <math.h>
#include <stdio.h>

#include "bench/bench_format.h"
#include "bench/bench_tradeoff.h"
#include "export/json/json_writer.h"

/* Rises when a key changes its meaning or goes; not when one is added. */
#define SCHEMA_VERSION 1
#define KEY_SIZE       64

/* "wall_ns" */
static const char *key_of(const struct bench *bench, enum bench_figure figure, char key[KEY_SIZE])
{
	snprintf(key, KEY_SIZE, "%s%s", bench_figure_name(bench, figure),
		 bench_unit_suffix(bench_figures[figure].unit));
	return key;
}

/* What is beyond a signed number of 64 bits most readers refuse or round. */
static void write_seed(struct json_writer *writer, uint64_t seed)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)seed);
	if (seed > INT64_MAX)
		json_writer_string(writer, "seed", text);
	else
		json_writer_u64(writer, "seed", seed);
}

static void write_head(struct json_writer *writer, const struct bench *bench)
{
	json_writer_u64(writer, "schema_version", SCHEMA_VERSION);
	json_writer_string(writer, "kind", "bench");
	json_writer_object_begin(writer, "tool");
	json_writer_string(writer, "name", "pkbpf");
	json_writer_string(writer, "version", PKBPF_VERSION);
	json_writer_object_end(writer);
	json_writer_i64(writer, "start_unix_ns", bench->start_unix_ns);
	json_writer_u64(writer, "duration_ns", bench->duration_ns);
	json_writer_string(writer, "order", bench->interleaved ? "interleave" : "blocks");
	write_seed(writer, bench->seed);
	json_writer_bool(writer, "interrupted", bench->interrupted);
	json_writer_bool(writer, "has_account", bench->has_account);
	if (bench->unit)
		json_writer_string(writer, "unit_region", bench->unit);
	if (bench->without_account)
		json_writer_string(writer, "without_account", bench->without_account);
}

static void write_columns(struct json_writer *writer, const struct bench *bench)
{
	json_writer_array_begin(writer, "columns");
	array_foreach(&bench->columns, column) {
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "name", column->name);
		if (column->better)
			json_writer_string(writer, "better", bench_better_names[column->better]);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_environment(struct json_writer *writer, const struct environment *environment)
{
	json_writer_object_begin(writer, "environment");
	json_writer_array_begin(writer, "items");
	array_foreach(&environment->items, item) {
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "name", item->name);
		json_writer_string(writer, "value", item->value);
		json_writer_bool(writer, "is_identity", item->is_identity);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	if (environment->load_before >= 0)
		json_writer_decimal(writer, "load_before", environment->load_before);
	if (environment->load_after >= 0)
		json_writer_decimal(writer, "load_after", environment->load_after);
	json_writer_array_begin(writer, "dangers");
	array_foreach(&environment->dangers, danger)
		json_writer_string(writer, NULL, *danger);
	json_writer_array_end(writer);
	json_writer_object_end(writer);
}

static void write_interval(struct json_writer *writer, const char *prefix,
			   const struct interval *interval)
{
	char key[KEY_SIZE];

	if (!interval->known)
		return;
	snprintf(key, sizeof(key), "%s_low", prefix);
	json_writer_real(writer, key, interval->low);
	snprintf(key, sizeof(key), "%s_high", prefix);
	json_writer_real(writer, key, interval->high);
}

static int write_summary(struct json_writer *writer, const struct bench *bench, uint32_t variant,
			 enum bench_figure figure)
{
	struct bench_summary summary;
	char key[KEY_SIZE];
	int err = bench_summarize(bench, variant, figure, &summary);

	if (err < 0 || !summary.count)
		return err;
	json_writer_object_begin(writer, key_of(bench, figure, key));
	json_writer_u64(writer, "count", summary.count);
	json_writer_real(writer, "median", summary.median);
	write_interval(writer, "median", &summary.interval);
	json_writer_real(writer, "quartile_1", summary.quartiles[0]);
	json_writer_real(writer, "quartile_3", summary.quartiles[1]);
	json_writer_real(writer, "min", summary.min);
	json_writer_real(writer, "max", summary.max);
	json_writer_real(writer, "mean", summary.mean);
	json_writer_real(writer, "standard_deviation", summary.deviation);
	if (!isnan(summary.p95))
		json_writer_real(writer, "p95", summary.p95);
	if (!isnan(summary.p99))
		json_writer_real(writer, "p99", summary.p99);
	json_writer_object_end(writer);
	return 0;
}

static int write_variants(struct json_writer *writer, const struct bench *bench)
{
	int err = 0;

	json_writer_array_begin(writer, "variants");
	for (uint32_t i = 0; i < bench->variants.count; i++) {
		const struct bench_variant *variant = &bench->variants.items[i];

		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "command", variant->label);
		json_writer_array_begin(writer, "parameters");
		array_foreach(&variant->parameters, parameter) {
			json_writer_object_begin(writer, NULL);
			json_writer_string(writer, "name", parameter->name);
			json_writer_string(writer, "value", parameter->value);
			json_writer_object_end(writer);
		}
		json_writer_array_end(writer);
		json_writer_u64(writer, "runs", bench_run_count(bench, i));
		json_writer_object_begin(writer, "figures");
		for (int figure = 0; figure < BENCH_FIGURES && err == 0; figure++)
			err = write_summary(writer, bench, i, (enum bench_figure)figure);
		json_writer_object_end(writer);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	return err;
}

static void write_run(struct json_writer *writer, const struct bench *bench,
		      const struct bench_run *run)
{
	char key[KEY_SIZE];

	json_writer_object_begin(writer, NULL);
	json_writer_u64(writer, "variant", run->variant);
	json_writer_u64(writer, "number", run->number);
	json_writer_bool(writer, "is_warmup", run->is_warmup);
	json_writer_bool(writer, "has_failed", run->has_failed);
	json_writer_bool(writer, "timed_out", run->timed_out);
	json_writer_i64(writer, "status", run->status);
	json_writer_u64(writer, "left_behind", run->left_behind);
	json_writer_object_begin(writer, "figures");
	for (int figure = 0; figure < BENCH_FIGURES; figure++)
		if (bench_run_knows(run, (enum bench_figure)figure))
			json_writer_real(writer, key_of(bench, (enum bench_figure)figure, key),
					 run->values[figure]);
	json_writer_object_end(writer);
	json_writer_object_end(writer);
}

static void write_comparison(struct json_writer *writer, const struct bench *bench,
			     const struct bench_comparison *comparison)
{
	char key[KEY_SIZE];

	if (!comparison->counts[0])
		return;
	json_writer_object_begin(writer, key_of(bench, comparison->figure, key));
	json_writer_string(writer, "verdict", bench_verdict_names[comparison->verdict]);
	json_writer_real(writer, "base_median", comparison->medians[0]);
	json_writer_real(writer, "new_median", comparison->medians[1]);
	json_writer_real(writer, "change", comparison->change);
	write_interval(writer, "change", &comparison->change_interval);
	if (comparison->has_ratio) {
		json_writer_real(writer, "ratio", comparison->ratio);
		write_interval(writer, "ratio", &comparison->ratio_interval);
	}
	json_writer_real(writer, "probability", comparison->test.probability);
	json_writer_bool(writer, "probability_is_exact", comparison->test.exact);
	json_writer_real(writer, "slower_in_part_of_pairs", comparison->test.superiority);
	if (comparison->more_runs)
		json_writer_u64(writer, "more_runs", comparison->more_runs);
	json_writer_object_end(writer);
}

static void write_comparisons(struct json_writer *writer, const struct bench_document *document)
{
	json_writer_object_begin(writer, "method");
	json_writer_string(writer, "shift", "Hodges-Lehmann");
	json_writer_string(writer, "test", "Mann-Whitney");
	json_writer_real(writer, "risk", document->judgement.risk);
	json_writer_real(writer, "threshold", document->judgement.threshold);
	json_writer_object_end(writer);
	if (document->baseline_path)
		json_writer_string(writer, "baseline", document->baseline_path);
	json_writer_array_begin(writer, "comparisons");
	array_foreach(&document->pairs, pair) {
		json_writer_object_begin(writer, NULL);
		json_writer_u64(writer, "base", pair->base);
		json_writer_u64(writer, "new", pair->new);
		json_writer_string(writer, "verdict", bench_verdict_names[pair->decision.verdict]);
		json_writer_string(writer, "decided_by", bench_figures[pair->decision.figure].name);
		if (pair->states[0])
			json_writer_string(writer, "text", pair->states);
		json_writer_object_begin(writer, "figures");
		for (int figure = 0; figure < BENCH_FIGURES; figure++)
			write_comparison(writer, document->bench, &pair->figures[figure]);
		json_writer_object_end(writer);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static int write_tradeoff(struct json_writer *writer, const struct bench *bench)
{
	struct bench_tradeoff tradeoff;
	char key[KEY_SIZE];
	int err = bench_tradeoff_find(bench, &tradeoff);

	if (err < 0 || !tradeoff.goal_count)
		return err;
	json_writer_object_begin(writer, "trade_off");
	json_writer_array_begin(writer, "figures");
	for (size_t i = 0; i < tradeoff.goal_count; i++) {
		const struct bench_goal *goal = &tradeoff.goals[i];

		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "figure", key_of(bench, goal->figure, key));
		json_writer_string(writer, "better", goal->higher ? "higher" : "lower");
		json_writer_u64(writer, "best", goal->best);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "variants");
	for (uint32_t i = 0; i < bench->variants.count; i++)
		if (tradeoff.is_chosen[i])
			json_writer_u64(writer, NULL, i);
	json_writer_array_end(writer);
	json_writer_object_end(writer);
	return 0;
}

static void write_outliers(struct json_writer *writer, const struct bench_document *document)
{
	char text[BENCH_SENTENCE_SIZE];

	json_writer_array_begin(writer, "outliers");
	for (size_t i = 0; i < document->outliers.count; i++) {
		const struct outlier *outlier = &document->outliers.items[i];

		outlier_text(outlier, text, sizeof(text));
		json_writer_object_begin(writer, NULL);
		json_writer_u64(writer, "run", outlier->run);
		json_writer_real(writer, "change_ns", outlier->change);
		json_writer_real(writer, "part", outlier->part);
		json_writer_string(writer, "text", text);
		json_writer_array_begin(writer, "causes");
		for (size_t j = 0; j < outlier->part_count; j++) {
			json_writer_object_begin(writer, NULL);
			json_writer_string(writer, "figure",
					   bench_figures[outlier->parts[j].figure].name);
			json_writer_real(writer, "change_ns", outlier->parts[j].change);
			json_writer_object_end(writer);
		}
		json_writer_array_end(writer);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	json_writer_real(writer, "trend", document->trend);
}

static void write_gates(struct json_writer *writer, const struct bench_document *document)
{
	static const char *const outcomes[] = {
		[BENCH_GATE_PASSED] = "passed",
		[BENCH_GATE_FAILED] = "failed",
		[BENCH_GATE_NOT_CHECKED] = "not_checked",
	};

	json_writer_array_begin(writer, "gates");
	array_foreach(&document->gates, gate) {
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "name", gate->name);
		json_writer_string(writer, "outcome", outcomes[gate->outcome]);
		json_writer_string(writer, "text", gate->sentence);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static int json_write(const struct bench_document *document, FILE *out)
{
	struct json_writer writer = {.out = out};
	const struct bench *bench = document->bench;
	int err;

	json_writer_object_begin(&writer, NULL);
	write_head(&writer, bench);
	write_columns(&writer, bench);
	write_environment(&writer, &bench->environment);
	err = write_variants(&writer, bench);
	json_writer_array_begin(&writer, "runs");
	array_foreach(&bench->runs, run)
		write_run(&writer, bench, run);
	json_writer_array_end(&writer);
	write_comparisons(&writer, document);
	if (err == 0)
		err = write_tradeoff(&writer, bench);
	write_outliers(&writer, document);
	write_gates(&writer, document);
	json_writer_object_end(&writer);
	fputc('\n', out);
	return err;
}

const struct bench_format_ops bench_format_json = {
	.file = {"json", ".json",
		 "all runs and comparisons, described by bench.schema.json; --baseline reads it"},
	.write = json_write,
};
