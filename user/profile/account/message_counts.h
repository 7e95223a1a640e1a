/* SPDX-License-Identifier: BSD-2-Clause */
/* Scales the stacks of sampled messages to the exact sums. */
#ifndef PKBPF_PROFILE_ACCOUNT_MESSAGE_COUNTS_H
#define PKBPF_PROFILE_ACCOUNT_MESSAGE_COUNTS_H

#include "profile/profile.h"

/* Call once, when all records are in. Stacks of messages are sampled, but messages and bytes of
 * each process are known exactly, in each direction: its stacks are scaled to these sums. Without a
 * sample, a row without a stack has them. -ENOMEM. */
int profile_scale_messages(struct profile *profile);

#endif
