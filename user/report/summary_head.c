// SPDX-License-Identifier: BSD-2-Clause
/* Writes what was profiled, how the host was, what is wrong, and how far to believe it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/text_append.h"
#include "event/counter_table.h"
#include "profile/kind_table.h"
#include "profile/stack_end.h"
#include "report/summary.h"
#include "symbol/symbol_notes.h"
#include "report/text_advice.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/gpu_words.h"
#include "rows/machine_words.h"

#define TEXT_SIZE 1024
/* Of user stacks, in percent: fewer that are complete are worth a line. */
#define COMPLETE_PERCENT 95

/* Returns the number of lines. */
static size_t write_clean(const struct summary *summary, const struct text_wrapping *wrapping,
			  const char *text)
{
	char clean[TEXT_SIZE];

	escape_terminal(clean, sizeof(clean), text);
	return text_wrap_lines(summary->report.out, summary->report.width, wrapping, clean);
}

static void add_start(char *text, size_t size, const struct profile_info *info)
{
	time_t seconds = (time_t)(info->start_unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;
	char start[64];

	if (info->start_unix_ns > 0 && gmtime_r(&seconds, &calendar) &&
	    strftime(start, sizeof(start), "%Y-%m-%d %H:%M:%S", &calendar))
		text_append(text, size, " from %s UTC", start);
}

static void write_some(const struct summary *summary, const char *text)
{
	const struct text_wrapping wrapping = {.label = "", .next_indent = 2, .lines = 2};

	if (text[0])
		write_clean(summary, &wrapping, text);
}

static void write_gpus(const struct summary *summary)
{
	array_foreach(&profile_gpus(summary->report.profile)->devices, device) {
		char words[TEXT_SIZE], text[TEXT_SIZE + 4];

		gpu_words(device, words, sizeof(words));
		snprintf(text, sizeof(text), "GPU %s", words);
		write_some(summary, text);
	}
}

/* On the page where it may matter. */
#define DISK_BUSY_PERCENT 20

static void write_disk(const struct summary *summary)
{
	const struct disk_list *list = profile_disks(summary->report.profile);
	const struct disk *busiest = disk_list_busiest(list);
	char words[TEXT_SIZE], text[TEXT_SIZE + 8];

	if (!busiest || disk_busy_percent(busiest) < DISK_BUSY_PERCENT)
		return;
	machine_words_disks(list, 1, words, sizeof(words));
	snprintf(text, sizeof(text), "disk %s", words);
	write_some(summary, text);
}

int summary_title(const struct summary *summary, size_t lines)
{
	const struct profile_info *info = profile_info_read(summary->report.profile);
	const struct resource_machine *machine = &summary->rows->machine;
	struct text_wrapping wrapping = {.label = "", .lines = lines > 1 ? lines - 1 : 1};
	char text[TEXT_SIZE] = "", a[HUMAN_SIZE], b[HUMAN_SIZE];

	text_append(text, sizeof(text), "%s, ", info->targets[0] ? info->targets : "unknown");
	if (summary->rows->interval_ns)
		text_append(text, sizeof(text), "%s", human_time(a, summary->rows->interval_ns));
	else
		text_append(text, sizeof(text), "unknown length");
	add_start(text, sizeof(text), info);
	write_clean(summary, &wrapping, text);
	text[0] = '\0';
	text_append(text, sizeof(text), "host %s", info->host[0] ? info->host : "unknown");
	if (info->cpu_count)
		text_append(text, sizeof(text), ": %s", human_counted(a, info->cpu_count, "CPUs"));
	if (machine->known && summary->rows->busy_percent >= 0)
		text_append(text, sizeof(text), " %.1f%% busy", summary->rows->busy_percent);
	if (machine->known)
		text_append(text, sizeof(text), ", memory %s of %s available",
			    human_bytes(a, machine->memory_available_bytes),
			    human_bytes(b, machine->memory_bytes));
	wrapping.lines = 1;
	write_clean(summary, &wrapping, text);
	machine_words_measured(&info->machine, text, sizeof(text));
	write_some(summary, text);
	write_disk(summary);
	write_gpus(summary);
	machine_words_counted(&info->machine, text, sizeof(text));
	if (!text[0] && info->machine.counts_reason[0])
		text_append(text, sizeof(text), "CPU counters: %s", info->machine.counts_reason);
	write_some(summary, text);
	return 0;
}

/* Text for the terminal, as a finding takes that many lines or, however short, more. */
static void write_finding(const struct summary *summary, const struct finding *finding,
			  struct text_wrapping wrapping, size_t *used)
{
	struct finding *shorter = malloc(sizeof(*shorter));
	size_t lines = wrapping.lines;
	char clean[2 * FINDING_TEXT_SIZE];

	escape_terminal(clean, sizeof(clean), finding->text);
	if (shorter) {
		*shorter = *finding;
		/* "Next" is at the end, where a line would be cut. */
		while (text_wrap_count(summary->report.width, &wrapping, clean) > lines &&
		       finding_shorten(shorter))
			escape_terminal(clean, sizeof(clean), shorter->text);
	}
	*used += text_wrap_lines(summary->report.out, summary->report.width, &wrapping, clean);
	free(shorter);
}

int summary_findings(const struct summary *summary, size_t lines)
{
	const struct findings *findings = summary->findings;
	size_t used = 1;

	if (!findings || !findings->count)
		return 0;
	text_heading(&summary->report, "Findings");
	for (size_t i = 0; i < findings->count && used < lines; i++) {
		/* Each of those behind it has a line at least. */
		size_t behind = findings->count - i - 1, left = lines - used;
		struct text_wrapping wrapping = {

			.indent = 4, .next_indent = 4, .lines = left > behind ? left - behind : 1};
		char label[32];

		snprintf(label, sizeof(label), " %zu.", i + 1);
		wrapping.label = label;
		write_finding(summary, &findings->findings[i], wrapping, &used);
	}
	return 0;
}

/* ---- how far to believe it ---- */

static void add_samples(char *text, const struct summary *summary)
{
	const struct profile_info *info = profile_info_read(summary->report.profile);
	struct profile_account account = profile_account(summary->report.profile);
	char a[HUMAN_SIZE], b[HUMAN_SIZE];

	if (!(info->kinds_mask & profile_kinds_expected()) && !account.lost)
		return;
	text_append(text, TEXT_SIZE, "%s of %s", human_count(a, account.recorded),
		    human_counted(b, account.expected, "samples"));
	if (account.lost)
		text_append(text, TEXT_SIZE, ", %s lost", human_count(a, account.lost));
	text_append(text, TEXT_SIZE, "; ");
}

static void add_losses(char *text, const struct summary *summary)
{
	const struct profile_info *info = profile_info_read(summary->report.profile);
	char a[HUMAN_SIZE];

	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++)
		if (counter_table[i].loss == PKBPF_LOSS_OTHER && info->counters[i])
			text_append(text, TEXT_SIZE, "lost: %s: %s; ", counter_table[i].text,
				    human_count(a, info->counters[i]));
	if (info->counters[PKBPF_COUNTER_ACCOUNT_EDGES_MS])
		text_append(text, TEXT_SIZE,
			    "CPU times may be off by %s ms (reading them took that long); ",
			    human_count(a, info->counters[PKBPF_COUNTER_ACCOUNT_EDGES_MS]));
}

static void add_stacks(char *text, const struct summary *summary)
{
	const struct profile *profile = summary->report.profile;
	uint64_t guessed = profile_end_count(profile, UINT32_MAX, PKBPF_END_GUESSED);
	uint64_t complete = 0, known = 0;
	char a[HUMAN_SIZE];

	for (unsigned int end = PKBPF_END_NONE + 1; end < PKBPF_END_COUNT; end++) {
		uint64_t count = profile_end_count(profile, UINT32_MAX, end);

		complete += stack_end_is_complete(end) ? count : 0;
		known += end != PKBPF_END_UNVERIFIED && !stack_end_is_gone(end) ? count : 0;
	}
	if (known)
		text_append(text, TEXT_SIZE, "%s of user stacks complete",
			    human_share(a, complete, known));
	if (guessed)
		text_append(text, TEXT_SIZE, ", %s with unverified frames",
			    human_share(a, guessed, known));
	if (known)
		text_append(text, TEXT_SIZE, "; ");
}

static void add_cost(char *text, const struct summary *summary)
{
	const struct profile_info *info = profile_info_read(summary->report.profile);
	uint64_t interval_ns = summary->rows->interval_ns;
	uint64_t own_ns = profile_own_cpu_since_start(info) + info->bpf_cpu_ns;
	char a[HUMAN_SIZE];

	if (!interval_ns)
		return;
	/* What is done at the end would be a multiple of a short interval. */
	if (interval_ns < NS_PER_SECOND)
		text_append(text, TEXT_SIZE, "overhead %s CPU time", human_time(a, own_ns));
	else
		text_append(text, TEXT_SIZE, "overhead %s of one CPU",
			    human_share(a, own_ns, interval_ns));
	if (!info->bpf_cpu_known)
		text_append(text, TEXT_SIZE, " without BPF programs");
	if (text_exceeds_limit(&summary->report))
		text_append(text, TEXT_SIZE, ", BPF %s: more than --max-overhead (%.1f%%)",
			    human_share(a, info->bpf_cpu_ns, interval_ns),
			    info->bpf_limit_permille / 10.0);
	if (info->shed_steps)
		text_append(text, TEXT_SIZE, ", left out to stay within --max-cpu: %.*s",
			    (int)sizeof(info->shed), info->shed);
	text_append(text, TEXT_SIZE, "; ");
}

static bool is_empty(const struct summary *summary)
{
	size_t count;

	profile_rows(summary->report.profile, &count);
	return !count && !summary->rows->count;
}

/* The first of what is missing for names, and how many more there are; returns the lines. */
static size_t write_symbol_note(const struct summary *summary, size_t lines)
{
	const struct symbol_notes *notes = profile_symbol_notes(summary->report.profile);
	struct text_wrapping wrapping = {.label = "", .lines = lines};
	char text[TEXT_SIZE] = "Names: ";
	size_t more = notes->count + notes->left_out - 1;

	if (!notes->count || !lines)
		return 0;
	text_append(text, sizeof(text), "%s", notes->items[0]);
	if (more)
		text_append(text, sizeof(text), "; and %zu more", more);
	return write_clean(summary, &wrapping, text);
}

int summary_notes(const struct summary *summary, size_t lines)
{
	char text[TEXT_SIZE] = "Profile: ", advice[TEXT_ADVICE_SIZE];
	struct text_wrapping wrapping = {.label = ""};
	size_t left = lines;

	if (is_empty(summary))
		text_wrap(summary->report.out, summary->report.width, "", 0, TEXT_NOTHING);
	if (left > 1 && text_advice(&summary->report, advice)) {
		wrapping.lines = left > 2 ? 2 : 1;
		left -= write_clean(summary, &wrapping, advice);
	}
	left -= write_symbol_note(summary, left > 2 ? 2 : left - 1);
	add_samples(text, summary);
	add_losses(text, summary);
	add_stacks(text, summary);
	add_cost(text, summary);
	text_append(text, sizeof(text), "all: --full");
	wrapping.lines = left;
	write_clean(summary, &wrapping, text);
	return 0;
}
