// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/jit/code_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/demangle.h"
#include "symbol/jit/code_packet.h"
#include "symbol/jit/code_reader.h"

/* Then the rest comes with the next answer. */
#define MAX_ANSWER_BYTES (4U << 20)

struct cutting {
	struct code_reader reader;
	struct code_question question;
	struct code_range ranges[CODE_MAX_RANGES];
	uint32_t records;
	bool is_out_of_memory;
	ARRAY_OF(unsigned char) bytes;
};

static bool put(struct cutting *cutting, const void *data, size_t size)
{
	if (!array_reserve(&cutting->bytes, cutting->bytes.count + size)) {
		cutting->is_out_of_memory = true;
		return false;
	}
	memcpy(cutting->bytes.items + cutting->bytes.count, data, size);
	cutting->bytes.count += size;
	return true;
}

static bool is_wanted(const struct cutting *cutting, const struct code_entry *entry)
{
	size_t low = 0, high = cutting->question.range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cutting->ranges[middle].last < entry->start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < cutting->question.range_count &&
	       cutting->ranges[low].first < entry->start + entry->size;
}

static bool put_entry(struct cutting *cutting, const struct code_entry *entry, uint64_t offset,
		      const char *name, size_t name_size)
{
	char text[CODE_MAX_NAME_BYTES], plain[CODE_MAX_NAME_BYTES];
	struct code_answer_entry packed = {
		.offset = offset,
		.start = entry->start,
		.time_ns = entry->time_ns,
		.size = entry->size,
	};

	if (name_size > sizeof(text) - 1)
		name_size = sizeof(text) - 1;
	if (name_size)
		memcpy(text, name, name_size);
	text[name_size] = '\0';
	name = demangle(text, plain, sizeof(plain)) ? plain : text;
	packed.name_size = (uint32_t)strlen(name);
	return put(cutting, &packed, sizeof(packed)) && put(cutting, name, packed.name_size) &&
	       cutting->bytes.count < MAX_ANSWER_BYTES;
}

static bool take(void *context, const struct code_entry *entry, uint64_t offset)
{
	struct cutting *cutting = context;
	char moved[CODE_MAX_NAME_BYTES];
	size_t size;

	if (!is_wanted(cutting, entry))
		return true;
	if (entry->name)
		return put_entry(cutting, entry, offset, entry->name, entry->name_size);
	size = code_reader_find_index(&cutting->reader, cutting->question.end, entry->index,
				      &cutting->records, moved);
	/* It is of nothing that is in the file. */
	if (!size && cutting->records)
		return true;
	return put_entry(cutting, entry, offset, moved, size);
}

static bool take_question(struct cutting *cutting, const struct reader_request *request)
{
	const char *bytes = request->bytes;
	struct code_question *question = &cutting->question;
	size_t size;

	if (request->size < sizeof(*question))
		return false;
	memcpy(question, bytes, sizeof(*question));
	size = request->size - sizeof(*question);
	if (question->range_count > CODE_MAX_RANGES ||
	    size != question->range_count * sizeof(struct code_range))
		return false;
	if (size)
		memcpy(cutting->ranges, bytes + sizeof(*question), size);
	cutting->records = question->records;
	return true;
}

static int cut(struct cutting *cutting)
{
	const struct code_question *question = &cutting->question;
	struct code_cursor cursor = {question->offset, question->skipping};
	struct code_answer answer = {0};
	int more;

	if (!put(cutting, &answer, sizeof(answer)))
		return -ENOMEM;
	more = code_reader_read(&cutting->reader, &cursor, question->end, question->is_last,
				question->max_bytes, &(struct code_taker){take, cutting});
	if (cutting->is_out_of_memory)
		return -ENOMEM;
	if (more < 0)
		return more;
	answer = (struct code_answer){
		.offset = cursor.offset,
		.records = cutting->records,
		.skipping = cursor.skipping,
		.has_more = more > 0,
	};
	memcpy(cutting->bytes.items, &answer, sizeof(answer));
	return 0;
}

int code_service_cut(const struct reader_request *request, struct reader_reply *reply)
{
	static char buffer[CODE_READER_BYTES];
	struct cutting cutting = {.reader = {.fd = request->fd, .buffer = buffer}};
	int err;

	if (!take_question(&cutting, request))
		return -EINVAL;
	cutting.reader.is_jitdump = cutting.question.is_jitdump;
	cutting.reader.times_known = cutting.question.times_known;
	err = cut(&cutting);
	if (err) {
		array_free(&cutting.bytes);
		return err;
	}
	reply->pieces[0] = (struct iovec){cutting.bytes.items, cutting.bytes.count};
	reply->count = 1;
	reply->release = free;
	reply->context = cutting.bytes.items;
	return 0;
}
