// SPDX-License-Identifier: BSD-2-Clause
#include "live/memory_limit.h"

/* Steps begin before the limit is reached: what arrives until the next look needs room, too. */
#define FULL_PARTS 8
#define FULL_PART  7

static const char *const texts[MEMORY_STEP_COUNT] = {
	[MEMORY_STEP_TABLES] = "unused symbol tables are released",
	[MEMORY_STEP_PROCESSES] = "exited processes are grouped by name and cgroup",
	[MEMORY_STEP_LINES] = "source lines and inlined functions are not read any more",
	[MEMORY_STEP_SHORTEN] = "rare stacks are shortened",
	[MEMORY_STEP_JOIN] = "rare stacks are counted as [other stacks: limit of memory]",
};

int memory_limit_look(struct memory_limit *limit, uint64_t used_bytes, uint64_t now_ns)
{
	uint32_t step = limit->next_step;

	limit->next_look_ns = now_ns + MEMORY_LOOK_NS;
	if (used_bytes > limit->peak_bytes)
		limit->peak_bytes = used_bytes;
	limit->looks_above += used_bytes > limit->limit_bytes;
	if (used_bytes <= limit->limit_bytes / FULL_PARTS * FULL_PART) {
		limit->next_step = MEMORY_STEP_TABLES;
		return -1;
	}
	limit->next_step = step + 1 < MEMORY_STEP_COUNT ? step + 1 : MEMORY_STEP_TABLES;
	limit->taken[step]++;
	return (int)step;
}

const char *memory_step_text(enum memory_step step)
{
	return texts[step];
}

uint64_t memory_limit_share(uint64_t limit_bytes, uint32_t parts, uint64_t most)
{
	uint64_t share = limit_bytes / parts;

	return limit_bytes && share < most ? share : most;
}
