/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink that turns records in time order into a profile: attributes each address to the mapping its process had
 * at that moment, and adds weights. One owner thread.
 */
#ifndef PKBPF_PROFILE_AGGREGATOR_H
#define PKBPF_PROFILE_AGGREGATOR_H

#include "event/event_sink.h"
#include "profile/profile.h"
#include "profile/profile_merge.h"

struct aggregator_options {
	bool per_thread;
	bool want_user, want_kernel; /* leave the other kind of frames out */
	size_t slow_io_limit;	     /* of the slowest block requests, so many are kept */
};

struct aggregator;

struct aggregator *aggregator_new(const struct aggregator_options *options, struct profile *profile);
void aggregator_free(struct aggregator *aggregator);
/* Passes task and mapping records on to the profile's process table. */
struct event_sink aggregator_sink(struct aggregator *aggregator);
/* profile_merge_stacks() while records still come: what they refer to keeps its meaning and is not shortened. */
int aggregator_merge_stacks(struct aggregator *aggregator, struct symbolizer *symbolizer, bool lines, size_t max_bytes);

#endif
