/* SPDX-License-Identifier: BSD-2-Clause */
/* What those who make a stream up and those who play it know of its threads. */
#ifndef PKBPF_TEST_SLICE_STREAM_PRIVATE_H
#define PKBPF_TEST_SLICE_STREAM_PRIVATE_H

#include <stdlib.h>

#include "event/resource_event.h"
#include "slice_stream.h"

#define PROGRAM	  "/usr/bin/program"
#define KERNEL	  0xffffffff81000000ULL
#define STACKS	  40
#define ALL_KINDS ((1U << PKBPF_PROFILE_KINDS) - 1)

struct slice_actor {
	uint32_t pid, tid;
	uint64_t process_born_ns, born_ns;
	uint64_t exit_ns; /* 0: lives */
	bool is_old;	  /* was there before the capture */
	char comm[PKBPF_COMM_SIZE];
};

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

/* What the account says of a thread, and of the machine, at a time. */
struct resource_view slice_resource_of(const struct slice_actor *actor, uint64_t time_ns,
				       enum pkbpf_resource_moment moment);
struct pkbpf_event_machine slice_machine_at(uint64_t time_ns, enum pkbpf_resource_moment moment);

#endif
