// SPDX-License-Identifier: BSD-2-Clause
#include "push/otlp_proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "export/proto_writer.h"
#include "push/otlp_fields.h"

/* JSON without blanks but at its end: that of our own writers. */
struct reading {
	const char *at;
	ARRAY_OF(char) text; /* read last, without its escapes; ends with '\0' */
	ARRAY_OF(uint64_t) numbers;
	bool failed, has_no_memory;
};

static bool take(struct reading *reading, char wanted)
{
	if (*reading->at != wanted)
		return false;
	reading->at++;
	return true;
}

static void expect(struct reading *reading, char wanted)
{
	if (!take(reading, wanted))
		reading->failed = true;
}

/* ---- texts and numbers ---- */

static void put(struct reading *reading, char c)
{
	char *place = array_add(&reading->text);

	if (place)
		*place = c;
	else
		reading->has_no_memory = reading->failed = true;
}

static uint32_t read_unit(struct reading *reading)
{
	char digits[5] = "", *end;
	unsigned long unit;

	memcpy(digits, reading->at, strnlen(reading->at, 4));
	unit = strtoul(digits, &end, 16);
	reading->failed = reading->failed || end != digits + 4;
	reading->at += end - digits;
	return (uint32_t)unit;
}

static void put_character(struct reading *reading, uint32_t character)
{
	char bytes[UTF8_MAX_BYTES];
	size_t count = utf8_put(bytes, character);

	for (size_t i = 0; i < count; i++)
		put(reading, bytes[i]);
}

/* Behind the backslash. */
static void read_escape(struct reading *reading)
{
	static const char letters[] = "nrtbf", meant[] = "\n\r\t\b\f";
	char letter = *reading->at;
	const char *known = letter ? strchr(letters, letter) : NULL;
	uint32_t character;

	if (!letter) {
		reading->failed = true;
		return;
	}
	reading->at++;
	if (letter != 'u') {
		put(reading, known ? meant[known - letters] : letter);
		return;
	}
	character = read_unit(reading);
	if (character >= 0xd800 && character < 0xdc00 && !strncmp(reading->at, "\\u", 2)) {
		reading->at += 2;
		character = 0x10000 + ((character - 0xd800) << 10) +
			    ((read_unit(reading) - 0xdc00) & 0x3ff);
	}
	put_character(reading, character);
}

static const char *read_text(struct reading *reading)
{
	reading->text.count = 0;
	expect(reading, '"');
	while (!reading->failed && *reading->at && *reading->at != '"') {
		if (take(reading, '\\'))
			read_escape(reading);
		else
			put(reading, *reading->at++);
	}
	expect(reading, '"');
	put(reading, '\0');
	return reading->failed ? "" : reading->text.items;
}

/* Those of 64 bits are texts. */
static uint64_t read_number(struct reading *reading)
{
	bool is_text = take(reading, '"');
	char *end;
	uint64_t number = *reading->at == '-' ? (uint64_t)strtoll(reading->at, &end, 10)
					      : strtoull(reading->at, &end, 10);

	reading->failed = reading->failed || end == reading->at;
	reading->at = end;
	if (is_text)
		expect(reading, '"');
	return number;
}

static uint64_t read_real(struct reading *reading)
{
	char *end;
	double value = strtod(reading->at, &end);
	uint64_t bits;

	reading->failed = reading->failed || end == reading->at;
	reading->at = end;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static bool read_flag(struct reading *reading)
{
	if (!strncmp(reading->at, "true", 4)) {
		reading->at += 4;
		return true;
	}
	if (strncmp(reading->at, "false", 5) != 0)
		reading->failed = true;
	else
		reading->at += 5;
	return false;
}

/* ---- messages ---- */

static void encode_hex(struct reading *reading, uint32_t number, struct proto_writer *writer)
{
	const char *digits = read_text(reading);
	uint8_t bytes[64];
	size_t count = strlen(digits) / 2;

	if (count > sizeof(bytes)) {
		reading->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		char byte[3] = {digits[2 * i], digits[2 * i + 1], '\0'};

		bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	proto_bytes(writer, number, bytes, count);
}

static void encode_message(struct reading *reading, const struct otlp_field *fields,
			   struct proto_writer *writer);

static void encode_one(struct reading *reading, const struct otlp_field *field,
		       struct proto_writer *writer)
{
	struct proto_writer inner = {0};

	switch ((enum otlp_type)field->type) {
	case OTLP_TEXT:
		proto_string(writer, field->number, read_text(reading));
		break;
	case OTLP_HEX:
		encode_hex(reading, field->number, writer);
		break;
	case OTLP_NUMBER:
		proto_number(writer, field->number, read_number(reading));
		break;
	case OTLP_CHOSEN:
		proto_number_always(writer, field->number, read_number(reading));
		break;
	case OTLP_FIXED:
		proto_fixed64(writer, field->number, read_number(reading));
		break;
	case OTLP_REAL:
		proto_fixed64(writer, field->number, read_real(reading));
		break;
	case OTLP_FLAG:
		proto_number(writer, field->number, read_flag(reading));
		break;
	case OTLP_MESSAGE:
		encode_message(reading, field->message, &inner);
		proto_message(writer, field->number, &inner);
		proto_done(&inner);
		break;
	}
}

static void encode_packed(struct reading *reading, uint32_t number, struct proto_writer *writer)
{
	reading->numbers.count = 0;
	while (!reading->failed && *reading->at != ']') {
		uint64_t *place = array_add(&reading->numbers);

		if (!place) {
			reading->has_no_memory = reading->failed = true;
			return;
		}
		*place = read_number(reading);
		if (!take(reading, ','))
			break;
	}
	expect(reading, ']');
	if (reading->numbers.count)
		proto_packed(writer, number, reading->numbers.items, reading->numbers.count);
}

static void encode_value(struct reading *reading, const struct otlp_field *field,
			 struct proto_writer *writer)
{
	if (!take(reading, '[')) {
		encode_one(reading, field, writer);
		return;
	}
	if (field->type == OTLP_NUMBER) {
		encode_packed(reading, field->number, writer);
		return;
	}
	while (!reading->failed && *reading->at != ']') {
		encode_one(reading, field, writer);
		if (!take(reading, ','))
			break;
	}
	expect(reading, ']');
}

/* As deep as the messages of the protocol are. */
static void encode_message(struct reading *reading, const struct otlp_field *fields,
			   struct proto_writer *writer)
{
	expect(reading, '{');
	while (!reading->failed && *reading->at != '}') {
		const struct otlp_field *field = fields;
		const char *name = read_text(reading);

		while (field->name && strcmp(field->name, name) != 0)
			field++;
		expect(reading, ':');
		if (!field->name)
			reading->failed = true;
		if (!reading->failed)
			encode_value(reading, field, writer);
		if (!take(reading, ','))
			break;
	}
	expect(reading, '}');
}

int otlp_proto_encode(const char *json, enum otlp_request request, char **ret_body,
		      size_t *ret_size)
{
	struct reading reading = {.at = json};
	struct proto_writer writer = {0};

	encode_message(&reading,
		       request == OTLP_REQUEST_METRICS ? otlp_metrics_request
						       : otlp_profiles_request,
		       &writer);
	array_free(&reading.text);
	array_free(&reading.numbers);
	if (reading.failed || writer.failed) {
		proto_done(&writer);
		return reading.has_no_memory || writer.failed ? -ENOMEM : -EBADMSG;
	}
	*ret_body = (char *)writer.bytes.items;
	*ret_size = writer.bytes.count;
	return 0;
}
