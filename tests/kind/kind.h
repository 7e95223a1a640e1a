/* SPDX-License-Identifier: BSD-2-Clause */
/* A kind of event that only this test has: leases that threads held, with an account that lists
 * them. Included before everything else, it adds a row to the lists that all tables are made
 * from. */
#ifndef PKBPF_TEST_KIND_H
#define PKBPF_TEST_KIND_H

#include <stdint.h>

#define PKBPF_PROFILE_KINDS_OF_TEST(X) X(LEASES, 10, leases)
#define ROW_PART_LIST_OF_TEST(X)       X(leases)
#define ACCOUNTS_OF_TEST(X)	       X(leases, struct lease_list)
#define RECORDS_OF_TEST(X)	       X(LEASE, lease)

enum { PKBPF_EVENT_LEASE = 200 }; /* struct lease_event */

struct row_leases {
	uint64_t count, held_ns;
};

struct row_part;
extern const struct row_part row_leases_part;

#endif
