/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accounts of a profile: lists beside the weights of its stacks. One row each:
 * X(name, type). profile_<name>() is the account, and account_ops_<name> says how it is kept,
 * merged and recorded (account.h). They are recorded in this order.
 */
#ifndef PKBPF_PROFILE_ACCOUNT_ACCOUNT_LIST_H
#define PKBPF_PROFILE_ACCOUNT_ACCOUNT_LIST_H

/* A test with an account of its own defines this macro. */
#ifndef ACCOUNTS_OF_TEST
#define ACCOUNTS_OF_TEST(X)
#endif

#define ACCOUNT_LIST(X)                                                                            \
	X(peers, struct peer_table)                                                                \
	X(slow_io, struct slow_io_list)                                                            \
	X(slow_regions, struct slow_region_list)                                                   \
	X(moments, struct moment_list)                                                             \
	X(relations, struct relation_list)                                                         \
	X(regions, struct region_table)                                                            \
	X(region_gaps, struct region_gaps)                                                         \
	X(heaps, struct heap_list)                                                                 \
	X(memory, struct memory_list)                                                              \
	X(locks, struct lock_list)                                                                 \
	X(gpus, struct gpu_list)                                                                   \
	X(deadlocks, struct deadlock_list)                                                         \
	X(gpu_calls, struct gpu_call_list)                                                         \
	X(contexts, struct request_list)                                                           \
	X(python_calls, struct python_call_list)                                                   \
	X(disks, struct disk_list)                                                                 \
	ACCOUNTS_OF_TEST(X)

enum account {
#define X(name, type) ACCOUNT_##name,
	ACCOUNT_LIST(X)
#undef X
		ACCOUNT_COUNT,
};

#endif
