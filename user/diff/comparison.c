// SPDX-License-Identifier: BSD-2-Clause
#include "diff/comparison.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "diff/place_values.h"
#include "diff/region_values.h"
#include "profile/kind_table.h"
#include "statistics/student_t.h"

const char *const diff_verdict_names[] = {
	[DIFF_SAME] = "same",	      [DIFF_GREW] = "grew",	    [DIFF_SHRANK] = "shrank",
	[DIFF_APPEARED] = "appeared", [DIFF_VANISHED] = "vanished", [DIFF_UNJUDGED] = "not_judged",
};

/* Parts of the risk. Most of it is for functions themselves, which a change of a program moves;
 * what the others say follows from those. Stacks are for pictures, which are read alone. */
static const double level_risk[DIFF_LEVELS] = {
	[DIFF_ALL] = 0.05,
	[DIFF_PROCESS] = 0.1,
	[DIFF_CONTAINER] = 0.05,
	[DIFF_SELF] = 0.6,
	[DIFF_TOTAL] = 0.2,
	[DIFF_STACK] = 1,
	[DIFF_LOCK] = 0.1,
	/* Beside functions that are counted, and mostly without any. */
	[DIFF_REGION_TIME] = 0.1,
	[DIFF_REGION_COUNT] = 0.05,
	[DIFF_REGION_MEAN] = 0.2,
	[DIFF_REGION_P50] = 0.1,
	[DIFF_REGION_P99] = 0.1,
	[DIFF_PLACE] = 0.6,
	[DIFF_GPU_LAUNCHES] = 0.1,
	[DIFF_GPU_BLOCKS] = 0.05,
	[DIFF_GPU_KERNEL_TIME] = 0.1,
	[DIFF_GPU_COPIED] = 0.1,
	[DIFF_GPU_ALLOCATED] = 0.1,
	[DIFF_GPU_KEPT] = 0.05,
	[DIFF_GPU_WAIT] = 0.1,
};
/* Of a level's risk, what is shared out by size; the rest evenly, so that something small that
 * appeared is found, too. */
#define RISK_BY_SIZE 0.8

/* Above this relative error, a quotient says nothing. */
#define RATIO_ERROR_MAX 0.3

/* On both sides together, so that their scatter has two degrees of freedom. */
#define RUNS_ENOUGH 4

struct comparing {
	struct comparison *comparison;
	struct resampling *resampling[DIFF_SIDES];
	struct region_values regions[DIFF_SIDES];
	struct place_values places[DIFF_SIDES];
	double divisor[DIFF_SIDES];
	double seconds[DIFF_SIDES]; /* by which levels are divided */
	/* Relative error of what is sampled in all, against what the kernel has counted. */
	double whole_error[DIFF_SIDES][PKBPF_PROFILE_KINDS];
};

/* ---- rows ---- */

static const struct diff_series *whole_of(const struct measurement *side,
					  const struct diff_key *key)
{
	bool is_stacks = diff_level_is_stacks(key->level);
	struct diff_key whole = {key->kind, is_stacks ? DIFF_ALL_STACKS : DIFF_ALL, 0};

	return diff_level_is_calls(key->level) ? NULL : measurement_find(side, &whole);
}

static bool add_rows(struct comparison *comparison, const struct measurement *side,
		     const struct measurement *other)
{
	array_foreach(&side->series, series) {
		struct diff_row *row;

		if (!(comparison->kinds_mask & 1U << series->key.kind) ||
		    series->key.level == DIFF_ALL_STACKS ||
		    (series->key.level >= DIFF_REGION_MEASURED &&
		     series->key.level <= DIFF_PLACE) ||
		    (other && measurement_find(other, &series->key)))
			continue;
		row = array_add(&comparison->rows);
		if (!row)
			return false;
		row->key = series->key;
	}
	return true;
}

static bool is_let_go(const struct measurement *side, const struct diff_key *key)
{
	struct diff_key let_go = {key->kind, DIFF_REGION_LET_GO, key->name};

	return diff_level_is_region(key->level) && measurement_find(side, &let_go);
}

/* Keys of a level that one side cannot have are no news, and neither are regions of which one side
 * lacks calls. */
static void drop_one_sided(struct comparison *comparison)
{
	const struct measurement *base = comparison->sides[DIFF_BASE];
	const struct measurement *new = comparison->sides[DIFF_NEW];
	size_t count = 0;

	array_foreach(&comparison->rows, row) {
		if (base->has_level[row->key.level] && new->has_level[row->key.level] &&
		    !is_let_go(base, &row->key) && !is_let_go(new, &row->key))
			comparison->rows.items[count++] = *row;
	}
	comparison->rows.count = count;
}

static bool add_region_row(struct comparison *comparison, enum diff_level level, uint32_t name)
{
	struct diff_row *row = array_add(&comparison->rows);

	if (row)
		row->key = (struct diff_key){PKBPF_PROFILE_CALLS, level, name};
	return row;
}

/* Means and percentiles of regions with a time on both sides. */
static bool add_region_values(struct comparison *comparison)
{
	size_t count = comparison->rows.count;
	bool added = true;

	for (size_t i = 0; added && i < count; i++) {
		struct diff_key key = comparison->rows.items[i].key, measured = key;

		measured.level = DIFF_REGION_MEASURED;
		if (key.level != DIFF_REGION_TIME ||
		    !measurement_find(comparison->sides[DIFF_BASE], &measured) ||
		    !measurement_find(comparison->sides[DIFF_NEW], &measured))
			continue;
		added = add_region_row(comparison, DIFF_REGION_MEAN, key.name) &&
			add_region_row(comparison, DIFF_REGION_P50, key.name) &&
			add_region_row(comparison, DIFF_REGION_P99, key.name);
	}
	return added;
}

/* ---- estimates ---- */

/* Is the sum of a kind that of a fixed amount of work, whatever time it took? CPU time and page
 * faults are; waits and devices scatter as they go, which slices tell of one run, and several runs
 * tell better. */
static bool is_by_work(const struct comparing *comparing, uint32_t kind)
{
	const struct comparison *comparison = comparing->comparison;
	uint32_t runs =
		comparison->sides[DIFF_BASE]->run_count + comparison->sides[DIFF_NEW]->run_count;

	return comparison->work.per != DIFF_PER_SECOND &&
	       (kind == PKBPF_PROFILE_CPU || kind == PKBPF_PROFILE_FAULTS || runs >= RUNS_ENOUGH);
}

/* Variance from run to run, relative, and its degrees of freedom (0: assumed). */
static double between_runs(const struct comparing *comparing, const struct diff_key *key,
			   const struct diff_estimate *estimates, double *ret_freedom)
{
	bool per_time = comparing->comparison->work.per == DIFF_PER_SECOND;
	double squares = 0, freedom = 0, inside = 0;

	for (int i = 0; i < DIFF_SIDES; i++) {
		const struct measurement *side = comparing->comparison->sides[i];
		const struct diff_estimate *estimate = &estimates[i];
		double before = freedom;

		resampling_between_runs(comparing->resampling[i], measurement_find(side, key),
					per_time, &squares, &freedom);
		/* Of one run's mean, which scatters by its slices, too. */
		if (freedom > before && estimate->sum > 0)
			inside += (freedom - before) * side->run_count *
				  pow(estimate->error / estimate->sum, 2);
	}
	*ret_freedom = freedom;
	if (freedom <= 0)
		return DIFF_RUN_SCATTER * DIFF_RUN_SCATTER;
	return squares > inside ? (squares - inside) / freedom : 0;
}

/* Of what is there at the end of each slice the mean is compared, whatever work was done. */
static double divisor_of_kind(const struct comparing *comparing, int side, uint32_t kind)
{
	return kind_ops_of((enum pkbpf_profile_kind)kind)->is_level ? comparing->seconds[side]
								    : comparing->divisor[side];
}

/* Least standard error of a sum that is counted in samples. Where the scatter between slices is
 * known, samples of a steady clock are a draw from all samples of the side; else they are taken for
 * independent events. */
static double sampling_error(const struct comparing *comparing, int side,
			     const struct diff_estimate *estimates)
{
	double counts = estimates[DIFF_BASE].count + estimates[DIFF_NEW].count;
	double sums = estimates[DIFF_BASE].sum + estimates[DIFF_NEW].sum;
	double divisors = comparing->divisor[DIFF_BASE] + comparing->divisor[DIFF_NEW];
	double expected = counts * comparing->divisor[side] / divisors;
	double count = fmax(estimates[side].count, expected);
	double rest = comparing->comparison->blocks[side] ? 1 - estimates[side].share : 1;

	return counts > 0 ? sqrt(count * fmax(rest, 0)) * sums / counts : 0;
}

/* Samples of a busy program are as many as its time holds; of one that comes and goes they are a
 * matter of luck. Slices tell which: by samples per time that the kernel counted, in each. */
static double whole_error(struct resampling *resampling, const struct measurement *side,
			  uint32_t kind)
{
	struct diff_key counted = {kind, DIFF_ALL, 0}, sampled = {kind, DIFF_ALL_STACKS, 0};
	const struct diff_series *stacks = measurement_find(side, &sampled);
	struct diff_estimate estimate;

	if (!stacks || !(side->sampled_mask & 1U << kind))
		return 0;
	resampling_estimate(resampling, stacks, measurement_find(side, &counted), true, &estimate);
	if (resampling_block(resampling) && estimate.share > 0)
		return estimate.share_error / estimate.share;
	return estimate.count > 0 ? 1 / sqrt(estimate.count) : 0;
}

static enum diff_evidence evidence_of(const struct comparing *comparing, const struct diff_row *row)
{
	const struct comparison *comparison = comparing->comparison;
	uint32_t sampled = comparison->sides[DIFF_BASE]->sampled_mask &
			   comparison->sides[DIFF_NEW]->sampled_mask;

	if (comparison->blocks[DIFF_BASE] && comparison->blocks[DIFF_NEW])
		return DIFF_BY_SLICES;
	if (sampled & 1U << row->key.kind &&
	    (row->sides[DIFF_BASE].count > 0 || row->sides[DIFF_NEW].count > 0))
		return DIFF_BY_SAMPLING;
	return DIFF_BY_NOTHING;
}

static void estimate_side(const struct comparing *comparing, int side, const struct diff_row *row,
			  struct diff_estimate *estimate)
{
	const struct measurement *measurement = comparing->comparison->sides[side];
	bool by_work = is_by_work(comparing, row->key.kind);

	if (diff_level_is_derived(row->key.level)) {
		region_values_estimate(&comparing->regions[side], row->key.level, row->key.name,
				       estimate);
		return;
	}
	resampling_estimate(comparing->resampling[side], measurement_find(measurement, &row->key),
			    whole_of(measurement, &row->key), by_work, estimate);
	/* The scatter of entries within a run does not estimate the scatter of their count. */
	if (by_work && diff_level_is_calls(row->key.level))
		estimate->error = estimate->freedom = 0;
}

/* Fills both sides; returns the degrees of freedom of their difference (Welch and Satterthwaite).
 */
static double estimate_row(const struct comparing *comparing, struct diff_row *row)
{
	const struct comparison *comparison = comparing->comparison;
	struct diff_estimate estimates[DIFF_SIDES];
	double variance = 0, spread = 0, run_freedom, runs;

	for (int i = 0; i < DIFF_SIDES; i++)
		estimate_side(comparing, i, row, &estimates[i]);
	runs = between_runs(comparing, &row->key, estimates, &run_freedom);
	for (int i = 0; i < DIFF_SIDES; i++) {
		const struct diff_estimate *estimate = &estimates[i];
		double divisor = diff_level_is_derived(row->key.level)
					 ? 1
					 : divisor_of_kind(comparing, i, row->key.kind);
		double least = sampling_error(comparing, i, estimates);
		bool by_slices = estimate->error > least && estimate->freedom > 0;
		double inside = pow(fmax(estimate->error, least) / divisor, 2);
		double whole =
			is_by_work(comparing, row->key.kind) && diff_level_is_stacks(row->key.level)
				? comparing->whole_error[i][row->key.kind]
				: 0;
		double outside = (runs / fmax(comparison->sides[i]->run_count, 1) + whole * whole) *
				 pow(estimate->sum / divisor, 2);

		row->sides[i] = (struct diff_amount){
			.value = estimate->sum / divisor,
			.error = sqrt(inside + outside),
			.count = estimate->count,
			.share = estimate->share,
			.share_error = estimate->share_error,
		};
		variance += inside + outside;
		spread += by_slices ? inside * inside / estimate->freedom : 0;
		spread += run_freedom > 0 ? outside * outside / run_freedom : 0;
	}
	return spread > 0 ? fmin(variance * variance / spread, STUDENT_T_MANY) : STUDENT_T_MANY;
}

/* ---- judging ---- */

static double relative_error(const struct diff_amount *amount)
{
	return amount->value > 0 ? amount->error / amount->value : INFINITY;
}

static void judge_by_ratio(struct diff_row *row, double error)
{
	double base = row->sides[DIFF_BASE].value,
	       logarithm = log(row->sides[DIFF_NEW].value / base);
	double reach = student_t_quantile(row->risk, row->freedom) * error;

	row->probability = student_t_probability(logarithm / error, row->freedom);
	row->ratio_low = expm1(logarithm - reach);
	row->ratio_high = expm1(logarithm + reach);
	row->low = row->ratio_low * base;
	row->high = row->ratio_high * base;
}

static void judge_by_change(struct diff_row *row, double error)
{
	double reach = student_t_quantile(row->risk, row->freedom) * error;

	row->probability = student_t_probability(row->change / error, row->freedom);
	row->low = row->change - reach;
	row->high = row->change + reach;
	if (row->has_ratio) {
		/* A decrease cannot exceed the base. */
		row->low = fmax(row->low, -row->sides[DIFF_BASE].value);
		row->ratio_low = row->low / row->sides[DIFF_BASE].value;
		row->ratio_high = row->high / row->sides[DIFF_BASE].value;
	}
}

/* Of runs that are exactly alike each change is certain. */
static void judge_exact(struct diff_row *row)
{
	row->probability = row->change != 0 ? 0 : 1;
	row->low = row->high = row->change;
	row->ratio_low = row->ratio_high = row->ratio;
}

static enum diff_verdict verdict_of(const struct diff_row *row)
{
	double base = row->sides[DIFF_BASE].value, new = row->sides[DIFF_NEW].value;

	if (row->evidence == DIFF_BY_NOTHING)
		return DIFF_UNJUDGED;
	if (row->probability >= row->risk ||
	    fabs(row->change) < DIFF_LEAST_CHANGE * fmax(base, new))
		return DIFF_SAME;
	if (row->change > 0)
		return base > 0 ? DIFF_GREW : DIFF_APPEARED;
	return new > 0 ? DIFF_SHRANK : DIFF_VANISHED;
}

static void judge(struct diff_row *row)
{
	const struct diff_amount *base = &row->sides[DIFF_BASE], *new = &row->sides[DIFF_NEW];
	double left = relative_error(base), right = relative_error(new);
	double error = hypot(base->error, new->error);

	row->change = new->value - base->value;
	row->has_ratio =
		left < RATIO_ERROR_MAX || (row->evidence == DIFF_BY_NOTHING && base->value > 0);
	if (row->has_ratio)
		row->ratio = new->value / base->value - 1;
	row->probability = 1;
	if (row->evidence != DIFF_BY_NOTHING && error > 0) {
		if (left < RATIO_ERROR_MAX && right < RATIO_ERROR_MAX)
			judge_by_ratio(row, hypot(left, right));
		else
			judge_by_change(row, error);
	} else if (row->evidence != DIFF_BY_NOTHING) {
		judge_exact(row);
	}
	row->verdict = verdict_of(row);
}

/* ---- shares of the risk ---- */

struct family {
	double size, rows;
};

static double size_of(const struct diff_row *row)
{
	return row->sides[DIFF_BASE].value + row->sides[DIFF_NEW].value;
}

static double kind_risk(const struct comparison *comparison, uint32_t kind)
{
	double sum = 0;

	for (uint32_t i = 0; i < PKBPF_PROFILE_KINDS; i++)
		if (comparison->kinds_mask & 1U << i)
			sum += i == PKBPF_PROFILE_CPU ? 2 : 1;
	return (kind == PKBPF_PROFILE_CPU ? 2 : 1) / sum;
}

static void share_risk(struct comparison *comparison)
{
	struct family families[PKBPF_PROFILE_KINDS][DIFF_LEVELS] = {0};

	array_foreach(&comparison->rows, row) {
		struct family *family = &families[row->key.kind][row->key.level];

		family->size += size_of(row);
		family->rows++;
	}
	array_foreach(&comparison->rows, row) {
		const struct family *family = &families[row->key.kind][row->key.level];
		double part = family->size > 0 ? size_of(row) / family->size : 0;

		row->risk = DIFF_RISK * kind_risk(comparison, row->key.kind) *
			    level_risk[row->key.level] *
			    (RISK_BY_SIZE * part + (1 - RISK_BY_SIZE) / family->rows);
	}
}

/* ---- all of it ---- */

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct diff_row *a = left, *b = right;

	if (a->key.kind != b->key.kind)
		return a->key.kind < b->key.kind ? -1 : 1;
	if (a->key.level != b->key.level)
		return a->key.level < b->key.level ? -1 : 1;
	if (diff_is_significant(a) != diff_is_significant(b))
		return diff_is_significant(a) ? -1 : 1;
	if (fabs(a->change) != fabs(b->change))
		return fabs(a->change) > fabs(b->change) ? -1 : 1;
	if (a->key.level == DIFF_STACK)
		return a->key.name < b->key.name ? -1 : a->key.name > b->key.name;
	return strcmp(diff_row_name(context, a), diff_row_name(context, b));
}

static double seconds_of(const struct comparison *comparison, int side)
{
	double seconds = (double)measurement_length_ns(comparison->sides[side]) / NS_PER_SECOND;

	return seconds > 0 ? seconds : 1;
}

static double divisor_of(const struct comparison *comparison, int side)
{
	const struct measurement *measurement = comparison->sides[side];

	switch (comparison->work.per) {
	case DIFF_PER_SECOND:
		return seconds_of(comparison, side);
	case DIFF_PER_RUN:
		return measurement->run_count ? measurement->run_count : 1;
	case DIFF_PER_WORK:
		break;
	}
	return side == DIFF_BASE ? comparison->work.base : comparison->work.new;
}

/* Percentiles are not known from reports in JSON, means not of regions without calls. */
static void drop_unknown(struct comparison *comparison)
{
	size_t count = 0;

	array_foreach(&comparison->rows, row) {
		if (!diff_level_is_derived(row->key.level) ||
		    (row->sides[DIFF_BASE].value > 0 && row->sides[DIFF_NEW].value > 0))
			comparison->rows.items[count++] = *row;
	}
	comparison->rows.count = count;
}

static void judge_all(struct comparing *comparing)
{
	struct comparison *comparison = comparing->comparison;

	array_foreach(&comparison->rows, row) {
		if (row->key.level == DIFF_PLACE) {
			place_values_compare(comparing->places, row->key.name, row->sides);
			row->freedom = STUDENT_T_MANY;
			row->evidence = DIFF_BY_SAMPLING;
			continue;
		}
		row->freedom = estimate_row(comparing, row);
		row->evidence = evidence_of(comparing, row);
	}
	drop_unknown(comparison);
	share_risk(comparison);
	array_foreach(&comparison->rows, row)
		judge(row);
	if (comparison->rows.count)
		qsort_r(comparison->rows.items, comparison->rows.count,
			sizeof(*comparison->rows.items), compare_rows, comparison);
}

static int find_rows(struct comparison *comparison, struct error *error)
{
	const struct measurement *base = comparison->sides[DIFF_BASE];
	const struct measurement *new = comparison->sides[DIFF_NEW];

	comparison->kinds_mask = base->kinds_mask & new->kinds_mask;
	if (!comparison->kinds_mask)
		return error_set(
			error, EINVAL,
			"nothing to compare: the two sides hold no kind of event in common");
	if (!add_rows(comparison, base, NULL) || !add_rows(comparison, new, base))
		return error_set(error, ENOMEM, "cannot compare: out of memory");
	drop_one_sided(comparison);
	place_rows_replace_functions(comparison);
	if (!add_region_values(comparison))
		return error_set(error, ENOMEM, "cannot compare: out of memory");
	return 0;
}

int comparison_init(struct comparison *comparison, const struct measurement *base,
		    const struct measurement *new, const struct diff_work *work,
		    struct error *error)
{
	struct comparing comparing = {.comparison = comparison};
	int err;

	*comparison = (struct comparison){
		.names = base->names,
		.sides = {base, new},
		.work = *work,
	};
	err = find_rows(comparison, error);
	for (int i = 0; i < DIFF_SIDES && !err; i++) {
		comparing.resampling[i] = resampling_new(comparison->sides[i]);
		comparing.divisor[i] = divisor_of(comparison, i);
		comparing.seconds[i] = seconds_of(comparison, i);
		if (!comparing.resampling[i])
			err = error_set(error, ENOMEM, "cannot compare: out of memory");
		else
			comparison->blocks[i] = resampling_block(comparing.resampling[i]);
		if (!err && !region_values_init(&comparing.regions[i], comparison->sides[i],
						comparing.resampling[i]))
			err = error_set(error, ENOMEM, "cannot compare: out of memory");
		if (!err && !place_values_init(&comparing.places[i], comparison->sides[i]))
			err = error_set(error, ENOMEM, "cannot compare: out of memory");
		for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
			comparing.whole_error[i][kind] =
				whole_error(comparing.resampling[i], comparison->sides[i], kind);
	}
	if (!err && !place_rows_add(comparison, comparing.places))
		err = error_set(error, ENOMEM, "cannot compare: out of memory");
	if (!err)
		judge_all(&comparing);
	for (int i = 0; i < DIFF_SIDES; i++) {
		region_values_done(&comparing.regions[i]);
		place_values_done(&comparing.places[i]);
		resampling_free(comparing.resampling[i]);
	}
	if (err)
		comparison_done(comparison);
	return err;
}

void comparison_done(struct comparison *comparison)
{
	array_free(&comparison->rows);
}

bool diff_is_significant(const struct diff_row *row)
{
	return row->verdict != DIFF_SAME && row->verdict != DIFF_UNJUDGED;
}

const char *diff_row_name(const struct comparison *comparison, const struct diff_row *row)
{
	if (row->key.level == DIFF_STACK)
		return "";
	return string_pool_get(comparison->names->texts, row->key.name);
}

const struct diff_row *comparison_find(const struct comparison *comparison,
				       const struct diff_key *key)
{
	array_foreach(&comparison->rows, row) {
		if (row->key.kind == key->kind && row->key.level == key->level &&
		    row->key.name == key->name)
			return row;
	}
	return NULL;
}
