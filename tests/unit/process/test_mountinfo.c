// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/mountinfo: the fields that matter, wherever they are, and lines that have
 * none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "process/file/mountinfo.h"

static int parse(const char *text, struct mountinfo_entry *ret_entry)
{
	static char line[256];

	snprintf(line, sizeof(line), "%s", text);
	return mountinfo_parse_line(line, ret_entry);
}

static void any_number_of_optional_fields_may_be_before_the_type(void **state)
{
	static const char *const lines[] = {
		"36 35 259:7 /root /srv/data rw,noatime - ext3 /dev/root rw",
		"36 35 259:7 /root /srv/data rw,noatime master:1 - ext3 /dev/root rw",
		("36 35 259:7 /root /srv/data rw,noatime shared:4 master:1 propagate_from:2 "
		 "unbindable - ext3 /dev/root rw"),
		"36 35 259:7 /root /srv/data rw - ext3  rw",
	};
	struct mountinfo_entry entry;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse(lines[i], &entry), 0);
		assert_int_equal(entry.device_major, 259);
		assert_int_equal(entry.device_minor, 7);
		assert_string_equal(entry.point, "/srv/data");
		assert_string_equal(entry.type, "ext3");
	}
}

static void octal_digits_are_what_they_stand_for(void **state)
{
	struct mountinfo_entry entry;

	assert_int_equal(
		parse("36 35 0:7 / /a\\040b\\011c\\134d\\0 rw - fuse.x\\040y s rw", &entry), 0);
	assert_string_equal(entry.point, "/a b\tc\\d\\0");
	assert_string_equal(entry.type, "fuse.x y");
}

static void lines_without_the_fields_are_none(void **state)
{
	static const char *const lines[] = {
		"",
		"-",
		"36 35 259:7 / /point rw",
		"36 35 259:7 / /point rw -",
		"36 35 259:7 / - ext3 /dev/root rw",
		"36 35 259 / /point rw - ext3 x",
		"36 35 259:7x / /point rw - ext3 x",
		"36 35 :7 / /point rw - ext3 x",
		"36 35 4294967296:7 / /point rw - ext3 x",
		"36 35 -1:7 / /point rw - ext3 x",
	};
	struct mountinfo_entry entry;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(parse(lines[i], &entry), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_optional_fields_may_be_before_the_type),
		cmocka_unit_test(octal_digits_are_what_they_stand_for),
		cmocka_unit_test(lines_without_the_fields_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
