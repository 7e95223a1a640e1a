// SPDX-License-Identifier: BSD-2-Clause
/* Tests messages that come in pieces, too long ones, and ones that cancel what is worked on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/mcp_input.h"
#include "mcp/mcp_server.h"

static void assert_line(struct mcp_input *input, const char *text)
{
	const char *line;
	size_t size;

	assert_int_equal(mcp_input_next(input, &line, &size), 1);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(line, text, size);
}

static void assert_end(struct mcp_input *input)
{
	const char *line;
	size_t size;

	assert_int_equal(mcp_input_next(input, &line, &size), 0);
}

static void lines_come_one_by_one(void **state)
{
	struct mcp_input input = {0};
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	input.fd = ends[0];
	assert_int_equal(write(ends[1], "one\n\ntwo\nla", 11), 11);
	assert_line(&input, "one");
	assert_line(&input, "");
	assert_line(&input, "two");
	assert_int_equal(write(ends[1], "st", 2), 2);
	close(ends[1]);
	/* The last one may lack its end. */
	assert_line(&input, "last");
	assert_end(&input);
	assert_end(&input);
	mcp_input_done(&input);
	close(ends[0]);
}

static void a_line_that_is_too_long_is_left_out(void **state)
{
	static char block[1U << 20];
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct mcp_input input = {.fd = fd};
	const char *line;
	size_t size;

	(void)state;
	memset(block, 'x', sizeof(block));
	assert_int_equal(write(fd, "a\n", 2), 2);
	for (size_t i = 0; i < (MCP_MESSAGE_MAX >> 20) + 3; i++)
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	assert_int_equal(write(fd, "\nb\n", 3), 3);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_line(&input, "a");
	assert_int_equal(mcp_input_next(&input, &line, &size), -EFBIG);
	assert_line(&input, "b");
	assert_end(&input);
	/* It is not kept. */
	assert_true(input.room <= 2 * (MCP_MESSAGE_MAX + sizeof(block)));
	mcp_input_done(&input);
	close(fd);
}

static void what_cancels_is_seen_among_other_lines(void **state)
{
	static const char cancel[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				     "\"params\":{\"requestId\":3}}\n";
	struct mcp_input input = {0};
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	input.fd = ends[0];
	assert_false(mcp_input_cancels(&input, "3"));
	assert_int_equal(write(ends[1], "{}\n", 3), 3);
	assert_int_equal(write(ends[1], cancel, 20), 20);
	assert_false(mcp_input_cancels(&input, "3"));
	assert_int_equal(write(ends[1], cancel + 20, sizeof(cancel) - 21), sizeof(cancel) - 21);
	/* The first line is not looked at again. */
	assert_int_equal(input.looked, 3);
	assert_true(mcp_input_cancels(&input, "3"));
	assert_false(mcp_input_cancels(&input, "4"));
	assert_int_equal(input.looked, input.size - input.begin);
	/* They are messages all the same. */
	assert_line(&input, "{}");
	assert_int_equal(input.looked, 0);
	close(ends[1]);
	/* The end of the input cancels nothing: its requests are still answered. */
	assert_true(mcp_input_cancels(&input, "3"));
	assert_false(mcp_input_cancels(&input, "5"));
	mcp_input_done(&input);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_one_by_one),
		cmocka_unit_test(a_line_that_is_too_long_is_left_out),
		cmocka_unit_test(what_cancels_is_seen_among_other_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
