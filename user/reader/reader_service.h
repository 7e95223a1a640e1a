/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What readers do: a service takes a descriptor and some bytes, reads what a hostile process has
 * written, and replies with bytes. It runs in a process of its own, with one thread, that has no
 * capability, opens no file and knows no network.
 */
#ifndef PKBPF_READER_READER_SERVICE_H
#define PKBPF_READER_READER_SERVICE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Bytes of a request besides its descriptor. */
#define READER_MAX_REQUEST_BYTES 16384
/* A reply up to this size goes into a message, a larger one into a file in memory. */
#define READER_INLINE_BYTES 32768
/* The largest table that is known, of a browser, has 20 MiB. */
#define READER_MAX_REPLY_BYTES (512ULL << 20)
#define READER_REPLY_PIECES    6

struct reader_request {
	int fd;		   /* owned by the caller; closed after the reply */
	const void *bytes; /* at most READER_MAX_REQUEST_BYTES */
	size_t size;
	/* private */
	int socket_fd;
	uint64_t sequence;
};

/* Asks who asked for a further file, which these bytes describe. Returns a descriptor that the
 * caller closes; negative errno. */
int reader_request_file(const struct reader_request *request, const void *bytes, size_t size);

struct reader_reply {
	struct iovec pieces[READER_REPLY_PIECES];
	size_t count;
	/* Frees what the pieces lie in, once they are sent; NULL: nothing. */
	void (*release)(void *context);
	void *context;
};

/* Returns 0 with a reply, or a negative errno without. */
typedef int (*reader_serve_fn)(const struct reader_request *request, struct reader_reply *reply);

#endif
