// SPDX-License-Identifier: BSD-2-Clause
/* Live memory in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_live = {.sections = {NULL}};
