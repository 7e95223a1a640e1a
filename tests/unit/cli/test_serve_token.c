// SPDX-License-Identifier: BSD-2-Clause
/* Which files a token is taken from. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/serve_token.h"

static int read_token(const char *text, mode_t mode, struct error *error)
{
	char path[] = "/tmp/pkbpf-token-XXXXXX", *token = NULL;
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	err = serve_token_read(path, &token, error);
	if (!err)
		assert_string_equal(token, "a-token-that-nobody-guesses");
	free(token);
	unlink(path);
	return err;
}

static void a_token_is_the_first_line(void **state)
{
	struct error error;

	assert_int_equal(read_token("a-token-that-nobody-guesses\nmore\n", 0600, &error), 0);
	assert_int_equal(read_token("a-token-that-nobody-guesses", 0640, &error), 0);
	assert_int_equal(read_token("short\n", 0600, &error), -EINVAL);
}

static void a_token_that_everybody_can_read_is_refused(void **state)
{
	struct error error;

	assert_int_equal(read_token("a-token-that-nobody-guesses\n", 0644, &error), -EACCES);
	assert_non_null(strstr(error.text, "chmod o="));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_is_the_first_line),
		cmocka_unit_test(a_token_that_everybody_can_read_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
