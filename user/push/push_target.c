// SPDX-License-Identifier: BSD-2-Clause
#include "push/push_target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/near_match.h"
#include "base/parse_value.h"
#include "profile/kind_table.h"
#include "http/http_client.h"

#define INTERVAL_NS	(60 * NS_PER_SECOND)
#define INTERVAL_MIN_NS (10 * NS_PER_SECOND)
#define INTERVAL_MAX_NS (600 * NS_PER_SECOND)
/* Servers reject what is older than an hour. */
#define MAX_AGE_NS (50 * 60 * NS_PER_SECOND)

static const struct {
	const char *key;
	enum push_way way;
} ways[] = {{"textfile", PUSH_TEXTFILE},
	    {"otlp", PUSH_OTLP},
	    {"pyroscope", PUSH_PYROSCOPE},
	    {"otlp-profiles", PUSH_OTLP_PROFILES}};

static int set_way(struct push_target *target, enum push_way way, const char *value,
		   struct error *error)
{
	if (target->way != PUSH_NOT)
		return error_set(error, EINVAL,
				 "a [push] has one of textfile, otlp, otlp-profiles and pyroscope");
	if (strlen(value) >= sizeof(target->where))
		return error_set(error, EINVAL, "the value is too long");
	if (way == PUSH_TEXTFILE && value[0] != '/')
		return error_set(error, EINVAL, "textfile: expected the whole path of a file");
	if (way != PUSH_TEXTFILE && http_url_check(value, error) < 0)
		return -EINVAL;
	target->way = way;
	snprintf(target->where, sizeof(target->where), "%s", value);
	return 0;
}

/* "Name: value", and nothing that would begin another one. */
static int add_header(struct push_target *target, const char *value, struct error *error)
{
	size_t name = 0;

	while (isalnum((unsigned char)value[name]) || value[name] == '-')
		name++;
	if (!name || value[name] != ':')
		return error_set(error, EINVAL, "header: expected Name: value");
	for (const char *c = value; *c; c++)
		if (iscntrl((unsigned char)*c))
			return error_set(error, EINVAL, "header: control characters");
	if (target->header_count == PUSH_HEADERS_MAX || strlen(value) >= sizeof(*target->headers))
		return error_set(error, EINVAL, "more than %d headers, or one that is too long",
				 PUSH_HEADERS_MAX);
	snprintf(target->headers[target->header_count++], sizeof(*target->headers), "%s", value);
	return 0;
}

static int set_events(struct push_target *target, const char *value, struct error *error)
{
	char list[128], *rest = list, *name;

	target->kinds_mask = 0;
	snprintf(list, sizeof(list), "%s", value);
	while ((name = strsep(&rest, ", "))) {
		uint32_t kind = 0;

		if (!*name)
			continue;
		while (kind < PKBPF_PROFILE_KINDS &&
		       strcmp(kind_ops_of((enum pkbpf_profile_kind)kind)->name, name) != 0)
			kind++;
		if (kind == PKBPF_PROFILE_KINDS)
			return error_set(error, EINVAL, "events: unknown kind '%s'", name);
		target->kinds_mask |= 1U << kind;
	}
	return target->kinds_mask ? 0 : error_set(error, EINVAL, "events: none");
}

static int set_interval(struct push_target *target, const char *value, struct error *error)
{
	if (parse_duration_ns(value, "interval", &target->interval_ns, error) < 0)
		return -EINVAL;
	if (target->interval_ns < INTERVAL_MIN_NS || target->interval_ns > INTERVAL_MAX_NS)
		return error_set(error, EINVAL, "interval: expected 10s to 10m");
	return 0;
}

static int set_encoding(struct push_target *target, const char *value, struct error *error)
{
	target->has_encoding = true;
	target->is_protobuf = strcmp(value, "protobuf") == 0;
	return target->is_protobuf || strcmp(value, "json") == 0
		       ? 0
		       : error_set(error, EINVAL,
				   "invalid value '%s' for encoding: expected json or protobuf",
				   value);
}

static int set_key(struct push_target *target, const struct ini_entry *entry, struct error *error)
{
	static const char *const keys[] = {"textfile",	    "otlp",	"pyroscope",
					   "otlp-profiles", "interval", "header",
					   "events",	    "max-age",	"encoding"};
	struct near_match near = {0};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (strcmp(entry->key, ways[i].key) == 0)
			return set_way(target, ways[i].way, entry->value, error);
	if (strcmp(entry->key, "interval") == 0)
		return set_interval(target, entry->value, error);
	if (strcmp(entry->key, "encoding") == 0)
		return set_encoding(target, entry->value, error);
	if (strcmp(entry->key, "header") == 0)
		return add_header(target, entry->value, error);
	if (strcmp(entry->key, "events") == 0)
		return set_events(target, entry->value, error);
	if (strcmp(entry->key, "max-age") == 0)
		return parse_duration_ns(entry->value, "max-age", &target->max_age_ns, error);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		near_match_offer(&near, entry->key, keys[i]);
	return error_set(error, EINVAL, "unknown key '%.64s' of [push]%s%s%s", entry->key,
			 near.word ? "; did you mean " : "", near.word ? near.word : "",
			 near.word ? "?" : "");
}

/* Names become those of files. */
static bool is_name(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789-_");

	return length && !name[length] && length < 64;
}

static int check_targets(const struct push_targets *targets, struct error *error)
{
	for (size_t i = 0; i < targets->count; i++) {
		const struct push_target *target = &targets->items[i];

		if (target->way == PUSH_NOT)
			return error_set(
				error, EINVAL,
				"[push %s] has neither textfile, otlp, otlp-profiles nor pyroscope",
				target->name);
		if (target->has_encoding && target->way != PUSH_OTLP &&
		    target->way != PUSH_OTLP_PROFILES)
			return error_set(error, EINVAL,
					 "[push %s]: encoding requires otlp or otlp-profiles",
					 target->name);
	}
	return 0;
}

int push_targets_read(const struct ini *ini, struct push_targets *ret_targets, struct error *error)
{
	struct push_target *target = NULL;

	*ret_targets = (struct push_targets){0};
	array_foreach(&ini->entries, entry) {
		if (strcmp(entry->kind, "push") != 0)
			continue;
		if (entry->key) {
			struct error inner;

			if (set_key(target, entry, &inner) < 0)
				return error_set(error, EINVAL, "line %u: %s", entry->line,
						 inner.text);
			continue;
		}
		if (ret_targets->count == PUSH_TARGETS_MAX || !is_name(entry->name))
			return error_set(error, EINVAL,
					 "line %u: [push NAME] requires a name of letters, digits, "
					 "- and _, and there are at most %d",
					 entry->line, PUSH_TARGETS_MAX);
		target = &ret_targets->items[ret_targets->count++];
		*target = (struct push_target){.interval_ns = INTERVAL_NS,
					       .max_age_ns = MAX_AGE_NS,
					       .kinds_mask = 1U << PKBPF_PROFILE_CPU};
		snprintf(target->name, sizeof(target->name), "%s", entry->name);
	}
	return check_targets(ret_targets, error);
}
