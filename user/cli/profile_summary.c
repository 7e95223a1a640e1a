// SPDX-License-Identifier: BSD-2-Clause
/* Puts losses and the lack of samples into words. */
#include "cli/profile_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_append.h"
#include "event/counter_table.h"
#include "process/cgroup/container_match.h"
#include "process/cgroup/frozen.h"
#include "profile/kind_table.h"
#include "rows/human.h"
#include "source/source.h"

/* "10 s", "1.5 s", "0.02 s" */
static void format_seconds(uint64_t time_ns, char *ret_text, size_t size)
{
	double seconds = (double)time_ns / NS_PER_SECOND;

	snprintf(ret_text, size,
		 seconds >= 10	? "%.0f s"
		 : seconds >= 1 ? "%.1f s"
				: "%.2f s",
		 seconds);
}

/* "ring buffer full: 3, malformed records: 2"; before: what stands before the first. */
static bool add_losses(char *text, size_t size, const uint64_t counters[PKBPF_COUNTER_COUNT],
		       enum pkbpf_loss loss, const char *before)
{
	const char *separator = before;
	char number[HUMAN_SIZE];

	for (int i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (counter_table[i].loss != loss || counters[i] == 0)
			continue;
		text_append(text, size, "%s%s: %s", separator, counter_table[i].text,
			    human_count(number, counters[i]));
		separator = ", ";
	}
	return separator != before;
}

static bool expects_samples(const struct profile_info *info)
{
	return !info->kinds_mask || info->kinds_mask & profile_kinds_expected();
}

static bool has_lost(const struct profile_info *info)
{
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (profile_kind_lost(kind, info->counters))
			return true;
	return false;
}

static bool is_host(const struct live_targets *chosen)
{
	return !chosen->pids.count && !chosen->tids.count && !chosen->cgroup_path &&
	       !chosen->container && !chosen->command;
}

/* Whether the targets are paused: they could not use any CPU. Of processes the first is asked. */
static bool are_frozen(const struct live_targets *chosen)
{
	if (chosen->cgroup_path)
		return frozen_cgroup(chosen->cgroup_path);
	if (chosen->container)
		return frozen_container(chosen->container);
	return chosen->pids.count && frozen_process(chosen->pids.items[0]);
}

/* "no process named postgres used the CPU", "pid 812 did not use the CPU" */
static void add_idle_target(char *text, size_t size, const struct live_targets *chosen,
			    const char *targets)
{
	if (is_host(chosen) && chosen->comm)
		text_append(text, size, "no process named %s used the CPU", chosen->comm);
	else if (is_host(chosen))
		text_append(text, size, "no process used the CPU");
	else if (chosen->container && container_is_pattern(chosen->container))
		text_append(text, size, "no %s used the CPU", targets);
	else
		text_append(text, size, "%s did not use the CPU", targets);
}

bool profile_summary_explain_nothing(const struct profile *profile,
				     const struct live_targets *chosen, enum run_end end,
				     char *ret_text, size_t size)
{
	const struct profile_info *info = profile_info_read(profile);
	struct profile_account account = profile_account(profile);
	char targets[256], took[32];
	size_t rows;

	/* Calls of GPU libraries are counted, whatever the CPU did. */
	profile_rows(profile, &rows);
	if (rows > 0 || profile_gpu_calls(profile)->items.count)
		return false;
	live_targets_describe(chosen, targets, sizeof(targets));
	format_seconds(info->end_ns - info->start_ns, took, sizeof(took));
	snprintf(ret_text, size, "no %s: ", expects_samples(info) ? "samples" : "events");
	if (account.lost || has_lost(info)) {
		text_append(ret_text, size, "all lost");
		add_losses(ret_text, size, info->counters, PKBPF_LOSS_SAMPLE, ": ");
		add_losses(ret_text, size, info->counters, PKBPF_LOSS_OTHER,
			   account.lost ? ", " : ": ");
	} else if (account.expected > 0) {
		text_append(ret_text, size,
			    "%" PRIu64 " expected and none recorded; try --unwind fp",
			    account.expected);
	} else if (!(info->kinds_mask & profile_kinds_expected())) {
		text_append(ret_text, size,
			    "%s caused no such event in %s; profile longer, or use other --events",
			    targets, took);
	} else if (are_frozen(chosen)) {
		text_append(ret_text, size,
			    "%s could not run: frozen (paused); resume with docker unpause, "
			    "cgroup.freeze or freezer.state",
			    targets);
	} else if (end == RUN_TARGETS_ENDED) {
		text_append(ret_text, size,
			    "%s exited after %s, before the first sample at %" PRIu32
			    " Hz; raise --frequency",
			    targets, took, info->frequency_hz);
	} else {
		const struct source_ops *offcpu = source_by_name("offcpu");

		add_idle_target(ret_text, size, chosen, targets);
		text_append(ret_text, size, " in %s at %" PRIu32 " Hz; profile longer, or %s", took,
			    info->frequency_hz,
			    offcpu && !(info->kinds_mask & 1U << offcpu->kind)
				    ? "use -e offcpu"
				    : "raise --frequency");
	}
	return true;
}

/* "33096 waits" of what is added up, where there is no telling how many were expected. */
static void add_counts(const struct profile *profile, char *text, size_t size)
{
	uint32_t mask = profile_info_read(profile)->kinds_mask & ~profile_kinds_expected();
	uint64_t counts[PKBPF_PROFILE_KINDS] = {0};
	char number[HUMAN_SIZE];
	size_t row_count;
	const struct profile_row *rows = profile_rows(profile, &row_count);

	for (size_t i = 0; i < row_count; i++) {
		if ((unsigned int)rows[i].kind < PKBPF_PROFILE_KINDS)
			counts[rows[i].kind] += rows[i].count;
	}
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		if (mask & 1U << kind)
			text_append(
				text, size, "%s%s", text[0] ? ", " : "",
				human_counted(number, counts[kind], kind_ops_of(kind)->count_unit));
	}
}

void profile_summary_write(const struct profile *profile, char *ret_text, size_t size)
{
	const struct profile_info *info = profile_info_read(profile);
	struct profile_account account = profile_account(profile);
	char recorded[HUMAN_SIZE], expected[HUMAN_SIZE];

	ret_text[0] = '\0';
	if (account.expected || expects_samples(info))
		text_append(ret_text, size, "%s of %s", human_count(recorded, account.recorded),
			    human_counted(expected, account.expected, "samples"));
	if (add_losses(ret_text, size, info->counters, PKBPF_LOSS_SAMPLE, " (lost: "))
		text_append(ret_text, size, ")");
	add_counts(profile, ret_text, size);
	if (add_losses(ret_text, size, info->counters, PKBPF_LOSS_OTHER, "; lost: "))
		return;
	if (!account.lost)
		text_append(ret_text, size, ", 0 lost");
}
