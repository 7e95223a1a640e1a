/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread waits for, told from the functions on its stack: a lock of PostgreSQL, a socket, a
 * timer. A class is one row of WAIT_CLASSES, the functions that tell it are rows of wait_class.c.
 */
#ifndef PKBPF_FINDING_WAIT_CLASS_H
#define PKBPF_FINDING_WAIT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/offcpu.h>

#include "rows/resource_rows.h"

/*
 * ROW(name, rule, cause, next). Of the classes that functions of one stack tell, that of the last
 * row counts: what says more comes later. Without a rule a wait limits nobody: the thread has
 * nothing to do, as far as its stack tells.
 */
#define WAIT_CLASSES(ROW)                                                                          \
	ROW(OTHER, NULL, "asleep", NULL)                                                           \
	ROW(WORK, NULL, "waits for work", NULL)                                                    \
	ROW(KERNEL, "kernel_bound", "waits in D state, not for I/O",                               \
	    "cat /proc/PID/stack shows the wait: a lock of the kernel, or a file server")          \
	ROW(DISK, "disk_bound", "waits for block I/O", NULL)                                       \
	ROW(FUTEX, NULL, "waits for another thread", NULL)                                         \
	ROW(CONDITION, NULL, "waits for another thread", NULL)                                     \
	ROW(SEMAPHORE, NULL, "waits for another thread", NULL)                                     \
	ROW(PIPE, NULL, "waits for a pipe", NULL)                                                  \
	ROW(SOCKET, NULL, "waits for data from a peer", NULL)                                      \
	ROW(EVENTS, NULL, "waits for events", NULL)                                                \
	ROW(SOCKET_FULL, "peer_bound", "waits for a peer that reads slowly",                       \
	    "look at the receiver: it drains its socket slower than this program sends")           \
	ROW(CONNECT, "peer_bound", "waits for connections to be established",                      \
	    "check that the peer is reachable and accepts connections")                            \
	ROW(PIPE_FULL, "peer_bound", "waits for the reader of a pipe",                             \
	    "profile the process at the other end of the pipe")                                    \
	ROW(TIMER, NULL, "sleeps on its own timer", NULL)                                          \
	ROW(CHILD, NULL, "waits for a child process", NULL)                                        \
	ROW(LOOKUP, "name_lookup", "waits for lookups of names (DNS)",                             \
	    "ask its name servers by hand (dig), see /etc/resolv.conf, or keep the addresses")     \
	ROW(KERNEL_LOCK, "lock_bound", "waits for a lock in the kernel", NULL)                     \
	ROW(INODE_LOCK, "lock_bound",                                                              \
	    "waits for the lock of a file that others write (inode "                               \
	    "lock)",                                                                               \
	    "write to the file from fewer threads, or to several files")                           \
	ROW(MMAP_LOCK, "lock_bound", "waits for the address space's lock (mmap_lock)",             \
	    "map and unmap less often, or in fewer threads; reuse memory")                         \
	ROW(FILE_LOCK, "lock_bound", "waits for a file lock", NULL)                                \
	ROW(SYSV_SEMAPHORE, "lock_bound", "waits for a System V semaphore", NULL)                  \
	ROW(JOURNAL, "fsync_bound", "waits for the file system's journal",                         \
	    "fewer fsync calls and metadata changes, or a journal on a faster device")             \
	ROW(FSYNC, "fsync_bound", "waits until data is on the disk (fsync, O_SYNC)",               \
	    "sync several records at once, or use a device with a faster flush")                   \
	ROW(DIRTY, "dirty_throttled", "writes faster than the disk: dirty-page throttling",        \
	    "write less, or to a faster disk; vm.dirty_* only moves the limit")                    \
	ROW(RECLAIM, "memory_limit", "waits for memory to be reclaimed",                           \
	    "use less memory, or give it more (where one is set: memory.high, memory.max)")        \
	ROW(SWAP, "swap_bound", "waits for pages to be read from swap",                            \
	    "its working set exceeds the memory it may use: add memory, or use less")              \
	ROW(MIGRATION, "kernel_bound", "waits for pages that the kernel moves", NULL)              \
	ROW(MUTEX, "lock_bound", "waits for a mutex", NULL)                                        \
	ROW(RWLOCK, "lock_bound", "waits for a read-write lock", NULL)                             \
	ROW(RUNTIME_LOCK, "lock_bound", "waits for a lock of its runtime", NULL)                   \
	ROW(GIL, "lock_bound", "waits for Python's GIL (global interpreter lock)",                 \
	    "use processes instead of threads for what computes, or release the GIL in C code")    \
	ROW(JAVA_MONITOR, "lock_bound", "waits for a Java monitor (synchronized)",                 \
	    "jstack PID shows the owner of the monitor")                                           \
	ROW(JAVA_LOCK, "lock_bound", "waits for a lock of java.util.concurrent",                   \
	    "jstack -l PID shows the owner of the lock")                                           \
	ROW(SQLITE_BUSY, "lock_bound", "waits for the lock of an SQLite database that is busy",    \
	    "shorter write transactions, or a write-ahead log (PRAGMA journal_mode=WAL)")          \
	ROW(INNODB_LATCH, "lock_bound", "waits for an InnoDB latch", NULL)                         \
	ROW(INNODB_LOCK, "lock_bound", "waits for an InnoDB row lock",                             \
	    "information_schema.innodb_trx and sys.innodb_lock_waits name the transactions")       \
	ROW(TABLE_LOCK, "lock_bound", "waits for a metadata lock of a table", NULL)                \
	ROW(RUNTIME_WORK, NULL, "waits for work", NULL)                                            \
	ROW(JAVA_PAUSE, "java_pause", "waits for the Java VM (safepoint or heap)",                 \
	    "jstat -gcutil PID 1000 shows whether it collects garbage: then allocate less, or "    \
	    "give it a larger heap (-Xmx)")                                                        \
	ROW(PG_WORK, NULL, "waits for its client or for work", NULL)                               \
	ROW(PG_LWLOCK, "lock_bound", "waits for a PostgreSQL LWLock",                              \
	    "pg_stat_activity.wait_event names the LWLock")                                        \
	ROW(PG_LOCK, "lock_bound",                                                                 \
	    "waits for a PostgreSQL relation lock or other heavyweight "                           \
	    "lock",                                                                                \
	    "SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity names the blocker")    \
	ROW(PG_ROW, "lock_bound",                                                                  \
	    "waits for a PostgreSQL row lock (another transaction changed "                        \
	    "the same row)",                                                                       \
	    "SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity names the blocker")    \
	ROW(PG_PIN, "lock_bound", "waits for a PostgreSQL buffer pin", NULL)                       \
	ROW(PG_WAL, "fsync_bound", "waits for another session's WAL flush (fsync)",                \
	    "commit in larger transactions, or put the WAL on a faster device")                    \
	ROW(PG_REPLICA, "peer_bound", "waits for a synchronous replica", NULL)                     \
	ROW(PG_SLEEP, NULL, "sleeps (pg_sleep)", NULL)                                             \
	ROW(GPU, NULL, "waits for a GPU", NULL)

enum wait_class {
#define ROW(name, rule, cause, next) WAIT_CLASS_##name,
	WAIT_CLASSES(ROW)
#undef ROW
		WAIT_CLASS_COUNT
};
_Static_assert(WAIT_CLASS_COUNT <= 64, "bits of a mask");

#define WAIT_CLASS_BIT(name) (1ULL << WAIT_CLASS_##name)

struct wait_class_row {
	const char *rule;  /* NULL: limits nobody */
	const char *cause; /* what the thread does */
	const char *next;  /* what to do about it; NULL: nothing in general */
};

const struct wait_class_row *wait_class_row(enum wait_class class);
/* What a stack of waits, functions of rows->functions, is for, apart from the state of the thread.
 */
enum wait_class wait_class_of_functions(const struct resource_rows *rows, const uint32_t *functions,
					size_t count);
/* Of a wait in this state below such a stack. */
enum wait_class wait_class_in_state(enum wait_class of_stack, enum pkbpf_wait_state state);

#endif
