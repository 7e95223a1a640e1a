// SPDX-License-Identifier: BSD-2-Clause
/* Page faults in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_faults = {.sections = {text_faults}};
