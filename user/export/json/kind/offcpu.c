// SPDX-License-Identifier: BSD-2-Clause
/* Waits in the JSON report: their figures say all. */
#include "export/json/json_kind.h"

const struct json_kind json_kind_offcpu = {.sections = NULL};
