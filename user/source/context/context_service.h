/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked about files and messages of programs that publish contexts, and answered by a
 * process without rights (reader/readers.h). */
#ifndef PKBPF_SOURCE_CONTEXT_CONTEXT_SERVICE_H
#define PKBPF_SOURCE_CONTEXT_CONTEXT_SERVICE_H

#include <stdint.h>

#include "elf/tls_variable.h"
#include "process/process_context.h"
#include "reader/reader_service.h"

struct readers;

/* Where the variable is in a file that is mapped from this position on. */
struct context_place {
	uint32_t model; /* enum tls_model */
	uint32_t reserved;
	int64_t value;
	int64_t slot; /* from the address at which the mapping begins */
};

/* READER_FINDS_CONTEXT: the question is the position, a uint64_t, of a file that is handed in; the
 * answer a struct context_place. */
int context_service_find(const struct reader_request *request, struct reader_reply *reply);
/* READER_READS_CONTEXT: the question is the wanted keys, each with its NUL; the file is the
 * message. The answer is a struct process_context_keys. */
int context_service_read(const struct reader_request *request, struct reader_reply *reply);

/* Ask for these. readers: NULL: it is done here. -ENOENT, -ENOTSUP: no such variable; others as
 * readers_ask(). */
int context_ask_place(struct readers *readers, int fd, const char *path, uint64_t file_offset,
		      struct context_place *ret_place);
int context_ask_keys(struct readers *readers, const void *message, size_t size,
		     const char *const *wanted, size_t wanted_count,
		     struct process_context_keys *ret_keys);

#endif
