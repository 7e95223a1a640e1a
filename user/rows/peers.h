/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages, connections and lengths of each process and network peer. */
#ifndef PKBPF_ROWS_PEERS_H
#define PKBPF_ROWS_PEERS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/account/peer_text.h"
#include "profile/profile.h"
#include "rows/part/row_part.h"

struct peer_lengths {
	uint64_t count, total_ns;
	struct row_lengths lengths;
};

struct peer_row {
	uint32_t process; /* incarnation id */
	uint32_t number;  /* of the peer in the profile's table */
	/* NULL: the record of the peer is missing */
	const struct peer *peer;
	uint64_t sent, sent_bytes, received, received_bytes;
	uint64_t accepts, failures, retransmits;
	uint64_t send_queue_max, receive_queue_max; /* bytes in one socket */
	struct peer_lengths connects, responses, waits;
	struct peer_lengths round_trips; /* without percentiles */
	/* Its distributions, those of one measure beside each other. */
	const struct distribution *const *parts;
	size_t part_count;
};

struct peer_rows {
	struct peer_row *items; /* most messages first */
	size_t count;
	const struct distribution **parts;
};

/* Zero-initialised is empty. -ENOMEM. */
int peer_rows_init(struct peer_rows *rows, const struct profile *profile);
void peer_rows_done(struct peer_rows *rows);

#endif
