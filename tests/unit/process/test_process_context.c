// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/process_context: keys of a message, and messages that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "process/process_context.h"

static const char *const wanted[] = {"http.route", "tenant"};

struct text {
	uint8_t bytes[1024];
	size_t size;
};

static void put(struct text *text, int field, const void *bytes, size_t size)
{
	text->bytes[text->size++] = (uint8_t)(field << 3 | 2);
	text->bytes[text->size++] = (uint8_t)(size % 128 | (size > 127 ? 128 : 0));
	if (size > 127)
		text->bytes[text->size++] = (uint8_t)(size / 128);
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
}

static void put_attribute(struct text *message, int field, const char *key,
			  const struct text *value)
{
	struct text attribute = {0};

	put(&attribute, 1, key, strlen(key));
	put(&attribute, 2, value->bytes, value->size);
	put(message, field, attribute.bytes, attribute.size);
}

static void put_schema(struct text *message, const char *version)
{
	struct text value = {0};

	put(&value, 1, version, strlen(version));
	put_attribute(message, 2, "threadlocal.schema_version", &value);
}

static void put_keys(struct text *message, const char *const *keys, size_t count)
{
	struct text array = {0}, value = {0};

	for (size_t i = 0; i < count; i++) {
		struct text key = {0};

		put(&key, 1, keys[i], strlen(keys[i]));
		put(&array, 1, key.bytes, key.size);
	}
	put(&value, 5, array.bytes, array.size);
	put_attribute(message, 2, "threadlocal.attribute_key_map", &value);
}

static void finds_wanted_keys_by_their_index(void **state)
{
	static const char *const keys[] = {"user.id", "tenant", "http.route", "http.route2"};
	struct process_context_keys found;
	struct text message = {0};

	(void)state;
	put_schema(&message, "tls_v1");
	put_keys(&message, keys, ARRAY_SIZE(keys));
	assert_int_equal(process_context_parse(message.bytes, message.size, wanted, 2, &found), 0);
	assert_int_equal(found.count, 4);
	assert_true(found.has_schema);
	assert_int_equal(found.places[0], 0);
	assert_int_equal(found.places[1], 2);
	assert_int_equal(found.places[2], 1);
	assert_int_equal(found.places[3], 0);
}

static void keys_may_be_in_the_resource(void **state)
{
	static const char *const keys[] = {"tenant"};
	struct text inner = {0}, array = {0}, value = {0}, key = {0}, message = {0};
	struct process_context_keys found;

	(void)state;
	put(&key, 1, keys[0], strlen(keys[0]));
	put(&array, 1, key.bytes, key.size);
	put(&value, 5, array.bytes, array.size);
	put_attribute(&inner, 1, "threadlocal.attribute_key_map", &value);
	put(&message, 1, inner.bytes, inner.size);
	assert_int_equal(process_context_parse(message.bytes, message.size, wanted, 2, &found), 0);
	assert_int_equal(found.places[0], 2);
	assert_false(found.has_schema);
	assert_false(found.is_unknown);
}

static void an_unknown_schema_is_told_from_none(void **state)
{
	struct process_context_keys found;
	struct text message = {0};

	(void)state;
	put_schema(&message, "tls_v9");
	assert_int_equal(process_context_parse(message.bytes, message.size, wanted, 2, &found), 0);
	assert_false(found.has_schema);
	assert_true(found.is_unknown);
}

static void every_cut_message_is_refused_or_read_in_part(void **state)
{
	static const char *const keys[] = {"tenant", "http.route"};
	struct process_context_keys found;
	struct text message = {0};

	(void)state;
	put_schema(&message, "tlsdesc_v1_dev");
	put_keys(&message, keys, ARRAY_SIZE(keys));
	for (size_t size = 0; size < message.size; size++) {
		int err = process_context_parse(message.bytes, size, wanted, 2, &found);

		assert_true(err == 0 || err == -EBADMSG);
		assert_true(found.count <= 2);
	}
}

static void further_keys_have_no_index(void **state)
{
	struct text message = {0}, array = {0};
	uint8_t large[8192];
	struct process_context_keys found;
	size_t size = 0;

	(void)state;
	/* 300 empty strings: each a field of two bytes. */
	(void)array;
	for (int i = 0; i < 300; i++) {
		large[size++] = 1 << 3 | 2;
		large[size++] = 0;
	}
	{
		static const char key[] = "threadlocal.attribute_key_map";
		uint8_t value[1024], attribute[1024];
		size_t at = 0, to = 0;

		value[at++] = 5 << 3 | 2;
		value[at++] = 600 % 128 | 128;
		value[at++] = 600 / 128;
		memcpy(value + at, large, 600);
		at += 600;
		attribute[to++] = 1 << 3 | 2;
		attribute[to++] = sizeof(key) - 1;
		for (size_t i = 0; key[i]; i++)
			attribute[to++] = (uint8_t)key[i];
		attribute[to++] = 2 << 3 | 2;
		attribute[to++] = (uint8_t)(at % 128 | 128);
		attribute[to++] = (uint8_t)(at / 128);
		memcpy(attribute + to, value, at);
		to += at;
		put(&message, 2, attribute, to);
	}
	assert_int_equal(process_context_parse(message.bytes, message.size, wanted, 2, &found), 0);
	assert_int_equal(found.count, PROCESS_CONTEXT_KEYS);
}

static void names_of_mappings(void **state)
{
	(void)state;
	assert_true(process_context_is_name("[anon:OTEL_CTX]"));
	assert_true(process_context_is_name("[anon_shmem:OTEL_CTX]"));
	assert_true(process_context_is_name("/memfd:OTEL_CTX (deleted)"));
	assert_false(process_context_is_name("/tmp/OTEL_CTX"));
	assert_false(process_context_is_name(""));
}

static void headers_that_can_be_read(void **state)
{
	struct process_context_header header = {"OTEL_CTX", 2, 100, 1, 0x1000};

	(void)state;
	assert_true(process_context_is_header(&header));
	header.published_ns = 0;
	assert_false(process_context_is_header(&header));
	header.published_ns = 1;
	header.size = PROCESS_CONTEXT_MAX_BYTES + 1;
	assert_false(process_context_is_header(&header));
	header.size = 100;
	header.version = 1;
	assert_false(process_context_is_header(&header));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_wanted_keys_by_their_index),
		cmocka_unit_test(keys_may_be_in_the_resource),
		cmocka_unit_test(an_unknown_schema_is_told_from_none),
		cmocka_unit_test(every_cut_message_is_refused_or_read_in_part),
		cmocka_unit_test(further_keys_have_no_index),
		cmocka_unit_test(names_of_mappings),
		cmocka_unit_test(headers_that_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
