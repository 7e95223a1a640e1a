// SPDX-License-Identifier: BSD-2-Clause
/* Baselines of anybody, unpacked: never a crash, what is read can be compared with itself, and is
 * written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "diff/baseline.h"
#include "diff/comparison.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diff_work work = {.per = DIFF_PER_RUN};
	struct measurement measurement;
	struct comparison comparison;
	struct diff_names names;
	struct error error;

	if (!diff_names_init(&names))
		abort();
	measurement_init(&measurement, &names);
	if (baseline_read_plain(&measurement, data, size, &error) == 0) {
		FILE *out = fopen("/dev/null", "w");

		if (!out || baseline_write(&measurement, out))
			abort();
		fclose(out);
		measurement_finish(&measurement);
		if (comparison_init(&comparison, &measurement, &measurement, &work, &error) == 0) {
			array_foreach(&comparison.rows, row)
				if (diff_is_significant(row))
					abort();
			comparison_done(&comparison);
		}
	}
	measurement_done(&measurement);
	diff_names_done(&names);
	return 0;
}
