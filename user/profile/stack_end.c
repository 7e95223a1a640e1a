// SPDX-License-Identifier: BSD-2-Clause
/* Texts for the reasons why stacks end. */
#include "profile/stack_end.h"

struct end_row {
	const char *text;
	struct symbol_line line;
};

#define END(reason)                                                                                \
	{                                                                                          \
		.text = reason, .line = {.function = "[truncated: " reason "]" }                   \
	}

static const struct end_row end_rows[PKBPF_END_COUNT] = {
	[PKBPF_END_NONE] = END("no user stack"),
	[PKBPF_END_ROOT] = END("outermost frame"),
	[PKBPF_END_ZERO_RA] = END("thread start"),
	[PKBPF_END_FP_ROOT] = END("end of the frame-pointer chain"),
	/* As a frame, it marks stacks where unwinding by frame pointers visibly ran into
	 * garbage. */
	[PKBPF_END_UNVERIFIED] = END("no frame pointers"),
	[PKBPF_END_MAX_DEPTH] = END("deeper than the limit"),
	[PKBPF_END_NO_PROCESS] = END("process not known yet"),
	[PKBPF_END_NO_MAPPING] = END("address in no mapping"),
	[PKBPF_END_NO_TABLE] = END("unwind table not ready"),
	[PKBPF_END_NO_RULE] = END("no unwind info"),
	[PKBPF_END_UNSUPPORTED] = END("unsupported unwind info"),
	[PKBPF_END_NO_PROGRESS] = END("stack does not advance"),
	[PKBPF_END_FAULT_RA] = END("stack memory not readable"),
	[PKBPF_END_FAULT_FP] = END("broken frame-pointer chain"),
	[PKBPF_END_EXEC] = END("inside execve"),
	[PKBPF_END_COMPAT] = END("32-bit program"),
	[PKBPF_END_NO_REGS] = END("user registers not available"),
	[PKBPF_END_FAULT_HELPER] = END("kernel could not read the stack"),
	[PKBPF_END_SHORTENED] = END("rare, shortened to save memory"),
	[PKBPF_END_COPY_CUT] = END("no room to copy more of the stack"),
	[PKBPF_END_RAN_ON] = END("thread resumed before its stack was captured"),
	[PKBPF_END_NO_ROOM] = END("no room for its unwind info"),
	[PKBPF_END_NOWHERE] = END("innermost function returns to 0"),
	[PKBPF_END_UNANNOUNCED] = END("pages populated by the kernel"),
	[PKBPF_END_NO_FILE] = END("its file cannot be opened"),
	[PKBPF_END_OTHER_STACK] = END("caller's stack not found"),
	[PKBPF_END_GUESSED] = END("complete with unverified frames"),
	[PKBPF_END_REFUSED] = END("unwind info too large or damaged"),
	[PKBPF_END_OTHERS] = {.text = "other stacks: limit of memory",
			      .line = {.function = "[other stacks: limit of memory]"}},
};

static const struct end_row unknown_end = END("unknown reason");

static const struct end_row *stack_end_row(enum pkbpf_stack_end end)
{
	if ((unsigned int)end >= PKBPF_END_COUNT || !end_rows[end].text)
		return &unknown_end;
	return &end_rows[end];
}

const char *stack_end_text(enum pkbpf_stack_end end)
{
	return stack_end_row(end)->text;
}

bool stack_end_is_complete(enum pkbpf_stack_end end)
{
	return end != PKBPF_END_NONE && (unsigned int)end <= PKBPF_END_LAST_COMPLETE;
}

bool stack_end_is_proven(enum pkbpf_stack_end end, uint64_t guessed_frames)
{
	return end == PKBPF_END_ROOT && !guessed_frames;
}

bool stack_end_is_gone(enum pkbpf_stack_end end)
{
	return end == PKBPF_END_EXEC;
}

bool stack_end_is_truncated(enum pkbpf_stack_end end)
{
	return (unsigned int)end > PKBPF_END_LAST_COMPLETE && end != PKBPF_END_UNVERIFIED &&
	       end != PKBPF_END_GUESSED;
}

const struct symbol_line *stack_end_line(enum pkbpf_stack_end end)
{
	return &stack_end_row(end)->line;
}
