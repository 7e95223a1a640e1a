// SPDX-License-Identifier: BSD-2-Clause
/* Network messages in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_network = {.sections = {text_peers}};
