// SPDX-License-Identifier: BSD-2-Clause
/* The rules about the machine and about how far the profile is to be trusted. */
#include "rows/human.h"
#include "finding/finding_rules.h"

#define STEAL_PERCENT	5
#define LOST_PERCENT	1
#define HEAT_PER_SECOND 1
/* As bad as steal time that is worth a word: clocks fall by some percent. */
#define HEAT_SEVERITY 5

static void find_stolen(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_machine *machine = &analysis->rows->machine;
	struct finding finding = finding_new(FINDING_RULE_stolen);
	double steal = finding_percent((double)machine->steal_ns, (double)machine->steal_ns +
									  (double)machine->busy_ns +
									  (double)machine->idle_ns);

	if (steal < STEAL_PERCENT)
		return;
	finding_say(finding.cause,
		    "steal time %.0f %%: the hypervisor ran other guests while this machine had "
		    "runnable threads",
		    steal);
	finding.severity = steal;
	finding.cost = finding_cost(analysis->rows, machine->steal_ns);
	finding.tier = analysis->has_targets ? FINDING_OF_HOST : FINDING_OF_TARGET;
	findings_offer(findings, &finding);
}

/* The kernel counts how often, not for how long. */
static void find_throttled_by_heat(const struct analysis *analysis, struct findings *findings)
{
	const struct machine_figures *machine =
		&profile_info_read(analysis->rows->profile)->machine;
	struct finding finding = finding_new(FINDING_RULE_throttled_by_heat);
	double seconds = finding_seconds(analysis->rows);

	if (!machine->throttles || seconds <= 0 ||
	    (double)machine->throttles < HEAT_PER_SECOND * seconds)
		return;
	finding_say(finding.cause, "CPUs were throttled by heat %s",
		    human_counted((char[HUMAN_SIZE]){0}, machine->throttles, "times"));
	if (machine->temperature_source[0])
		finding_say(finding.cause, " (the hottest reached %.0f C, %s)",
			    (double)machine->millicelsius / 1000, machine->temperature_source);
	if (machine->frequency_readings)
		finding_say(finding.cause, "; they ran at %.2f GHz",
			    machine_mean_hz(machine) / 1e9);
	finding_say(finding.next, "look at cooling, and compare no times with those of other runs");
	finding.severity = HEAT_SEVERITY;
	finding.tier = analysis->has_targets ? FINDING_OF_HOST : FINDING_OF_TARGET;
	findings_offer(findings, &finding);
}

static void say_lost(enum finding_rule_number rule, const char *what, uint64_t lost, uint64_t all,
		     struct findings *findings)
{
	struct finding finding = finding_new(rule);
	double percent = finding_percent((double)lost, (double)all);

	if (percent < LOST_PERCENT || lost < LEAST_COUNTED)
		return;
	finding_say(finding.cause, "%.1f %% of the %s were lost (%s): %s",
		    percent > 100 ? 100 : percent, what, human_count((char[HUMAN_SIZE]){0}, lost),
		    rule == FINDING_RULE_samples_lost ? "shares may be off by as much"
						      : "their times are missing");
	finding.severity = percent;
	finding.tier = FINDING_OF_RUN;
	/* About the profile, not about a program. */
	finding.is_alarm = false;
	findings_offer(findings, &finding);
}

static void find_lost(const struct analysis *analysis, struct findings *findings)
{
	const struct profile *profile = analysis->rows->profile;
	struct profile_account account = profile_account(profile);
	uint64_t lost = profile_kind_lost(PKBPF_PROFILE_OFFCPU,
					  profile_info_read(profile)->counters),
		 all = lost;
	size_t count;
	const struct profile_row *recorded = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++)
		all += recorded[i].kind == PKBPF_PROFILE_OFFCPU ? recorded[i].count : 0;
	say_lost(FINDING_RULE_samples_lost, "samples", account.lost, account.expected, findings);
	say_lost(FINDING_RULE_waits_lost, "waits", lost, all, findings);
}

void find_host(const struct analysis *analysis, struct findings *findings)
{
	find_stolen(analysis, findings);
	find_throttled_by_heat(analysis, findings);
	find_lost(analysis, findings);
}
