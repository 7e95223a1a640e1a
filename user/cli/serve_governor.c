// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_governor.h"

#include "base/array.h"
#include "base/clock.h"

#define MINUTE_NS    (60 * NS_PER_SECOND)
#define CALM_MINUTES 10
#define SPARE_HZ     7

/* In this order: exact figures of the kernel's account stay whatever is shed. */
static const struct {
	uint32_t kind_mask; /* 0: the rate */
	const char *what;
} sheds[] = {
	{1U << PKBPF_PROFILE_OFFCPU, "waits"},
	{1U << PKBPF_PROFILE_FAULTS, "stacks of page faults"},
	{1U << PKBPF_PROFILE_BLOCKIO, "block I/O"},
	{0, "CPU samples beyond 7 Hz"},
};

/* Kinds that nobody asked for cannot be shed. */
static bool is_step(size_t index, uint32_t asked)
{
	return !sheds[index].kind_mask || (sheds[index].kind_mask & asked);
}

static unsigned int steps_of(uint32_t asked)
{
	unsigned int steps = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sheds); i++)
		steps += is_step(i, asked);
	return steps;
}

const char *serve_governor_sheds(unsigned int step, uint32_t asked)
{
	for (size_t i = 0; i < ARRAY_SIZE(sheds); i++)
		if (is_step(i, asked) && --step == 0)
			return sheds[i].what;
	return "";
}

int serve_governor_add(struct serve_governor *governor, uint64_t cost_ns, uint64_t length_ns,
		       unsigned int cpus, uint32_t asked)
{
	if (governor->limit <= 0 || !cpus)
		return 0;
	governor->cost_ns += cost_ns;
	governor->elapsed_ns += length_ns;
	if (governor->elapsed_ns < MINUTE_NS)
		return 0;
	governor->last_share =
		(double)governor->cost_ns / (double)governor->elapsed_ns / (double)cpus;
	governor->cost_ns = governor->elapsed_ns = 0;
	governor->calm_minutes =
		governor->last_share < governor->limit / 2 ? governor->calm_minutes + 1 : 0;
	if (governor->last_share > governor->limit && governor->step < steps_of(asked)) {
		governor->step++;
		return 1;
	}
	if (governor->calm_minutes >= CALM_MINUTES && governor->step) {
		governor->calm_minutes = 0;
		governor->step--;
		return -1;
	}
	return 0;
}

void serve_governor_apply(const struct serve_governor *governor, struct live_options *live)
{
	uint32_t asked = live->kinds_mask;
	unsigned int left = governor->step;

	for (size_t i = 0; i < ARRAY_SIZE(sheds) && left; i++) {
		if (!is_step(i, asked))
			continue;
		left--;
		/* Without any kind there would be nothing to profile. */
		if (live->kinds_mask & ~sheds[i].kind_mask)
			live->kinds_mask &= ~sheds[i].kind_mask;
		if (!sheds[i].kind_mask && live->frequency_hz > SPARE_HZ)
			live->frequency_hz = SPARE_HZ;
	}
}
