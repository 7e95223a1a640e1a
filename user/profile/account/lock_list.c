// SPDX-License-Identifier: BSD-2-Clause
/* Keeps locks and the parts of their waits. */
#include "profile/account/lock_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void lock_list_done(struct lock_list *list)
{
	array_free(&list->locks);
	array_free(&list->parts);
	hash_map_done(&list->lock_numbers);
	hash_map_done(&list->part_numbers);
}

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
	if (!lock->name[0])
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
	uint64_t hash = mix(part->lock, (uint64_t)part->kind << 32 | part->state);

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

	number = hash_map_get(&list->part_numbers, hash_of_part(more), list->parts.count, &added);
	if (!number)
		return -ENOMEM;
	part = *number < list->parts.count ? &list->parts.items[*number] : NULL;
	if (part && is_same_part(part, more)) {
		part->count += more->count;
		part->ns += more->ns;
		return 0;
	}
	if (list->parts.count >= LOCK_PARTS_MAX) {
		list->left_out++;
		return 0;
	}
	part = array_add(&list->parts);
	if (!part)
		return -ENOMEM;
	*part = *more;
	return 0;
}

void lock_list_renumber(struct lock_list *list, const uint32_t *numbers)
{
	/* Keys have changed. Parts that are one now stay two, which tables add up. */
	hash_map_done(&list->part_numbers);
	list->part_numbers = (struct hash_map){0};
	array_foreach(&list->parts, part) {
		if (part->stack != LOCK_NO_STACK)
			part->stack = numbers[part->stack];
	}
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
	};

	return class < PKBPF_LOCK_CLASSES && names[class] ? names[class] : "lock";
}
