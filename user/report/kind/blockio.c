// SPDX-License-Identifier: BSD-2-Clause
/* Block requests in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_blockio = {.sections = {text_devices, text_slow_io}};
