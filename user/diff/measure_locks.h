/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting time of locks as values to compare. */
#ifndef PKBPF_DIFF_MEASURE_LOCKS_H
#define PKBPF_DIFF_MEASURE_LOCKS_H

#include "diff/measurement.h"
#include "profile/profile.h"

/* Adds a lock to the last slice. false: out of memory. */
bool measure_lock(struct measurement *measurement, const char *name, double wait_ns);
/* Those of a slice, by the names that a report gives them: addresses change from run to run, so
 * locks of one name are one. -ENOMEM. */
int measure_locks(struct measurement *measurement, const struct profile *profile);

#endif
