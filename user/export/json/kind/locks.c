// SPDX-License-Identifier: BSD-2-Clause
/* Locks in the JSON report. */
#include "export/json/json_kind.h"

const struct json_kind json_kind_locks = {.sections = json_locks};
