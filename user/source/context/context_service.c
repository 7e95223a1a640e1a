// SPDX-License-Identifier: BSD-2-Clause
#include "source/context/context_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/context.h>

#include "base/clock.h"
#include "elf/elf_file.h"
#include "reader/readers.h"

#define VARIABLE "otel_thread_ctx_v1"
/* A file with a million symbols takes less than a half of that. */
#define LIMIT_NS (NS_PER_SECOND / 2)

/* ---- the reader's side ---- */

static int reply_with(struct reader_reply *reply, const void *bytes, size_t size)
{
	void *copy = malloc(size);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, size);
	reply->pieces[0] = (struct iovec){copy, size};
	reply->count = 1;
	reply->release = free;
	reply->context = copy;
	return 0;
}

static int find_place(int fd, uint64_t file_offset, struct context_place *place)
{
	struct tls_variable variable;
	struct elf_file file;
	uint64_t address;
	int err = elf_file_open(&file, fd);

	if (err)
		return err;
	err = tls_variable_find(&file, VARIABLE, &variable);
	if (!err && !elf_segments_address(&file.segments, file_offset, &address))
		err = -ENOTSUP;
	elf_file_done(&file);
	if (err)
		return err;
	*place = (struct context_place){
		.model = variable.model,
		.value = variable.value,
		.slot = (int64_t)(variable.slot - address),
	};
	return 0;
}

int context_service_find(const struct reader_request *request, struct reader_reply *reply)
{
	struct context_place place;
	uint64_t file_offset;
	int err;

	if (request->size != sizeof(file_offset))
		return -EINVAL;
	memcpy(&file_offset, request->bytes, sizeof(file_offset));
	err = find_place(request->fd, file_offset, &place);
	return err ? err : reply_with(reply, &place, sizeof(place));
}

static size_t split_keys(const char *bytes, size_t size, const char **wanted)
{
	size_t count = 0;

	while (size && count < PKBPF_CONTEXT_LABELS) {
		const char *end = memchr(bytes, '\0', size);

		if (!end)
			break;
		wanted[count++] = bytes;
		size -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	return count;
}

int context_service_read(const struct reader_request *request, struct reader_reply *reply)
{
	const char *wanted[PKBPF_CONTEXT_LABELS];
	size_t count = split_keys(request->bytes, request->size, wanted);
	void *message = malloc(PROCESS_CONTEXT_MAX_BYTES);
	struct process_context_keys keys;
	ssize_t size;
	int err = message ? 0 : -ENOMEM;

	if (!err) {
		size = pread(request->fd, message, PROCESS_CONTEXT_MAX_BYTES, 0);
		err = size < 0 ? -errno
			       : process_context_parse(message, (size_t)size, wanted, count, &keys);
	}
	free(message);
	return err ? err : reply_with(reply, &keys, sizeof(keys));
}

/* ---- the side that asks ---- */

/* The answer has this size, or is none. */
static int ask(struct readers *readers, const struct reader_question *question, void *ret_answer,
	       size_t size)
{
	struct reader_answer answer;
	int err = readers_ask(readers, question, &answer);

	if (err)
		return err;
	if (answer.size == size)
		memcpy(ret_answer, answer.bytes, size);
	else
		err = -EBADMSG;
	reader_answer_done(&answer);
	if (err)
		readers_reject(readers, question);
	return err;
}

int context_ask_place(struct readers *readers, int fd, const char *path, uint64_t file_offset,
		      struct context_place *ret_place)
{
	const struct reader_question question = {
		.lane = READER_CODE,
		.service = READER_FINDS_CONTEXT,
		.fd = fd,
		.bytes = &file_offset,
		.size = sizeof(file_offset),
		.name = path,
		.cpu_limit_ns = LIMIT_NS,
	};

	if (!readers)
		return find_place(fd, file_offset, ret_place);
	return ask(readers, &question, ret_place, sizeof(*ret_place));
}

/* A hostile reader may answer anything: numbers of labels that are none. */
static int check_keys(const struct process_context_keys *keys, size_t wanted_count)
{
	for (size_t i = 0; i < PROCESS_CONTEXT_KEYS; i++)
		if (keys->places[i] > wanted_count)
			return -EBADMSG;
	return 0;
}

int context_ask_keys(struct readers *readers, const void *message, size_t size,
		     const char *const *wanted, size_t wanted_count,
		     struct process_context_keys *ret_keys)
{
	char bytes[READER_MAX_REQUEST_BYTES];
	struct reader_question question = {
		.lane = READER_CODE,
		.service = READER_READS_CONTEXT,
		.bytes = bytes,
		.name = "process context",
		.cpu_limit_ns = LIMIT_NS,
	};
	int err;

	if (!readers)
		return process_context_parse(message, size, wanted, wanted_count, ret_keys);
	for (size_t i = 0; i < wanted_count; i++) {
		size_t length = strlen(wanted[i]) + 1;

		if (question.size + length > sizeof(bytes))
			return -EINVAL;
		memcpy(bytes + question.size, wanted[i], length);
		question.size += length;
	}
	question.fd = reader_memory_file(message, size);
	if (question.fd < 0)
		return question.fd;
	err = ask(readers, &question, ret_keys, sizeof(*ret_keys));
	close(question.fd);
	return err ? err : check_keys(ret_keys, wanted_count);
}
