// SPDX-License-Identifier: BSD-2-Clause
/* Tests for cli/serve_reload: what another configuration cannot change is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/serve_private.h"

static const char *changes(const struct serve_options *before, const struct serve_options *after)
{
	static char names[SERVE_FIXED_SIZE];

	serve_fixed_changes(before, after, names);
	return names;
}

static void options_of_the_front_need_another_start(void **state)
{
	const struct serve_options before = {
		.listen = "127.0.0.1:1", .store = "/a", .store_bytes = 1 << 30, .slice_ns = 1};
	struct serve_options after = before;

	(void)state;
	assert_string_equal(changes(&before, &after), "");
	/* These change with the capture. */
	after.slice_ns = 2;
	after.max_cpu = 0.5;
	assert_string_equal(changes(&before, &after), "");
	after.listen = "127.0.0.1:2";
	assert_string_equal(changes(&before, &after), "listen");
	after.token_file = "/token";
	assert_string_equal(changes(&before, &after), "listen, token-file");
	after.store = "/b";
	after.store_bytes = 1;
	assert_string_equal(changes(&before, &after), "listen, store, store-size, token-file");
	assert_string_equal(changes(&after, &before), "listen, store, store-size, token-file");
	after = before;
	after.open_metrics = true;
	assert_string_equal(changes(&before, &after), "open-metrics");
}

static void what_is_not_given_is_the_default(void **state)
{
	struct serve_options own = {.slice_ns = 5};

	(void)state;
	serve_options_complete(&own);
	assert_string_equal(own.listen, "127.0.0.1:7747");
	assert_int_equal(own.store_bytes, 1ULL << 30);
	assert_int_equal(own.slice_ns, 5);
	assert_null(own.token_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_the_front_need_another_start),
		cmocka_unit_test(what_is_not_given_is_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
