// SPDX-License-Identifier: BSD-2-Clause
/* Asks every rule and keeps the worst findings. */
#include "finding/finding.h"

#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "finding/finding_rules.h"

#define FINDING_RULE_ADDRESS(name) &finding_rule_##name,
static const struct finding_rule *const rules[] = {FINDING_RULES(FINDING_RULE_ADDRESS)};
#undef FINDING_RULE_ADDRESS

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

static void find_groups(const struct resource_rows *rows, const struct finding_rule *rule,
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
		struct finding finding = {.rule = rules[i]->name};

		if (rules[i]->judge)
			find_groups(rows, rules[i], ret_findings);
		else if (rules[i]->find(rows, &finding))
			offer(ret_findings, &finding);
	}
}
