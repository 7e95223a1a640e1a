// SPDX-License-Identifier: BSD-2-Clause
/* Tests for web/web_listen: which addresses are taken, and which of them need a token. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <string.h>

#include <cmocka.h>

#include "temp_tree.h"
#include "web/web.h"

static struct error error;

static void this_machine_alone_needs_no_token(void **state)
{
	static const char *const texts[] = {"127.0.0.1:7747", "127.9.9.9:0", "localhost:1",
					    "[::1]:7747", "/run/pkbpf/socket"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(web_listen_check(texts[i], false, &error), 0);
}

static void what_others_reach_needs_a_token(void **state)
{
	static const char *const texts[] = {"0.0.0.0:7747", "192.168.1.1:7747", "[::]:7747",
					    "128.0.0.1:1", "[fe80::1]:7747"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(web_listen_check(texts[i], true, &error), 0);
		assert_int_equal(web_listen_check(texts[i], false, &error), -EINVAL);
		assert_non_null(strstr(error.text, "--token-file"));
	}
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const texts[] = {
		"",	    "7747",	 "127.0.0.1",	 "127.0.0.1:", "127.0.0.1:65536", "host:1",
		"::1:7747", "[::1:7747", "127.0.0.1:-1", "[]:1",       "1.2.3:4"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (web_listen_check(texts[i], true, &error) >= 0)
			fail_msg("'%s' is taken", texts[i]);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	char path[200] = "/";

	(void)state;
	memset(path + 1, 'x', sizeof(path) - 2);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(web_listen_check(path, false, &error), -EINVAL);
	assert_non_null(strstr(error.text, "too long"));
}

/* Whatever the mask of the user, and never by its name, which somebody may have given to another
 * file. */
static void a_socket_of_the_file_system_is_of_owner_and_group(void **state)
{
	static const mode_t masks[] = {0, 022, 077};
	struct temp_tree tree;
	char path[4096];
	uint16_t port;
	struct stat st;

	(void)state;
	temp_tree_init(&tree);
	snprintf(path, sizeof(path), "%s/socket", tree.root);
	for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		mode_t before = umask(masks[i]);
		int fd;

		if (web_listen(path, false, &fd, &port, &error) < 0)
			fail_msg("%s", error.text);
		assert_int_equal(umask(before), masks[i]);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0660);
		close(fd);
	}
	unlink(path);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_of_the_file_system_is_of_owner_and_group),
		cmocka_unit_test(this_machine_alone_needs_no_token),
		cmocka_unit_test(what_others_reach_needs_a_token),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(a_path_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
