/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells call frame information that is false for most of the code it covers. */
#ifndef PKBPF_UNWIND_CODE_DESCRIPTION_CHECK_H
#define PKBPF_UNWIND_CODE_DESCRIPTION_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "unwind/cfi/eh_frame.h"
#include "unwind/code/code_gaps.h"

/* True when more functions set up a frame pointer in the code of a function than its description
 * knows of: rows are to be made of its instructions, by code_gaps_run_text(). Counts against the
 * byte budget of gaps, which may be NULL: then it is false. */
bool description_misses_frames(struct code_gaps *gaps, const struct eh_frame *frame, size_t index);

#endif
