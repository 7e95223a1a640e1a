/* SPDX-License-Identifier: BSD-2-Clause */
/* A machine on paper with an account of resources, waits and block I/O, put together piece by
 * piece. Ten seconds on two CPUs. */
#ifndef PKBPF_TEST_ACCOUNT_MACHINE_H
#define PKBPF_TEST_ACCOUNT_MACHINE_H

#include "fake_profile.h"

#define ACCOUNT_START_NS    10000000000ULL
#define ACCOUNT_INTERVAL_NS 10000000000ULL
#define ACCOUNT_DEVICE	    (254U << 20)

/* A profile of ten seconds with these kinds that is still empty. Ends with fake_profile_done(). */
void account_begin(struct fake_profile *fake, uint32_t kinds_mask, uint64_t busy_ns,
		   uint64_t idle_ns);
/* The same where the kernel says how long the CPUs ran threads. */
void account_begin_counted(struct fake_profile *fake, uint32_t kinds_mask, uint64_t busy_ns,
			   uint64_t idle_ns, uint64_t threads_ns);
/* A process that lives throughout (start 1 s), its numbers at both ends the given ones; call before
 * account_end(). */
struct account_process {
	uint32_t pid, parent_pid; /* 0: that of all */
	const char *comm;
	uint64_t cgroup_id;
	uint64_t run_ns, system_permille, run_delay_ns, voluntary, involuntary, minor, major,
		read_bytes, written_bytes;
	uint64_t start_rss_bytes, rss_bytes;
	uint64_t start_shared_rss_bytes,
		shared_rss_bytes; /* of those, of files and what others have, too */
};
void account_process(struct fake_profile *fake, const struct account_process *process);
/* A process that lived already ends by the OOM killer. */
void account_oom_killed(struct fake_profile *fake, uint32_t pid, const char *comm,
			uint64_t peak_rss_bytes);
/* Born and ended inside. */
void account_short(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t run_ns);
/* `count` waits of `each_ns` in a state, in the account and as lengths, with this stack (user
 * addresses in a program mapped at 0x1000). */
void account_waits(struct fake_profile *fake, uint32_t pid, const char *comm, unsigned int state,
		   uint64_t count, uint64_t each_ns, uint64_t stack_id, struct fake_ips kernel,
		   struct fake_ips user);
/* So many of these waits had an end on the run queue. */
void account_queued(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
		    uint64_t each_ns);
/* A process that lives already begins this program. */
void account_exec(struct fake_profile *fake, uint32_t pid, const char *comm);
void account_on_cpu(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t time_ns);
void account_requests(struct fake_profile *fake, uint32_t pid, const char *comm,
		      unsigned int operation, uint64_t count, uint64_t each_bytes, uint64_t each_ns,
		      uint64_t queue_ns);
/* A request of a process, submitted at_ns after the start, with the stack that account_waits() has
 * sent by this number. */
struct account_slow_io {
	uint32_t pid, tid;
	const char *comm;
	unsigned int operation;
	uint64_t stack_id, cgroup_id, at_ns, queue_ns, device_ns, bytes, sector;
	bool open, failed, fua, metadata;
};
void account_slow_io(struct fake_profile *fake, const struct account_slow_io *request);
void account_samples(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
		     struct fake_ips user);
/* The same in the kernel. */
void account_kernel_samples(struct fake_profile *fake, uint32_t pid, const char *comm,
			    uint64_t count, struct fake_ips kernel, struct fake_ips user);
void account_faults(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
		    struct fake_ips user);
/* The same of faults that had to read. */
void account_major_faults(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
			  struct fake_ips user);
void account_cgroup(struct fake_profile *fake, uint64_t id, const char *path);
void account_container(struct fake_profile *fake, uint64_t id, const char *name);
/* quota_percent of one CPU, in periods of 100 ms; it was held back in some of those in which it had
 * something to run. */
void account_cpu_limit(struct fake_profile *fake, uint64_t id, const char *path,
		       unsigned int quota_percent, uint64_t periods, uint64_t throttled_periods);
/* A cgroup that is frozen at the end. */
void account_frozen(struct fake_profile *fake, uint64_t id, const char *path);
/* What it uses at the end; in the interval it came to its limit so many times. */
void account_memory_limit(struct fake_profile *fake, uint64_t id, const char *path,
			  uint64_t limit_bytes, uint64_t used_bytes, uint64_t reached);
/* Names the frames: addresses 0x1000, 0x1100 … of the program are the names below, kernel ones
 * beside. */
void account_end(struct fake_profile *fake);

/* user addresses */
#define ACCOUNT_MAIN	   0x1010		 /* main */
#define ACCOUNT_QUERY	   0x1110		 /* exec_query */
#define ACCOUNT_FLUSH	   0x1210		 /* XLogFlush */
#define ACCOUNT_APPEND	   0x1310		 /* list_append */
#define ACCOUNT_SPIN	   0x1410		 /* spin<int> */
#define ACCOUNT_LOCK	   0x1510		 /* pthread_mutex_lock */
#define ACCOUNT_OWN_WAIT   0x1610		 /* lock_wait, of the program */
#define ACCOUNT_RETRY	   0x1710		 /* run_retry_queue */
#define ACCOUNT_GPU_WAIT   0x1810		 /* cudaStreamSynchronize, linked in */
#define ACCOUNT_GPU_LAUNCH 0x1910		 /* cudaLaunchKernel, likewise */
#define ACCOUNT_GPU_COPY   0x1a10		 /* cudaMemcpy, likewise */
#define ACCOUNT_UNNAMED	   0x1f10		 /* of the program, without a name */
#define ACCOUNT_FSYNC	   0x3010		 /* fdatasync, of the C library */
#define ACCOUNT_BEGIN	   0x3110		 /* __libc_start_call_main */
#define ACCOUNT_RESOLVE	   0x3210		 /* getaddrinfo */
#define ACCOUNT_LIBC_LOCK  0x3310		 /* pthread_mutex_lock, of the C library */
#define ACCOUNT_WRITE_LOCK 0x3410		 /* pthread_rwlock_wrlock, likewise */
#define ACCOUNT_READ_LOCK  0x3510		 /* pthread_rwlock_rdlock, likewise */
#define ACCOUNT_ROW_WAIT   0x5010		 /* lock_wait, of mysqld */
#define ACCOUNT_IO_SLEEP   0xffffffff81000010ULL /* io_schedule */
#define ACCOUNT_EPOLL	   0xffffffff81000210ULL /* do_epoll_wait */
#define ACCOUNT_GETEVENTS  0xffffffff81000410ULL /* read_events */
#define ACCOUNT_RING	   0xffffffff81000810ULL /* io_cqring_wait */
#define ACCOUNT_FUTEX	   0xffffffff81000610ULL /* futex_wait_queue */
#define ACCOUNT_JOURNAL	   0xffffffff81000a10ULL /* jbd2_log_wait_commit */
#define ACCOUNT_FUTEX_CALL 0xffffffff81000c10ULL /* __x64_sys_futex */
#define ACCOUNT_WAKE	   0xffffffff81000e10ULL /* futex_wake */
#define ACCOUNT_AGAIN	   0xffffffff81001010ULL /* futex_wait_setup */
#define ACCOUNT_RECEIVE	   0xffffffff81001210ULL /* __x64_sys_recvfrom */
#define ACCOUNT_MESSAGE	   0xffffffff81001410ULL /* skb_copy_datagram_iter */
#define ACCOUNT_FAULT	   0xffffffff81001610ULL /* asm_exc_page_fault */
#define ACCOUNT_COPY	   0xffffffff81001810ULL /* do_wp_page */
#define ACCOUNT_NANOSLEEP  0xffffffff81001a10ULL /* hrtimer_nanosleep */
#define ACCOUNT_MADVISE	   0xffffffff81001c10ULL /* __x64_sys_madvise */
#define ACCOUNT_SWAP	   0xffffffff81001e10ULL /* do_swap_page */
#define ACCOUNT_MIGRATION  0xffffffff81002010ULL /* migration_entry_wait */
#define ACCOUNT_RECLAIM	   0xffffffff81002210ULL /* try_to_free_pages */

#endif
