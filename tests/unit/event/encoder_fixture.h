/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer for each test of event/encoder, and the decoder that reads what is in it. */
#ifndef PKBPF_TEST_ENCODER_FIXTURE_H
#define PKBPF_TEST_ENCODER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/decoder.h"
#include "event/encoder.h"

static struct event_buffer buffer_of_test;

static inline int empty_buffer(void **state)
{
	*state = &buffer_of_test;
	return 0;
}

static inline int release_buffer(void **state)
{
	event_buffer_done(*state);
	return 0;
}

static inline void decode_one(const struct event_buffer *buffer, const struct event_sink_ops *ops,
			      void *context)
{
	struct event_sink sink = {ops, context};

	assert_int_equal(event_decode(buffer->data, buffer->size, &sink), (int)buffer->size);
	assert_int_equal(buffer->size % 8, 0);
}

#define ENCODER_TEST(function)                                                                     \
	cmocka_unit_test_setup_teardown(function, empty_buffer, release_buffer)

#endif
