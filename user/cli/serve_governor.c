// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_governor.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text_append.h"
#include "live/overhead_limit.h"
#include "source/offcpu/offcpu_governor.h"

#define MINUTE_SLICES	  6U
#define CALM_MINUTES	  10U
#define MOST_CALM_MINUTES 120U
#define AT_ONCE		  10 /* times the limit */

#define KIND(name) (1U << PKBPF_PROFILE_##name)

struct step {
	uint32_t kind_mask; /* no step where it was not asked for */
	bool is_off;	    /* the whole kind */
	struct pkbpf_shed_control shed;
	const char *text;
};

static const struct step steps[] = {
	{KIND(OFFCPU),
	 false,
	 {.no_wakers = 1, .wait_quota = OFFCPU_GOVERNOR_LEAST_QUOTA},
	 "stacks of wakers and of frequent waits"},
	{KIND(FAULTS), false, {.fault_shift = 3}, "7 of 8 stacks of page faults"},
	{KIND(FAULTS), false, {.fault_shift = 6}, "63 of 64 stacks of page faults"},
	{KIND(BLOCKIO), false, {.blockio_mask = 7}, "7 of 8 new stacks of block requests"},
	{KIND(FAULTS), true, {0}, "all stacks of page faults"},
	{KIND(CPU), false, {.cpu_mask = 1}, "half of the CPU samples"},
	{KIND(CPU), false, {.cpu_mask = 3}, "3 of 4 CPU samples"},
	/* Last: without them nothing says what a program waited for when it got slow. */
	{KIND(BLOCKIO), true, {0}, "all block requests"},
	{KIND(OFFCPU), true, {0}, "all waits"},
};

/* The step with this number, from 1; NULL: there are fewer. */
static const struct step *step_at(unsigned int number, uint32_t asked)
{
	uint32_t left = asked;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct step *step = &steps[i];

		/* Without any kind there would be nothing to profile. */
		if (!(step->kind_mask & asked) || (step->is_off && !(left & ~step->kind_mask)))
			continue;
		if (step->is_off)
			left &= ~step->kind_mask;
		if (--number == 0)
			return step;
	}
	return NULL;
}

void serve_governor_begin(struct serve_governor *governor)
{
	governor->unjudged = 0;
	governor->slices = 0;
	governor->cost_ns = governor->elapsed_ns = 0;
}

static int take_step(struct serve_governor *governor)
{
	if (governor->since_given) {
		unsigned int wanted =
			2 * (governor->calm_wanted ? governor->calm_wanted : CALM_MINUTES);

		governor->calm_wanted = wanted < MOST_CALM_MINUTES ? wanted : MOST_CALM_MINUTES;
		governor->since_given = 0;
	}
	governor->step++;
	governor->calm_minutes = 0;
	return 1;
}

static int give_back(struct serve_governor *governor)
{
	governor->step--;
	governor->calm_minutes = 0;
	governor->since_given = 1;
	return -1;
}

/* What was judged counts no more. */
static void note_share(struct serve_governor *governor, unsigned int cpus)
{
	governor->last_share =
		(double)governor->cost_ns / (double)governor->elapsed_ns / (double)cpus;
	governor->last_ns = governor->elapsed_ns;
	governor->cost_ns = governor->elapsed_ns = 0;
	governor->slices = 0;
}

static int judge_minute(struct serve_governor *governor, uint32_t asked)
{
	unsigned int wanted = governor->calm_wanted ? governor->calm_wanted : CALM_MINUTES;

	if (governor->last_share >= governor->limit / 2)
		governor->calm_minutes = 0;
	else
		governor->calm_minutes++;
	if (governor->last_share > governor->limit && step_at(governor->step + 1, asked))
		return take_step(governor);
	return governor->calm_minutes >= wanted && governor->step ? give_back(governor) : 0;
}

/* A step that was given back and not missed for ten minutes was rightly given back. */
static void age(struct serve_governor *governor)
{
	if (governor->since_given && ++governor->since_given > CALM_MINUTES * MINUTE_SLICES) {
		governor->since_given = 0;
		governor->calm_wanted = 0;
	}
}

int serve_governor_add(struct serve_governor *governor, uint64_t cost_ns, uint64_t length_ns,
		       unsigned int cpus, uint32_t asked)
{
	double most_ns = AT_ONCE * governor->limit * (double)length_ns * cpus;

	if (governor->limit <= 0 || !cpus || !length_ns)
		return 0;
	age(governor);
	if (governor->unjudged < MINUTE_SLICES) {
		governor->unjudged++;
		return 0;
	}
	governor->slices++;
	governor->cost_ns += cost_ns;
	governor->elapsed_ns += length_ns;
	if (governor->slices >= MINUTE_SLICES) {
		note_share(governor, cpus);
		return judge_minute(governor, asked);
	}
	if ((double)cost_ns > most_ns && step_at(governor->step + 1, asked)) {
		governor->cost_ns = cost_ns;
		governor->elapsed_ns = length_ns;
		note_share(governor, cpus);
		return take_step(governor);
	}
	return 0;
}

uint32_t serve_governor_kinds(const struct serve_governor *governor, uint32_t asked)
{
	uint32_t kinds = asked;

	for (unsigned int i = 1; i <= governor->step && step_at(i, asked); i++)
		if (step_at(i, asked)->is_off)
			kinds &= ~step_at(i, asked)->kind_mask;
	return kinds;
}

struct pkbpf_shed_control serve_governor_shed(const struct serve_governor *governor, uint32_t asked)
{
	struct pkbpf_shed_control shed = {0};

	for (unsigned int i = 1; i <= governor->step && step_at(i, asked); i++)
		overhead_shed_add(&shed, &step_at(i, asked)->shed);
	return shed;
}

const char *serve_governor_text(unsigned int step, uint32_t asked)
{
	const struct step *at = step ? step_at(step, asked) : NULL;

	return at ? at->text : "";
}

void serve_governor_left_out(const struct serve_governor *governor, uint32_t asked, char *ret_text,
			     size_t size)
{
	ret_text[0] = '\0';
	for (unsigned int i = 1; i <= governor->step && step_at(i, asked); i++) {
		bool is_last = true;

		for (unsigned int j = i + 1; j <= governor->step && step_at(j, asked); j++)
			is_last &= step_at(j, asked)->kind_mask != step_at(i, asked)->kind_mask;
		if (is_last)
			text_append(ret_text, size, "%s%s", ret_text[0] ? ", " : "",
				    serve_governor_text(i, asked));
	}
}
