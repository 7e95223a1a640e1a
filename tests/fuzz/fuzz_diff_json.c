// SPDX-License-Identifier: BSD-2-Clause
/* Reports in JSON of anybody: never a crash, and what is read can be compared with itself. */
#include <stdint.h>
#include <stdlib.h>

#include "diff/comparison.h"
#include "diff/measure_json.h"

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
	if (measure_json(&measurement, (const char *)data, size, &error) == 0) {
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
