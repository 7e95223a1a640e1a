/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The front of `pkbpf serve`: a process without capabilities that keeps the store and answers over
 * HTTP. The collector hands it slices as descriptors of recordings with one block; the end of the
 * connection is the end of the front.
 */
#ifndef PKBPF_CLI_SERVE_FRONT_H
#define PKBPF_CLI_SERVE_FRONT_H

#include <sys/types.h>

#include "base/error.h"
#include "cli/console.h"
#include "profile/profile.h"

struct serve_front_options {
	const char *listen; /* "ADDRESS:PORT" */
	const char *store;
	const char *run_as; /* NULL: see serve_user.h */
	uint64_t store_bytes;
	const char *token; /* NULL: none */
	bool open_metrics;
	uint64_t slice_ns;
	const char *config;	 /* text of the configuration, checked; NULL: none */
	struct console *console; /* for what happens in the front */
};

struct serve_front {
	pid_t pid;
	int socket;
	uint16_t port;
	bool is_root;	   /* no other user could be had */
	bool lacks_filter; /* it can make any system call */
	uint64_t secret;
	unsigned int detail_step; /* of the governor; told with each slice */
	uint64_t dropped;	  /* slices that it did not take in time and does not know of */
};

/* Forks it, while the program has one thread; returns when it answers. Negative errno with the
 * sentence. */
int serve_front_start(const struct serve_front_options *options, struct serve_front *ret_front,
		      struct error *error);
/* Hands a symbolized slice over. -EPIPE: the front has ended; -EAGAIN: it is behind, and the slice
 * is missing in the history, which metrics tell; -ENOMEM, -EFBIG and the like: likewise. */
int serve_front_send(struct serve_front *front, const struct profile *slice);
/* Hands over another configuration, checked; NULL: one was wrong, which metrics tell. Errors as
 * above. */
int serve_front_configure(struct serve_front *front, const char *text);
/* CPU time of it so far; 0: not known. */
uint64_t serve_front_cpu_ns(const struct serve_front *front);
/* Waits until all is stored. 0; -EPIPE: it had ended by itself. */
int serve_front_stop(struct serve_front *front);

#endif
