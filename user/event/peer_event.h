/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of peers, which totals of the kind NETWORK refer to by number. They reach sinks through
 * on_other(). */
#ifndef PKBPF_EVENT_PEER_EVENT_H
#define PKBPF_EVENT_PEER_EVENT_H

#include <stdint.h>

#include <pkbpf/network.h>

#include "event/encoder.h"

struct peer_view {
	uint64_t time_ns;
	uint32_t number; /* from 1 */
	uint32_t pid;	 /* process at the other end; 0: unknown */
	struct pkbpf_network_peer peer;
	char comm[PKBPF_COMM_SIZE + 1];	   /* of that process; not escaped */
	char name[PKBPF_NETWORK_NAME + 1]; /* of a UNIX socket; not escaped */
};

/* 0, or -EBADMSG when the record (checked by event_check_header()) is no record of a peer. */
int peer_event_decode(const struct pkbpf_event_header *header, struct peer_view *ret_view);
/* Appends a record. -ENOMEM. */
int peer_event_encode(struct event_buffer *buffer, const struct peer_view *view);

#endif
