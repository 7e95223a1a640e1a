// SPDX-License-Identifier: BSD-2-Clause
/* Resident memory in the JSON report. */
#include "export/json/json_kind.h"

const struct json_kind json_kind_memory = {.sections = json_memory};
