// SPDX-License-Identifier: BSD-2-Clause
/* Counts bytes and system calls. */
#include "symbol/jit/v8_budget.h"

#include <errno.h>

#include "base/clock.h"

void v8_budget_begin(struct v8_budget *budget, uint64_t now_ns)
{
	if (budget->begin_ns && now_ns < budget->begin_ns + NS_PER_SECOND)
		return;
	budget->begin_ns = now_ns;
	budget->left = V8_BUDGET_BYTES;
}

bool v8_budget_has(const struct v8_budget *budget, uint64_t bytes)
{
	return bytes <= budget->left;
}

int v8_budget_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct v8_budget *budget = context;

	if (!v8_budget_has(budget, size + V8_BUDGET_CALL_BYTES)) {
		/* A smaller read would fit: what was begun has to fail as a whole. */
		budget->left = 0;
		budget->refused++;
		return -EAGAIN;
	}
	budget->left -= size + V8_BUDGET_CALL_BYTES;
	return v8_read(&budget->memory, address, buffer, size);
}
