// SPDX-License-Identifier: BSD-2-Clause
// Prints what was profiled, how completely, at what cost.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "event/counter_table.h"
#include "profile/kind_table.h"
#include "profile/stack_end.h"
#include "rows/gpu_words.h"
#include "rows/human.h"
#include "rows/machine_words.h"
#include "report/text_kind.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "symbol/symbol_notes.h"

#define MACHINE_TEXT_SIZE 1024
#define LABEL_COLUMNS	  12

/* A text in memory while its line is put together; lines are short, the host's names are
 * bounded. */
struct line {
	char *text;
	size_t size;
	FILE *stream;
};

static bool line_begin(struct line *line)
{
	line->stream = open_memstream(&line->text, &line->size);
	return line->stream;
}

/* Cleans and prints the line. Without memory the line is missing, which its reader sees. */
static void line_end(struct line *line, const struct text_report *report, const char *label)
{
	_cleanup_free_ char *clean = NULL;

	if (fclose(line->stream) == 0)
		clean = malloc(line->size + 1);
	if (clean) {
		escape_terminal(clean, line->size + 1, line->text);
		text_wrap(report->out, report->width, label, LABEL_COLUMNS, clean);
	}
	free(line->text);
}

static void print_host(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	struct line line;

	if (!line_begin(&line))
		return;
	fprintf(line.stream, "%s, kernel %s", info->host[0] ? info->host : "unknown",
		info->kernel[0] ? info->kernel : "unknown");
	if (info->cpu_count)
		fprintf(line.stream, ", %" PRIu32 " CPU%s", info->cpu_count,
			info->cpu_count == 1 ? "" : "s");
	line_end(&line, report, "host:");
}

static void print_interval(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	time_t seconds = (time_t)(info->start_unix_ns / (int64_t)NS_PER_SECOND);
	char duration[HUMAN_SIZE], start[64];
	struct tm calendar;
	struct line line;

	if (!line_begin(&line))
		return;
	if (text_interval_ns(report))
		fprintf(line.stream, "%s", human_time(duration, text_interval_ns(report)));
	else
		fprintf(line.stream, "unknown length");
	/* UTC: a report is read on another machine than it was made on. */
	if (info->start_unix_ns > 0 && gmtime_r(&seconds, &calendar) &&
	    strftime(start, sizeof(start), "%Y-%m-%d %H:%M:%S", &calendar))
		fprintf(line.stream, " from %s UTC", start);
	line_end(&line, report, "interval:");
}

static void print_kinds(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	const char *separator = "";
	struct line line;

	if (!line_begin(&line))
		return;
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		if (!(info->kinds_mask & 1U << kind))
			continue;
		fprintf(line.stream, "%s%s", separator, kind_ops_of(kind)->name);
		if (text_kind_of(kind)->describe)
			text_kind_of(kind)->describe(info, line.stream);
		separator = ", ";
	}
	if (!separator[0])
		fprintf(line.stream, "none");
	line_end(&line, report, "events:");
}

static const char *unwind_text(enum pkbpf_unwind_mode mode)
{
	switch (mode) {
	case PKBPF_UNWIND_AUTO:
		return "auto (unwind tables; frame pointers in code without tables)";
	case PKBPF_UNWIND_DWARF:
		return "dwarf (unwind tables only)";
	case PKBPF_UNWIND_FP:
		return "fp (frame pointers, by the kernel)";
	}
	return "unknown";
}

static void print_account(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	struct profile_account account = profile_account(report->profile);
	uint64_t accounted = account.recorded + account.lost;
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
	const char *separator = " (";
	struct line line;

	/* Without a kind of which expected samples are known, and without losses, there is nothing
	 * to say. */
	if (!(info->kinds_mask & profile_kinds_expected()) && !account.expected && !accounted)
		return;
	if (!line_begin(&line))
		return;
	fprintf(line.stream, "expected %s = recorded %s + lost %s",
		human_count(a, account.expected), human_count(b, account.recorded),
		human_count(c, account.lost));
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (counter_table[i].loss != PKBPF_LOSS_SAMPLE || !info->counters[i])
			continue;
		fprintf(line.stream, "%s%s: %s", separator, counter_table[i].text,
			human_count(a, info->counters[i]));
		separator = ", ";
	}
	if (account.lost)
		fputc(')', line.stream);
	if (account.expected > accounted)
		fprintf(line.stream, " + unaccounted %s",
			human_count(a, account.expected - accounted));
	else if (account.expected < accounted)
		fprintf(line.stream, " - unaccounted %s",
			human_count(a, accounted - account.expected));
	line_end(&line, report, "samples:");
}

static void print_other_losses(const struct text_report *report, FILE *out)
{
	const struct profile_info *info = profile_info_read(report->profile);
	const char *separator = "; lost: ";
	char number[HUMAN_SIZE];

	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (counter_table[i].loss != PKBPF_LOSS_OTHER || !info->counters[i])
			continue;
		fprintf(out, "%s%s: %s", separator, counter_table[i].text,
			human_count(number, info->counters[i]));
		separator = ", ";
	}
}

/* The kinds that the account of CPU samples does not cover, and what is missing besides samples. */
static void print_recorded(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	uint32_t others = info->kinds_mask & ~profile_kinds_expected();
	uint64_t counts[PKBPF_PROFILE_KINDS] = {0};
	const char *separator = "";
	char number[HUMAN_SIZE];
	struct line line;
	size_t row_count;
	const struct profile_row *rows = profile_rows(report->profile, &row_count);

	if (!others && !profile_account(report->profile).lost_other)
		return;
	if (!line_begin(&line))
		return;
	for (size_t i = 0; i < row_count; i++)
		if ((unsigned int)rows[i].kind < PKBPF_PROFILE_KINDS)
			counts[rows[i].kind] += rows[i].count;
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		if (!(others & 1U << kind))
			continue;
		fprintf(line.stream, "%s%s", separator,
			human_counted(number, counts[kind], kind_ops_of(kind)->count_unit));
		separator = ", ";
	}
	if (!*separator)
		fprintf(line.stream, "nothing else");
	print_other_losses(report, line.stream);
	line_end(&line, report, "recorded:");
}

/* Stacks whose frame-pointer walk ran into garbage. */
static uint64_t count_broken(const struct profile *profile)
{
	size_t row_count, frame_count;
	const struct profile_row *rows = profile_rows(profile, &row_count);
	uint64_t broken = 0;

	for (size_t i = 0; i < row_count; i++) {
		const uint32_t *frames = profile_stack(profile, rows[i].stack, &frame_count);
		const struct frame *root =
			frame_count ? profile_frame(profile, frames[frame_count - 1]) : NULL;

		if (root && root->location.space == FRAME_TRUNCATED &&
		    root->location.address == PKBPF_END_UNVERIFIED)
			broken += rows[i].count;
	}
	return broken;
}

/* Frames between may be missing. Others are in stacks that are truncated. */
static void print_guessed(struct line *line, const struct profile *profile, uint64_t known)
{
	uint64_t stacks = profile_end_count(profile, UINT32_MAX, PKBPF_END_GUESSED),
		 frames = profile_guessed_frames(profile);
	char a[HUMAN_SIZE], b[HUMAN_SIZE];

	if (stacks)
		fprintf(line->stream, "; %s complete with unverified frames (%s)",
			human_share(a, stacks, known), human_count(b, stacks));
	if (frames)
		fprintf(line->stream, "; %s frames by unverified frame pointers",
			human_count(a, frames));
}

static void print_stacks(const struct text_report *report)
{
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
	uint64_t complete = 0, unverified, total;
	const struct profile *profile = report->profile;
	struct line line;

	unverified = profile_end_count(profile, UINT32_MAX, PKBPF_END_UNVERIFIED);
	total = unverified;
	for (unsigned int end = PKBPF_END_NONE + 1; end < PKBPF_END_COUNT; end++) {
		uint64_t count = profile_end_count(profile, UINT32_MAX, end);

		if (stack_end_is_complete(end))
			complete += count;
		if (end != PKBPF_END_UNVERIFIED && !stack_end_is_gone(end))
			total += count;
	}
	if (!line_begin(&line))
		return;
	if (!total) {
		fprintf(line.stream, "no user stacks");
		line_end(&line, report, "stacks:");
		return;
	}
	if (total > unverified)
		fprintf(line.stream, "%s of user stacks complete (%s of %s)",
			human_share(a, complete, total - unverified), human_count(b, complete),
			human_count(c, total - unverified));
	print_guessed(&line, profile, total - unverified);
	for (unsigned int end = PKBPF_END_NONE + 1; end < PKBPF_END_COUNT; end++) {
		uint64_t count = profile_end_count(profile, UINT32_MAX, end);

		if (count && stack_end_is_truncated(end) && !stack_end_is_gone(end))
			fprintf(line.stream, "; %s: %s", stack_end_text(end),
				human_count(a, count));
	}
	if (unverified)
		fprintf(line.stream,
			"%s%s user stacks unwound by frame pointers, completeness unknown",
			total > unverified ? "; " : "", human_count(a, unverified));
	if (unverified && count_broken(profile))
		fprintf(line.stream, " (%s of them broken: no frame pointers)",
			human_count(a, count_broken(profile)));
	if (profile_end_count(profile, UINT32_MAX, PKBPF_END_EXEC))
		fprintf(line.stream, "; plus %s in execve (no user stack exists)",
			human_count(a, profile_end_count(profile, UINT32_MAX, PKBPF_END_EXEC)));
	line_end(&line, report, "stacks:");
}

static bool is_note(const struct text_report *report, enum pkbpf_counter counter,
		    enum pkbpf_loss loss)
{
	/* The account has these already. */
	if (counter == PKBPF_COUNTER_CPU_EXPECTED || counter == PKBPF_COUNTER_CPU_RECORDED)
		return false;
	return loss == PKBPF_LOSS_NOTE || (loss == PKBPF_LOSS_NONE && report->options->details);
}

static void print_notes(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	uint64_t dropped = process_table_dropped(profile_processes(report->profile));
	const char *separator = "";
	char a[HUMAN_SIZE];
	struct line line;
	bool any = false;

	if (!line_begin(&line))
		return;
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (!info->counters[i] || !is_note(report, i, counter_table[i].loss))
			continue;
		fprintf(line.stream, "%s%s: %s", separator, counter_table[i].text,
			human_count(a, info->counters[i]));
		separator = "; ";
		any = true;
	}
	if (dropped) {
		fprintf(line.stream, "%smappings or tasks dropped, out of memory: %s", separator,
			human_count(a, dropped));
		any = true;
	}
	if (any) {
		line_end(&line, report, "notes:");
		return;
	}
	fclose(line.stream);
	free(line.text);
}

static void print_symbol_notes(const struct text_report *report)
{
	const struct symbol_notes *notes = profile_symbol_notes(report->profile);
	struct line line;

	for (size_t i = 0; i < notes->count && line_begin(&line); i++) {
		fprintf(line.stream, "%s", notes->items[i]);
		if (i == notes->count - 1 && notes->left_out)
			fprintf(line.stream, "; and %zu more", notes->left_out);
		line_end(&line, report, i ? "" : "names:");
	}
}

bool text_exceeds_limit(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	uint64_t interval_ns = text_interval_ns(report);

	/* In a short interval the looks at its ends are a good part. */
	return info->bpf_cpu_known && info->bpf_limit_permille && interval_ns >= NS_PER_SECOND &&
	       info->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU &&
	       info->bpf_cpu_ns > interval_ns / 1000 * info->bpf_limit_permille;
}

static void print_cost(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	uint64_t interval_ns = text_interval_ns(report), own_ns = profile_own_cpu_since_start(info);
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
	struct line line;

	if (!line_begin(&line))
		return;
	if (interval_ns && info->bpf_cpu_known)
		fprintf(line.stream, "%s of one CPU (%s + BPF %s)",
			human_share(a, own_ns + info->bpf_cpu_ns, interval_ns),
			human_share(b, own_ns, interval_ns),
			human_share(c, info->bpf_cpu_ns, interval_ns));
	else
		fprintf(line.stream, "%s CPU time (%s of one CPU), BPF programs not measured",
			human_time(a, own_ns), human_share(b, own_ns, interval_ns));
	if (info->bpf_cpu_known && report->options->details)
		fprintf(line.stream, "; CPU time %s + BPF %s", human_time(a, info->own_cpu_ns),
			human_time(b, info->bpf_cpu_ns));
	if (info->own_start_cpu_ns)
		fprintf(line.stream, "; start-up %s", human_time(a, info->own_start_cpu_ns));
	if (info->max_resident_bytes)
		fprintf(line.stream, "; peak RSS %s", human_bytes(a, info->max_resident_bytes));
	if (info->bpf_map_bytes)
		fprintf(line.stream, "; BPF maps %s", human_bytes(a, info->bpf_map_bytes));
	if (info->memory_limit_bytes)
		fprintf(line.stream, "; memory %s of at most %s",
			human_bytes(a, info->memory_peak_bytes),
			human_bytes(b, info->memory_limit_bytes));
	if (text_exceeds_limit(report))
		fprintf(line.stream,
			"; BPF exceeds --max-overhead (%.1f%%): each switch is counted, and of "
			"each "
			"thread some waits have stacks",
			info->bpf_limit_permille / 10.0);
	if (info->shed_steps)
		fprintf(line.stream, "; left out to stay within --max-cpu: %.*s",
			(int)sizeof(info->shed), info->shed);
	line_end(&line, report, "overhead:");
}

static void print_words(const struct text_report *report, const char *label, const char *text)
{
	char clean[MACHINE_TEXT_SIZE];

	if (!text[0])
		return;
	escape_terminal(clean, sizeof(clean), text);
	text_wrap(report->out, report->width, label, LABEL_COLUMNS, clean);
}

static void print_machine(const struct text_report *report, const struct machine_figures *figures)
{
	char text[MACHINE_TEXT_SIZE];

	if (!figures->known)
		return;
	machine_words_measured(figures, text, sizeof(text));
	print_words(report, "machine:", text);
	machine_words_counted(figures, text, sizeof(text));
	print_words(report, "counters:", text);
	machine_words_absent(figures, text, sizeof(text));
	print_words(report, "not known:", text);
}

/* Of a machine with many disks, those that matter. */
#define DISKS_SHOWN 8

static void print_disks(const struct text_report *report)
{
	char text[MACHINE_TEXT_SIZE];

	machine_words_disks(profile_disks(report->profile), DISKS_SHOWN, text, sizeof(text));
	print_words(report, "disks:", text);
}

static void print_gpus(const struct text_report *report)
{
	array_foreach(&profile_gpus(report->profile)->devices, device) {
		char text[MACHINE_TEXT_SIZE];

		gpu_words(device, text, sizeof(text));
		print_words(report, "GPU:", text);
	}
}

void text_header(const struct text_report *report)
{
	const struct profile_info *info = profile_info_read(report->profile);
	char targets[sizeof(info->targets)];

	print_host(report);
	print_interval(report);
	escape_terminal(targets, sizeof(targets), info->targets[0] ? info->targets : "unknown");
	text_wrap(report->out, report->width, "targets:", LABEL_COLUMNS, targets);
	print_machine(report, &info->machine);
	print_disks(report);
	print_gpus(report);
	print_kinds(report);
	text_wrap(report->out, report->width, "unwinder:", LABEL_COLUMNS,
		  unwind_text(info->unwind_mode));
	print_account(report);
	print_recorded(report);
	print_stacks(report);
	print_notes(report);
	print_symbol_notes(report);
	print_cost(report);
}
