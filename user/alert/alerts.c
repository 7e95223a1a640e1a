// SPDX-License-Identifier: BSD-2-Clause
#include "alert/alerts_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "history/range_diff.h"

/* Windows that are merged are read anew each time: a part of their length between. */
/* Changes are held against so many times the interval, up to the same end: of a function with half
 * of a CPU at 19 Hz, two minutes have 3 % of noise on either side, and one side is to be told soon.
 */
#define BASE_PARTS	 5
#define LOOKS_PER_OVER	 5
#define LOOKS_PER_CHANGE 2
/* Looks of so long share the risk of one comparison, 2 %. A day's would leave too little power for
 * changes of some percent within minutes. */
#define RISK_NS	  (3600.0 * NS_PER_SECOND)
#define FORGET_NS ((int64_t)(3600 * NS_PER_SECOND))

struct telling {
	void (*tell)(void *context, const struct alert_news *news);
	void *context;
	struct alert_time now;
	int64_t slice_ns;
};

/* ---- rules ---- */

static void free_rules(struct watched_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		window_memory_free(rules[i].memory);
}

int alerts_set_rules(struct alerts *alerts, const struct alert_rules *rules)
{
	__typeof__(alerts->rules) fresh = {0};
	size_t kept = 0;

	array_foreach(&rules->list, rule) {
		struct watched_rule *added = array_add(&fresh);

		if (!added) {
			array_free(&fresh);
			return -ENOMEM;
		}
		added->rule = *rule;
	}
	pthread_mutex_lock(&alerts->lock);
	array_foreach(&alerts->states, state) {
		bool stays = false;

		array_foreach(&fresh, watched)
			stays = stays || strcmp(watched->rule.name, state->rule) == 0;
		if (stays)
			alerts->states.items[kept++] = *state;
	}
	alerts->states.count = kept;
	free_rules(alerts->rules.items, alerts->rules.count);
	array_free(&alerts->rules);
	alerts->rules.items = fresh.items;
	alerts->rules.count = fresh.count;
	alerts->rules.capacity = fresh.capacity;
	pthread_mutex_unlock(&alerts->lock);
	return 0;
}

struct alerts *alerts_new(const struct alert_rules *rules, struct store *store)
{
	struct alerts *alerts = calloc(1, sizeof(*alerts));

	if (!alerts)
		return NULL;
	alerts->store = store;
	pthread_mutex_init(&alerts->lock, NULL);
	if (alerts_set_rules(alerts, rules) < 0) {
		alerts_free(alerts);
		return NULL;
	}
	return alerts;
}

/* ---- states ---- */

struct alert_state *alerts_state_of(struct alerts *alerts, const char *rule, const char *who,
				    bool make)
{
	struct alert_state *state;

	array_foreach(&alerts->states, each)
		if (strcmp(each->rule, rule) == 0 && strcmp(each->who, who) == 0)
			return each;
	if (!make || alerts->states.count == ALERT_STATES_MAX)
		return NULL;
	state = array_add(&alerts->states);
	if (state) {
		snprintf(state->rule, sizeof(state->rule), "%s", rule);
		snprintf(state->who, sizeof(state->who), "%s", who);
	}
	return state;
}

static size_t count_firing(const struct alerts *alerts, const char *rule)
{
	size_t count = 0;

	array_foreach(&alerts->states, state)
		count += state->phase >= ALERT_FIRING && strcmp(state->rule, rule) == 0;
	return count;
}

static struct alert_news news_of(const struct alert_rule *rule, const struct alert_state *state,
				 const struct telling *telling)
{
	int64_t over = rule->over_ns ? (int64_t)rule->over_ns : telling->slice_ns;
	int64_t end = state->phase == ALERT_INACTIVE ? state->ended.unix_ns : telling->now.unix_ns;
	int64_t begin = state->fired_unix_ns - (int64_t)rule->for_ns - over;

	return (struct alert_news){rule, state, state->phase != ALERT_INACTIVE, begin, end};
}

static void step(struct alerts *alerts, const struct alert_rule *rule, struct alert_state *state,
		 const struct alert_value *value, const struct telling *telling)
{
	bool was_firing = state->phase >= ALERT_FIRING, news, many;
	enum alert_phase before = state->phase;

	if (value && value->text[0])
		memcpy(state->text, value->text, sizeof(state->text));
	state->touched = true;
	many = !was_firing && (count_firing(alerts, rule->name) >= ALERT_NAMED_MAX ||
			       (rule->unless[0] && count_firing(alerts, rule->unless)));
	/* Those beyond stay pending, and are sent when there is room. */
	if (many && value && value->holds) {
		if (state->phase == ALERT_INACTIVE)
			alert_state_hold(state, telling->now);
		return;
	}
	news = alert_state_step(state, rule, value && value->holds, !value || value->clears,
				telling->now);
	alerts->changes += state->phase != before;
	if (news) {
		struct alert_news told = news_of(rule, state, telling);

		telling->tell(telling->context, &told);
	}
}

/* Without a value, somebody who was there has nothing of it any more. */
static void step_all(struct alerts *alerts, const struct alert_rule *rule,
		     const struct telling *telling)
{
	array_foreach(&alerts->states, state)
		state->touched = false;
	for (size_t i = 0; i < alerts->values.count; i++) {
		const struct alert_value *value = &alerts->values.items[i];
		struct alert_state *state =
			alerts_state_of(alerts, rule->name, value->who, value->holds);

		if (state)
			step(alerts, rule, state, value, telling);
	}
	array_foreach(&alerts->states, state)
		if (!state->touched && strcmp(state->rule, rule->name) == 0)
			step(alerts, rule, state, NULL, telling);
}

static void forget_states(struct alerts *alerts, int64_t now_ns)
{
	size_t kept = 0;

	array_foreach(&alerts->states, state)
		if (state->phase != ALERT_INACTIVE || now_ns - state->since.ns < FORGET_NS)
			alerts->states.items[kept++] = *state;
	alerts->states.count = kept;
}

/* ---- looking ---- */

/* A level by itself has no shares of all. */
static uint32_t levels_of(const struct alert_rule *rule)
{
	return 1U << rule->change.level | 1U << DIFF_ALL | 1U << DIFF_ALL_STACKS;
}

static int look_at_change(struct alerts *alerts, struct watched_rule *watched, int64_t now)
{
	const struct alert_rule *rule = &watched->rule;
	struct history_range ranges[DIFF_SIDES];
	struct range_diff diff;
	struct error error;
	int err;

	alerts->values.known = false;
	if (!watched->memory)
		watched->memory = window_memory_new(1U << rule->change.kind, levels_of(rule));
	if (!watched->memory)
		return -ENOMEM;
	ranges[DIFF_NEW] = (struct history_range){now - (int64_t)rule->over_ns, now};
	err = range_diff_base(rule->base, &ranges[DIFF_NEW], &ranges[DIFF_BASE], &error);
	ranges[DIFF_BASE].from_unix_ns -= (BASE_PARTS - 1) * (int64_t)rule->over_ns;
	if (err < 0)
		return 0;
	err = range_diff_follow(alerts->store, ranges, watched->memory, &diff, &error);
	if (err == 0)
		alert_evaluate_change(rule, &diff.comparison,
				      fmax(LOOKS_PER_CHANGE * RISK_NS / (double)rule->over_ns, 1),
				      &alerts->values);
	range_diff_done(&diff);
	return err == -ENOMEM ? err : 0;
}

/* A server that has just started knows little of five minutes. */
static bool is_enough(const struct profile *profile, uint64_t over_ns)
{
	const struct profile_info *info = profile ? profile_info_read(profile) : NULL;

	return info && info->end_ns - info->start_ns >= over_ns / 2;
}

/* What rules with this interval look at, for all of them share a merge. */
static uint32_t kinds_over(const struct alerts *alerts, uint64_t over_ns)
{
	uint32_t kinds = 0;

	array_foreach(&alerts->rules, watched) {
		const struct alert_rule *rule = &watched->rule;

		if (rule->over_ns != over_ns || !alert_needs_profile(rule))
			continue;
		if (!alert_kinds(rule))
			return 0;
		kinds |= alert_kinds(rule);
	}
	return kinds;
}

/* The slice itself, or what was merged of the last ones. */
static const struct profile *profile_over(struct alerts *alerts, const struct alert_rule *rule,
					  const struct profile *slice,
					  const struct telling *telling, int *err)
{
	struct history_range range = {telling->now.unix_ns - (int64_t)rule->over_ns,
				      telling->now.unix_ns};
	struct slice_choice choice = {.kinds_mask = kinds_over(alerts, rule->over_ns)};
	struct error error;
	size_t missing;

	*err = 0;
	if ((int64_t)rule->over_ns <= telling->slice_ns)
		return slice;
	if (alerts->merged && alerts->merged_over_ns == rule->over_ns)
		return is_enough(alerts->merged, rule->over_ns) ? alerts->merged : NULL;
	profile_free(alerts->merged);
	alerts->merged = NULL;
	*err = history_profile(alerts->store, &range, &choice, &alerts->merged, &missing, &error);
	alerts->merged_over_ns = rule->over_ns;
	return is_enough(alerts->merged, rule->over_ns) ? alerts->merged : NULL;
}

/* Puts the limits of the past into a copy of the rule. false: not enough days are known. */
static bool fill_past(struct alerts *alerts, struct watched_rule *watched,
		      const struct telling *telling, struct alert_rule *ret_rule)
{
	uint64_t over_ns =
		watched->rule.over_ns ? watched->rule.over_ns : (uint64_t)telling->slice_ns;

	*ret_rule = watched->rule;
	watched->learns = false;
	for (size_t i = 0; i < ret_rule->term_count; i++) {
		struct alert_term *term = &ret_rule->terms[i];
		struct baseline *baseline = &watched->baselines[i];

		if (term->is_past &&
		    (baseline_update(baseline, term, alerts->store,
				     telling->now.unix_ns - (int64_t)over_ns / 2, over_ns) < 0 ||
		     !baseline_limit(baseline, term, over_ns, &term->condition.value)))
			watched->learns = true;
	}
	return !watched->learns;
}

static int look_at_terms(struct alerts *alerts, struct watched_rule *watched,
			 const struct resource_rows *rows, const struct telling *telling)
{
	struct alert_input input = {.host = &alerts->host, .run = &alerts->run};
	struct alert_rule filled;
	const struct alert_rule *rule = &filled;
	int err = 0;

	alerts->values.known = false;
	if (!fill_past(alerts, watched, telling, &filled))
		return 0;
	if (rows && !alert_is_possible(rule, profile_info_read(rows->profile)->kinds_mask))
		return 0;
	if (alert_needs_profile(rule)) {
		input.profile = profile_over(alerts, rule, rows->profile, telling, &err);
		if (!input.profile)
			return err;
		input.rows = input.profile == rows->profile ? rows : NULL;
	}
	return alert_evaluate(rule, &input, &alerts->values);
}

static int64_t cpu_time_ns(void)
{
	return (int64_t)clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int look(struct alerts *alerts, struct watched_rule *watched,
		const struct resource_rows *rows, const struct telling *telling)
{
	const struct alert_rule *rule = &watched->rule;
	int64_t pause = (int64_t)rule->over_ns /
			(rule->term_count ? LOOKS_PER_OVER : LOOKS_PER_CHANGE),
		began_ns = cpu_time_ns(), allowed;
	int err;

	if (telling->now.ns < watched->next_ns)
		return 0;
	err = rule->term_count ? look_at_terms(alerts, watched, rows, telling)
			       : look_at_change(alerts, watched, telling->now.unix_ns);
	watched->took_ns = cpu_time_ns() - began_ns;
	allowed = alert_look_pause(pause, watched->took_ns);
	watched->postponed += allowed > pause && allowed > telling->slice_ns;
	/* Looks come with slices: half a slice early is on time. */
	watched->next_ns = telling->now.ns + allowed - telling->slice_ns / 2;
	watched->known = err == 0 && alerts->values.known;
	/* What is not known is not zero: all stays as it is. */
	if (watched->known) {
		pthread_mutex_lock(&alerts->lock);
		step_all(alerts, rule, telling);
		pthread_mutex_unlock(&alerts->lock);
	}
	return err == -ENOMEM ? err : 0;
}

static void note_store(struct alerts *alerts, uint64_t now_ns)
{
	struct store_state state;

	store_get_state(alerts->store, &state);
	alerts->host.store_failing = state.failing != 0;
	alerts->host.store_late = -1;
	if (alerts->slice_ns && now_ns >= alerts->newest_end_ns)
		alerts->host.store_late =
			100 * (double)(now_ns - alerts->newest_end_ns) / (double)alerts->slice_ns;
}

static void take_note(struct alerts *alerts, const struct resource_rows *rows)
{
	const struct profile_info *info = profile_info_read(rows->profile);
	uint64_t slice_ns = info->end_ns - info->start_ns;

	alerts->newest_end_ns = info->end_ns;
	if (slice_ns > alerts->slice_ns)
		alerts->slice_ns = slice_ns;
	note_store(alerts, clock_now_ns());
	host_readings_take(&alerts->host, info->end_ns);
	run_readings_add(&alerts->run, rows);
}

void alerts_note(struct alerts *alerts, const struct resource_rows *rows)
{
	take_note(alerts, rows);
	pthread_mutex_lock(&alerts->lock);
	alerts->noted++;
	pthread_mutex_unlock(&alerts->lock);
}

void alerts_tick(struct alerts *alerts, struct alert_time now,
		 void (*tell)(void *context, const struct alert_news *news), void *context)
{
	const struct telling telling = {tell, context, now, (int64_t)alerts->slice_ns};

	note_store(alerts, (uint64_t)now.ns);
	array_foreach(&alerts->rules, watched)
		if (alert_is_of_host(&watched->rule))
			look(alerts, watched, NULL, &telling);
}

const char *alerts_slow_rule(const struct alerts *alerts, int64_t *ret_took_ns)
{
	const struct watched_rule *slowest = NULL;

	array_foreach(&alerts->rules, watched)
		if (watched->postponed && (!slowest || watched->took_ns > slowest->took_ns))
			slowest = watched;
	if (!slowest)
		return NULL;
	*ret_took_ns = slowest->took_ns;
	return slowest->rule.name;
}

int alerts_add(struct alerts *alerts, const struct resource_rows *rows,
	       void (*tell)(void *context, const struct alert_news *news), void *context)
{
	const struct profile_info *info = profile_info_read(rows->profile);
	struct telling telling = {.tell = tell,
				  .context = context,
				  .slice_ns = (int64_t)(info->end_ns - info->start_ns)};
	int err = 0;

	telling.now =
		(struct alert_time){info->start_unix_ns + telling.slice_ns, (int64_t)info->end_ns};
	take_note(alerts, rows);
	array_foreach(&alerts->rules, watched) {
		int rule_err = look(alerts, watched, rows, &telling);

		err = err < 0 ? err : rule_err;
	}
	profile_free(alerts->merged);
	alerts->merged = NULL;
	pthread_mutex_lock(&alerts->lock);
	forget_states(alerts, telling.now.ns);
	pthread_mutex_unlock(&alerts->lock);
	return err;
}

void alerts_each_firing(struct alerts *alerts,
			void (*tell)(void *context, const struct alert_news *news), void *context)
{
	array_foreach(&alerts->states, state) {
		array_foreach(&alerts->rules, watched) {
			const struct alert_rule *rule = &watched->rule;
			struct alert_news news = {rule, state, true,
						  state->fired_unix_ns - (int64_t)rule->for_ns -
							  (int64_t)rule->over_ns,
						  state->fired_unix_ns};

			if (state->phase >= ALERT_FIRING && strcmp(rule->name, state->rule) == 0)
				tell(context, &news);
		}
	}
}

/* ---- writing ---- */

static void write_state(const struct alert_state *state, bool first, FILE *out)
{
	fprintf(out, "%s{\"who\":", first ? "" : ",");
	escape_json(out, state->who);
	fprintf(out, ",\"state\":\"%s\",\"since\":%.3f", alert_phase_names[state->phase],
		(double)state->since.unix_ns / 1e9);
	if (state->phase >= ALERT_FIRING)
		fprintf(out, ",\"fired\":%.3f", (double)state->fired_unix_ns / 1e9);
	else if (state->ended.unix_ns)
		fprintf(out, ",\"fired\":%.3f,\"ended\":%.3f", (double)state->fired_unix_ns / 1e9,
			(double)state->ended.unix_ns / 1e9);
	fprintf(out, ",\"text\":");
	escape_json(out, state->text);
	fprintf(out, "}");
}

static void write_rule(const struct alerts *alerts, const struct watched_rule *watched, FILE *out)
{
	const struct alert_rule *rule = &watched->rule;
	bool first = true;

	fprintf(out, "{\"name\":");
	escape_json(out, rule->name);
	fprintf(out, ",\"when\":");
	escape_json(out, rule->when);
	fprintf(out, ",\"severity\":");
	escape_json(out, rule->severity);
	fprintf(out,
		",\"over_s\":%.3f,\"for_s\":%.3f,\"base\":\"%s\",\"known\":%s,\"learning\":%s,"
		"\"postponed\":%" PRIu64 ",\"look_s\":%.3f,\"alerts\":[",
		(double)rule->over_ns / 1e9, (double)rule->for_ns / 1e9,
		rule->term_count ? "" : rule->base, watched->known ? "true" : "false",
		watched->learns ? "true" : "false", watched->postponed,
		(double)watched->took_ns / 1e9);
	array_foreach(&alerts->states, state) {
		if (strcmp(state->rule, rule->name) != 0)
			continue;
		write_state(state, first, out);
		first = false;
	}
	fprintf(out, "]}");
}

void alerts_write_json(struct alerts *alerts, FILE *out)
{
	struct store_state state;

	store_get_state(alerts->store, &state);
	pthread_mutex_lock(&alerts->lock);
	fprintf(out, "{\"clock_ahead_s\":%" PRId64 ",\"rules\":[",
		state.ahead_ns / (int64_t)NS_PER_SECOND);
	array_foreach(&alerts->rules, watched) {
		if (watched != alerts->rules.items)
			fputc(',', out);
		write_rule(alerts, watched, out);
	}
	fprintf(out, "],\"skipped_slices\":%" PRIu64 "}\n", alerts->noted);
	pthread_mutex_unlock(&alerts->lock);
}

uint64_t alerts_changes(const struct alerts *alerts)
{
	return alerts->changes;
}

void alerts_write_metrics(struct alerts *alerts, FILE *out)
{
	uint64_t postponed = 0;

	pthread_mutex_lock(&alerts->lock);
	fprintf(out, "# HELP pkbpf_alerts alerts that fire, by rule\n# TYPE pkbpf_alerts gauge\n");
	array_foreach(&alerts->rules, watched) {
		char name[ALERT_NAME_SIZE];

		escape_terminal(name, sizeof(name), watched->rule.name);
		fprintf(out, "pkbpf_alerts{rule=\"");
		for (const char *c = name; *c; c++)
			fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
		fprintf(out, "\"} %zu\n", count_firing(alerts, watched->rule.name));
		postponed += watched->postponed;
	}
	fprintf(out,
		"# HELP pkbpf_alert_looks_postponed_total times that a rule was left for later "
		"than it asks for, for a look took too long\n"
		"# TYPE pkbpf_alert_looks_postponed_total counter\n"
		"pkbpf_alert_looks_postponed_total %" PRIu64 "\n",
		postponed);
	pthread_mutex_unlock(&alerts->lock);
}

void alerts_free(struct alerts *alerts)
{
	if (!alerts)
		return;
	free_rules(alerts->rules.items, alerts->rules.count);
	array_free(&alerts->rules);
	array_free(&alerts->states);
	pthread_mutex_destroy(&alerts->lock);
	free(alerts);
}
