// SPDX-License-Identifier: BSD-2-Clause
/* States of alerts from one program to the next. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "alert/alerts_private.h"
#include "base/clock.h"
#include "base/escape.h"

#define MEMORY_NS ((int64_t)(900 * NS_PER_SECOND))

static void write_memory_of(const struct alert_state *state, FILE *out)
{
	fprintf(out, "{\"rule\":");
	escape_json(out, state->rule);
	fprintf(out, ",\"who\":");
	escape_json(out, state->who);
	fprintf(out, ",\"text\":");
	escape_json(out, state->text);
	fprintf(out,
		",\"phase\":%d,\"since_ns\":%" PRId64 ",\"fired_ns\":%" PRId64
		",\"ended_ns\":%" PRId64 ",\"clear_for_ns\":%" PRIu64 "}",
		(int)state->phase, state->since.unix_ns, state->fired_unix_ns, state->ended.unix_ns,
		state->clear_for_ns);
}

void alerts_write_memory(struct alerts *alerts, int64_t now_unix_ns, FILE *out)
{
	fprintf(out, "{\"version\":1,\"written_ns\":%" PRId64 ",\"states\":[", now_unix_ns);
	array_foreach(&alerts->states, state) {
		if (state != alerts->states.items)
			fprintf(out, ",\n");
		write_memory_of(state, out);
	}
	fprintf(out, "]}\n");
}

static bool has_rule(const struct alerts *alerts, const char *name)
{
	array_foreach(&alerts->rules, watched)
		if (strcmp(watched->rule.name, name) == 0)
			return true;
	return false;
}

static int64_t whole(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* As long ago as it was by the clock of then, which may have been ahead. */
static struct alert_time time_of(const json_t *object, const char *key, struct alert_time now)
{
	int64_t unix_ns = whole(object, key);
	int64_t age_ns = unix_ns < now.unix_ns ? now.unix_ns - unix_ns : 0;

	return unix_ns ? (struct alert_time){unix_ns, now.ns - age_ns} : (struct alert_time){0};
}

static int read_memory_of(struct alerts *alerts, const json_t *object, struct alert_time now)
{
	const char *rule = json_string_value(json_object_get(object, "rule"));
	const char *who = json_string_value(json_object_get(object, "who"));
	const char *text = json_string_value(json_object_get(object, "text"));
	int64_t phase = whole(object, "phase");
	struct alert_state *state;

	if (!rule || !who || strlen(who) >= ALERT_WHO_SIZE || !has_rule(alerts, rule) ||
	    phase < ALERT_INACTIVE || phase > ALERT_CLEARING ||
	    alerts->states.count == ALERT_STATES_MAX)
		return 0;
	state = alerts_state_of(alerts, rule, who, true);
	if (!state)
		return -ENOMEM;
	state->phase = (enum alert_phase)phase;
	state->since = time_of(object, "since_ns", now);
	state->fired_unix_ns = whole(object, "fired_ns");
	state->ended = time_of(object, "ended_ns", now);
	state->clear_for_ns = (uint64_t)whole(object, "clear_for_ns");
	snprintf(state->text, sizeof(state->text), "%s", text ? text : "");
	return 0;
}

int alerts_read_memory(struct alerts *alerts, const char *text, struct alert_time now)
{
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	int64_t age_ns = now.unix_ns - whole(root, "written_ns");
	const json_t *states = json_object_get(root, "states");
	int err = 0;

	/* What fired so long ago may have ended and begun again. */
	if (whole(root, "version") == 1 && age_ns < MEMORY_NS)
		for (size_t i = 0; i < json_array_size(states) && err == 0; i++)
			err = read_memory_of(alerts, json_array_get(states, i), now);
	json_decref(root);
	return err;
}
