/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process context of OpenTelemetry: a mapping of a program with a header and a message of
 * protobuf, which says which keys its thread contexts have. Bytes of a hostile process.
 */
#ifndef PKBPF_PROCESS_PROCESS_CONTEXT_H
#define PKBPF_PROCESS_PROCESS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More is not read. */
#define PROCESS_CONTEXT_MAX_BYTES 65536U
#define PROCESS_CONTEXT_KEYS	  256

struct process_context_header {
	char signature[8];
	uint32_t version;
	uint32_t size;	       /* of the message */
	uint64_t published_ns; /* 0: being changed; another one after each change */
	uint64_t address;      /* of the message, in the process */
};

/* Is this the name of such a mapping, as /proc/PID/maps shows it? */
bool process_context_is_name(const char *path);
/* Can a message be read by it? */
bool process_context_is_header(const struct process_context_header *header);

struct process_context_keys {
	/* By index; 1 + place among the wanted keys, 0: not wanted. */
	uint8_t places[PROCESS_CONTEXT_KEYS];
	uint32_t count;	 /* of keys */
	bool has_schema; /* says how threads keep their contexts: in a way that we know */
	bool is_unknown; /* in a way that we do not */
};

/* Finds the wanted keys in a message. -EBADMSG: it is none. */
int process_context_parse(const void *bytes, size_t size, const char *const *wanted,
			  size_t wanted_count, struct process_context_keys *ret_keys);

#endif
