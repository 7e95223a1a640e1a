/* SPDX-License-Identifier: BSD-2-Clause */
/* Name and text of each counter of <pkbpf/counter.h>. */
#ifndef PKBPF_EVENT_COUNTER_TABLE_H
#define PKBPF_EVENT_COUNTER_TABLE_H

#include <pkbpf/counter.h>

struct counter_row {
	const char *name, *text;
	enum pkbpf_loss loss;
};

/* indexed by enum pkbpf_counter */
extern const struct counter_row counter_table[PKBPF_COUNTER_COUNT];

#endif
