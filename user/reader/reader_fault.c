// SPDX-License-Identifier: BSD-2-Clause
#include "reader/reader_fault.h"

#ifdef PKBPF_TEST_HOOKS

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

#define LOOP_LIMIT_NS (200 * NS_PER_MS)

enum reader_fault reader_fault_of(const char *path)
{
	static const struct {
		const char *word;
		enum reader_fault fault;
	} words[] = {
		{"crash:", READER_CRASHES},
		{"loop:", READER_LOOPS},
		{"rubbish:", READER_TALKS_RUBBISH},
	};
	const char *wanted = secure_getenv("PKBPF_READER_FAULT");
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(words) && wanted && name; i++)
		if (strncmp(wanted, words[i].word, strlen(words[i].word)) == 0 &&
		    strcmp(wanted + strlen(words[i].word), name) == 0)
			return words[i].fault;
	return READER_SOUND;
}

uint64_t reader_fault_limit_ns(enum reader_fault fault, uint64_t limit_ns)
{
	return fault == READER_LOOPS ? LOOP_LIMIT_NS : limit_ns;
}

/* As long as the answer was, and different with each byte. */
static void talk_rubbish(struct reader_reply *reply)
{
	static unsigned char rubbish[READER_INLINE_BYTES];
	uint64_t state = 0x9e3779b97f4a7c15ULL;

	for (size_t i = 0; i < sizeof(rubbish); i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		rubbish[i] = (unsigned char)state;
	}
	for (size_t i = 0; i < reply->count; i++) {
		reply->pieces[i].iov_base = rubbish;
		if (reply->pieces[i].iov_len > sizeof(rubbish))
			reply->pieces[i].iov_len = sizeof(rubbish);
	}
}

void reader_fault_commit(enum reader_fault fault, struct reader_reply *reply)
{
	volatile enum reader_fault stays = fault;

	if (fault == READER_CRASHES)
		__builtin_trap();
	/* Not an idle one: a parser that never ends. */
	while (stays == READER_LOOPS)
		;
	if (fault == READER_TALKS_RUBBISH)
		talk_rubbish(reply);
}

#else

uint64_t reader_fault_limit_ns(enum reader_fault fault, uint64_t limit_ns)
{
	(void)fault;
	return limit_ns;
}

enum reader_fault reader_fault_of(const char *path)
{
	(void)path;
	return READER_SOUND;
}

void reader_fault_commit(enum reader_fault fault, struct reader_reply *reply)
{
	(void)fault;
	(void)reply;
}

#endif
