// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/log: which diagnostics reach the listener. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/log.h"

struct heard {
	unsigned int count;
	enum log_level level;
	char text[2048];
};

static void hear(void *context, enum log_level level, const char *text)
{
	struct heard *heard = context;

	heard->count++;
	heard->level = level;
	snprintf(heard->text, sizeof(heard->text), "%s", text);
}

static void is_silent_without_listener(void **state)
{
	struct log deaf = {.max_level = LOG_DEBUG};

	log_warning(NULL, "nobody %d", 1);
	log_warning(&deaf, "nobody %d", 2);
}

static void passes_formatted_text_and_level(void **state)
{
	struct heard heard = {0};
	struct log log = {.max_level = LOG_INFO, .write = hear, .context = &heard};

	log_info(&log, "%s has %d mappings", "pid 7", 3);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.level, LOG_INFO);
	assert_string_equal(heard.text, "pid 7 has 3 mappings");
}

static void passes_only_wanted_levels(void **state)
{
	for (enum log_level max = LOG_WARNING; max <= LOG_DEBUG; max++) {
		struct heard heard = {0};
		struct log log = {.max_level = max, .write = hear, .context = &heard};

		log_warning(&log, "w");
		log_info(&log, "i");
		log_debug(&log, "d");
		assert_int_equal(heard.count, max + 1);
	}
}

static void bounds_a_huge_text(void **state)
{
	struct heard heard = {0};
	struct log log = {.max_level = LOG_DEBUG, .write = hear, .context = &heard};

	log_debug(&log, "%100000d", 1);
	assert_int_equal(heard.count, 1);
	assert_int_equal(strlen(heard.text), 1023);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_silent_without_listener),
		cmocka_unit_test(passes_formatted_text_and_level),
		cmocka_unit_test(passes_only_wanted_levels),
		cmocka_unit_test(bounds_a_huge_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
