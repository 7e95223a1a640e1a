// SPDX-License-Identifier: BSD-2-Clause
// Tests that formats are found by name or by the end of a path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/exporter.h"

static void every_format_is_found_by_its_own_name_and_suffix(void **state)
{
	const struct exporter_ops *exporter;
	size_t count = 0;
	char path[64];

	for (; (exporter = exporter_at(count)); count++) {
		assert_ptr_equal(exporter_by_name(exporter->name), exporter);
		snprintf(path, sizeof(path), "/tmp/x%s", exporter->suffix);
		assert_ptr_equal(exporter_by_suffix(path), exporter);
		assert_non_null(exporter->summary);
		assert_non_null(exporter->write);
	}
	assert_true(count > 0);
}

static void other_names_are_unknown(void **state)
{
	assert_null(exporter_by_name("fold"));
	assert_null(exporter_by_name(""));
	assert_null(exporter_by_suffix("out.unknown"));
	assert_null(exporter_by_suffix("out.foldedx"));
	/* A suffix alone is a hidden file without one. */
	assert_null(exporter_by_suffix(".folded"));
	assert_null(exporter_by_suffix(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_is_found_by_its_own_name_and_suffix),
		cmocka_unit_test(other_names_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
