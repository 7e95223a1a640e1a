// SPDX-License-Identifier: BSD-2-Clause
/* JUnit XML for build servers: a test case per gate. */
#include "base/escape.h"
#include "bench/bench_format.h"

static size_t count_of(const struct bench_document *document, enum bench_gate_outcome outcome)
{
	size_t count = 0;

	array_foreach(&document->gates, gate)
		count += gate->outcome == outcome;
	return count;
}

static void write_case(const struct bench_gate_result *gate, FILE *out)
{
	const char *element = gate->outcome == BENCH_GATE_PASSED   ? "system-out"
			      : gate->outcome == BENCH_GATE_FAILED ? "failure"
								   : "error";
	bool passed = gate->outcome == BENCH_GATE_PASSED;

	fputs("  <testcase classname=\"pkbpf.bench\" name=\"", out);
	escape_markup(out, gate->name);
	fprintf(out, "\" time=\"0\">\n    <%s%s", element, passed ? ">" : " message=\"");
	escape_markup(out, gate->sentence);
	if (passed)
		fputs("</system-out>\n", out);
	else
		fputs("\"/>\n", out);
	fputs("  </testcase>\n", out);
}

static int junit_write(const struct bench_document *document, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"pkbpf bench\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"0\" time=\"%.3f\">\n",
		document->gates.count, count_of(document, BENCH_GATE_FAILED),
		count_of(document, BENCH_GATE_NOT_CHECKED),
		(double)document->bench->duration_ns / 1e9);
	array_foreach(&document->gates, gate)
		write_case(gate, out);
	fputs("</testsuite>\n", out);
	return 0;
}

const struct bench_format_ops bench_format_junit = {
	.file = {"junit", ".xml", "a test case for each --fail-if-slower and --fail-if"},
	.needs_gates = true,
	.write = junit_write,
};
