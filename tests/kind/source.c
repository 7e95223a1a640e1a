// SPDX-License-Identifier: BSD-2-Clause
/* What would record held locks. */
#include "source/source_table.h"

const struct source_ops source_locks = {
	.kind = PKBPF_PROFILE_LOCKS,
	.name = "locks",
	.summary = "locks that threads hold",
};
