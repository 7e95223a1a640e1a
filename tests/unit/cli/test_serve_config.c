// SPDX-License-Identifier: BSD-2-Clause
/* Tests for cli/serve_config: what would be without effect is refused before anything starts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve_config.h"

static struct error error;

static int read_config(const char *text)
{
	struct serve_config config;
	int err = serve_config_read(text, &config, &error);

	serve_config_done(&config);
	return err;
}

static void a_second_section_of_a_name_is_refused(void **state)
{
	(void)state;
	assert_int_equal(read_config("[alert a]\nwhen = cpu.share > 5%\n"
				     "[alert b]\nwhen = cpu.share > 6%\n"
				     "[objective a]\nwhen = cpu.share < 7%\n"),
			 0);
	assert_int_equal(read_config("[alert a]\nwhen = cpu.share > 5%\n"
				     "[alert a]\nwhen = cpu.share > 6%\n"),
			 -EINVAL);
	assert_string_equal(error.text, "line 3: a second [alert a]; the first is in line 1");
	assert_int_equal(read_config("[notify x]\ncommand = /bin/true\n"
				     "[notify x]\ncommand = /bin/false\n"),
			 -EINVAL);
	/* Of a rule that is there without any file it takes the place. */
	assert_int_equal(read_config("[alert oom]\nwhen = never\n"), 0);
}

static void a_target_that_is_not_there_is_refused(void **state)
{
	(void)state;
	assert_int_equal(read_config("[alert a]\nwhen = cpu.share > 5%\nnotify = ops\n"), -EINVAL);
	assert_non_null(strstr(error.text, "there is no [notify ops]"));
	assert_int_equal(read_config("[alert a]\nwhen = cpu.share > 5%\nnotify = ops, journal\n"
				     "[notify ops]\ncommand = /bin/true\n"),
			 0);
}

static void an_unknown_section_names_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(read_config("[alret a]\nwhen = cpu.share > 5%\n"), -EINVAL);
	assert_non_null(strstr(error.text, "line 1: unknown section [alret]"));
	assert_non_null(strstr(error.text, "did you mean alert?"));
}

static void the_page_is_where_it_listens(void **state)
{
	struct serve_config config = {0};
	char url[128];

	(void)state;
	serve_page_url(&config, "127.0.0.1:0", 7747, url, sizeof(url));
	assert_string_equal(url, "http://127.0.0.1:7747/");
	serve_page_url(&config, "[::1]:7747", 7747, url, sizeof(url));
	assert_string_equal(url, "http://[::1]:7747/");
	serve_page_url(&config, "/run/socket", 0, url, sizeof(url));
	assert_string_equal(url, "http://localhost/");
	strcpy(config.url, "http://host/pkbpf/");
	serve_page_url(&config, "127.0.0.1:0", 7747, url, sizeof(url));
	assert_string_equal(url, "http://host/pkbpf/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_section_of_a_name_is_refused),
		cmocka_unit_test(a_target_that_is_not_there_is_refused),
		cmocka_unit_test(an_unknown_section_names_the_nearest),
		cmocka_unit_test(the_page_is_where_it_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
