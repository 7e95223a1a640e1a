// SPDX-License-Identifier: BSD-2-Clause
/* The calls of GPU libraries in a comment: one row for each function, kernel and direction. */
#include <inttypes.h>

#include "base/escape.h"
#include "export/markdown_gpu_calls.h"
#include "rows/gpu_calls.h"
#include "rows/human.h"

#define CALLS_MAX 10

static void write_call(const struct profile *profile, const struct gpu_call *call, FILE *out)
{
	char kernel[GPU_CALL_TEXT_SIZE], text[HUMAN_SIZE];

	fputs("| ", out);
	escape_markdown_code(out, profile_string(profile, call->comm));
	fputs(" | ", out);
	escape_markdown_code(out, profile_string(profile, call->function));
	fputs(" | ", out);
	if (gpu_call_kernel(kernel, profile, call)[0])
		escape_markdown_code(out, kernel);
	else
		fputs(gpu_call_way(call), out);
	fprintf(out, " | %s |", human_count(text, call->count));
	fprintf(out, " %s |", call->count > call->unmeasured ? human_time(text, call->ns) : "-");
	fprintf(out, " %s |\n", call->bytes ? human_bytes(text, call->bytes) : "");
}

/* Launches come last there: half of the rows are theirs, if there are as many. */
static void write_table(const struct profile *profile, const struct gpu_calls *calls, FILE *out)
{
	size_t launches = calls->sum_count - calls->other_count, others = calls->other_count,
	       shown = calls->sum_count < CALLS_MAX ? calls->sum_count : CALLS_MAX;

	if (others + launches > shown)
		others = launches < CALLS_MAX / 2	      ? shown - launches
			 : calls->other_count < CALLS_MAX / 2 ? calls->other_count
							      : CALLS_MAX / 2;
	fputs("\n| process | GPU call | of | calls | time | bytes |\n|---|---|---|--:|--:|--:|\n",
	      out);
	for (size_t i = 0; i < shown; i++)
		write_call(profile, calls->sums[i < others ? i : i - others + calls->other_count],
			   out);
	if (calls->sum_count > shown)
		fprintf(out, "\n… and %zu more.\n", calls->sum_count - shown);
}

int markdown_gpu_calls(const struct profile *profile, FILE *out)
{
	struct gpu_calls calls;
	int err;

	if (!profile_gpu_calls(profile)->items.count)
		return 0;
	err = gpu_calls_make(&calls, profile);
	if (err)
		return err;
	if (calls.sum_count)
		write_table(profile, &calls, out);
	gpu_calls_done(&calls);
	return 0;
}
