// SPDX-License-Identifier: BSD-2-Clause
/* Writes a profile as a comment or a job's summary: findings, rows, functions, losses. */
#include <inttypes.h>

#include "base/array.h"
#include "base/escape.h"
#include "event/counter_table.h"
#include "export/formats.h"
#include "export/markdown_gpu_calls.h"
#include "export/markdown_requests.h"
#include "profile/kind_table.h"
#include "rows/figure_table.h"
#include "rows/human.h"
#include "rows/tally.h"

#define ROWS_MAX      10
#define FUNCTIONS_MAX 10

/* ---- findings ---- */

static void write_findings(const struct findings *findings, FILE *out)
{
	if (!findings->count)
		fputs("No finding: no rule's threshold was exceeded.\n", out);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->findings[i];

		fputs(finding->is_alarm ? "- **" : "- ", out);
		escape_markdown_code(out, finding->who[0] ? finding->who : finding->rule);
		fputs(finding->is_alarm ? "** " : " ", out);
		escape_markdown(out, finding->cause);
		if (finding->place[0]) {
			fputs(" in ", out);
			escape_markdown_code(out, finding->place);
		}
		if (finding->by[0]) {
			fputs(", ", out);
			escape_markdown(out, finding->by);
		}
		if (finding->evidence[0]) {
			fputs("; ", out);
			escape_markdown(out, finding->evidence);
		}
		if (finding->next[0]) {
			fputs(". Next: ", out);
			escape_markdown(out, finding->next);
		}
		fputc('\n', out);
	}
}

/* ---- rows ---- */

static const struct {
	const char *title, *figure;
} columns[] = {
	{"CPU", "cpu.total"},
	{"% of a CPU", "cpu.share"},
	{"run queue", "waiting.runqueue"},
	{"disk wait", "offcpu.disk"},
	{"sleep", "offcpu.sleep"},
	{"read", "storage.read"},
	{"written", "storage.written"},
	{"RSS", "memory.rss"},
};

static void write_value(const struct figure *figure, const struct resource_rows *rows,
			const struct resource_row *row, FILE *out)
{
	char text[HUMAN_SIZE];
	double value;

	if (!figure || !figure_value(figure, rows, row, &value)) {
		fputs(" - |", out);
		return;
	}
	switch (figure->unit) {
	case FIGURE_NS:
		fprintf(out, " %s |", human_time(text, human_whole(value)));
		break;
	case FIGURE_BYTES:
		fprintf(out, " %s |", human_bytes(text, human_whole(value)));
		break;
	default:
		fprintf(out, " %.1f |", value);
		break;
	}
}

static void write_rows(const struct resource_rows *rows, FILE *out)
{
	fprintf(out, "\n| %s |", rows_grouping_name(rows->by));
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, " %s |", columns[i].title);
	fputs("\n|---|", out);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		fputs("--:|", out);
	fputc('\n', out);
	for (size_t i = 0; i < rows->count && i < ROWS_MAX; i++) {
		const struct resource_row *row = &rows->items[i];

		fputs("| ", out);
		escape_markdown_code(out, row->name[0]	? row->name
					  : row->cgroup ? row->cgroup
							: "?");
		if (row->pid)
			fprintf(out, " %" PRIu32, row->pid);
		fputs(" |", out);
		for (size_t j = 0; j < ARRAY_SIZE(columns); j++)
			write_value(figure_find(columns[j].figure), rows, row, out);
		fputc('\n', out);
	}
	if (rows->count > ROWS_MAX)
		fprintf(out, "\n… and %zu more.\n", rows->count - ROWS_MAX);
}

/* ---- functions ---- */

static void write_function(const struct tally *tally, const struct tally_function *row, FILE *out)
{
	char self[HUMAN_SIZE], total[HUMAN_SIZE];

	fputs("| ", out);
	escape_markdown_code(out, function_table_get(tally->functions, row->function)->name);
	fprintf(out, " | %s | %s |\n", human_share(self, row->self, tally->weight),
		human_share(total, row->total, tally->weight));
}

static int write_kind(const struct profile *profile, enum pkbpf_profile_kind kind, FILE *out)
{
	struct tally tally;
	int err = tally_init(&tally, profile, kind, false);

	if (err)
		return err;
	for (size_t i = 0; i < tally.function_count && i < FUNCTIONS_MAX; i++)
		if (tally.by_self[i].self)
			write_function(&tally, &tally.by_self[i], out);
	tally_done(&tally);
	return 0;
}

/* Of CPU time alone: waits and requests end in the same few functions of the kernel. */
static int write_functions(const struct profile *profile, FILE *out)
{
	if (!(profile_info_read(profile)->kinds_mask & 1U << PKBPF_PROFILE_CPU))
		return 0;
	fputs("\n| function | self | with callees |\n|---|--:|--:|\n", out);
	return write_kind(profile, PKBPF_PROFILE_CPU, out);
}

/* ---- all ---- */

static void write_losses(const struct profile *profile, FILE *out)
{
	const uint64_t *counters = profile_info_read(profile)->counters;
	char number[HUMAN_SIZE];

	for (unsigned int i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (!counters[i] || !PKBPF_IS_LOSS(counter_table[i].loss))
			continue;
		fprintf(out, "<br>%s: %s", counter_table[i].text, human_count(number, counters[i]));
	}
}

static int markdown_write(struct results *results, const struct format_options *options, FILE *out)
{
	const struct profile_info *info = profile_info_read(results->profile);
	const struct resource_rows *rows;
	const struct findings *findings;
	char length[HUMAN_SIZE];
	int err = results_rows(results, &rows);

	(void)options;
	err = err ? err : results_findings(results, &findings);
	if (err)
		return err;
	fputs("## Profile of ", out);
	escape_markdown_code(out, info->targets);
	fprintf(out, ": %s on ", human_time(length, info->end_ns - info->start_ns));
	escape_markdown_code(out, info->host);
	fputs("\n\n", out);
	write_findings(findings, out);
	write_rows(rows, out);
	err = write_functions(results->profile, out);
	err = err ? err : markdown_requests(rows, out);
	err = err ? err : markdown_gpu_calls(results->profile, out);
	fputs("\n<sub>pkbpf " PKBPF_VERSION, out);
	write_losses(results->profile, out);
	fputs("</sub>\n", out);
	return err;
}

const struct format_ops format_markdown = {
	.file = {"markdown", ".md",
		 "findings, rows and functions, for a comment or a job's summary"},
	.shows_gpu_calls = true,
	.write = markdown_write,
};
