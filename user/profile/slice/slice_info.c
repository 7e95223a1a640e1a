// SPDX-License-Identifier: BSD-2-Clause
/* Merges what is known of a run: its interval, clock, rate of samples and cost. */
#include <string.h>

#include "base/clock.h"
#include "profile/account/account.h"
#include "profile/slice/slice_private.h"
#include "profile/slice/time_line.h"

/* After a reboot the clock of times has begun anew: the other clock says how much later it is. A
 * clock that is only set has windows that follow each other. */
uint64_t slice_clock_ns(const struct profile_info *into, const struct profile_info *from)
{
	uint64_t later_ns = (uint64_t)(from->start_unix_ns - into->start_unix_ns);
	bool follows = from->start_ns + CLOCK_SLACK_NS >= into->end_ns;
	uint64_t at_ns;

	if (!into->end_ns || from->start_unix_ns <= into->start_unix_ns ||
	    (follows && from->start_ns <= into->end_ns + CLOCK_SLACK_NS))
		return 0;
	at_ns = into->start_ns + later_ns;
	/* The same boot, after a gap. */
	if (follows && from->start_ns <= at_ns + later_ns / 1000 + CLOCK_SLACK_NS &&
	    at_ns <= from->start_ns + later_ns / 1000 + CLOCK_SLACK_NS)
		return 0;
	return at_ns - from->start_ns;
}

static bool has_samples(const struct profile_info *info)
{
	return info->frequency_hz && info->kinds_mask & 1U << PKBPF_PROFILE_CPU;
}

uint64_t slice_scaled(uint64_t weight, double rate)
{
	return rate == 1 ? weight : (uint64_t)((double)weight * rate + 0.5);
}

/* A sample stands for less time the more of them were taken: rows count as if all had been taken at
 * the highest rate. */
static void raise_rate(struct profile *into, double rate)
{
	array_foreach(&into->rows, row) {
		if (row->kind != PKBPF_PROFILE_CPU)
			continue;
		row->count = slice_scaled(row->count, rate);
		row->weight = slice_scaled(row->weight, rate);
	}
	for (enum account i = 0; i < ACCOUNT_COUNT; i++) {
		if (account_ops_of(i)->raise_rate)
			account_ops_of(i)->raise_rate(into->accounts[i], rate);
	}
	for (size_t i = 0; into->times && i < into->times->parts.count; i++) {
		struct time_part *part = &into->times->parts.items[i];

		if (into->rows.items[part->row].kind == PKBPF_PROFILE_CPU)
			part->weight = (int64_t)slice_scaled((uint64_t)part->weight, rate);
	}
}

double slice_join_rates(struct profile *into, const struct profile_info *from)
{
	struct profile_info *info = &into->info;
	double rate;

	if (!has_samples(info) || !has_samples(from) || info->frequency_hz == from->frequency_hz)
		return 1;
	rate = (double)from->frequency_hz / info->frequency_hz;
	if (rate < 1)
		return 1 / rate;
	raise_rate(into, rate);
	info->frequency_hz = from->frequency_hz;
	return 1;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Texts and settings come from the last slice; interval and overhead cover all. */
void slice_merge_info(struct profile_info *into, const struct profile_info *from)
{
	struct profile_info before = *into;
	uint64_t clock_ns = slice_clock_ns(into, from);

	*into = *from;
	if (!before.end_ns)
		return;
	into->sequence = before.sequence;
	into->start_ns = before.start_ns;
	into->start_unix_ns = before.start_unix_ns;
	into->end_ns = larger(before.end_ns, from->end_ns + clock_ns);
	into->kinds_mask |= before.kinds_mask;
	into->regions_ns += before.regions_ns;
	into->gpu_calls_ns += before.gpu_calls_ns;
	/* Values of two keys are no values of one. */
	if (strcmp(before.label_key, from->label_key) != 0)
		into->label_key[0] = '\0';
	for (size_t i = 0; i < PKBPF_CONTEXT_LABELS; i++)
		if (strcmp(before.label_keys[i], from->label_keys[i]) != 0)
			into->label_keys[i][0] = '\0';
	/* See slice_join_rates(). */
	if (has_samples(&before) &&
	    (!has_samples(from) || before.frequency_hz > from->frequency_hz))
		into->frequency_hz = before.frequency_hz;
	into->cpu_count = (uint32_t)larger(before.cpu_count, from->cpu_count);
	/* Each slice has the time of its process up to its begin and its end; start-ups are what
	 * was used before the first slice of a capture. */
	into->own_start_cpu_ns =
		before.own_start_cpu_ns + (from->sequence ? 0 : from->own_start_cpu_ns);
	into->own_cpu_ns = into->own_start_cpu_ns + profile_own_cpu_since_start(&before) +
			   profile_own_cpu_since_start(from);
	into->bpf_cpu_ns += before.bpf_cpu_ns;
	into->bpf_cpu_known = before.bpf_cpu_known && from->bpf_cpu_known;
	into->max_resident_bytes = larger(before.max_resident_bytes, from->max_resident_bytes);
	into->bpf_map_bytes = larger(before.bpf_map_bytes, from->bpf_map_bytes);
	into->memory_peak_bytes = larger(before.memory_peak_bytes, from->memory_peak_bytes);
	if (before.shed_steps > from->shed_steps) {
		into->shed_steps = before.shed_steps;
		memcpy(into->shed, before.shed, sizeof(into->shed));
	}
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++)
		into->counters[i] += before.counters[i];
	into->machine = before.machine;
	machine_figures_add(&into->machine, &from->machine);
}
