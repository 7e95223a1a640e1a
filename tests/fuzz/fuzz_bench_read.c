// SPDX-License-Identifier: BSD-2-Clause
/* Reads baselines of strangers, and compares what is accepted with itself. */
#include <stdint.h>
#include <stdlib.h>

#include "bench/bench_format.h"
#include "bench/bench_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench bench;
	struct bench_document document;
	struct error error = {""};
	FILE *out;

	bench_init(&bench);
	if (bench_read_text(&bench, (const char *)data, size, &error) < 0) {
		if (!error.text[0])
			abort();
	} else if (bench.runs.count < 200 && bench.variants.count < 8) {
		out = fopen("/dev/null", "w");
		if (bench_document_init(&document, &bench, &bench, 0.01, 0.05) == 0 && out)
			for (size_t i = 0; bench_format_at(i); i++)
				bench_format_of(bench_format_at(i))->write(&document, out);
		bench_document_done(&document);
		if (out)
			fclose(out);
	}
	bench_done(&bench);
	return 0;
}
