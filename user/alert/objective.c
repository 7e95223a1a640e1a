// SPDX-License-Identifier: BSD-2-Clause
/* Reads objectives and holds windows against them. */
#include "alert/objective.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alert/term_value.h"
#include "base/parse_value.h"

#define OBJECTIVES_MAX 100
#define TARGET	       99
#define MINUTE_NS      60000000000ULL
#define MISSES_MAX     2000

static const struct {
	uint64_t length_ns;
	enum store_level level;
} lengths[] = {
	{MINUTE_NS, STORE_MINUTE}, {10 * MINUTE_NS, STORE_TEN}, {60 * MINUTE_NS, STORE_HOUR}};

/* ---- the configuration ---- */

static int set_when(struct objective *objective, const char *value, struct error *error)
{
	if (strlen(value) >= sizeof(objective->when))
		return error_set(error, EINVAL, "the value of when is too long");
	if (alert_term_parse(value, &objective->term, error) < 0)
		return -EINVAL;
	if (objective->term.is_past)
		return error_set(error, EINVAL, "'%.64s': a promise is no comparison with the past",
				 value);
	if (objective->term.subject == ALERT_OF_HOST)
		return error_set(error, EINVAL,
				 "'%.64s' is not kept in the history: it can be in alerts alone",
				 value);
	snprintf(objective->when, sizeof(objective->when), "%s", value);
	return 0;
}

static int set_over(struct objective *objective, const char *value, struct error *error)
{
	uint64_t ns;

	if (parse_duration_ns(value, "over", &ns, error) < 0)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		if (lengths[i].length_ns != ns)
			continue;
		objective->level = lengths[i].level;
		return 0;
	}
	return error_set(error, EINVAL, "invalid value '%.64s' for over: expected 1m, 10m or 1h",
			 value);
}

static int set_target(struct objective *objective, const char *value, struct error *error)
{
	int used = 0;

	if (sscanf(value, "%lf%%%n", &objective->target, &used) == 1 && used && !value[used] &&
	    objective->target > 0 && objective->target <= 100)
		return 0;
	return error_set(error, EINVAL,
			 "invalid value '%.64s' for target: expected one like 99.9%%", value);
}

static int set_key(struct objective *objective, const struct ini_entry *entry, struct error *error)
{
	if (strcmp(entry->key, "when") == 0)
		return set_when(objective, entry->value, error);
	if (strcmp(entry->key, "over") == 0)
		return set_over(objective, entry->value, error);
	if (strcmp(entry->key, "target") == 0)
		return set_target(objective, entry->value, error);
	return error_set(error, EINVAL,
			 "unknown key '%.64s' of an objective: expected when, over or target",
			 entry->key);
}

static struct objective *add(struct objectives *objectives, const char *name, struct error *error)
{
	struct objective *objective = NULL;

	if (!*name || strlen(name) >= ALERT_NAME_SIZE)
		error_set(error, EINVAL, "[objective NAME] requires a name of at most %d bytes",
			  ALERT_NAME_SIZE - 1);
	else if (objectives->list.count < OBJECTIVES_MAX)
		objective = array_add(&objectives->list);
	else
		error_set(error, EINVAL, "more than %d objectives", OBJECTIVES_MAX);
	if (objective) {
		*objective = (struct objective){.level = STORE_MINUTE, .target = TARGET};
		snprintf(objective->name, sizeof(objective->name), "%s", name);
	}
	return objective;
}

static int check_all(const struct objectives *objectives, struct error *error)
{
	array_foreach(&objectives->list, objective)
		if (!objective->when[0])
			return error_set(error, EINVAL, "[objective %s] has no when",
					 objective->name);
	return 0;
}

int objectives_read(const struct ini *ini, struct objectives *ret_objectives, struct error *error)
{
	struct objective *objective = NULL;
	struct error inner;

	*ret_objectives = (struct objectives){0};
	array_foreach(&ini->entries, entry) {
		if (strcmp(entry->kind, "objective") != 0)
			continue;
		error_set(&inner, ENOMEM, "out of memory");
		if (!entry->key)
			objective = add(ret_objectives, entry->name, &inner);
		if (!objective || (entry->key && set_key(objective, entry, &inner) < 0))
			return error_set(error, EINVAL, "line %u: %s", entry->line, inner.text);
	}
	return check_all(ret_objectives, error);
}

int objectives_add(struct objectives *objectives, const char *name, const char *when,
		   struct error *error)
{
	struct objective *objective;

	error_set(error, ENOMEM, "out of memory");
	objective = add(objectives, name, error);
	return objective ? set_when(objective, when, error) : -EINVAL;
}

int objectives_check(const struct objectives *objectives, uint32_t kinds_mask, bool regions,
		     struct error *error)
{
	struct error reason;

	array_foreach(&objectives->list, objective)
		if (alert_term_check_possible(&objective->term, kinds_mask, regions, &reason) < 0)
			return error_set(error, EINVAL, "[objective %s]: %s", objective->name,
					 reason.text);
	return 0;
}

void objectives_done(struct objectives *objectives)
{
	array_free(&objectives->list);
}

/* ---- windows ---- */

/* Less says too little of a window. */
#define WATCHED_PARTS 10

/* As term_value(), with the verdict. -ENODATA also where too little was watched. */
static int measure_region(struct objective_result *result, const struct profile *profile,
			  double *ret_value, bool *ret_holds)
{
	uint64_t recorded_ns = profile_info_read(profile)->regions_ns;
	struct term_regions regions;
	int err = term_region_value(&result->objective->term, profile, ret_value, ret_holds,
				    &regions);

	result->regions_ns += recorded_ns;
	result->watched_ns += regions.watched_ns;
	if (err < 0)
		return err;
	result->regions += regions.count;
	result->violations += regions.over;
	result->uncounted += regions.over_known ? 0 : regions.count;
	/* A sum of a part of the time is not that of all. */
	if (result->objective->term.region.figure->adds_up && regions.watched_ns < recorded_ns)
		return -ENODATA;
	return regions.count && regions.watched_ns >= recorded_ns / WATCHED_PARTS ? 0 : -ENODATA;
}

static int measure(struct objective_result *result, const struct profile *profile,
		   double *ret_value, bool *ret_holds)
{
	const struct alert_term *term = &result->objective->term;
	int err;

	if (term->subject == ALERT_OF_REGION)
		return measure_region(result, profile, ret_value, ret_holds);
	err = term_value(term, profile, ret_value);
	*ret_holds = err == 0 && term_holds(term, *ret_value);
	return err;
}

static int judge(struct objective_result *result, const struct profile *profile,
		 const struct history_range *range)
{
	const struct alert_term *term = &result->objective->term;
	bool above = term->condition.comparison == CONDITION_ABOVE ||
		     term->condition.comparison == CONDITION_AT_LEAST;
	struct objective_miss *miss;
	double value;
	bool holds;
	int err = measure(result, profile, &value, &holds);

	if (err < 0) {
		result->unknown++;
		return err == -ENOMEM ? err : 0;
	}
	if (!(result->kept + result->missed) ||
	    (above ? value < result->worst : value > result->worst))
		result->worst = value;
	if (holds) {
		result->kept++;
		return 0;
	}
	result->missed++;
	if (result->misses.count == MISSES_MAX)
		return 0;
	miss = array_add(&result->misses);
	if (!miss)
		return -ENOMEM;
	*miss = (struct objective_miss){*range, value};
	return 0;
}

static int judge_window(const struct objectives *objectives, struct objective_result *results,
			struct store *store, const struct store_window *window)
{
	struct history_range range = {window->begin_unix_ns, window->end_unix_ns};
	struct profile *profile;
	int err = store_read(store, window, NULL, &profile);

	/* A damaged or deleted window tells nothing. */
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < objectives->list.count && err == 0; i++)
		if (objectives->list.items[i].level == window->level)
			err = judge(&results[i], profile, &range);
	profile_free(profile);
	return err;
}

static bool has_level(const struct objectives *objectives, enum store_level level)
{
	array_foreach(&objectives->list, objective)
		if (objective->level == level)
			return true;
	return false;
}

static int judge_level(const struct objectives *objectives, struct objective_result *results,
		       struct store *store, enum store_level level,
		       const struct history_range *range)
{
	struct store_windows windows;
	int err = store_list(store, level, range->from_unix_ns, range->to_unix_ns, &windows);

	if (err == 0 && windows.list.count > HISTORY_WINDOWS_MAX)
		err = -E2BIG;
	for (size_t i = 0; i < windows.list.count && err == 0; i++)
		err = judge_window(objectives, results, store, &windows.list.items[i]);
	array_free(&windows.list);
	return err;
}

int objectives_measure(const struct objectives *objectives, struct store *store,
		       const struct history_range *range, struct objective_result **ret_results,
		       struct error *error)
{
	size_t count = objectives->list.count;
	struct objective_result *results = calloc(count + 1, sizeof(*results));
	int err = results ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && err == 0; i++)
		results[i].objective = &objectives->list.items[i];
	for (size_t i = 0; i < ARRAY_SIZE(lengths) && err == 0; i++)
		if (has_level(objectives, lengths[i].level))
			err = judge_level(objectives, results, store, lengths[i].level, range);
	if (err == 0) {
		*ret_results = results;
		return 0;
	}
	objective_results_free(results, count);
	if (err == -E2BIG)
		return error_set(error, E2BIG, "%d windows at most: choose a shorter interval",
				 HISTORY_WINDOWS_MAX);
	return error_set(error, -err, "cannot read the history: %s", strerror(-err));
}

void objective_results_free(struct objective_result *results, size_t count)
{
	for (size_t i = 0; results && i < count; i++)
		array_free(&results[i].misses);
	free(results);
}

double objective_share(const struct objective_result *result)
{
	size_t all = result->kept + result->missed;

	return all ? 100.0 * (double)result->kept / (double)all : -1;
}

bool objective_is_met(const struct objective_result *result)
{
	return objective_share(result) < 0 || objective_share(result) >= result->objective->target;
}
