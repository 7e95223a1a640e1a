// SPDX-License-Identifier: BSD-2-Clause
/* Waits in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_offcpu = {.sections = {text_waits}};
