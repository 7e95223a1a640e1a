// SPDX-License-Identifier: BSD-2-Clause
/* Tests configuration of those to whom something is sent. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "push/notifier.h"
#include "push/push_target.h"

struct row {
	const char *text, *says; /* NULL: it is fine */
};

static int check(const char *text, bool push, struct error *error)
{
	char copy[512];
	struct push_targets targets;
	struct notify_targets notify;
	struct ini ini;
	int err;

	snprintf(copy, sizeof(copy), "%s", text);
	assert_int_equal(ini_parse(copy, &ini, error), 0);
	err = push ? push_targets_read(&ini, &targets, error)
		   : notify_targets_read(&ini, &notify, error);
	ini_done(&ini);
	return err;
}

static void check_rows(const struct row *rows, size_t count, bool push)
{
	for (size_t i = 0; i < count; i++) {
		struct error error = {""};

		assert_int_equal(check(rows[i].text, push, &error), rows[i].says ? -EINVAL : 0);
		if (rows[i].says && !strstr(error.text, rows[i].says))
			fail_msg("'%s' is not in: %s", rows[i].says, error.text);
	}
}

static void a_push_has_one_way_and_its_options(void **state)
{
	static const struct row rows[] = {
		{"[push a]\ntextfile = /var/x.prom\ninterval = 30s\n", NULL},
		{"[push a]\npyroscope = https://h/\nheader = X-Scope-OrgID: t\nevents = "
		 "cpu,offcpu\nmax-age = 10m\n",
		 NULL},
		{"[push a]\notlp = http://h/v1/metrics\n", NULL},
		{"[push a]\ninterval = 30s\n", "has neither"},
		{"[push a]\notlp = http://h/\npyroscope = http://h/\n", "line 3"},
		{"[push a]\notlp-profiles = http://h/v1development/profiles\n", NULL},
		{"[push a/b]\notlp = http://h/\n", "line 1"},
		{"[push a]\ntextfile = x.prom\n", "whole path"},
		{"[push a]\notlp = h:1\n", "is no address"},
		{"[push a]\notlp = ftp://h/\n", "is no address"},
		{"[push a]\notlp = http:///x\n", "is no address"},
		{"[push a]\notlp = http://h/\ninterval = 1s\n", "10s to 10m"},
		{"[push a]\notlp = http://h/\ninterval = soon\n", "interval"},
		{"[push a]\notlp = http://h/\nheader = nothing\n", "Name: value"},
		{"[push a]\notlp = http://h/\nevents = cpuu\n", "unknown kind"},
		{"[push a]\notlp = http://h/v1/metrics\nencoding = protobuf\n", NULL},
		{"[push a]\nencoding = json\notlp-profiles = http://h/\n", NULL},
		{"[push a]\notlp = http://h/\nencoding = xml\n",
		 "invalid value 'xml' for encoding: expected json or protobuf"},
		{"[push a]\npyroscope = http://h/\nencoding = json\n",
		 "encoding requires otlp or otlp-profiles"},
		{"[push a]\notpl = http://h/\n", "did you mean otlp?"},
	};

	check_rows(rows, sizeof(rows) / sizeof(rows[0]), true);
}

static void a_notifier_has_one_way(void **state)
{
	static const struct row rows[] = {
		{"[notify a]\nwebhook = http://h/\n[notify b]\ncommand = /bin/true x\n", NULL},
		{"[notify a]\nalertmanager = http://h:9093\n", NULL},
		{"[notify a b]\nwebhook = http://h/\n", "one word"},
		{"[notify a]\ncommand = true\n", "whole path"},
		{"[notify a]\nmail = x\n", "unknown key"},
		{"[notify a]\n", "has neither"},
		{"[notify a]\nwebhook = http://h/\ncommand = /bin/true\n", "one way"},
	};

	check_rows(rows, sizeof(rows) / sizeof(rows[0]), false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_push_has_one_way_and_its_options),
		cmocka_unit_test(a_notifier_has_one_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
