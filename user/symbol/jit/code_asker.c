// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/jit/code_asker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "reader/readers.h"
#include "symbol/jit/code_packet.h"

/* A piece takes some milliseconds. */
#define LEAST_NS (300 * NS_PER_MS)
/* Of a record that is looked at for the name of code that moved. */
#define RECORD_NS 2000

struct packed_question {
	struct code_question head;
	struct code_range ranges[CODE_MAX_RANGES];
};

/* Where there are many places, neighbours share one. */
static void fill_ranges(const struct code_places *places, struct packed_question *question)
{
	size_t count = places->sorted, share = (count + CODE_MAX_RANGES - 1) / CODE_MAX_RANGES;
	uint32_t ranges = 0;

	for (size_t i = 0; i < count; i += share) {
		size_t last = i + share < count ? i + share - 1 : count - 1;

		question->ranges[ranges++] = (struct code_range){
			places->places.items[i].address, places->places.items[last].address};
	}
	question->head.range_count = ranges;
}

/* ---- answers ---- */

struct answer_reading {
	const unsigned char *at;
	size_t left;
	uint64_t from, end; /* where the next entry may begin */
};

/* false: it is none. */
static bool take_entry(struct answer_reading *reading, struct code_entry *entry, uint64_t *offset)
{
	struct code_answer_entry packed;

	if (reading->left < sizeof(packed))
		return false;
	memcpy(&packed, reading->at, sizeof(packed));
	reading->at += sizeof(packed);
	reading->left -= sizeof(packed);
	if (packed.name_size >= CODE_MAX_NAME_BYTES || packed.name_size > reading->left ||
	    !packed.size || packed.start + packed.size < packed.start ||
	    packed.offset < reading->from || packed.offset >= reading->end)
		return false;
	*entry = (struct code_entry){
		.start = packed.start,
		.size = packed.size,
		.name = (const char *)reading->at,
		.name_size = packed.name_size,
		.time_ns = packed.time_ns,
		.is_plain = true,
	};
	*offset = packed.offset;
	reading->from = packed.offset + 1;
	reading->at += packed.name_size;
	reading->left -= packed.name_size;
	return true;
}

static bool take_head(struct answer_reading *reading, const struct code_piece *piece,
		      const struct code_cursor *cursor, uint32_t records,
		      struct code_answer *answer)
{
	uint64_t end = piece->end > cursor->offset ? piece->end : cursor->offset;

	if (reading->left < sizeof(*answer))
		return false;
	memcpy(answer, reading->at, sizeof(*answer));
	reading->at += sizeof(*answer);
	reading->left -= sizeof(*answer);
	reading->from = cursor->offset;
	reading->end = answer->offset;
	/* What has more has got on. */
	return answer->offset >= cursor->offset && answer->offset <= end &&
	       answer->records <= records && answer->skipping <= 1 && answer->has_more <= 1 &&
	       (!answer->has_more || answer->offset > cursor->offset);
}

int code_answer_take(const void *bytes, size_t size, const struct code_piece *piece,
		     struct code_cursor *cursor, uint32_t *records, const struct code_taker *taker)
{
	struct answer_reading reading = {.at = bytes, .left = size};
	struct code_answer answer;

	if (!take_head(&reading, piece, cursor, *records, &answer))
		return -EBADMSG;
	*records = answer.records;
	for (bool goes_on = true; reading.left;) {
		struct code_entry entry;
		uint64_t offset;

		if (!take_entry(&reading, &entry, &offset))
			return -EBADMSG;
		if (!goes_on) {
			*cursor = (struct code_cursor){.offset = offset};
			return 1;
		}
		goes_on = taker->take(taker->context, &entry, offset);
	}
	*cursor = (struct code_cursor){answer.offset, answer.skipping};
	return answer.has_more;
}

/* ---- questions ---- */

int code_asker_read(const struct code_asker *asker, const struct code_reader *reader,
		    struct code_cursor *cursor, const struct code_piece *piece,
		    const struct code_taker *taker)
{
	struct packed_question packed = {.head = {
						 .offset = cursor->offset,
						 .end = piece->end,
						 .max_bytes = piece->max_bytes,
						 .records = *asker->records,
						 .skipping = cursor->skipping,
						 .is_last = piece->is_last,
						 .is_jitdump = reader->is_jitdump,
						 .times_known = reader->times_known,
					 }};
	struct reader_question question = {
		.lane = READER_CODE,
		.service = READER_CUTS_CODE,
		.fd = reader->fd,
		.bytes = &packed,
		.cpu_limit_ns = LEAST_NS,
	};
	struct reader_answer answer;
	char name[32];
	int result;

	if (reader->is_jitdump)
		question.cpu_limit_ns += (uint64_t)*asker->records * RECORD_NS;
	snprintf(name, sizeof(name), reader->is_jitdump ? "jit-%u.dump" : "perf-%u.map",
		 asker->pid);
	question.name = name;
	fill_ranges(asker->places, &packed);
	question.size = sizeof(packed.head) + packed.head.range_count * sizeof(packed.ranges[0]);
	result = readers_ask(asker->readers, &question, &answer);
	if (result == 0) {
		result = code_answer_take(answer.bytes, answer.size, piece, cursor, asker->records,
					  taker);
		reader_answer_done(&answer);
		if (result == -EBADMSG)
			readers_reject(asker->readers, &question);
	}
	return result == -EPIPE || result == -ETIMEDOUT || result == -EBADMSG ? -EIO : result;
}
