// SPDX-License-Identifier: BSD-2-Clause
/* The table of rules, and the worst of what they find. */
#include "finding/finding.h"

#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "finding/finding_rules.h"

/* A rule is about the run, or about rows: those of one name for which it holds are told as one. */
struct rule {
	const char *name;
	bool (*find)(const struct resource_rows *rows, struct finding *finding);
	row_judge_fn judge; /* < 0: does not hold for this row; else how bad it is, 0 to 100 */
	void (*tell)(const struct resource_rows *rows, const struct row_group *group,
		     struct finding *finding);
};

static const struct rule rules[] = {
	{.name = "cpu_starved", .find = finding_cpu_starved},
	{.name = "cpu_limit", .find = finding_cpu_limit},
	{.name = "slow_device", .find = finding_slow_device},
	{.name = "memory_low", .find = finding_memory_low},
	{.name = "short_lived", .find = finding_short_lived},
	{.name = "stolen", .find = finding_stolen},
	{.name = "samples_lost", .find = finding_samples_lost},
	{.name = "waits_lost", .find = finding_waits_lost},
	{.name = "cpu_bound", .judge = judge_cpu, .tell = tell_cpu},
	{.name = "disk_bound", .judge = judge_disk, .tell = tell_disk},
	{.name = "queue_bound", .judge = judge_queue, .tell = tell_queue},
	{.name = "journal_bound", .judge = judge_journal, .tell = tell_journal},
	{.name = "lock_bound", .judge = judge_locks, .tell = tell_locks},
	{.name = "futex_bound", .judge = judge_futex, .tell = tell_futex},
	{.name = "out_of_memory", .judge = judge_oom, .tell = tell_oom},
	{.name = "memory_grows", .judge = judge_growth, .tell = tell_growth},
	{.name = "major_faults", .judge = judge_major, .tell = tell_major},
	{.name = "idle_for_peers", .find = finding_idle_for_peers},
};

static void offer(struct findings *findings, const struct finding *finding)
{
	size_t at = findings->count;

	if (finding->severity < LEAST_SEVERITY)
		return;
	while (at > 0 && findings->findings[at - 1].severity < finding->severity)
		at--;
	if (at >= FINDING_MAX)
		return;
	if (findings->count == FINDING_MAX)
		findings->count--;
	memmove(&findings->findings[at + 1], &findings->findings[at],
		(findings->count - at) * sizeof(*finding));
	findings->findings[at] = *finding;
	findings->count++;
}

static void find_groups(const struct resource_rows *rows, const struct rule *rule,
			struct findings *findings)
{
	_cleanup_(row_groups_done) struct row_groups groups = {0};

	row_groups_find(&groups, rows, rule->judge);
	for (size_t i = 0; i < groups.count && i < FINDING_MAX_PER_RULE; i++) {
		struct finding finding = {.rule = rule->name, .severity = groups.items[i].severity};

		rule->tell(rows, &groups.items[i], &finding);
		offer(findings, &finding);
	}
}

void findings_find(const struct resource_rows *rows, struct findings *ret_findings)
{
	*ret_findings = (struct findings){0};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct finding finding = {.rule = rules[i].name};

		if (rules[i].judge)
			find_groups(rows, &rules[i], ret_findings);
		else if (rules[i].find(rows, &finding))
			offer(ret_findings, &finding);
	}
}
