// SPDX-License-Identifier: BSD-2-Clause
/* The rule about storms of short processes, with the process that starts them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

#define SHORT_LIVED_PER_SECOND	50
#define SHORT_LIVED_CPU_PERCENT 10
#define SHORT_NS		NS_PER_SECOND
/* Of CPU time each, of the program that uses most: ten times what starting one takes. */
#define LARGE_NS (10 * NS_PER_MS)
/* Of the short processes, to be the one who starts them. */
#define PARENT_PERCENT 50
/* Programs that one process starts, kept apart: it starts a few again and again. */
#define NAMES 16
/* From a child to the one who lives longer: a shell, its subshell, what that runs. */
#define GENERATIONS 8

struct storm {
	const struct resource_usage *usage;
	struct hash_map by_pid;	  /* -> index of the process */
	struct hash_map children; /* pid of a parent that lives longer -> short processes */
	uint64_t count, cpu_ns;
	const char *name; /* that used most */
};

static void storm_done(struct storm *storm)
{
	hash_map_done(&storm->by_pid);
	hash_map_done(&storm->children);
}

static bool is_short(const struct resource_process *process)
{
	return process->started_inside && process->end_ns &&
	       process->end_ns - process->start_ns <= SHORT_NS;
}

/* The first ancestor that is no short process; 0: not known. */
static uint32_t starter_of(struct storm *storm, const struct resource_process *process)
{
	uint32_t pid = process->parent_pid;

	for (int i = 0; i < GENERATIONS && pid > 1; i++) {
		const uint64_t *index = hash_map_find(&storm->by_pid, pid);
		struct resource_process parent;

		if (!index)
			return pid;
		parent = resource_usage_process(storm->usage, *index);
		if (!is_short(&parent))
			return pid;
		pid = parent.parent_pid;
	}
	return 0;
}

static void count_children(struct storm *storm)
{
	size_t count = resource_usage_process_count(storm->usage);

	for (size_t i = 0; i < count; i++) {
		struct resource_process process = resource_usage_process(storm->usage, i);

		if (process.pid)
			hash_map_put(&storm->by_pid, process.pid, i);
	}
	for (size_t i = 0; i < count; i++) {
		struct resource_process process = resource_usage_process(storm->usage, i);
		uint32_t starter;
		uint64_t *children;
		bool added;

		if (!process.pid || !is_short(&process))
			continue;
		starter = starter_of(storm, &process);
		children = starter ? hash_map_get(&storm->children, starter, 0, &added) : NULL;
		if (children)
			++*children;
	}
}

static void sum_up(const struct resource_rows *rows, struct storm *storm)
{
	uint64_t most_ns = 0;

	storm->name = "";
	for (size_t i = 0; i < rows->all_count; i++) {
		const struct resource_row *item = &rows->items[i];

		if (!item->started_inside || !item->ended_inside || item->lifetime_ns > SHORT_NS)
			continue;
		storm->count += item->processes;
		storm->cpu_ns += item->cpu.total_ns;
		if (item->cpu.total_ns <= most_ns)
			continue;
		most_ns = item->cpu.total_ns;
		storm->name = item->name;
	}
}

/* The process that starts most of them. */
struct starter {
	uint32_t pid;			/* 0: no process starts most */
	double part;			/* of all with a known parent, percent */
	char name[PKBPF_COMM_SIZE + 1]; /* of what it starts, that with most CPU time */
	uint64_t mean_ns;		/* CPU time of each of these */
};

static void find_name(struct storm *storm, struct starter *starter)
{
	struct {
		char name[PKBPF_COMM_SIZE + 1];
		uint64_t cpu_ns, count;
	} names[NAMES];
	size_t count = 0, most = 0, j;

	for (size_t i = 0; i < resource_usage_process_count(storm->usage); i++) {
		struct resource_process process = resource_usage_process(storm->usage, i);

		if (!process.pid || !is_short(&process) ||
		    starter_of(storm, &process) != starter->pid)
			continue;
		for (j = 0; j < count && strcmp(names[j].name, process.comm) != 0; j++)
			;
		if (j == NAMES)
			continue;
		if (j == count) {
			memcpy(names[count].name, process.comm, sizeof(process.comm));
			names[count].cpu_ns = names[count].count = 0;
			count++;
		}
		names[j].cpu_ns += process.used.run_ns;
		names[j].count++;
		most = names[j].cpu_ns > names[most].cpu_ns ? j : most;
	}
	if (!count)
		return;
	memcpy(starter->name, names[most].name, sizeof(starter->name));
	starter->mean_ns = names[most].cpu_ns / names[most].count;
}

static struct starter starter_of_most(struct storm *storm)
{
	struct starter starter = {0};
	const struct hash_map_slot *slot;
	uint64_t most = 0, all = 0;
	size_t cursor = 0;

	count_children(storm);
	while ((slot = hash_map_next(&storm->children, &cursor))) {
		all += slot->value;
		if (slot->value > most) {
			most = slot->value;
			starter.pid = (uint32_t)slot->key;
		}
	}
	starter.part = finding_percent((double)most, (double)all);
	if (starter.part < PARENT_PERCENT)
		return (struct starter){0};
	find_name(storm, &starter);
	return starter;
}

static void say_starter(struct finding *finding, const struct analysis *analysis,
			const struct starter *starter, double rate)
{
	for (size_t i = 0; i < analysis->count; i++) {
		const struct activity *activity = &analysis->activities[i];

		for (size_t j = 0; j < activity->group->count; j++) {
			struct row_group one = {.count = 1, .worst = activity->group->members[j]};
			const struct resource_row *members[] = {activity->group->members[j]};
			struct activity single = {.group = &one};

			if (activity->group->members[j]->pid != starter->pid)
				continue;
			one.members = members;
			finding_say_who(finding, analysis, &single);
			finding_say(
				finding->cause,
				"starts %.0f short-lived processes per second (most CPU time: %s)",
				rate * starter->part / 100, starter->name);
			/* Others start some beside it. */
			if (starter->part < 99)
				finding_say(finding->by, "%.0f %% of all", starter->part);
			return;
		}
	}
	finding_say(finding->by, "%.0f %% of them started by process %" PRIu32, starter->part,
		    starter->pid);
}

void find_short_lived(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_rows *rows = analysis->rows;
	_cleanup_(storm_done) struct storm storm = {.usage = profile_resources(rows->profile)};
	struct finding finding = finding_new(FINDING_RULE_short_lived);
	struct starter starter;
	uint64_t each_ns;
	double rate, share;

	if (rows->by != ROWS_BY_PROCESS || finding_seconds(rows) <= 0)
		return;
	sum_up(rows, &storm);
	rate = (double)storm.count / finding_seconds(rows);
	share = finding_percent((double)storm.cpu_ns, (double)rows->total.cpu.total_ns);
	/* One in a few milliseconds is no storm. */
	if (storm.count < SHORT_LIVED_PER_SECOND || rate < SHORT_LIVED_PER_SECOND ||
	    share < SHORT_LIVED_CPU_PERCENT)
		return;
	starter = starter_of_most(&storm);
	if (starter.pid)
		say_starter(&finding, analysis, &starter, rate);
	if (!finding.who[0])
		finding_say(finding.cause,
			    "%.0f short-lived processes per second (most CPU time: %s)", rate,
			    storm.name);
	finding_say(finding.evidence, "%s processes of less than 1 s used %.0f %% of the CPU time",
		    human_count((char[HUMAN_SIZE]){0}, storm.count), share);
	/* They are why the CPUs are busy, and others wait: the cause comes before its effect. */
	finding.severity = share >= 50 ? 100 : share;
	finding.cost = finding_cost(rows, storm.cpu_ns);
	if (share >= 50)
		finding.cost += finding_cost(rows, rows->total.waits.runqueue_ns);
	each_ns = starter.pid ? starter.mean_ns : storm.cpu_ns / storm.count;
	if (each_ns < LARGE_NS) {
		finding_say(finding.next, "do the work in one process, or start fewer");
	} else {
		/* A build: what they do is the work, starting them is a small part of it. */
		finding.is_alarm = false;
		finding_say(finding.evidence, ", %s %s each",
			    starter.pid ? starter.name : storm.name,
			    human_time((char[HUMAN_SIZE]){0}, each_ns));
	}
	findings_offer(findings, &finding);
}
