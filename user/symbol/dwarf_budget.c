// SPDX-License-Identifier: BSD-2-Clause
/* Keeps account of the CPU time that goes into files' debug information. */
#include "symbol/dwarf_budget.h"

/* The thread's CPU time is a system call; in between the clock tells, which is none. */
#define LOOK_INTERVAL_NS (10 * NS_PER_MS)

static void look(struct dwarf_spending *spending)
{
	uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t spent_ns = cpu_ns - spending->started_ns;

	spending->started_ns = cpu_ns;
	spending->spent_ns += spent_ns;
	spending->budget->cpu_ns -= spent_ns < spending->budget->cpu_ns ? spent_ns : spending->budget->cpu_ns;
	if (spending->spent_ns >= spending->limit_ns)
		spending->over = true;
}

void dwarf_budget_return(struct dwarf_budget *budget, uint64_t now_ns)
{
	uint64_t back_ns = budget->returned_ns ? (now_ns - budget->returned_ns) / DWARF_BUDGET_RETURN_SHARE : 0;

	if (budget->cpu_ns < DWARF_BUDGET_CPU_NS)
		budget->cpu_ns += back_ns < DWARF_BUDGET_CPU_NS - budget->cpu_ns ? back_ns : DWARF_BUDGET_CPU_NS - budget->cpu_ns;
	budget->returned_ns = now_ns;
}

bool dwarf_spending_begin(struct dwarf_spending *spending)
{
	if (!spending->limit_ns) {
		dwarf_budget_return(spending->budget, clock_now_ns());
		spending->limit_ns = spending->budget->cpu_ns / DWARF_BUDGET_FILE_SHARE + 1;
	}
	if (spending->over)
		return false;
	spending->started_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	spending->look_ns = clock_now_ns() + LOOK_INTERVAL_NS;
	return true;
}

void dwarf_spending_end(struct dwarf_spending *spending)
{
	look(spending);
}

bool dwarf_spending_over(struct dwarf_spending *spending)
{
	uint64_t now_ns = clock_now_ns();

	if (!spending->over && now_ns >= spending->look_ns) {
		spending->look_ns = now_ns + LOOK_INTERVAL_NS;
		look(spending);
	}
	return spending->over;
}
