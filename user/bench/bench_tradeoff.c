// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_tradeoff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_append.h"

/* In a text, for a number with parameters, and what comes behind. */
#define NAME_ROOM 120

struct scores {
	const struct bench *bench;
	const struct bench_tradeoff *tradeoff;
	struct bench_summary *items; /* of each variant, by goal */
};

static const struct bench_summary *score_of(const struct scores *scores, uint32_t variant,
					    size_t goal)
{
	return &scores->items[variant * scores->tradeoff->goal_count + goal];
}

static struct interval range_of(const struct bench_summary *summary)
{
	/* Too few runs have all of their range. */
	return summary->interval.known
		       ? summary->interval
		       : (struct interval){.low = summary->min, .high = summary->max};
}

/* 1: the left one is better, -1: it is worse, 0: that is not certain. */
static int compare(const struct scores *scores, uint32_t left, uint32_t right, size_t goal)
{
	struct interval a = range_of(score_of(scores, left, goal)),
			b = range_of(score_of(scores, right, goal));
	int sign = scores->tradeoff->goals[goal].higher ? -1 : 1;

	return a.high < b.low ? sign : b.high < a.low ? -sign : 0;
}

static bool beats(const struct scores *scores, uint32_t left, uint32_t right)
{
	bool is_better = false;

	for (size_t i = 0; i < scores->tradeoff->goal_count; i++) {
		int result = compare(scores, left, right, i);

		if (result < 0)
			return false;
		is_better |= result > 0;
	}
	return is_better;
}

static bool is_known(const struct bench *bench, enum bench_figure figure)
{
	for (uint32_t i = 0; i < bench->variants.count; i++) {
		bool has = false;

		array_foreach(&bench->runs, run)
			has |= run->variant == i && bench_run_counts(run) &&
			       bench_run_knows(run, figure);
		if (!has)
			return false;
	}
	return true;
}

static void add_goal(const struct bench *bench, struct bench_tradeoff *tradeoff,
		     enum bench_figure figure, bool higher)
{
	if (is_known(bench, figure))
		tradeoff->goals[tradeoff->goal_count++] =
			(struct bench_goal){.figure = figure, .higher = higher};
}

static void choose_goals(const struct bench *bench, struct bench_tradeoff *tradeoff)
{
	bool is_wanted = bench->variants.items[0].parameters.count > 0;

	for (size_t i = 0; i < bench->columns.count; i++)
		is_wanted |= bench->columns.items[i].better != BENCH_BETTER_UNKNOWN;
	if (!is_wanted || !is_known(bench, bench_main_figure(bench)))
		return;
	add_goal(bench, tradeoff, bench_main_figure(bench), false);
	add_goal(bench, tradeoff, BENCH_PEAK_RSS, false);
	for (size_t i = 0; i < bench->columns.count; i++)
		if (bench->columns.items[i].better != BENCH_BETTER_UNKNOWN)
			add_goal(bench, tradeoff, (enum bench_figure)(BENCH_COLUMN + i),
				 bench->columns.items[i].better == BENCH_BETTER_HIGHER);
}

static void choose_best(const struct scores *scores, struct bench_goal *goal, size_t number)
{
	for (uint32_t i = 1; i < scores->bench->variants.count; i++) {
		double median = score_of(scores, i, number)->median,
		       best = score_of(scores, goal->best, number)->median;

		if (goal->higher ? median > best : median < best)
			goal->best = i;
	}
}

static void choose_variants(const struct scores *scores, struct bench_tradeoff *tradeoff)
{
	uint32_t count = (uint32_t)scores->bench->variants.count;

	for (size_t i = 0; i < tradeoff->goal_count; i++)
		choose_best(scores, &tradeoff->goals[i], i);
	for (uint32_t i = 0; i < count; i++)
		tradeoff->is_chosen[i] = true;
	/* Only those that stay may beat others: overlap is not transitive. */
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count && tradeoff->is_chosen[i]; j++)
			tradeoff->is_chosen[i] =
				j == i || !tradeoff->is_chosen[j] || !beats(scores, j, i);
}

int bench_tradeoff_find(const struct bench *bench, struct bench_tradeoff *ret_tradeoff)
{
	struct scores scores = {.bench = bench, .tradeoff = ret_tradeoff};
	size_t goals;
	int err = 0;

	*ret_tradeoff = (struct bench_tradeoff){0};
	if (bench->variants.count < 2 || bench->variants.count > BENCH_VARIANTS_MAX)
		return 0;
	choose_goals(bench, ret_tradeoff);
	goals = ret_tradeoff->goal_count;
	if (!goals)
		return 0;
	scores.items = calloc(bench->variants.count * goals, sizeof(*scores.items));
	if (!scores.items)
		return -ENOMEM;
	for (uint32_t i = 0; i < bench->variants.count; i++)
		for (size_t j = 0; j < goals && err == 0; j++)
			err = bench_summarize(bench, i, ret_tradeoff->goals[j].figure,
					      &scores.items[i * goals + j]);
	if (err == 0)
		choose_variants(&scores, ret_tradeoff);
	free(scores.items);
	return err;
}

/* "1 (batch=8)" */
static void add_variant(const struct bench *bench, uint32_t variant, const char *before, char *text,
			size_t size)
{
	const struct bench_variant *of = &bench->variants.items[variant];
	const char *between = " (";

	text_append(text, size, "%s%u", before, variant + 1);
	array_foreach(&of->parameters, parameter) {
		text_append(text, size, "%s%.32s=%.32s", between, parameter->name,
			    parameter->value);
		between = ", ";
	}
	if (of->parameters.count)
		text_append(text, size, ")");
}

void bench_tradeoff_text(const struct bench *bench, char *ret_text, size_t size)
{
	struct bench_tradeoff tradeoff;
	char before[96], value[BENCH_VALUE_SIZE];
	const char *between = "";
	size_t beaten = 0, more = 0;

	ret_text[0] = '\0';
	if (bench_tradeoff_find(bench, &tradeoff) < 0 || !tradeoff.goal_count)
		return;
	for (size_t i = 0; i < tradeoff.goal_count; i++) {
		const struct bench_goal *goal = &tradeoff.goals[i];
		struct bench_summary summary;

		if (bench_summarize(bench, goal->best, goal->figure, &summary) < 0)
			continue;
		snprintf(before, sizeof(before), "%s %.40s: ", i ? "," : "best",
			 bench_figure_title(bench, goal->figure));
		add_variant(bench, goal->best, before, ret_text, size);
		text_append(
			ret_text, size, " with %s",
			bench_value_text(value, bench_figures[goal->figure].unit, summary.median));
	}
	for (uint32_t i = 0; i < bench->variants.count; i++)
		beaten += !tradeoff.is_chosen[i];
	if (!beaten) {
		text_append(ret_text, size, "; none beats another in all of these");
		return;
	}
	text_append(
		ret_text, size,
		"; each of the others is no better in any of these, and worse in one, than one of");
	for (uint32_t i = 0; i < bench->variants.count; i++) {
		if (!tradeoff.is_chosen[i])
			continue;
		if (strlen(ret_text) + NAME_ROOM > size) {
			more++;
			continue;
		}
		snprintf(before, sizeof(before), "%s ", between);
		add_variant(bench, i, before, ret_text, size);
		between = ",";
	}
	if (more)
		text_append(ret_text, size, " and %zu more", more);
}
