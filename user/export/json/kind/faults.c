// SPDX-License-Identifier: BSD-2-Clause
/* Page faults in the JSON report: their figures say all. */
#include "export/json/json_kind.h"

const struct json_kind json_kind_faults = {.sections = NULL};
