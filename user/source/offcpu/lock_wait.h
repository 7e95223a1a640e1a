/* SPDX-License-Identifier: BSD-2-Clause */
/* The lock that a blocked thread waits for, read from /proc and the memory of its process. */
#ifndef PKBPF_SOURCE_OFFCPU_LOCK_WAIT_H
#define PKBPF_SOURCE_OFFCPU_LOCK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/event.h>

/* A system call futex(2) as /proc/PID/task/TID/syscall shows it. */
struct futex_call {
	uint64_t address, timeout; /* timeout: address of the time; 0: it waits without one */
	uint32_t operation, value;
};

struct lock_wait {
	uint32_t pid, tid;
	uint64_t space;		    /* inode of its pid namespace */
	uint32_t number, owner;	    /* of this thread and of the owner, in that namespace */
	uint32_t class;		    /* enum pkbpf_lock_class */
	uint64_t address;	    /* of the lock */
	uint64_t since_ns;	    /* of the wait; the caller's */
	uint64_t stack_id;	    /* likewise */
	char comm[PKBPF_COMM_SIZE]; /* likewise */
};

/* false: another call, or the thread runs. */
bool futex_call_parse(const char *text, struct futex_call *ret_call);
/* -ENOENT: the thread waits for no lock, for one that names no owner, or until a time-out; errors
 * of reading. since_ns, stack_id and comm are left 0. */
int lock_wait_read(uint32_t pid, uint32_t tid, struct lock_wait *ret_wait);

#endif
