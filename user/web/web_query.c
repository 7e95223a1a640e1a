// SPDX-License-Identifier: BSD-2-Clause
/* A table of parameters. */
#include "web/web_query.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse_value.h"
#include "history/history_time.h"
#include "profile/kind_table.h"

/* As in Go's own server. */
#define SECONDS_MAX 600

void web_query_init(struct web_query *query, int64_t now_unix_ns)
{
	*query = (struct web_query){.now_unix_ns = now_unix_ns,
				    .from_unix_ns = WEB_NO_TIME,
				    .to_unix_ns = WEB_NO_TIME,
				    .base_from_unix_ns = WEB_NO_TIME,
				    .base_to_unix_ns = WEB_NO_TIME};
}

/* ---- parameters ---- */

static int set_from(struct web_query *query, const char *value, struct error *error)
{
	return history_time_parse(value, query->now_unix_ns, &query->from_unix_ns, error);
}

static int set_to(struct web_query *query, const char *value, struct error *error)
{
	return history_time_parse(value, query->now_unix_ns, &query->to_unix_ns, error);
}

static int set_base_from(struct web_query *query, const char *value, struct error *error)
{
	return history_time_parse(value, query->now_unix_ns, &query->base_from_unix_ns, error);
}

static int set_base_to(struct web_query *query, const char *value, struct error *error)
{
	return history_time_parse(value, query->now_unix_ns, &query->base_to_unix_ns, error);
}

static int set_step(struct web_query *query, const char *value, struct error *error)
{
	return parse_duration_ns(value, "step", &query->step_ns, error);
}

static int set_number(const char *value, const char *name, uint32_t most, uint32_t *ret_number,
		      struct error *error)
{
	uint64_t number;
	int err = parse_u64(value, name, 1, most, &number, error);

	if (err == 0)
		*ret_number = (uint32_t)number;
	return err;
}

static int set_seconds(struct web_query *query, const char *value, struct error *error)
{
	return set_number(value, "seconds", SECONDS_MAX, &query->seconds, error);
}

static int set_pid(struct web_query *query, const char *value, struct error *error)
{
	return set_number(value, "pid", 1U << 22, &query->pid, error);
}

static int set_top(struct web_query *query, const char *value, struct error *error)
{
	return set_number(value, "top", 100, &query->top, error);
}

static int set_past(struct web_query *query, const char *value, struct error *error)
{
	(void)error;
	query->past = strcmp(value, "0") != 0;
	return 0;
}

static int set_kind(struct web_query *query, const char *value, struct error *error)
{
	for (unsigned int i = 0; i < PKBPF_PROFILE_KINDS; i++) {
		if (strcmp(kind_ops_of((enum pkbpf_profile_kind)i)->name, value) != 0)
			continue;
		query->kind = (enum pkbpf_profile_kind)i;
		query->has_kind = true;
		return 0;
	}
	return error_set(error, EINVAL,
			 "kind '%.64s' is unknown: expected cpu, offcpu, blockio or faults", value);
}

static int set_by(struct web_query *query, const char *value, struct error *error)
{
	for (int i = 0; rows_grouping_names[i]; i++) {
		/* A history has no samples by label. */
		if (i == ROWS_BY_LABEL || strcmp(rows_grouping_names[i], value) != 0)
			continue;
		query->by = (enum rows_by)i;
		query->has_by = true;
		return 0;
	}
	return error_set(
		error, EINVAL,
		"by '%.64s' is unknown: expected process, thread, container, comm, name or region",
		value);
}

static const struct {
	const char *name;
	int (*set)(struct web_query *query, const char *value, struct error *error);
	/* Without set: a text of this member. */
	size_t offset, size;
} parameters[] = {
#define TEXT(member)                                                                               \
	NULL, offsetof(struct web_query, member), sizeof(((struct web_query *)0)->member)
	{"from", set_from, 0, 0},
	{"to", set_to, 0, 0},
	{"seconds", set_seconds, 0, 0},
	{"past", set_past, 0, 0},
	{"kind", set_kind, 0, 0},
	{"pid", set_pid, 0, 0},
	{"by", set_by, 0, 0},
	{"top", set_top, 0, 0},
	{"comm", TEXT(comm)},
	{"container", TEXT(container)},
	{"format", TEXT(format)},
	{"figure", TEXT(figure)},
	{"level", TEXT(level)},
	{"base", TEXT(base)},
	{"base_from", set_base_from, 0, 0},
	{"base_to", set_base_to, 0, 0},
	{"step", set_step, 0, 0},
#undef TEXT
};

int web_query_set(struct web_query *query, const char *name, const char *value, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
		if (strcmp(parameters[i].name, name) != 0)
			continue;
		if (parameters[i].set)
			return parameters[i].set(query, value, error);
		if (strlen(value) >= parameters[i].size)
			return error_set(error, EINVAL, "the value of %s is too long", name);
		memcpy((char *)query + parameters[i].offset, value, strlen(value) + 1);
		return 0;
	}
	return error_set(error, EINVAL,
			 "unknown parameter '%.64s': expected from, to, seconds, past, kind, pid, "
			 "comm, container, by, top, figure, step, level, format, base, base_from "
			 "or base_to",
			 name);
}
