/* SPDX-License-Identifier: BSD-2-Clause */
/* Working state of the join, shared by its files. */
#ifndef PKBPF_ROWS_RESOURCE_ROWS_WORK_H
#define PKBPF_ROWS_RESOURCE_ROWS_WORK_H

#include "base/array.h"
#include "base/hash_map.h"
#include "rows/resource_rows.h"

#define NO_ROW UINT32_MAX
#define TOTAL  UINT32_MAX /* number of the sum of all rows */

struct rows_work {
	struct resource_rows *rows;
	const struct profile *profile;
	const struct resource_usage *usage;
	ARRAY_OF(struct resource_row) items;
	ARRAY_OF(uint32_t) row_of_usage; /* process of the account -> row */
	struct hash_map row_of_process;	 /* incarnation without account -> row */
	struct hash_map row_of_thread;	 /* incarnation or account, tid -> row */
	struct hash_map row_of_name;	 /* string -> row */
	struct string_pool *names;
	ARRAY_OF(struct row_share) shares;
	struct hash_map gpu_stacks;	 /* stack of functions -> waits or spins for a GPU */
	struct hash_map function_stacks; /* stack of the profile -> stack of functions */
	struct hash_map weights;	 /* row, kind, stack -> number in sums */
	ARRAY_OF(struct row_weight) sums;
	ARRAY_OF(uint32_t) functions;
};

/* An empty one of nobody's; NO_ROW: out of memory, as below. */
uint32_t rows_work_new_row(struct rows_work *work);
/* The row for one process, thread aside. */
uint32_t rows_work_process_row(struct rows_work *work, uint32_t pid, const char *comm,
			       uint64_t cgroup_id);
/* The row of a group with this name. */
uint32_t rows_work_named_row(struct rows_work *work, const char *name);
/* The row of a region, and that of the innermost one that a stack is in. */
uint32_t rows_work_region_row(struct rows_work *work, const char *name);
uint32_t rows_work_stack_region_row(struct rows_work *work, uint32_t stack);
/* Gives regions the time of their threads; -ENOMEM. */
int rows_work_divide_by_region(struct rows_work *work);
/* `owner`: number of the process in the account, or 1 << 31 | its number in the process table. */
uint32_t rows_work_thread_row(struct rows_work *work, uint64_t owner, uint32_t tid,
			      uint32_t process_row, const char *comm);
/* Of a life, what lies in the interval; end 0: lives. */
uint64_t rows_work_lifetime_ns(const struct rows_work *work, uint64_t start_ns, uint64_t end_ns);
void resource_row_add_life(struct resource_row *row, bool started_inside, bool ended_inside,
			   uint64_t life_ns);
/* The row of what was recorded under an incarnation of the process table (and thread). NO_ROW: out
 * of memory. */
uint32_t rows_work_row(struct rows_work *work, uint32_t incarnation, uint32_t tid);
/* The same of its process, without making one; NO_ROW: none. */
uint32_t rows_work_find_row(const struct rows_work *work, uint32_t incarnation);
/* Gives processes and groups the region that stands for them; -ENOMEM. */
int rows_work_add_outermost(struct rows_work *work);
/* Adds the kernel's account to the rows; -ENOMEM. */
int rows_work_add_account(struct rows_work *work);
/* Adds stacks to the rows; -ENOMEM. */
int rows_work_add_stacks(struct rows_work *work);
/* Adds what processes used of GPUs. */
void rows_work_add_gpus(struct rows_work *work);
/* Adds what is known of heaps and of swap; -ENOMEM. */
int rows_work_add_memory(struct rows_work *work);
/* Hands the rows over, sorted. */
void rows_work_finish(struct rows_work *work);
/* Adds times, counts and lengths of waits and requests to the rows; -ENOMEM. */
int rows_work_add_distributions(struct rows_work *work);

#endif
