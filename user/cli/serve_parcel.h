/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages from the collector to the front of `pkbpf serve`, each with a descriptor: of a slice, or
 * of a text. */
#ifndef PKBPF_CLI_SERVE_PARCEL_H
#define PKBPF_CLI_SERVE_PARCEL_H

#include <stddef.h>
#include <stdint.h>

enum serve_parcel_kind { SERVE_PARCEL_SLICE, SERVE_PARCEL_CONFIG, SERVE_PARCEL_BAD_CONFIG };

struct serve_parcel {
	enum serve_parcel_kind kind;
	unsigned int detail_step;
	uint64_t dropped; /* slices before this one that are missing */
};

/* Never waits. -EPIPE: there is nobody; -EAGAIN: too many wait; -ENOMEM and the like. */
int serve_parcel_send(int socket, const struct serve_parcel *parcel, int fd);
/* Waits for one. Returns the descriptor; -EMFILE: the parcel has lost it, for there are too many
 * open here; -EPIPE: the other end has ended. */
int serve_parcel_receive(int socket, struct serve_parcel *ret_parcel);
/* How many wait to be received; from any thread. */
size_t serve_parcels_waiting(int socket);

#endif
