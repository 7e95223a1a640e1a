// SPDX-License-Identifier: BSD-2-Clause
/* The rules about the machine and about how far the profile is to be trusted. */
#include "rows/human.h"
#include "finding/finding_rules.h"

#define STEAL_PERCENT 5
#define LOST_PERCENT  1

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
	finding.tier = analysis->has_targets ? FINDING_OF_HOST : FINDING_OF_TARGET;
	findings_offer(findings, &finding);
}

static void say_lost(enum finding_rule_number rule, const char *what, uint64_t lost, uint64_t all,
		     struct findings *findings)
{
	struct finding finding = finding_new(rule);
	double percent = finding_percent((double)lost, (double)all);

	if (percent < LOST_PERCENT)
		return;
	finding_say(finding.cause, "%.1f %% of the %s were lost (%s): shares may be off by as much",
		    percent > 100 ? 100 : percent, what, human_count((char[HUMAN_SIZE]){0}, lost));
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
	find_lost(analysis, findings);
}
