// SPDX-License-Identifier: BSD-2-Clause
/* Compares the frame pointers that code sets up with those that its description knows of. */
#include "unwind/code/description_check.h"

#include <stdint.h>

/* A description of code this many times its size may be wrong in the middle of the code; short
 * descriptions are checked in any case. */
#define DOUBTFUL_RATIO	    2048
#define SHORT_PROGRAM_BYTES 12

/* Counts the rows at which the CFA changes to one by the frame pointer. */
struct frames_set_up {
	uint32_t count;
	bool has_row;
	uint8_t cfa; /* of the last one */
};

static void count_frame(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct frames_set_up *frames = context;

	(void)offset;
	frames->count +=
		frames->has_row && rule->cfa == PKBPF_CFA_FP && frames->cfa != PKBPF_CFA_FP;
	frames->has_row = true;
	frames->cfa = rule->cfa;
}

/*
 * Compilers of managed languages describe the whole text by one FDE with a frame pointer CFA. That
 * is wrong at the start and end of functions, and in functions without a frame. Such an FDE is
 * recognized by more functions that set up a frame pointer than it describes. It is also short for
 * its code: C compilers write one byte per few bytes of code.
 */
bool description_misses_frames(struct code_gaps *gaps, const struct eh_frame *frame, size_t index)
{
	const struct fde *fde = eh_frame_function(frame, index);
	struct frames_set_up frames = {0};

	if (!gaps || eh_frame_source(frame, index) == EH_FRAME_GO ||
	    fde->size < CODE_GAPS_MIN_BYTES ||
	    (fde->program_size > SHORT_PROGRAM_BYTES &&
	     fde->size / fde->program_size < DOUBTFUL_RATIO))
		return false;
	eh_frame_run(frame, index, count_frame, &frames);
	return code_gaps_frame_pointers(gaps, fde->start, fde->start + fde->size) > frames.count;
}
