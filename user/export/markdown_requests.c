// SPDX-License-Identifier: BSD-2-Clause
/* The slowest requests by thread contexts in a comment: a row for each. */
#include "export/markdown_requests.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "report/request_causes.h"
#include "rows/human.h"
#include "rows/request_text.h"

#define REQUESTS_MAX  10
#define PLACE_COLUMNS 80

static void write_labels(const struct profile *profile, const struct slow_request *request,
			 FILE *out)
{
	const char *between = "";

	for (size_t i = 0; i < PKBPF_CONTEXT_LABELS; i++) {
		const char *value = profile_string(profile, request->labels[i]);

		if (!value[0])
			continue;
		fputs(between, out);
		escape_markdown_code(out, value);
		between = ", ";
	}
}

/* Only the longest: a row has one line. */
static void write_cause(const struct resource_rows *rows, const struct plumbing *plumbing,
			const struct slow_request *request, FILE *out)
{
	struct request_cause causes[PKBPF_CONTEXT_REASONS];
	_cleanup_free_ char *place = NULL;
	char text[HUMAN_SIZE];

	if (!request_causes(rows, request, causes))
		return;
	place = request_cause_place(rows, plumbing, &causes[0], PLACE_COLUMNS);
	fprintf(out, "%s %s", human_time(text, causes[0].wait_ns), causes[0].text);
	if (place) {
		fputs(" in ", out);
		escape_markdown_code(out, place);
	}
}

static void write_request(const struct resource_rows *rows, const struct plumbing *plumbing,
			  const struct slow_request *request, FILE *out)
{
	char trace[REQUEST_ID_TEXT], text[HUMAN_SIZE];

	fputs("| ", out);
	write_labels(rows->profile, request, out);
	fprintf(out, " | `%s` | ", request_id_text(trace, request->trace, sizeof(request->trace)));
	escape_markdown_code(out, profile_string(rows->profile, request->comm));
	fprintf(out, " | %s%s |", human_time(text, request->wall_ns),
		request->flags & PKBPF_REQUEST_OPEN ? " so far" : "");
	fprintf(out, " %s |", human_time(text, request->part_ns[PKBPF_WAIT_NONE]));
	fprintf(out, " %s | ", human_time(text, request->part_ns[PKBPF_WAIT_RUNQUEUE]));
	write_cause(rows, plumbing, request, out);
	fputs(" |\n", out);
}

int markdown_requests(const struct resource_rows *rows, FILE *out)
{
	_cleanup_free_ const struct slow_request **items = NULL;
	_cleanup_(plumbing_done) struct plumbing plumbing = {0};
	size_t count;
	int err = request_list_sorted(profile_contexts(rows->profile), &items, &count);

	if (err || !count)
		return err;
	err = plumbing_init(&plumbing, rows->functions);
	if (err)
		return err;
	fputs("\n| slowest requests | trace | process | time | on-CPU | run queue | longest wait "
	      "|\n|---|---|---|--:|--:|--:|---|\n",
	      out);
	for (size_t i = 0; i < count && i < REQUESTS_MAX; i++)
		write_request(rows, &plumbing, items[i], out);
	if (count > REQUESTS_MAX)
		fprintf(out, "\n… and %zu more.\n", count - REQUESTS_MAX);
	return 0;
}
