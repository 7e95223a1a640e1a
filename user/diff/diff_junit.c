// SPDX-License-Identifier: BSD-2-Clause
/* JUnit XML for build servers: a test case per condition. */
#include "base/escape.h"
#include "diff/diff_format.h"

static size_t count_of(const struct diff_document *document, bool held)
{
	size_t count = 0;

	for (size_t i = 0; i < document->condition_count; i++) {
		enum diff_condition_outcome outcome = document->conditions[i].outcome;

		count += held ? outcome == DIFF_CONDITION_HELD
			      : outcome != DIFF_CONDITION_HELD && outcome != DIFF_CONDITION_PASSED;
	}
	return count;
}

/* What could not be checked is an error of the test, not a failure of what is tested. */
static void write_case(const struct diff_condition_result *result, FILE *out)
{
	bool passed = result->outcome == DIFF_CONDITION_PASSED;
	const char *element = result->outcome == DIFF_CONDITION_HELD ? "failure" : "error";

	fputs("  <testcase classname=\"pkbpf.diff\" name=\"", out);
	escape_markup(out, result->expression);
	fputs("\" time=\"0\">\n", out);
	fprintf(out, "    <%s%s", passed ? "system-out" : element, passed ? ">" : " message=\"");
	escape_markup(out, result->sentence);
	if (passed)
		fputs("</system-out>\n", out);
	else
		fputs("\"/>\n", out);
	fputs("  </testcase>\n", out);
}

static int junit_write(const struct diff_document *document, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"pkbpf diff\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"0\" time=\"0\">\n",
		document->condition_count, count_of(document, true), count_of(document, false));
	for (size_t i = 0; i < document->condition_count; i++)
		write_case(&document->conditions[i], out);
	fputs("</testsuite>\n", out);
	return 0;
}

const struct diff_format_ops diff_format_junit = {
	.file = {"junit", ".xml", "a test case for each --fail-if"},
	.needs_conditions = true,
	.write = junit_write,
};
