// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/cleanup and base/clock: what leaves its scope is released, time goes forward. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

static void closes_descriptor_at_end_of_scope(void **state)
{
	int number;

	{
		_cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		number = fd;
	}
	assert_int_equal(fcntl(number, F_GETFD), -1);
}

static void taken_descriptor_stays_open(void **state)
{
	int kept;

	{
		_cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		kept = take_fd(fd);
		assert_int_equal(fd, -1);
	}
	assert_true(fcntl(kept, F_GETFD) >= 0);
	close(kept);
}

/* AddressSanitizer reports both a block that is freed too early and one that is not freed. */
static void taken_pointer_outlives_its_scope(void **state)
{
	char *kept;

	{
		_cleanup_free_ char *text = strdup("kept"), *dropped = strdup("dropped");
		_cleanup_free_ char *nothing = NULL;

		assert_non_null(dropped);
		assert_null(nothing);
		kept = take_pointer(text);
		assert_null(text);
	}
	assert_string_equal(kept, "kept");
	free(kept);
}

static void monotonic_time_advances_in_ns(void **state)
{
	uint64_t start = clock_now_ns(), end;
	struct timespec pause = {.tv_nsec = 2 * (long)NS_PER_MS};

	nanosleep(&pause, NULL);
	end = clock_now_ns();
	assert_true(end - start >= 2 * NS_PER_MS);
	assert_true(end - start < 60 * NS_PER_SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closes_descriptor_at_end_of_scope),
		cmocka_unit_test(taken_descriptor_stays_open),
		cmocka_unit_test(taken_pointer_outlives_its_scope),
		cmocka_unit_test(monotonic_time_advances_in_ns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
