// SPDX-License-Identifier: BSD-2-Clause
#include "live/overhead_limit.h"

#include <stddef.h>

#include <pkbpf/event.h>

#include "base/array.h"

/* The first second above the limit is left to the stacks of waits; one with a burst of new
 * processes passes. */
#define SECONDS_ABOVE 2
#define SECONDS_BELOW 5
#define BELOW_PART    3

#define KIND(name) (1U << PKBPF_PROFILE_##name)

struct step {
	uint32_t kinds_mask;
	struct pkbpf_shed_control shed;
	const char *text;
};

static const struct step steps[] = {
	{KIND(OFFCPU), {.no_wakers = 1}, "waits have no waker stack"},
	{KIND(FAULTS), {.fault_shift = 3}, "one sampled page fault in 8 has a stack"},
	{KIND(BLOCKIO), {.blockio_mask = 7}, "one new stack of block requests in 8 is taken"},
	{KIND(FAULTS), {.fault_shift = 6}, "one sampled page fault in 64 has a stack"},
	{KIND(BLOCKIO), {.blockio_mask = 63}, "one new stack of block requests in 64 is taken"},
	{KIND(CPU), {.cpu_mask = 1}, "half of the CPU samples are taken"},
	{KIND(CPU), {.cpu_mask = 3}, "a quarter of the CPU samples is taken"},
	{KIND(CPU), {.cpu_mask = 7}, "an eighth of the CPU samples is taken"},
};

/* The step with this number among those of the kinds; NULL: there are fewer. */
static const struct step *step_at(const struct overhead_limit *limit, uint32_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i].kinds_mask & limit->kinds_mask && number-- == 0)
			return &steps[i];
	return NULL;
}

int overhead_limit_add(struct overhead_limit *limit, uint64_t used_ns, uint64_t passed_ns)
{
	uint64_t allowed_ns = passed_ns / 1000 * limit->limit_permille;

	if (!limit->limit_permille || !passed_ns)
		return 0;
	limit->seconds_above = used_ns > allowed_ns ? limit->seconds_above + 1 : 0;
	limit->seconds_below = used_ns < allowed_ns / BELOW_PART ? limit->seconds_below + 1 : 0;
	if (limit->seconds_above >= SECONDS_ABOVE) {
		if (step_at(limit, limit->step)) {
			limit->step++;
			limit->seconds_above = SECONDS_ABOVE - 1;
			return 1;
		}
		limit->unheeded++;
	}
	if (limit->seconds_below >= SECONDS_BELOW && limit->step) {
		limit->seconds_below = 0;
		limit->step--;
		return -1;
	}
	return 0;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void overhead_shed_add(struct pkbpf_shed_control *shed, const struct pkbpf_shed_control *more)
{
	shed->cpu_mask = larger(shed->cpu_mask, more->cpu_mask);
	shed->fault_shift = larger(shed->fault_shift, more->fault_shift);
	shed->blockio_mask = larger(shed->blockio_mask, more->blockio_mask);
	shed->no_wakers = larger(shed->no_wakers, more->no_wakers);
	if (more->wait_quota && (!shed->wait_quota || more->wait_quota < shed->wait_quota))
		shed->wait_quota = more->wait_quota;
}

struct pkbpf_shed_control overhead_limit_shed(const struct overhead_limit *limit)
{
	struct pkbpf_shed_control shed = {0};

	for (uint32_t i = 0; i < limit->step; i++)
		overhead_shed_add(&shed, &step_at(limit, i)->shed);
	return shed;
}

const char *overhead_limit_text(const struct overhead_limit *limit)
{
	return limit->step ? step_at(limit, limit->step - 1)->text : "";
}
