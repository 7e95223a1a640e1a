// SPDX-License-Identifier: BSD-2-Clause
// Prints the stacks with the most weight, each folded to a few lines.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"
#include "profile/kind_table.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"

#define STACK_INDENT	  9
#define STACK_LINES	  3  /* a stack takes about this many lines, whatever its depth */
#define STACK_ROOT_FRAMES 2  /* frames kept at the root end of a stack that is cut in the middle */
#define FRAME_COLUMNS	  48 /* longer names are cut: templates would fill the page with one frame */
#define FRAME_TEXT	  (4 * FRAME_COLUMNS + 32)

/* Text of a frame, cleaned and cut; the same function repeated is one text with "(xN)". */
static void frame_text(char text[FRAME_TEXT], const struct function *function, size_t repeats)
{
	char times[32];

	escape_terminal(text, FRAME_TEXT - sizeof(times) - 8, function->name);
	text_cut(text, FRAME_COLUMNS);
	if (function->mark == FUNCTION_KERNEL)
		strcat(text, " [k]");
	if (repeats > 1) {
		snprintf(times, sizeof(times), " (x%zu)", repeats);
		strcat(text, times);
	}
}

/* How many frames from `first` on are the same function, in the given direction. */
static size_t run_length(const uint32_t *functions, size_t first, size_t count)
{
	size_t length = 1;

	while (first + length < count && functions[first + length] == functions[first])
		length++;
	return length;
}

struct stack_printer {
	const struct text_report *report;
	const struct tally *tally;
	size_t column;
	bool first;
};

static void put(struct stack_printer *printer, const char *text)
{
	FILE *out = printer->report->out;
	size_t columns = text_columns(text);

	if (!printer->first) {
		fputs(" <-", out);
		printer->column += 3;
	}
	/* " <-" of the next frame must fit behind this one. */
	if (!printer->first && printer->column + 1 + columns + 3 > printer->report->width) {
		fprintf(out, "\n%*s", STACK_INDENT, "");
		printer->column = STACK_INDENT;
	} else if (!printer->first) {
		fputc(' ', out);
		printer->column++;
	}
	fputs(text, out);
	printer->column += columns;
	printer->first = false;
}

/* First frame of the part at the root end that is always shown. */
static size_t root_part(const uint32_t *functions, size_t count)
{
	size_t first = count;

	for (size_t runs = 0; first && runs < STACK_ROOT_FRAMES; runs++) {
		first--;
		while (first && functions[first - 1] == functions[first])
			first--;
	}
	return first;
}

static void print_frames(const struct text_report *report, const struct tally *tally,
			 const uint32_t *functions, size_t count)
{
	struct stack_printer printer = {
		.report = report, .tally = tally, .column = STACK_INDENT, .first = true};
	size_t budget = STACK_LINES * (report->width - STACK_INDENT),
	       root = root_part(functions, count);
	char text[FRAME_TEXT];
	size_t i = 0, tail = 0;

	for (size_t j = root; j < count; j += run_length(functions, j, count)) {
		frame_text(text, function_table_get(tally->functions, functions[j]),
			   run_length(functions, j, count));
		tail += text_columns(text) + 4;
	}
	fprintf(report->out, "%*s", STACK_INDENT, "");
	while (i < count) {
		size_t repeats = run_length(functions, i, count), used;

		frame_text(text, function_table_get(tally->functions, functions[i]), repeats);
		used = text_columns(text) + 4;
		/* The leaf always; then what fits beside the root end and the gap mark. */
		if (i && i < root && used + tail + 24 > budget) {
			snprintf(text, sizeof(text), "... %zu frame%s ...", root - i,
				 root - i == 1 ? "" : "s");
			put(&printer, text);
			i = root;
			continue;
		}
		put(&printer, text);
		budget = budget > used ? budget - used : 0;
		i += repeats;
	}
	fputc('\n', report->out);
}

static void print_stack(const struct text_report *report, const struct tally *tally,
			const struct tally_stack *stack, size_t weight_columns)
{
	const struct process *process =
		process_table_by_id(profile_processes(report->profile), stack->process);
	const char *comm = profile_string(report->profile, stack->comm);
	char share[HUMAN_SIZE], weight[HUMAN_SIZE], name[4 * PKBPF_COMM_SIZE + 1];
	const uint32_t *functions;
	size_t count;

	escape_terminal(name, sizeof(name), comm[0] ? comm : "[unknown]");
	fprintf(report->out, " %6s %*s %s", human_share(share, stack->weight, tally->weight),
		(int)weight_columns, human_weight(weight, tally->kind, stack->weight), name);
	if (stack->process_count > 1)
		fprintf(report->out, " in %" PRIu32 " processes", stack->process_count);
	else if (process_has_pid(process))
		fprintf(report->out, " %" PRIu32, process->pid);
	fputc('\n', report->out);
	functions = tally_stack_functions(tally, stack->stack, &count);
	if (count)
		print_frames(report, tally, functions, count);
	else
		fprintf(report->out, "%*s[no stack]\n", STACK_INDENT, "");
}

void text_stacks(const struct text_report *report, const struct tally *tally)
{
	size_t shown = tally->stack_count, weight_columns = 0;
	char weight[HUMAN_SIZE];

	if (shown > report->options->top)
		shown = report->options->top;
	if (!shown)
		return;
	text_heading(report, "%s: hottest stacks (leaf <- caller <- root)",
		     kind_ops_of(tally->kind)->title);
	for (size_t i = 0; i < shown; i++) {
		size_t columns = strlen(human_weight(weight, tally->kind, tally->stacks[i].weight));

		if (columns > weight_columns)
			weight_columns = columns;
	}
	for (size_t i = 0; i < shown; i++)
		print_stack(report, tally, &tally->stacks[i], weight_columns);
	text_more(report, tally->stack_count - shown, "stacks");
}
