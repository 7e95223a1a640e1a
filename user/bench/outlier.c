// SPDX-License-Identifier: BSD-2-Clause
#include "bench/outlier.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_append.h"
#include "bench/verdict.h"

#define RUNS_MIN 5 /* fewer have no usual value */
/* Less is not worth a line, however regular the others are. */
#define PART_MIN 0.03
/* A state explains an outlier when it makes up this part of it. */
#define EXPLAINS_PART  0.15
#define TREND_RUNS_MIN 10
/* By chance, one series in a hundred has such a correlation, times the root of its length. */
#define TREND_Z 2.6

/* What a run can have more of, beginning with what is a cause rather than its effect: a process
 * that waits for another sleeps as long as that is held up. */
static const enum bench_figure causes[] = {
	BENCH_STOPPED,	       BENCH_DISK,  BENCH_RUNQUEUE, BENCH_CPU,
	BENCH_UNINTERRUPTIBLE, BENCH_STEAL, BENCH_SLEEP};

struct finding_work {
	const struct bench *bench;
	double *values, *scratch;
	struct outliers *outliers;
};

static int compare_parts(const void *a, const void *b)
{
	const struct outlier_part *left = a, *right = b;

	return (fabs(right->change) > fabs(left->change)) -
	       (fabs(right->change) < fabs(left->change));
}

static void explain(const struct finding_work *work, struct outlier *outlier,
		    const double medians[BENCH_FIGURES])
{
	const struct bench_run *run = &work->bench->runs.items[outlier->run];
	struct outlier_part parts[ARRAY_SIZE(causes)];
	size_t count = 0;
	double explained = 0;

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		double change = run->values[causes[i]] - medians[causes[i]];

		if (!bench_run_knows(run, causes[i]) || change * outlier->change <= 0 ||
		    fabs(change) < EXPLAINS_PART * fabs(outlier->change))
			continue;
		/* Sleep and steal are told when the causes do not suffice. */
		if ((causes[i] == BENCH_SLEEP || causes[i] == BENCH_STEAL) &&
		    fabs(explained) > (1 - EXPLAINS_PART) * fabs(outlier->change))
			continue;
		parts[count++] = (struct outlier_part){causes[i], change};
		explained += change;
	}
	qsort(parts, count, sizeof(*parts), compare_parts);
	outlier->part_count = count < OUTLIER_PARTS ? count : OUTLIER_PARTS;
	memcpy(outlier->parts, parts, outlier->part_count * sizeof(*parts));
	if (bench_run_knows(run, BENCH_MAJOR_FAULTS))
		outlier->major_faults =
			run->values[BENCH_MAJOR_FAULTS] - medians[BENCH_MAJOR_FAULTS];
}

static void find_medians(const struct finding_work *work, uint32_t variant,
			 double ret_medians[BENCH_FIGURES])
{
	for (int figure = 0; figure < BENCH_FIGURES; figure++) {
		size_t count =
			bench_values(work->bench, variant, (enum bench_figure)figure, work->values);

		order_sort(work->values, count);
		ret_medians[figure] = count ? order_quantile(work->values, count, 0.5) : 0;
	}
}

static int find_of_variant(struct finding_work *work, uint32_t variant)
{
	const struct bench *bench = work->bench;
	size_t count = bench_values(bench, variant, BENCH_WALL, work->values);
	double median, limit, medians[BENCH_FIGURES];

	if (count < RUNS_MIN)
		return 0;
	order_sort(work->values, count);
	median = order_quantile(work->values, count, 0.5);
	limit = fmax(OUTLIER_Z * order_scatter(work->values, count, work->scratch),
		     PART_MIN * median);
	find_medians(work, variant, medians);
	for (size_t i = 0; i < bench->runs.count; i++) {
		const struct bench_run *run = &bench->runs.items[i];
		double change = run->values[BENCH_WALL] - median;
		struct outlier *outlier;

		if (run->variant != variant || !bench_run_counts(run) || fabs(change) <= limit)
			continue;
		outlier = array_add(work->outliers);
		if (!outlier)
			return -ENOMEM;
		outlier->run = (uint32_t)i;
		outlier->change = change;
		outlier->part = change / median;
		explain(work, outlier, medians);
	}
	return 0;
}

int outliers_find(const struct bench *bench, struct outliers *ret_outliers)
{
	struct outliers outliers = {0};
	struct finding_work work = {
		.bench = bench,
		.values = calloc(bench->runs.count + 1, sizeof(double)),
		.scratch = calloc(bench->runs.count + 1, sizeof(double)),
		.outliers = &outliers,
	};
	int err = work.values && work.scratch ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < bench->variants.count && err == 0; i++)
		err = find_of_variant(&work, i);
	free(work.values);
	free(work.scratch);
	if (err < 0) {
		free(outliers.items);
		return err;
	}
	*ret_outliers = outliers;
	return 0;
}

void outlier_text(const struct outlier *outlier, char *ret_text, size_t size)
{
	static const char *const words[BENCH_FIGURES] = {
		[BENCH_STOPPED] = "stopped by a signal",
		[BENCH_DISK] = "disk wait",
		[BENCH_RUNQUEUE] = "waiting for a CPU",
		[BENCH_CPU] = "on CPU",
		[BENCH_UNINTERRUPTIBLE] = "D state, not I/O",
		[BENCH_STEAL] = "taken by the hypervisor",
		[BENCH_SLEEP] = "sleep",
	};
	char value[BENCH_VALUE_SIZE], percent[32];

	bench_percent_text(outlier->part, percent, sizeof(percent));
	snprintf(ret_text, size, "%s, %s%s", percent, outlier->change > 0 ? "+" : "",
		 bench_value_text(value, BENCH_NS, outlier->change));
	for (size_t i = 0; i < outlier->part_count; i++) {
		const struct outlier_part *part = &outlier->parts[i];

		text_append(ret_text, size, "%s%s%s %s", i ? ", " : ": ",
			    part->change > 0 ? "+" : "",
			    bench_value_text(value, BENCH_NS, part->change), words[part->figure]);
	}
	if (outlier->major_faults >= 1)
		text_append(ret_text, size, "; %s more major faults",
			    bench_value_text(value, BENCH_COUNT, outlier->major_faults));
	if (!outlier->part_count)
		text_append(ret_text, size, ": its account does not say why");
}

/* ---- trend ---- */

/* Each run's rank within its variant, so that variants may differ. */
static double relative_rank(const struct bench *bench, const struct bench_run *run)
{
	double below = 0, count = 0;

	array_foreach(&bench->runs, other) {
		if (other->variant != run->variant || !bench_run_counts(other))
			continue;
		count++;
		if (other->values[BENCH_WALL] < run->values[BENCH_WALL])
			below++;
		else if (other->values[BENCH_WALL] <= run->values[BENCH_WALL])
			below += 0.5;
	}
	return below / count - 0.5;
}

double bench_trend(const struct bench *bench)
{
	double products = 0, squares[2] = {0}, place = 0, middle;
	size_t count = 0;

	array_foreach(&bench->runs, run)
		count += bench_run_counts(run);
	if (count < TREND_RUNS_MIN)
		return 0;
	middle = ((double)count - 1) / 2;
	array_foreach(&bench->runs, run) {
		double rank, from_middle;

		if (!bench_run_counts(run))
			continue;
		rank = relative_rank(bench, run);
		from_middle = place++ - middle;
		products += rank * from_middle;
		squares[0] += rank * rank;
		squares[1] += from_middle * from_middle;
	}
	if (squares[0] <= 0)
		return 0;
	products /= sqrt(squares[0] * squares[1]);
	return fabs(products) * sqrt((double)count - 1) > TREND_Z ? products : 0;
}
