/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds stacks to a measurement: the values of functions follow from those of stacks. */
#ifndef PKBPF_DIFF_MEASURE_STACK_H
#define PKBPF_DIFF_MEASURE_STACK_H

#include "diff/measurement.h"

/* Zero-initialised is for one measurement. */
struct stack_measure {
	struct measurement *measurement;
	struct hash_map seen; /* text -> stack that had it last */
	uint64_t number;
};

/* texts: of a comm, then functions from the root on. false: out of memory. */
bool stack_measure_add(struct stack_measure *measure, uint32_t kind, const uint32_t *texts,
		       size_t text_count, double value, double count);
void stack_measure_done(struct stack_measure *measure);

#endif
