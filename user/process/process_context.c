// SPDX-License-Identifier: BSD-2-Clause
/* Reads the message of a process context: field by field, skipping all that is not needed. */
#include "process/process_context.h"

#include <errno.h>
#include <string.h>

#define SIGNATURE "OTEL_CTX"
#define VERSION	  2

#define SCHEMA_KEY "threadlocal.schema_version"
#define KEYS_KEY   "threadlocal.attribute_key_map"

enum wire { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct bytes {
	const uint8_t *at;
	size_t left;
};

struct field {
	uint32_t number;
	enum wire wire;
	struct bytes value; /* WIRE_BYTES */
};

static bool take_number(struct bytes *bytes, uint64_t *ret_number)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 64 && bytes->left; shift += 7) {
		uint8_t byte = *bytes->at++;

		bytes->left--;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

/* 1: a field; 0: the message ends; -EBADMSG. */
static int next_field(struct bytes *message, struct field *field)
{
	uint64_t tag, size = 0;

	if (!message->left)
		return 0;
	if (!take_number(message, &tag) || tag >> 3 > UINT32_MAX)
		return -EBADMSG;
	field->number = (uint32_t)(tag >> 3);
	field->wire = tag & 7;
	field->value = (struct bytes){0};
	switch (field->wire) {
	case WIRE_NUMBER:
		return take_number(message, &size) ? 1 : -EBADMSG;
	case WIRE_64:
		size = 8;
		break;
	case WIRE_32:
		size = 4;
		break;
	case WIRE_BYTES:
		if (!take_number(message, &size))
			return -EBADMSG;
		break;
	default:
		return -EBADMSG;
	}
	if (size > message->left)
		return -EBADMSG;
	field->value = (struct bytes){message->at, (size_t)size};
	message->at += size;
	message->left -= (size_t)size;
	return 1;
}

static bool is_text(const struct bytes *bytes, const char *text)
{
	/* One that is not there has no address. */
	return bytes->left == strlen(text) &&
	       (!bytes->left || memcmp(bytes->at, text, bytes->left) == 0);
}

/* The last member of a message with this number. */
static int find_member(struct bytes message, uint32_t number, struct bytes *ret_value)
{
	struct field field;
	int more;

	*ret_value = (struct bytes){0};
	while ((more = next_field(&message, &field)) > 0)
		if (field.number == number && field.wire == WIRE_BYTES)
			*ret_value = field.value;
	return more;
}

struct parsing {
	const char *const *wanted;
	size_t wanted_count;
	struct process_context_keys *keys;
};

/* Further keys have no index that a record could name. */
static void take_key(struct parsing *parsing, const struct bytes *key)
{
	struct process_context_keys *keys = parsing->keys;

	if (keys->count == PROCESS_CONTEXT_KEYS)
		return;
	for (size_t i = 0; i < parsing->wanted_count && i < UINT8_MAX; i++)
		if (is_text(key, parsing->wanted[i]))
			keys->places[keys->count] = (uint8_t)(i + 1);
	keys->count++;
}

/* An array of strings. */
static int take_keys(struct parsing *parsing, struct bytes array)
{
	struct field field;
	int more;

	memset(parsing->keys->places, 0, sizeof(parsing->keys->places));
	parsing->keys->count = 0;
	while ((more = next_field(&array, &field)) > 0) {
		struct bytes text;
		int err;

		if (field.number != 1 || field.wire != WIRE_BYTES)
			continue;
		err = find_member(field.value, 1, &text);
		if (err)
			return err;
		take_key(parsing, &text);
	}
	return more;
}

static void take_schema(struct process_context_keys *keys, const struct bytes *text)
{
	keys->has_schema = is_text(text, "tlsdesc_v1_dev") || is_text(text, "tls_v1");
	keys->is_unknown = !keys->has_schema;
}

static int take_attribute(struct parsing *parsing, struct bytes attribute)
{
	struct bytes key, value, content;
	int err = find_member(attribute, 1, &key);

	err = err ? err : find_member(attribute, 2, &value);
	if (err)
		return err;
	if (is_text(&key, SCHEMA_KEY)) {
		err = find_member(value, 1, &content);
		if (!err)
			take_schema(parsing->keys, &content);
	} else if (is_text(&key, KEYS_KEY)) {
		err = find_member(value, 5, &content);
		err = err ? err : take_keys(parsing, content);
	}
	return err;
}

/* Attributes are members of the message, or of the resource in it. */
static int take_attributes(struct parsing *parsing, struct bytes message, uint32_t number)
{
	struct field field;
	int more;

	while ((more = next_field(&message, &field)) > 0) {
		int err;

		if (field.number != number || field.wire != WIRE_BYTES)
			continue;
		err = take_attribute(parsing, field.value);
		if (err)
			return err;
	}
	return more;
}

int process_context_parse(const void *bytes, size_t size, const char *const *wanted,
			  size_t wanted_count, struct process_context_keys *ret_keys)
{
	struct parsing parsing = {wanted, wanted_count, ret_keys};
	struct bytes message = {bytes, size}, resource;
	int err;

	*ret_keys = (struct process_context_keys){0};
	err = find_member(message, 1, &resource);
	err = err ? err : take_attributes(&parsing, resource, 1);
	return err ? err : take_attributes(&parsing, message, 2);
}

bool process_context_is_name(const char *path)
{
	static const char memfd[] = "/memfd:" SIGNATURE;

	return strcmp(path, "[anon_shmem:" SIGNATURE "]") == 0 ||
	       strcmp(path, "[anon:" SIGNATURE "]") == 0 ||
	       strncmp(path, memfd, strlen(memfd)) == 0;
}

bool process_context_is_header(const struct process_context_header *header)
{
	return memcmp(header->signature, SIGNATURE, sizeof(header->signature)) == 0 &&
	       header->version == VERSION && header->published_ns && header->size &&
	       header->size <= PROCESS_CONTEXT_MAX_BYTES;
}
