// SPDX-License-Identifier: BSD-2-Clause
/* Keeps account of the CPU time that goes into files' debug information. */
#include "symbol/dwarf/dwarf_budget.h"

/* The thread's CPU time is a system call, so it is asked when so much time has gone by in
 * questions, of which most are short. */
#define LOOK_INTERVAL_NS (10 * NS_PER_MS)

/* A few milliseconds too early or too late, which evens out, and much cheaper than the exact
 * time. */
static uint64_t coarse_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC_COARSE);
}

/* What went by since the last look is charged to the file that is asked now, as far as this thread
 * was on a CPU. */
static void look(struct dwarf_spending *spending)
{
	struct dwarf_budget *budget = spending->budget;
	uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t spent_ns = cpu_ns - budget->looked_cpu_ns;

	if (spent_ns > budget->open_ns)
		spent_ns = budget->open_ns;
	budget->looked_cpu_ns = cpu_ns;
	budget->open_ns = 0;
	spending->spent_ns += spent_ns;
	budget->cpu_ns -= spent_ns < budget->cpu_ns ? spent_ns : budget->cpu_ns;
	if (spending->spent_ns >= spending->limit_ns)
		spending->over = true;
}

void dwarf_budget_return(struct dwarf_budget *budget, uint64_t now_ns)
{
	uint64_t back_ns = budget->returned_ns
				   ? (now_ns - budget->returned_ns) / DWARF_BUDGET_RETURN_SHARE
				   : 0;

	if (budget->cpu_ns < DWARF_BUDGET_CPU_NS)
		budget->cpu_ns += back_ns < DWARF_BUDGET_CPU_NS - budget->cpu_ns
					  ? back_ns
					  : DWARF_BUDGET_CPU_NS - budget->cpu_ns;
	budget->returned_ns = now_ns;
}

bool dwarf_spending_begin(struct dwarf_spending *spending)
{
	spending->since_ns = coarse_now_ns();
	if (!spending->limit_ns) {
		dwarf_budget_return(spending->budget, spending->since_ns);
		spending->limit_ns = spending->budget->cpu_ns / DWARF_BUDGET_FILE_SHARE;
		spending->over = !spending->limit_ns;
	}
	return !spending->over;
}

bool dwarf_spending_over(struct dwarf_spending *spending)
{
	uint64_t now_ns = coarse_now_ns();

	spending->budget->open_ns += now_ns - spending->since_ns;
	spending->since_ns = now_ns;
	if (spending->budget->open_ns >= LOOK_INTERVAL_NS)
		look(spending);
	return spending->over;
}
