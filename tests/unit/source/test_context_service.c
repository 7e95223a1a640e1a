// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/context/context_service: questions about files and messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "reader/readers.h"
#include "source/context/context_service.h"

extern __thread void *otel_thread_ctx_v1;
__thread void *otel_thread_ctx_v1 = NULL;

static void finds_the_variable_of_this_program(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct reader_request request = {.fd = fd};
	struct context_place place, served;
	struct reader_reply reply = {0};
	uint64_t offset = 0;

	(void)state;
	assert_null(otel_thread_ctx_v1);
	assert_int_equal(context_ask_place(NULL, fd, "this", offset, &place), 0);
	assert_true(place.model);
	request.bytes = &offset;
	request.size = sizeof(offset);
	assert_int_equal(context_service_find(&request, &reply), 0);
	assert_int_equal(reply.pieces[0].iov_len, sizeof(served));
	memcpy(&served, reply.pieces[0].iov_base, sizeof(served));
	reply.release(reply.context);
	assert_memory_equal(&served, &place, sizeof(place));
	request.size--;
	assert_int_equal(context_service_find(&request, &reply), -EINVAL);
	close(fd);
}

static void a_file_without_it_says_so(void **state)
{
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct context_place place;

	(void)state;
	assert_int_equal(context_ask_place(NULL, fd, "true", 0, &place), -ENOENT);
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(context_ask_place(NULL, fd, "null", 0, &place) < 0);
	close(fd);
}

static void reads_keys_of_a_message(void **state)
{
	/* attributes {key: "threadlocal.attribute_key_map", value: {array: {"a", "b"}}} */
	static const char message[] = "\x12\x2d\x0a\x1dthreadlocal.attribute_key_map"
				      "\x12\x0c\x2a\x0a\x0a\x03\x0a\x01"
				      "a\x0a\x03\x0a\x01"
				      "b";
	static const char *const wanted[] = {"b"};
	struct process_context_keys keys;
	struct reader_request request = {.bytes = "b", .size = 2};
	struct reader_reply reply = {0};

	(void)state;
	assert_int_equal(context_ask_keys(NULL, message, sizeof(message) - 1, wanted, 1, &keys), 0);
	assert_int_equal(keys.count, 2);
	assert_int_equal(keys.places[0], 0);
	assert_int_equal(keys.places[1], 1);
	request.fd = reader_memory_file(message, sizeof(message) - 1);
	assert_true(request.fd >= 0);
	assert_int_equal(context_service_read(&request, &reply), 0);
	assert_int_equal(reply.pieces[0].iov_len, sizeof(keys));
	assert_memory_equal(reply.pieces[0].iov_base, &keys, sizeof(keys));
	reply.release(reply.context);
	close(request.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_variable_of_this_program),
		cmocka_unit_test(a_file_without_it_says_so),
		cmocka_unit_test(reads_keys_of_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
