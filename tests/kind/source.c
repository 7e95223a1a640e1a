// SPDX-License-Identifier: BSD-2-Clause
/* What would record held leases. */
#include "source/source_table.h"

const struct source_ops source_leases = {
	.kind = PKBPF_PROFILE_LEASES,
	.name = "leases",
	.summary = "leases that threads hold",
};
