// SPDX-License-Identifier: BSD-2-Clause
/* Keeps track of commas and depth. */
#include "export/json/json_writer.h"

#include <inttypes.h>
#include <math.h>

#include "base/escape.h"

static void begin_value(struct json_writer *writer, const char *key)
{
	if (writer->has_items)
		fputc(',', writer->out);
	if (writer->depth)
		fprintf(writer->out, "\n%*s", (int)writer->depth, "");
	writer->has_items = true;
	if (key)
		fprintf(writer->out, "\"%s\": ", key);
}

static void begin(struct json_writer *writer, const char *key, char bracket)
{
	begin_value(writer, key);
	fputc(bracket, writer->out);
	writer->depth++;
	writer->has_items = false;
}

static void end(struct json_writer *writer, char bracket)
{
	writer->depth--;
	if (writer->has_items)
		fprintf(writer->out, "\n%*s", (int)writer->depth, "");
	fputc(bracket, writer->out);
	writer->has_items = true;
}

void json_writer_object_begin(struct json_writer *writer, const char *key)
{
	begin(writer, key, '{');
}

void json_writer_object_end(struct json_writer *writer)
{
	end(writer, '}');
}

void json_writer_array_begin(struct json_writer *writer, const char *key)
{
	begin(writer, key, '[');
}

void json_writer_array_end(struct json_writer *writer)
{
	end(writer, ']');
}

void json_writer_string(struct json_writer *writer, const char *key, const char *value)
{
	begin_value(writer, key);
	if (value)
		escape_json(writer->out, value);
	else
		fputs("null", writer->out);
}

void json_writer_numbers(struct json_writer *writer, const char *key, const uint32_t *numbers,
			 size_t count)
{
	begin_value(writer, key);
	fputc('[', writer->out);
	for (size_t i = 0; i < count; i++)
		fprintf(writer->out, "%s%" PRIu32, i ? "," : "", numbers[i]);
	fputc(']', writer->out);
}

void json_writer_u64(struct json_writer *writer, const char *key, uint64_t value)
{
	begin_value(writer, key);
	fprintf(writer->out, "%" PRIu64, value);
}

void json_writer_i64(struct json_writer *writer, const char *key, int64_t value)
{
	begin_value(writer, key);
	fprintf(writer->out, "%" PRId64, value);
}

void json_writer_decimal(struct json_writer *writer, const char *key, double value)
{
	begin_value(writer, key);
	if (isfinite(value))
		fprintf(writer->out, "%.3f", value);
	else
		fputs("null", writer->out);
}

void json_writer_real(struct json_writer *writer, const char *key, double value)
{
	begin_value(writer, key);
	if (isfinite(value))
		fprintf(writer->out, "%.9g", value);
	else
		fputs("null", writer->out);
}

void json_writer_bool(struct json_writer *writer, const char *key, bool value)
{
	begin_value(writer, key);
	fputs(value ? "true" : "false", writer->out);
}
