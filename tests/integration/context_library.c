// SPDX-License-Identifier: BSD-2-Clause
/* The variable of thread contexts in a library of its own. */
__thread void *otel_thread_ctx_v1;

void **context_variable(void);

void **context_variable(void)
{
	return &otel_thread_ctx_v1;
}
