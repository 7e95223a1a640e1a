// SPDX-License-Identifier: BSD-2-Clause
/* Keeps locks and the parts of their waits. */
#include "profile/account/lock_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/profile_kind.h>

#include "profile/account/account.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
	return hash ^ hash >> 29;
}

/* Locks with an address are one whatever class their words look like. */
static uint32_t class_of_key(uint64_t address, uint32_t class)
{
	return address ? PKBPF_LOCK_NONE : class;
}

static struct lock *lock_at(struct lock_list *list, uint32_t pid, uint64_t address, uint32_t class,
			    uint64_t hash)
{
	const uint64_t *number = hash_map_find(&list->lock_numbers, hash);
	struct lock *lock = number ? &list->locks.items[*number] : NULL;

	if (!lock || lock->pid != pid || lock->address != address ||
	    class_of_key(lock->address, lock->class) != class_of_key(address, class))
		return NULL;
	return lock;
}

int64_t lock_list_get(struct lock_list *list, uint32_t pid, uint64_t address, uint32_t class)
{
	uint64_t hash = mix(mix(pid, address), class_of_key(address, class));
	struct lock *lock = lock_at(list, pid, address, class, hash);

	if (lock)
		return lock - list->locks.items;
	if (list->locks.count >= LOCKS_MAX && address)
		return lock_list_get(list, pid, 0, PKBPF_LOCK_OTHERS);
	lock = array_add(&list->locks);
	if (!lock || !hash_map_put(&list->lock_numbers, hash, list->locks.count - 1)) {
		list->locks.count -= lock != NULL;
		return -ENOMEM;
	}
	*lock = (struct lock){.address = address, .pid = pid, .class = class};
	return lock - list->locks.items;
}

int64_t lock_list_add(struct lock_list *list, const struct lock *more)
{
	int64_t number = lock_list_get(list, more->pid, more->address, more->class);
	struct lock *lock;

	if (number < 0)
		return number;
	lock = &list->locks.items[number];
	if (!lock->name[0] && lock->class != PKBPF_LOCK_OTHERS)
		memcpy(lock->name, more->name, sizeof(lock->name));
	if (!lock->comm[0])
		memcpy(lock->comm, more->comm, sizeof(lock->comm));
	if (lock->class == PKBPF_LOCK_WORD)
		lock->class = more->class;
	lock->waits += more->waits;
	lock->wait_ns += more->wait_ns;
	lock->queue_ns += more->queue_ns;
	if (more->max_ns > lock->max_ns)
		lock->max_ns = more->max_ns;
	if (more->max_waiters > lock->max_waiters)
		lock->max_waiters = more->max_waiters;
	for (size_t i = 0; i < PKBPF_LOCK_BUCKETS; i++)
		lock->buckets[i] += more->buckets[i];
	return number;
}

static uint64_t hash_of_part(const struct lock_part *part)
{
	uint64_t hash = mix(mix(0, part->lock), (uint64_t)part->kind << 32 | part->state);

	return mix(mix(hash, (uint64_t)part->pid << 32 | part->tid), part->stack);
}

static bool is_same_part(const struct lock_part *a, const struct lock_part *b)
{
	return a->lock == b->lock && a->kind == b->kind && a->state == b->state &&
	       a->pid == b->pid && a->tid == b->tid && a->stack == b->stack;
}

int lock_list_add_part(struct lock_list *list, const struct lock_part *more)
{
	struct lock_part *part;
	uint64_t *number;
	bool added;

	/* Of two with one hash the second is found by the next one. */
	for (uint64_t hash = hash_of_part(more);; hash = mix(hash, 1)) {
		number = hash_map_get(&list->part_numbers, hash, list->parts.count, &added);
		if (!number)
			return -ENOMEM;
		if (*number >= list->parts.count)
			break;
		part = &list->parts.items[*number];
		if (is_same_part(part, more)) {
			part->count += more->count;
			part->ns += more->ns;
			return 0;
		}
	}
	if (list->parts.count >= LOCK_PARTS_MAX)
		return -ENOSPC;
	part = array_add(&list->parts);
	if (!part)
		return -ENOMEM;
	*part = *more;
	return 0;
}

/* The middle of a bucket, of four in each power of two. */
static uint64_t bucket_ns(size_t bucket)
{
	size_t index = bucket << PKBPF_LOCK_BUCKET_SHIFT, octave = index / PKBPF_HISTOGRAM_SUB;
	uint64_t sub = index % PKBPF_HISTOGRAM_SUB + (1U << PKBPF_LOCK_BUCKET_SHIFT) / 2;

	return octave ? (PKBPF_HISTOGRAM_SUB + sub) << (octave - 1) : sub;
}

uint64_t lock_percentile_ns(const struct lock *lock, uint32_t permille)
{
	uint64_t count = 0, wanted, ns;

	for (size_t i = 0; i < PKBPF_LOCK_BUCKETS; i++)
		count += lock->buckets[i];
	wanted = (count * permille + 999) / 1000;
	for (size_t i = 0; i < PKBPF_LOCK_BUCKETS && wanted; i++) {
		if (lock->buckets[i] < wanted) {
			wanted -= lock->buckets[i];
			continue;
		}
		ns = bucket_ns(i);
		return lock->max_ns && ns > lock->max_ns ? lock->max_ns : ns;
	}
	return 0;
}

const char *lock_class_name(uint32_t class)
{
	static const char *const names[PKBPF_LOCK_CLASSES] = {
		[PKBPF_LOCK_MUTEX] = "mutex",
		[PKBPF_LOCK_RECURSIVE] = "recursive mutex",
		[PKBPF_LOCK_ERRORCHECK] = "error-checking mutex",
		[PKBPF_LOCK_ADAPTIVE] = "adaptive mutex",
		[PKBPF_LOCK_ROBUST] = "robust mutex",
		[PKBPF_LOCK_PI] = "PI mutex",
		[PKBPF_LOCK_RWLOCK] = "rwlock",
		[PKBPF_LOCK_MUSL] = "mutex",
		[PKBPF_LOCK_WORD] = "lock",
		[PKBPF_LOCK_SIGNAL] = "signal",
		[PKBPF_LOCK_OTHERS] = "other locks",
		[PKBPF_LOCK_KERNEL_MUTEX] = "kernel mutex",
		[PKBPF_LOCK_KERNEL_RWSEM] = "kernel rwsem",
		[PKBPF_LOCK_KERNEL_SPIN] = "kernel spinlock",
		[PKBPF_LOCK_KERNEL_RWLOCK] = "kernel rwlock",
		[PKBPF_LOCK_KERNEL_PERCPU] = "kernel percpu-rwsem",
		[PKBPF_LOCK_KERNEL_RT] = "kernel rtmutex",
	};

	return class < PKBPF_LOCK_CLASSES && names[class] ? names[class] : "lock";
}

/* ---- the account ---- */

static const struct recorded_column lock_columns[] = {
	COLUMN(NUMBER, 1, struct lock, address),  COLUMN(PID, 2, struct lock, pid),
	COLUMN(NUMBER, 3, struct lock, class),	  COLUMN(TEXT, 4, struct lock, comm),
	COLUMN(TEXT, 5, struct lock, name),	  COLUMN(NUMBER, 6, struct lock, max_waiters),
	COLUMN(NUMBER, 7, struct lock, waits),	  COLUMN(NUMBER, 8, struct lock, wait_ns),
	COLUMN(NUMBER, 9, struct lock, queue_ns), COLUMN(NUMBER, 10, struct lock, max_ns),
};
/* Buckets are a table of their own. */
ALL_MEMBERS(struct lock, 200 + sizeof(((struct lock *)NULL)->buckets));

static const struct recorded_column part_columns[] = {
	COLUMN(PLACE, 1, struct lock_part, lock),
	COLUMN(NUMBER, 2, struct lock_part, kind),
	COLUMN(NUMBER, 3, struct lock_part, state),
	COLUMN(NUMBER, 4, struct lock_part, pid),
	COLUMN(NUMBER, 5, struct lock_part, tid),
	COLUMN(STACK_OR_NONE, 6, struct lock_part, stack),
	COLUMN(TEXT, 7, struct lock_part, comm),
	COLUMN(NUMBER, 8, struct lock_part, count),
	COLUMN(NUMBER, 9, struct lock_part, ns),
};
ALL_MEMBERS(struct lock_part, 64);

struct lock_bucket {
	uint32_t lock; /* place */
	uint32_t index, count;
};

static const struct recorded_column bucket_columns[] = {
	COLUMN(NUMBER, 1, struct lock_bucket, lock),
	COLUMN(NUMBER, 2, struct lock_bucket, index),
	COLUMN(NUMBER, 3, struct lock_bucket, count),
};

static bool next_bucket(const void *row, uint32_t place, size_t *cursor, void *ret_part)
{
	const struct lock *lock = row;

	while (*cursor < PKBPF_LOCK_BUCKETS && !lock->buckets[*cursor])
		(*cursor)++;
	if (*cursor == PKBPF_LOCK_BUCKETS)
		return false;
	*(struct lock_bucket *)ret_part =
		(struct lock_bucket){place, (uint32_t)*cursor, lock->buckets[*cursor]};
	(*cursor)++;
	return true;
}

static int put_buckets(void *rows, size_t row_count, void *parts, size_t part_count)
{
	const struct lock_bucket *buckets = parts;
	struct lock *locks = rows;

	for (size_t i = 0; i < part_count; i++) {
		if (buckets[i].lock >= row_count || buckets[i].index >= PKBPF_LOCK_BUCKETS)
			return -EBADMSG;
		locks[buckets[i].lock].buckets[buckets[i].index] = buckets[i].count;
	}
	return 0;
}

static const struct account_parts lock_buckets = {
	.recorded = RECORDED_TABLE(67, struct lock_bucket, bucket_columns),
	.next = next_bucket,
	.put = put_buckets,
};

static int64_t add_lock(void *account, const void *row)
{
	return lock_list_add(account, row);
}

static int64_t add_part(void *account, const void *row)
{
	return lock_list_add_part(account, row);
}

static bool is_lock(const void *row)
{
	const struct lock *lock = row;

	return lock->class < PKBPF_LOCK_CLASSES;
}

static bool is_part(const void *row)
{
	const struct lock_part *part = row;

	return part->kind <= PKBPF_LOCK_SITE && part->state < PKBPF_LOCK_STATES;
}

/* Parts that are one now stay two, which tables add up. */
static void rekey(void *account)
{
	struct lock_list *list = account;

	hash_map_done(&list->part_numbers);
	list->part_numbers = (struct hash_map){0};
}

static void done(void *account)
{
	struct lock_list *list = account;

	array_free(&list->locks);
	array_free(&list->parts);
	hash_map_done(&list->lock_numbers);
	hash_map_done(&list->part_numbers);
}

static const struct account_table tables[] = {
	{
		.recorded = RECORDED_TABLE(66, struct lock, lock_columns),
		.rows = ACCOUNT_ROWS(struct lock_list, locks),
		.parts = &lock_buckets,
		.kinds_mask = 1U << PKBPF_PROFILE_LOCKS,
		.add = add_lock,
		.is_valid = is_lock,
	},
	{
		.recorded = RECORDED_TABLE(68, struct lock_part, part_columns),
		.rows = ACCOUNT_ROWS(struct lock_list, parts),
		.add = add_part,
		.no_room = PKBPF_COUNTER_MERGE_TOO_MANY,
		.is_valid = is_part,
	},
};

const struct account_ops account_ops_locks = {
	.size = sizeof(struct lock_list),
	.done = done,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.rekey = rekey,
};
