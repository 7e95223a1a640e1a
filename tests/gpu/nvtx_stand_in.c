// SPDX-License-Identifier: BSD-2-Clause
/* The library of NVTX 2 as programs call it: ranges that are pushed and popped, for
 * test_injected_regions.sh. */
static __thread volatile int depth;

int nvtxRangePushA(const char *message)
{
	(void)message;
	return depth++;
}

int nvtxRangePushEx(const void *attributes)
{
	(void)attributes;
	return depth++;
}

int nvtxDomainRangePushEx(const void *domain, const void *attributes)
{
	(void)domain;
	(void)attributes;
	return depth++;
}

int nvtxRangePop(void)
{
	return --depth;
}

int nvtxDomainRangePop(const void *domain)
{
	(void)domain;
	return --depth;
}
