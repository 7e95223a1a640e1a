/* SPDX-License-Identifier: BSD-2-Clause */
/* Network messages of a row, its connections and response times. */
#ifndef PKBPF_ROWS_PART_ROW_NETWORK_H
#define PKBPF_ROWS_PART_ROW_NETWORK_H

#include "rows/part/row_part.h"

/* The network was recorded. */
#define ROW_HAS_NETWORK ROW_HAS_KIND(PKBPF_PROFILE_NETWORK)

struct row_network {
	uint64_t sent_bytes, received_bytes;
	uint64_t messages, connects, accepts, failures, retransmits;
	uint64_t wait_ns; /* for servers */
	struct row_lengths connect, response, wait;
	struct row_lengths service; /* of requests to the process as a server */
};

extern const struct row_part row_network_part;

#endif
