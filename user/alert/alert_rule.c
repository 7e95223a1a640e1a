// SPDX-License-Identifier: BSD-2-Clause
#include "alert/alert_rule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alert/default_rules.h"
#include "alert/run_reading.h"
#include "base/near_match.h"
#include "base/parse_value.h"
#include "finding/lock_condition.h"
#include "profile/kind_table.h"

#define RULES_MAX      200
#define CLEAR_FOR_NS   60000000000ULL
#define KEEP_NS	       30000000000ULL
#define CHANGE_OVER_NS 120000000000ULL

_Static_assert(RUN_READINGS_MAX == HOST_READINGS_MAX, "one limit is told");

/* ---- terms ---- */

/* Of the value alone, in percent. */
static int parse_percent(const char *comparison, struct alert_term *term, struct error *error)
{
	char text[64];

	snprintf(text, sizeof(text), "machine.busy%.48s", comparison);
	return condition_parse(text, &term->condition, error);
}

static int parse_function(const char *text, struct alert_term *term, struct error *error)
{
	const char *begin = text + strlen("function["), *end = strrchr(text, ']');
	size_t length = end ? (size_t)(end - begin) : 0;
	const char *part = end ? end + 1 : "";

	term->subject = ALERT_OF_FUNCTION;
	term->total = strncmp(part, ".total", 6) == 0;
	if (!end || !length || length >= sizeof(term->function) ||
	    (!term->total && strncmp(part, ".self", 5) != 0))
		return error_set(error, EINVAL,
				 "'%.200s': expected function[NAME].self>10%% or "
				 "function[NAME].total>10%%",
				 text);
	memcpy(term->function, begin, length);
	term->function[length] = '\0';
	return parse_percent(part + (term->total ? 6 : 5), term, error);
}

static int parse_region(const char *text, struct alert_term *term, struct error *error)
{
	term->subject = ALERT_OF_REGION;
	if (region_condition_parse(text, &term->region, error) < 0)
		return -EINVAL;
	term->condition.comparison = term->region.comparison;
	term->condition.value = term->region.value;
	return 0;
}

static int parse_term(const char *text, struct alert_term *ret_term, struct error *error)
{
	struct alert_term term = {0};
	size_t name = strcspn(text, "<> \t");
	int err;

	if (strncmp(text, "function[", 9) == 0) {
		err = parse_function(text, &term, error);
	} else if (region_condition_is(text)) {
		err = parse_region(text, &term, error);
	} else if (lock_condition_is(text)) {
		err = error_set(error, EINVAL,
				"serve does not record locks, so no rule can ask for '%s'", text);
	} else if (host_figure_find(text, name) < HOST_FIGURES) {
		term.subject = ALERT_OF_HOST;
		term.host = host_figure_find(text, name);
		err = parse_percent(text + name, &term, error);
	} else {
		err = condition_parse(text, &term.condition, error);
	}
	if (err == 0)
		*ret_term = term;
	return err;
}

/* [N] usual [+ N spread] */
static int parse_past(const char *value, struct alert_term *term)
{
	int used = 0;

	term->is_past = true;
	term->usual = 1;
	term->spread = 0;
	if (sscanf(value, "%lf %n", &term->usual, &used) == 1)
		value += used;
	if (strncmp(value, "usual", 5) != 0)
		return -EINVAL;
	value += 5;
	value += strspn(value, " \t");
	if (!*value)
		return 0;
	used = 0;
	term->spread = 1;
	if (*value++ != '+')
		return -EINVAL;
	value += strspn(value, " \t");
	if (sscanf(value, "%lf %n", &term->spread, &used) == 1)
		value += used;
	return strcmp(value, "spread") == 0 ? 0 : -EINVAL;
}

/* Any value of its unit stands for that of the past. */
static int parse_past_term(const char *text, const char *value, struct alert_term *ret_term,
			   struct error *error)
{
	static const char *const values[] = {"1ms", "1%", "1M", "1"};
	struct alert_term term;
	char copy[256];
	int err = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(values) && err < 0; i++) {
		snprintf(copy, sizeof(copy), "%.*s%s", (int)(value - text), text, values[i]);
		err = parse_term(copy, &term, error);
	}
	if (err < 0)
		return err;
	if (parse_past(value, &term) < 0 || term.usual < 0 || term.spread < 0)
		return error_set(error, EINVAL, "'%.64s': expected one like 1.2 usual + 4 spread",
				 value);
	if (term.subject == ALERT_OF_HOST || term.condition.any_row || term.condition.pid ||
	    strcmp(term.function, "*") == 0)
		return error_set(
			error, EINVAL,
			"'%.200s': usual is known of figures of the history, of the sum or "
			"of one name",
			text);
	*ret_term = term;
	return 0;
}

int alert_term_parse(const char *text, struct alert_term *ret_term, struct error *error)
{
	enum condition_comparison unused;
	const char *comparison = comparator_find(text, &unused);
	const char *value = comparison ? comparator_value(comparison) : NULL;

	return value && strstr(value, "usual") ? parse_past_term(text, value, ret_term, error)
					       : parse_term(text, ret_term, error);
}

static int parse_when(struct alert_rule *rule, struct error *error)
{
	char text[sizeof(rule->when)];
	char *at = text, *next;

	snprintf(text, sizeof(text), "%s", rule->when);
	if (diff_condition_parse(text, &rule->change, error) == 0) {
		if (!rule->over_ns)
			rule->over_ns = CHANGE_OVER_NS;
		return 0;
	}
	do {
		next = strstr(at, " and ");
		if (next)
			*next = '\0';
		if (rule->term_count == ALERT_TERMS_MAX)
			return error_set(error, EINVAL, "more than %d terms", ALERT_TERMS_MAX);
		at += strspn(at, " \t");
		if (alert_term_parse(at, &rule->terms[rule->term_count++], error) < 0)
			return -EINVAL;
		at = next ? next + strlen(" and ") : NULL;
	} while (at);
	return 0;
}

/* ---- keys ---- */

static int set_text(char *member, size_t size, const struct ini_entry *entry, struct error *error)
{
	if (strlen(entry->value) >= size)
		return error_set(error, EINVAL, "the value of %s is too long", entry->key);
	snprintf(member, size, "%s", entry->value);
	return 0;
}

static int set_clear(struct alert_rule *rule, const char *value, struct error *error)
{
	struct alert_term term;
	char text[320];

	/* "< 15ms" as well */
	value += strspn(value, "<> \t");
	if (!rule->term_count)
		return error_set(error, EINVAL, "clear requires when before it, of figures");
	if (rule->terms[0].subject == ALERT_OF_FIGURE)
		snprintf(text, sizeof(text), "%s.%s>%.64s", rule->terms[0].condition.figure->group,
			 rule->terms[0].condition.figure->name, value);
	else if (rule->terms[0].subject == ALERT_OF_REGION && rule->terms[0].region.limit_ns)
		snprintf(text, sizeof(text), "region[%s].%s(%" PRIu64 "ns)>%.64s",
			 rule->terms[0].region.name, rule->terms[0].region.figure->name,
			 rule->terms[0].region.limit_ns, value);
	else if (rule->terms[0].subject == ALERT_OF_REGION)
		snprintf(text, sizeof(text), "region[%s].%s>%.64s", rule->terms[0].region.name,
			 rule->terms[0].region.figure->name, value);
	else
		snprintf(text, sizeof(text), "machine.busy>%.64s", value);
	if (alert_term_parse(text, &term, error) < 0)
		return -EINVAL;
	rule->has_clear = true;
	rule->clear = term.condition.value;
	return 0;
}

static int set_when(struct alert_rule *rule, const struct ini_entry *entry, struct error *error)
{
	int err = set_text(rule->when, sizeof(rule->when), entry, error);

	if (err < 0 || strcmp(rule->when, "never") == 0)
		return err;
	rule->term_count = 0;
	return parse_when(rule, error);
}

static int set_base(struct alert_rule *rule, const struct ini_entry *entry, struct error *error)
{
	static const char *const words[] = {"before", "hour", "yesterday", "lastweek"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(entry->value, words[i]) == 0)
			return set_text(rule->base, sizeof(rule->base), entry, error);
	return error_set(error, EINVAL,
			 "invalid value '%.64s' for base: expected before, hour, yesterday or "
			 "lastweek",
			 entry->value);
}

static int set_key(struct alert_rule *rule, const struct ini_entry *entry, struct error *error)
{
	static const char *const keys[] = {"when",     "over",	 "for",	 "clear", "clear-for",
					   "severity", "notify", "keep", "base",  "unless"};
	const struct {
		const char *key;
		uint64_t *ns;
	} times[] = {{"over", &rule->over_ns},
		     {"for", &rule->for_ns},
		     {"clear-for", &rule->clear_for_ns},
		     {"keep", &rule->keep_ns}};
	struct near_match near = {0};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (strcmp(entry->key, times[i].key) == 0)
			return parse_duration_ns(entry->value, entry->key, times[i].ns, error);
	if (strcmp(entry->key, "when") == 0)
		return set_when(rule, entry, error);
	if (strcmp(entry->key, "clear") == 0)
		return set_clear(rule, entry->value, error);
	if (strcmp(entry->key, "severity") == 0)
		return set_text(rule->severity, sizeof(rule->severity), entry, error);
	if (strcmp(entry->key, "notify") == 0)
		return set_text(rule->notify, sizeof(rule->notify), entry, error);
	if (strcmp(entry->key, "base") == 0)
		return set_base(rule, entry, error);
	if (strcmp(entry->key, "unless") == 0)
		return set_text(rule->unless, sizeof(rule->unless), entry, error);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		near_match_offer(&near, entry->key, keys[i]);
	return error_set(error, EINVAL, "unknown key '%.64s' of a rule%s%s%s", entry->key,
			 near.word ? "; did you mean " : "", near.word ? near.word : "",
			 near.word ? "?" : "");
}

/* ---- rules ---- */

static struct alert_rule *rule_of(struct alert_rules *rules, const struct ini_entry *entry,
				  struct error *error)
{
	struct alert_rule *rule;

	array_foreach(&rules->list, each) {
		if (strcmp(each->name, entry->name) != 0)
			continue;
		*each = (struct alert_rule){.clear_for_ns = CLEAR_FOR_NS, .keep_ns = KEEP_NS};
		rule = each;
		goto named;
	}
	rule = rules->list.count < RULES_MAX ? array_add(&rules->list) : NULL;
	if (!rule) {
		error_set(error, ENOMEM, "more than %d rules, or out of memory", RULES_MAX);
		return NULL;
	}
	rule->clear_for_ns = CLEAR_FOR_NS;
	rule->keep_ns = KEEP_NS;
named:
	snprintf(rule->name, sizeof(rule->name), "%s", entry->name);
	snprintf(rule->severity, sizeof(rule->severity), "warning");
	snprintf(rule->base, sizeof(rule->base), "before");
	return rule;
}

static int at_line(unsigned int line, struct error *error)
{
	struct error inner = *error;

	return error_set(error, EINVAL, "line %u: %s", line, inner.text);
}

static int read_sections(const struct ini *ini, struct alert_rules *rules, struct error *error)
{
	struct alert_rule *rule = NULL;
	bool is_alert = false;

	array_foreach(&ini->entries, entry) {
		if (!entry->key)
			is_alert = strcmp(entry->kind, "alert") == 0;
		if (!is_alert)
			continue;
		if (!entry->key) {
			if (!*entry->name || strlen(entry->name) >= ALERT_NAME_SIZE)
				return error_set(error, EINVAL,
						 "line %u: [alert NAME] requires a name of at most "
						 "%d bytes",
						 entry->line, ALERT_NAME_SIZE - 1);
			rule = rule_of(rules, entry, error);
			if (!rule)
				return -ENOMEM;
		} else if (set_key(rule, entry, error) < 0) {
			return at_line(entry->line, error);
		}
	}
	return 0;
}

/* A rule that waits for one that is not there would never wait. */
static int check_unless(const struct alert_rules *rules, struct error *error)
{
	array_foreach(&rules->list, rule) {
		bool found = !rule->unless[0];

		array_foreach(&rules->list, other)
			found = found || strcmp(other->name, rule->unless) == 0;
		if (!found)
			return error_set(error, EINVAL,
					 "[alert %s] has unless = %s, but there is no such rule",
					 rule->name, rule->unless);
	}
	return 0;
}

static int remove_ended(struct alert_rules *rules, struct error *error)
{
	size_t kept = 0;

	array_foreach(&rules->list, rule) {
		if (!rule->when[0])
			return error_set(error, EINVAL, "[alert %s] has no when", rule->name);
		if (strcmp(rule->when, "never") != 0)
			rules->list.items[kept++] = *rule;
	}
	rules->list.count = kept;
	return 0;
}

int alert_rules_read(const struct ini *ini, bool defaults, struct alert_rules *ret_rules,
		     struct error *error)
{
	char text[] = ALERT_DEFAULT_RULES;
	struct ini default_ini = {0};
	int err = 0;

	*ret_rules = (struct alert_rules){0};
	if (defaults) {
		err = ini_parse(text, &default_ini, error);
		err = err < 0 ? err : read_sections(&default_ini, ret_rules, error);
		ini_done(&default_ini);
		array_foreach(&ret_rules->list, rule)
			rule->is_default = true;
	}
	err = err < 0 ? err : read_sections(ini, ret_rules, error);
	err = err < 0 ? err : remove_ended(ret_rules, error);
	return err < 0 ? err : check_unless(ret_rules, error);
}

static bool is_of_slices(const struct alert_term *term)
{
	return term->subject == ALERT_OF_HOST ||
	       (term->subject == ALERT_OF_FIGURE && term->condition.figure->scope == FIGURE_OF_RUN);
}

static int check_length(const struct alert_rule *rule, uint64_t slice_ns, struct error *error)
{
	uint64_t most_ns = (HOST_READINGS_MAX - 1) * slice_ns;

	for (size_t i = 0; i < rule->term_count; i++)
		if (is_of_slices(&rule->terms[i]) && rule->over_ns > most_ns)
			return error_set(error, EINVAL,
					 "over is %.0f s, but figures of the machine and of the "
					 "run are known of %d slices (%.0f s): use a longer "
					 "--interval, or a shorter over",
					 (double)rule->over_ns / 1e9, HOST_READINGS_MAX - 1,
					 (double)most_ns / 1e9);
	return 0;
}

static int check_kind(enum pkbpf_profile_kind kind, uint32_t kinds_mask, struct error *error)
{
	if (kinds_mask & 1U << kind)
		return 0;
	return error_set(error, EINVAL, "its events are not recorded; add %s to --events",
			 kind_ops_of(kind)->name);
}

int alert_term_check_possible(const struct alert_term *term, uint32_t kinds_mask, bool regions,
			      struct error *error)
{
	switch (term->subject) {
	case ALERT_OF_REGION:
		return region_condition_check_possible(&term->region, kinds_mask, regions, error);
	case ALERT_OF_FUNCTION:
		return check_kind(PKBPF_PROFILE_CPU, kinds_mask, error);
	case ALERT_OF_FIGURE:
		return term->condition.figure->scope == FIGURE_OF_ROW
			       ? condition_check_possible(&term->condition, kinds_mask,
							  ROWS_BY_PROCESS, error)
			       : 0;
	case ALERT_OF_HOST:
		return 0;
	}
	return 0;
}

static int check_kinds(const struct alert_rule *rule, uint32_t kinds_mask, bool regions,
		       struct error *error)
{
	int err = rule->term_count ? 0 : check_kind(rule->change.kind, kinds_mask, error);

	for (size_t i = 0; i < rule->term_count && err == 0; i++)
		err = alert_term_check_possible(&rule->terms[i], kinds_mask, regions, error);
	return err;
}

int alert_rules_check(const struct alert_rules *rules, uint64_t slice_ns, uint32_t kinds_mask,
		      bool regions, struct error *error)
{
	struct error reason;

	array_foreach(&rules->list, rule) {
		int err = check_length(rule, slice_ns, &reason);

		if (err == 0 && !rule->is_default)
			err = check_kinds(rule, kinds_mask, regions, &reason);
		if (err < 0)
			return error_set(error, EINVAL, "[alert %s]: %s", rule->name, reason.text);
	}
	return 0;
}

void alert_rules_done(struct alert_rules *rules)
{
	array_free(&rules->list);
}
