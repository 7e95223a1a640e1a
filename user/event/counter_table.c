// SPDX-License-Identifier: BSD-2-Clause
/* The rows of <pkbpf/counter.h> as data. */
#include "event/counter_table.h"

const struct counter_row counter_table[PKBPF_COUNTER_COUNT] = {
#define X(name, loss, text) [PKBPF_COUNTER_##name] = {#name, text, loss},
	PKBPF_COUNTERS(X)
#undef X
};
