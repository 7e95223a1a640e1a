// SPDX-License-Identifier: BSD-2-Clause
/* Sampled allocations in the JSON report. */
#include "export/json/json_kind.h"

const struct json_kind json_kind_alloc = {.sections = json_heap};
