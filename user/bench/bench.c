// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P95_MIN 20
#define P99_MIN 100

const char *const bench_better_names[] = {
	[BENCH_BETTER_UNKNOWN] = "",
	[BENCH_BETTER_HIGHER] = "higher",
	[BENCH_BETTER_LOWER] = "lower",
};

void bench_init(struct bench *bench)
{
	*bench = (struct bench){0};
}

void bench_done(struct bench *bench)
{
	array_foreach(&bench->variants, variant) {
		array_foreach(&variant->parameters, parameter) {
			free(parameter->name);
			free(parameter->value);
		}
		array_free(&variant->parameters);
		free(variant->label);
	}
	array_free(&bench->variants);
	array_foreach(&bench->columns, column)
		free(column->name);
	array_free(&bench->columns);
	array_free(&bench->runs);
	free(bench->unit);
	free(bench->without_account);
	environment_done(&bench->environment);
}

struct bench_variant *bench_add_variant(struct bench *bench, const char *label)
{
	struct bench_variant *variant = array_add(&bench->variants);

	if (!variant)
		return NULL;
	variant->label = strdup(label);
	if (!variant->label) {
		bench->variants.count--;
		return NULL;
	}
	return variant;
}

bool bench_add_parameter(struct bench_variant *variant, const char *name, const char *value)
{
	struct bench_parameter *parameter = array_add(&variant->parameters);

	if (!parameter)
		return false;
	parameter->name = strdup(name);
	parameter->value = strdup(value);
	return parameter->name && parameter->value;
}

bool bench_add_column(struct bench *bench, const char *name, enum bench_better better)
{
	struct bench_column *column =
		bench->columns.count < BENCH_COLUMNS_MAX ? array_add(&bench->columns) : NULL;

	if (!column)
		return false;
	*column = (struct bench_column){strdup(name), better};
	return column->name;
}

const char *bench_figure_name(const struct bench *bench, enum bench_figure figure)
{
	size_t column = (size_t)figure - BENCH_COLUMN;

	if (figure < BENCH_COLUMN)
		return bench_figures[figure].name;
	return column < bench->columns.count ? bench->columns.items[column].name : "";
}

const char *bench_figure_title(const struct bench *bench, enum bench_figure figure)
{
	return figure < BENCH_COLUMN ? bench_figures[figure].title
				     : bench_figure_name(bench, figure);
}

static size_t find_column(const struct bench *bench, const char *name)
{
	size_t at = 0;

	while (at < bench->columns.count && strcmp(bench->columns.items[at].name, name) != 0)
		at++;
	return at;
}

void bench_match_columns(struct bench *bench, const struct bench *like)
{
	array_foreach(&bench->runs, run) {
		struct bench_run old = *run;

		run->known &= (1ULL << BENCH_COLUMN) - 1;
		for (size_t i = 0; i < like->columns.count; i++) {
			size_t at = find_column(bench, like->columns.items[i].name);
			enum bench_figure from = (enum bench_figure)(BENCH_COLUMN + at);

			if (at < bench->columns.count && bench_run_knows(&old, from))
				bench_run_set(run, (enum bench_figure)(BENCH_COLUMN + i),
					      old.values[from]);
		}
	}
}

bool bench_run_counts(const struct bench_run *run)
{
	return !run->is_warmup && !run->has_failed;
}

size_t bench_values(const struct bench *bench, uint32_t variant, enum bench_figure figure,
		    double *ret_values)
{
	size_t count = 0;

	array_foreach(&bench->runs, run) {
		if (run->variant == variant && bench_run_counts(run) &&
		    bench_run_knows(run, figure))
			ret_values[count++] = run->values[figure];
	}
	return count;
}

size_t bench_run_count(const struct bench *bench, uint32_t variant)
{
	size_t count = 0;

	array_foreach(&bench->runs, run)
		count += run->variant == variant && bench_run_counts(run);
	return count;
}

static void find_moments(const double *values, size_t count, struct bench_summary *summary)
{
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		summary->mean += values[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - summary->mean) * (values[i] - summary->mean);
	summary->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

int bench_summarize_at(const struct bench *bench, uint32_t variant, enum bench_figure figure,
		       double risk, struct bench_summary *ret_summary)
{
	struct bench_summary summary = {0};
	double *values = calloc(bench->runs.count + 1, sizeof(*values));
	size_t count;

	if (!values)
		return -ENOMEM;
	summary.count = count = bench_values(bench, variant, figure, values);
	if (count) {
		find_moments(values, count, &summary);
		order_sort(values, count);
		summary.median = order_quantile(values, count, 0.5);
		summary.quartiles[0] = order_quantile(values, count, 0.25);
		summary.quartiles[1] = order_quantile(values, count, 0.75);
		summary.min = values[0];
		summary.max = values[count - 1];
		summary.p95 = count < P95_MIN ? NAN : order_quantile(values, count, 0.95);
		summary.p99 = count < P99_MIN ? NAN : order_quantile(values, count, 0.99);
		summary.interval = order_median_interval(values, count, risk);
	}
	free(values);
	*ret_summary = summary;
	return 0;
}

int bench_summarize(const struct bench *bench, uint32_t variant, enum bench_figure figure,
		    struct bench_summary *ret_summary)
{
	return bench_summarize_at(bench, variant, figure, BENCH_RISK, ret_summary);
}
