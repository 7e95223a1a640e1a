// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/near_match.h"
#include "cli/option_table.h"

static const char *const sections[] = {"alert", "notify", "push", "objective", "report"};
/* Beside options. */
static const char *const front_keys[] = {"url", "default-alerts"};

static bool is_front_key(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(front_keys); i++)
		if (strcmp(key, front_keys[i]) == 0)
			return true;
	return false;
}

/* ---- the front's part ---- */

static int check_section(const struct ini_entry *entry, struct error *error)
{
	struct near_match near = {0};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (strcmp(entry->kind, sections[i]) == 0)
			return 0;
		near_match_offer(&near, entry->kind, sections[i]);
	}
	return error_set(error, EINVAL, "line %u: unknown section [%.64s]%s%s%s", entry->line,
			 entry->kind, near.word ? "; did you mean " : "",
			 near.word ? near.word : "", near.word ? "?" : "");
}

/* One of two would be without effect. */
static int check_names(const struct ini *ini, struct error *error)
{
	array_foreach(&ini->entries, entry)
		array_foreach(&ini->entries, other)
			if (other > entry && !entry->key && !other->key && *entry->name &&
			    strcmp(entry->kind, other->kind) == 0 &&
			    strcmp(entry->name, other->name) == 0)
				return error_set(error, EINVAL,
						 "line %u: a second [%.64s %.64s]; the first is in "
						 "line %u",
						 other->line, other->kind, other->name,
						 entry->line);
	return 0;
}

static int read_keys(const struct ini *ini, struct serve_config *config, bool *ret_defaults,
		     struct error *error)
{
	*ret_defaults = true;
	array_foreach(&ini->entries, entry) {
		if (!entry->key && check_section(entry, error) < 0)
			return -EINVAL;
		if (!entry->key || entry->kind[0])
			continue;
		if (strcmp(entry->key, "default-alerts") == 0)
			*ret_defaults = strcmp(entry->value, "no") != 0;
		if (strcmp(entry->key, "url") != 0)
			continue;
		if (http_url_check(entry->value, error) < 0 ||
		    strlen(entry->value) >= sizeof(config->url))
			return error_set(error, EINVAL, "line %u: url: expected http://HOST:PORT/",
					 entry->line);
		snprintf(config->url, sizeof(config->url), "%s", entry->value);
	}
	return 0;
}

/* A rule that tells somebody who is not there would tell nobody. */
static int check_notified(const struct serve_config *config, struct error *error)
{
	array_foreach(&config->rules.list, rule) {
		char list[sizeof(rule->notify)], *rest = list, *name;

		snprintf(list, sizeof(list), "%s", rule->notify);
		while ((name = strsep(&rest, ", "))) {
			bool found = !*name || strcmp(name, "journal") == 0;

			for (size_t i = 0; i < config->notify.count && !found; i++)
				found = strcmp(config->notify.items[i].name, name) == 0;
			if (!found)
				return error_set(error, EINVAL,
						 "[alert %s] notifies %s, but there is no [notify "
						 "%s]",
						 rule->name, name, name);
		}
	}
	return 0;
}

int serve_config_read(const char *text, struct serve_config *ret_config, struct error *error)
{
	_cleanup_free_ char *copy = strdup(text ? text : "");
	struct ini ini = {0};
	bool defaults;
	int err = copy ? 0 : error_set(error, ENOMEM, "out of memory");

	*ret_config = (struct serve_config){0};
	err = err < 0 ? err : ini_parse(copy, &ini, error);
	err = err < 0 ? err : check_names(&ini, error);
	err = err < 0 ? err : read_keys(&ini, ret_config, &defaults, error);
	err = err < 0 ? err : alert_rules_read(&ini, defaults, &ret_config->rules, error);
	err = err < 0 ? err : notify_targets_read(&ini, &ret_config->notify, error);
	err = err < 0 ? err : push_targets_read(&ini, &ret_config->push, error);
	err = err < 0 ? err : objectives_read(&ini, &ret_config->objectives, error);
	err = err < 0 ? err : hour_report_settings_read(&ini, &ret_config->report, error);
	err = err < 0 ? err : check_notified(ret_config, error);
	ini_done(&ini);
	return err;
}

void serve_config_done(struct serve_config *config)
{
	alert_rules_done(&config->rules);
	objectives_done(&config->objectives);
}

void serve_page_url(const struct serve_config *config, const char *listen, uint16_t port,
		    char *ret_url, size_t size)
{
	const char *colon = strrchr(listen, ':');

	if (config->url[0])
		snprintf(ret_url, size, "%s", config->url);
	else if (listen[0] == '/')
		snprintf(ret_url, size, "http://localhost/");
	else
		snprintf(ret_url, size, "http://%.*s:%u/", (int)(colon ? colon - listen : 0),
			 listen, port);
}

/* ---- options ---- */

static const struct option_row *find_option(const struct command_row *command, const char *name,
					    struct near_match *near)
{
	const struct option_row *row;

	for (size_t i = 0; (row = command_option_at(command, i)); i++) {
		if (strcmp(row->name, "help") == 0 || strcmp(row->name, "version") == 0 ||
		    strcmp(row->name, "config") == 0 || strcmp(row->name, "check-config") == 0)
			continue;
		if (strcmp(row->name, name) == 0)
			return row;
		near_match_offer(near, name, row->name);
	}
	return NULL;
}

/* Options of a command alone begin as zeroes. */
static bool is_given(const struct command_row *command, const struct option_row *row,
		     const struct cli_options *options)
{
	const char *member = (const char *)options->own + row->offset;

	if (!command_owns(command, row))
		return option_is_given(row, options);
	for (size_t i = 0; i < row->size; i++)
		if (member[i])
			return true;
	return false;
}

static int apply(const struct command_row *command, const struct option_row *row,
		 const struct ini_entry *entry, struct cli_options *options, struct error *error)
{
	const char *value = entry->value;

	if (!row->argument) {
		if (strcmp(value, "no") == 0)
			return 0;
		if (strcmp(value, "yes") != 0)
			return error_set(error, EINVAL, "%s: expected yes or no", row->name);
		value = NULL;
	}
	return command_owns(command, row) ? option_row_apply(row, options->own, value, error)
					  : option_apply(row, options, value, error);
}

#define OPTIONS_MAX 256

static int apply_entry(const struct command_row *command, const struct ini_entry *entry,
		       const bool *given, struct cli_options *options, struct error *error)
{
	struct near_match near = {0};
	const struct option_row *row = find_option(command, entry->key, &near);
	size_t number = 0;

	if (!row)
		return error_set(error, EINVAL, "unknown key '%.64s'%s%s%s", entry->key,
				 near.word ? "; did you mean " : "", near.word ? near.word : "",
				 near.word ? "?" : "");
	while (command_option_at(command, number) != row)
		number++;
	return number < OPTIONS_MAX && given[number] ? 0
						     : apply(command, row, entry, options, error);
}

int serve_config_apply(const struct command_row *command, char *text, struct cli_options *options,
		       struct error *error)
{
	/* Those of the command line are known before the first one is set. */
	bool given[OPTIONS_MAX] = {0};
	const struct option_row *row;
	struct ini ini;
	int err = ini_parse(text, &ini, error);

	for (size_t i = 0; (row = command_option_at(command, i)) && i < OPTIONS_MAX; i++)
		given[i] = is_given(command, row, options);
	for (size_t i = 0; i < ini.entries.count && err == 0; i++) {
		const struct ini_entry *entry = &ini.entries.items[i];
		struct error inner;

		if (!entry->key || entry->kind[0] || is_front_key(entry->key))
			continue;
		err = apply_entry(command, entry, given, options, &inner);
		if (err < 0)
			error_set(error, EINVAL, "line %u: %s", entry->line, inner.text);
	}
	ini_done(&ini);
	return err;
}
