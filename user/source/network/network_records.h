/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts sums of network messages in BPF maps into records of their increments. */
#ifndef PKBPF_SOURCE_NETWORK_NETWORK_RECORDS_H
#define PKBPF_SOURCE_NETWORK_NETWORK_RECORDS_H

#include <stdint.h>

#include <pkbpf/network.h>

#include "event/encoder.h"

/* Those that are kept per row. */
enum network_length { NETWORK_CONNECTS, NETWORK_ROUND_TRIPS, NETWORK_RESPONSES, NETWORK_WAITS };
#define NETWORK_LENGTHS 4

/* Histograms of one kind of length; NULL: none. */
struct network_buckets {
	const volatile struct pkbpf_network_histogram *now;
	struct pkbpf_network_histogram *sent;
};

/* Appends the increments of a row since `sent`, a copy of it or zeroes, with this number of its
 * peer, and makes `sent` a copy. The kernel side may add meanwhile; the next increment has what
 * this one misses. -ENOMEM: some are sent, and `sent` has those. */
int network_records_of_row(const volatile struct pkbpf_network_row *row,
			   struct pkbpf_network_row *sent, uint32_t peer,
			   const struct network_buckets buckets[NETWORK_LENGTHS],
			   struct event_buffer *buffer);
/* Is there anything to append? */
bool network_row_has_news(const volatile struct pkbpf_network_row *row,
			  const struct pkbpf_network_row *sent);
volatile struct pkbpf_network_lengths *network_lengths_of(volatile struct pkbpf_network_row *row,
							  enum network_length which);

#endif
