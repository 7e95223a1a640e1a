// SPDX-License-Identifier: BSD-2-Clause
/* Asks every rule, keeps the worst findings, and makes their sentences. */
#include "finding/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "finding/finding_rules.h"

/* Begin of the description of targets that are a command. */
#define COMMAND_TARGET "command "
/* ", 57 +- 4 % of its resident pages in `" */
#define FINDING_PLACE_SIZE 80

/* In less time nothing has happened often enough: ten samples of a CPU at 99 Hz. */
#define LEAST_INTERVAL_NS (100 * NS_PER_MS)

const struct finding_rule finding_rules[FINDING_RULE_COUNT] = {
#define ROW(name_text, summary_text, reason_text, proof_text)                                      \
	{.name = #name_text,                                                                       \
	 .summary = (summary_text),                                                                \
	 .reason = (reason_text),                                                                  \
	 .proof = (proof_text)},
	FINDING_RULES(ROW)
#undef ROW
};

const char *finding_rule_name_at(size_t index)
{
	return index < FINDING_RULE_COUNT ? finding_rules[index].name : "";
}

struct finding finding_new(enum finding_rule_number rule)
{
	return (struct finding){.rule = finding_rules[rule].name, .is_alarm = true};
}

static void append(struct finding *finding, const char *before, const char *part, const char *after)
{
	size_t length = strlen(finding->text);

	if (part[0])
		snprintf(finding->text + length, sizeof(finding->text) - length, "%s%s%s",
			 length ? before : "", part, after);
}

/* A command that the reader can paste: its "PID" becomes that of the finding. Of a process that has
 * ended, a command in parentheses is left out. */
static void fill_pid(struct finding *finding)
{
	char *at = strstr(finding->next, "PID");
	char rest[FINDING_PART_SIZE];

	if (!at || !finding->pid)
		return;
	if (finding->has_ended) {
		while (at > finding->next && *at != '(')
			at--;
		if (at > finding->next && strchr(at, ')'))
			memmove(at - 1, strchr(at, ')') + 1, strlen(strchr(at, ')') + 1) + 1);
		return;
	}
	snprintf(rest, sizeof(rest), "%s", at + strlen("PID"));
	*at = '\0';
	finding_say(finding->next, "%" PRIu32 "%s", finding->pid, rest);
}

/* "in `f`", or ", 57 +- 4 % of it in `f`" */
static void append_place(struct finding *finding)
{
	char before[FINDING_PLACE_SIZE] = " in `";

	if (finding->place_percent > 0)
		snprintf(before, sizeof(before), ", %s %s in `",
			 finding_share((char[FINDING_SHARE_SIZE]){0}, finding->place_percent,
				       finding->place_error),
			 finding->place_base);
	append(finding, before, finding->place, "`");
}

/* The one place in which the sentences are put together. */
static void compose(struct finding *finding)
{
	fill_pid(finding);
	finding->text[0] = '\0';
	append(finding, "", finding->who, "");
	append(finding, ": ", finding->cause, "");
	append_place(finding);
	append(finding, ", ", finding->by, "");
	append(finding, "; ", finding->evidence, "");
	append(finding, ". Next: ", finding->next, "");
}

/* At "; " or ", ", outside of names; NULL: there is one clause. */
static char *last_clause(char *part)
{
	char *last = NULL;
	bool is_name = false;

	for (char *at = part; *at; at++) {
		is_name ^= *at == '`';
		if (!is_name && (*at == ';' || *at == ',') && at[1] == ' ')
			last = at;
	}
	return last;
}

bool finding_shorten(struct finding *finding)
{
	char *part = finding->evidence[0] ? finding->evidence : finding->by, *last;

	if (!part[0])
		return false;
	last = last_clause(part);
	*(last ? last : part) = '\0';
	compose(finding);
	return true;
}

static size_t rule_number(const struct finding *finding)
{
	size_t i = 0;

	while (i < FINDING_RULE_COUNT && finding_rules[i].name != finding->rule)
		i++;
	return i;
}

static bool is_before(const struct finding *a, const struct finding *b)
{
	if (a->tier != b->tier)
		return a->tier < b->tier;
	if (a->cost != b->cost)
		return a->cost > b->cost;
	return rule_number(a) < rule_number(b);
}

static size_t count_of_rule(const struct findings *findings, const char *rule)
{
	size_t count = 0;

	for (size_t i = 0; i < findings->count; i++)
		count += findings->findings[i].rule == rule;
	return count;
}

/* The last one of its rule. */
static void drop_last(struct findings *findings, const char *rule)
{
	size_t i = findings->count;

	while (i > 0 && findings->findings[i - 1].rule != rule)
		i--;
	if (!i)
		return;
	memmove(&findings->findings[i - 1], &findings->findings[i],
		(findings->count - i) * sizeof(findings->findings[0]));
	findings->count--;
}

void findings_offer(struct findings *findings, struct finding *finding)
{
	size_t at = findings->count;

	if (finding->severity < LEAST_SEVERITY)
		return;
	/* Counters may be read a moment after a short interval. */
	if (finding->severity > 100)
		finding->severity = 100;
	if (!(finding->cost > 0))
		finding->cost = finding->severity;
	compose(finding);
	while (at > 0 && is_before(finding, &findings->findings[at - 1]))
		at--;
	if (at >= FINDING_MAX)
		return;
	if (findings->count == FINDING_MAX)
		findings->count--;
	memmove(&findings->findings[at + 1], &findings->findings[at],
		(findings->count - at) * sizeof(*finding));
	findings->findings[at] = *finding;
	findings->count++;
	if (count_of_rule(findings, finding->rule) > FINDING_MAX_PER_RULE)
		drop_last(findings, finding->rule);
}

static void say_too_short(const struct resource_rows *rows, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_too_short);
	const char *targets = profile_info_read(rows->profile)->targets;

	finding.is_alarm = false;
	finding.severity = LEAST_SEVERITY;
	finding.tier = FINDING_OF_RUN;
	finding_say(finding.cause, "an interval of %.0f ms is too short for findings",
		    (double)rows->interval_ns / (double)NS_PER_MS);
	/* A command that has ended takes no longer the next time. Its arguments are not kept. */
	if (strncmp(targets, COMMAND_TARGET, strlen(COMMAND_TARGET)) == 0)
		finding_say(finding.next, "run it many times: pkbpf bench -- COMMAND");
	else
		finding_say(finding.next, "record a second or more");
	findings_offer(findings, &finding);
}

void findings_find(const struct resource_rows *rows, struct findings *ret_findings)
{
	static void (*const finders[])(const struct analysis *analysis, struct findings *findings) =
		{
			find_memory, find_cpu,	   find_deadlocks, find_locks,
			find_waits,  find_storage, find_peers,	   find_calls,
			find_gpu,    find_host,	   find_healthy, /* which looks at the others */
		};
	struct analysis analysis;

	*ret_findings = (struct findings){0};
	if (rows->interval_ns && rows->interval_ns < LEAST_INTERVAL_NS) {
		say_too_short(rows, ret_findings);
		return;
	}
	if (analysis_init(&analysis, rows))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(finders); i++)
		finders[i](&analysis, ret_findings);
	analysis_done(&analysis);
}
