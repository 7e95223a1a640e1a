// SPDX-License-Identifier: BSD-2-Clause
/* When an alert begins and ends. */
#include "alert/alerts.h"
#include "base/clock.h"

#define HOUR ((int64_t)(3600 * NS_PER_SECOND))

const char *const alert_phase_names[] = {"inactive", "pending", "firing", "clearing"};

static void enter(struct alert_state *state, enum alert_phase phase, struct alert_time now)
{
	state->phase = phase;
	state->since = now;
}

/* One that comes back again and again is left firing for longer. */
static void begin_firing(struct alert_state *state, const struct alert_rule *rule,
			 struct alert_time now)
{
	bool returns = state->ended.unix_ns && now.ns - state->ended.ns < HOUR;

	state->clear_for_ns = returns ? 2 * state->clear_for_ns : rule->clear_for_ns;
	if (state->clear_for_ns > (uint64_t)HOUR)
		state->clear_for_ns = (uint64_t)HOUR;
	state->fired_unix_ns = now.unix_ns;
	enter(state, ALERT_FIRING, now);
}

void alert_state_hold(struct alert_state *state, struct alert_time now)
{
	enter(state, ALERT_PENDING, now);
}

bool alert_state_step(struct alert_state *state, const struct alert_rule *rule, bool holds,
		      bool clears, struct alert_time now)
{
	switch (state->phase) {
	case ALERT_INACTIVE:
		if (!holds)
			return false;
		enter(state, ALERT_PENDING, now);
		/* fallthrough */
	case ALERT_PENDING:
		if (!holds) {
			enter(state, ALERT_INACTIVE, now);
			return false;
		}
		if (now.ns - state->since.ns < (int64_t)rule->for_ns)
			return false;
		begin_firing(state, rule, now);
		return true;
	case ALERT_FIRING:
		if (!clears)
			return false;
		enter(state, ALERT_CLEARING, now);
		/* fallthrough */
	case ALERT_CLEARING:
		if (!clears) {
			enter(state, ALERT_FIRING, now);
			return false;
		}
		if (now.ns - state->since.ns < (int64_t)state->clear_for_ns)
			return false;
		state->ended = now;
		enter(state, ALERT_INACTIVE, now);
		return true;
	}
	return false;
}
