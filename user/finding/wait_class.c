// SPDX-License-Identifier: BSD-2-Clause
/* The functions that tell what a wait is for. */
#include "finding/wait_class.h"

#include <string.h>

#include "base/array.h"
#include "rows/gpu_call.h"

struct told {
	const char
		*name; /* up to a suffix of the compiler; "*" at the end: and all that begin so */
	enum wait_class class;
	/* files of these, by the begin of their names: others may have a function of that name,
	 * too; ends with NULL. NULL: of any file */
	const char *const *modules;
};

#define IS(class_name, function_name)                                                              \
	{                                                                                          \
		.name = (function_name), .class = WAIT_CLASS_##class_name                          \
	}

#define IN(modules_of, class_name, function_name)                                                  \
	{                                                                                          \
		.name = (function_name), .class = WAIT_CLASS_##class_name, .modules = (modules_of) \
	}

static const char *const of_jvm[] = {"libjvm", NULL};
static const char *const of_mysql[] = {"mysqld", "mariadbd", "libmysqld", "libmariadbd", NULL};
static const char *const of_postgres[] = {"postgres", "edb-postgres", NULL};

static const struct told in_kernel[] = {
	IS(EVENTS, "do_epoll_wait"),
	IS(EVENTS, "ep_poll"),
	IS(EVENTS, "do_sys_poll"),
	IS(EVENTS, "do_select"),
	IS(EVENTS, "io_cqring_wait"),
	IS(EVENTS, "read_events"),
	IS(WORK, "inet_csk_accept"),
	IS(WORK, "unix_accept"),
	IS(WORK, "do_accept"),
	IS(WORK, "do_sigtimedwait"),
	IS(WORK, "sigsuspend"),
	IS(WORK, "__x64_sys_pause"),
	IS(WORK, "kthread"),
	IS(WORK, "kthreadd"),
	IS(WORK, "n_tty_read"),
	IS(WORK, "inotify_read"),
	IS(WORK, "eventfd_read"),
	IS(WORK, "signalfd_read*"),
	IS(CHILD, "do_wait"),
	IS(CHILD, "kernel_wait4"),
	IS(CHILD, "wait_for_vfork_done"),
	IS(CHILD, "kernel_clone"),
	IS(CHILD, "__x64_sys_vfork"),
	IS(CHILD, "__do_sys_vfork"),
	IS(CHILD, "__do_sys_clone*"),
	IS(TIMER, "hrtimer_nanosleep"),
	IS(DISK, "io_schedule*"),
	IS(TIMER, "do_nanosleep"),
	IS(TIMER, "timerfd_read*"),
	IS(SOCKET, "tcp_recvmsg*"),
	IS(SOCKET, "sk_wait_data"),
	IS(SOCKET, "unix_stream_read_generic"),
	IS(SOCKET, "__skb_wait_for_more_packets"),
	IS(SOCKET_FULL, "tcp_sendmsg*"),
	IS(SOCKET_FULL, "sk_stream_wait_memory"),
	IS(SOCKET_FULL, "sock_alloc_send_pskb"),
	IS(CONNECT, "inet_stream_connect"),
	IS(CONNECT, "inet_wait_for_connect"),
	IS(CONNECT, "unix_stream_connect"),
	IS(PIPE, "pipe_read"),
	IS(PIPE, "anon_pipe_read"),
	IS(PIPE_FULL, "pipe_write"),
	IS(PIPE_FULL, "anon_pipe_write"),
	IS(FUTEX, "do_futex"),
	IS(FUTEX, "futex_wait*"),
	IS(FUTEX, "__futex_wait"),
	IS(FUTEX, "futex_do_wait"),
	IS(FUTEX, "__x64_sys_futex"),
	IS(FUTEX, "__arm64_sys_futex"),
	IS(MUTEX, "futex_lock_pi"),
	IS(SYSV_SEMAPHORE, "do_semtimedop"),
	IS(SYSV_SEMAPHORE, "__do_semtimedop"),
	IS(FILE_LOCK, "flock_lock_inode_wait"),
	IS(FILE_LOCK, "locks_lock_inode_wait"),
	IS(FILE_LOCK, "__do_sys_flock"),
	IS(FILE_LOCK, "__x64_sys_flock"),
	IS(FILE_LOCK, "__arm64_sys_flock"),
	IS(FILE_LOCK, "do_lock_file_wait*"),
	IS(FILE_LOCK, "fcntl_setlk"),
	IS(KERNEL_LOCK, "rwsem_down_read_slowpath"),
	IS(KERNEL_LOCK, "rwsem_down_write_slowpath"),
	IS(KERNEL_LOCK, "__mutex_lock"),
	IS(KERNEL_LOCK, "__mutex_lock_slowpath"),
	IS(KERNEL_LOCK, "percpu_rwsem_wait"),
	IS(KERNEL_LOCK, "percpu_down_write"),
	IS(KERNEL_LOCK, "rt_mutex_slowlock*"),
	IS(JOURNAL, "jbd2_log_wait_commit"),
	IS(JOURNAL, "wait_transaction_locked"),
	IS(JOURNAL, "wait_transaction_switching"),
	IS(JOURNAL, "add_transaction_credits"),
	IS(JOURNAL, "do_get_write_access"),
	IS(JOURNAL, "xfs_log_force*"),
	IS(JOURNAL, "xlog_wait*"),
	IS(JOURNAL, "xlog_grant_head_wait"),
	IS(JOURNAL, "btrfs_commit_transaction"),
	IS(FSYNC, "do_fsync"),
	IS(FSYNC, "vfs_fsync*"),
	IS(FSYNC, "ext4_sync_file"),
	IS(FSYNC, "xfs_file_fsync"),
	IS(FSYNC, "btrfs_sync_file"),
	IS(FSYNC, "f2fs_do_sync_file"),
	IS(FSYNC, "__x64_sys_fsync"),
	IS(FSYNC, "__x64_sys_fdatasync"),
	IS(FSYNC, "__x64_sys_msync"),
	IS(FSYNC, "ksys_sync"),
	IS(FSYNC, "ksys_sync_file_range"),
	IS(FSYNC, "sync_file_range"),
	IS(DIRTY, "balance_dirty_pages*"),
	IS(RECLAIM, "try_to_free_pages"),
	IS(RECLAIM, "try_to_free_mem_cgroup_pages"),
	IS(RECLAIM, "mem_cgroup_handle_over_high"),
	IS(RECLAIM, "__mem_cgroup_handle_over_high"),
	IS(RECLAIM, "mem_cgroup_oom_synchronize"),
	IS(SWAP, "do_swap_page"),
	IS(SWAP, "swapin_readahead"),
	/* do_swap_page() handles these, too. */
	IS(MIGRATION, "migration_entry_wait*"),
	IS(MIGRATION, "__migration_entry_wait*"),
};

/* With one of these a lock of the kernel is that of an address space, or of a file. */
static const char *const of_address_space[] = {
	"vm_mmap_pgoff",    "ksys_mmap_pgoff",
	"__vm_munmap",	    "__x64_sys_munmap",
	"do_mprotect_pkey", "do_madvise*",
	"madvise_lock*",    "__do_sys_brk",
	"__x64_sys_brk",    "do_user_addr_fault",
	"exc_page_fault",   "lock_mm_and_find_vma",
	"__mm_populate",    "populate_vma_page_range",
	"__do_sys_mremap",  "__do_sys_mprotect",
	"do_page_fault",    "lock_vma_under_rcu",
	"get_user_pages*",  "__gup_longterm_locked",
	"mmap_read_lock*",  "__x64_sys_mremap",
};
static const char *const of_inode[] = {
	"ext4_buffered_write_iter",
	"ext4_file_write_iter",
	"ext4_dio_write_iter",
	"xfs_file_*",
	"btrfs_*write*",
	"generic_file_write_iter",
	"vfs_write",
	"vfs_read",
};

static const struct told in_program[] = {
	/* Threads. */
	IS(MUTEX, "__GI___pthread_mutex_lock"),
	IS(MUTEX, "___pthread_mutex_lock"),
	IS(MUTEX, "__pthread_mutex_lock*"),
	IS(MUTEX, "pthread_mutex_lock"),
	IS(MUTEX, "pthread_mutex_timedlock"),
	IS(MUTEX, "__pthread_mutex_timedlock"),
	IS(MUTEX, "___pthread_mutex_timedlock"),
	IS(MUTEX, "__lll_lock_wait*"),
	IS(MUTEX, "lll_mutex_lock_optimized"),
	IS(MUTEX, "std::sys::sync::mutex::futex::Mutex::lock_contended"),
	IS(MUTEX, "std::sys::unix::locks::futex_mutex::Mutex::lock_contended"),
	IS(MUTEX, "parking_lot::raw_mutex::RawMutex::lock_slow"),
	IS(MUTEX, "absl::*Mutex::Lock*"),
	IS(RWLOCK, "pthread_rwlock_*lock"),
	IS(RWLOCK, "__pthread_rwlock_*"),
	IS(RWLOCK, "___pthread_rwlock_*"),
	IS(RWLOCK, "__GI___pthread_rwlock_*"),
	IS(RWLOCK, "parking_lot::raw_rwlock::RawRwLock::lock_*"),
	IS(RWLOCK, "std::sys::sync::rwlock::futex::RwLock::*"),
	IS(CONDITION, "pthread_cond_*"),
	IS(CONDITION, "__pthread_cond_*"),
	IS(CONDITION, "___pthread_cond_*"),
	IS(CONDITION, "std::condition_variable::wait*"),
	IS(SEMAPHORE, "sem_wait*"),
	IS(SEMAPHORE, "sem_timedwait*"),
	IS(SEMAPHORE, "sem_clockwait*"),
	IS(SEMAPHORE, "__new_sem_wait*"),
	IS(SEMAPHORE, "___sem_*"),
	IS(SEMAPHORE, "__sem_*"),
	IS(WORK, "__pthread_clockjoin_ex"),
	IS(WORK, "pthread_join*"),
	IS(WORK, "___pthread_join"),
	/* Resolvers of the C libraries. */
	IS(LOOKUP, "getaddrinfo*"),
	IS(LOOKUP, "__GI_getaddrinfo"),
	IS(LOOKUP, "gethostbyname*"),
	IS(LOOKUP, "gethostbyaddr*"),
	IS(LOOKUP, "getnameinfo"),
	IS(LOOKUP, "__res_*"),
	IS(LOOKUP, "res_n*"),
	/* SQLite sleeps and tries again. */
	IS(SQLITE_BUSY, "sqliteDefaultBusyCallback"),
	IS(SQLITE_BUSY, "sqlite3InvokeBusyHandler"),
	IS(SQLITE_BUSY, "btreeInvokeBusyHandler"),
	/* Runtimes. */
	IS(GIL, "take_gil"),
	IS(RUNTIME_LOCK, "runtime.lock2"),
	IN(of_jvm, JAVA_MONITOR, "ObjectMonitor::enter*"),
	IN(of_jvm, JAVA_MONITOR, "ObjectMonitor::EnterI"),
	IN(of_jvm, JAVA_MONITOR, "ObjectMonitor::ReenterI"),
	IN(of_jvm, JAVA_MONITOR, "ObjectSynchronizer::enter*"),
	IN(of_jvm, JAVA_MONITOR, "SharedRuntime::monitor_enter_helper"),
	IN(of_jvm, JAVA_MONITOR, "SharedRuntime::complete_monitor_locking_C"),
	IN(of_jvm, JAVA_MONITOR, "InterpreterRuntime::monitorenter"),
	IS(JAVA_LOCK, "java.util.concurrent.locks.ReentrantLock.lock*"),
	IS(JAVA_LOCK, "java.util.concurrent.locks.ReentrantLock$*lock"),
	IS(JAVA_LOCK, "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock*"),
	IS(JAVA_LOCK, "java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock*"),
	IS(JAVA_LOCK, "java.util.concurrent.locks.StampedLock.readLock*"),
	IS(JAVA_LOCK, "java.util.concurrent.locks.StampedLock.writeLock*"),
	IN(of_jvm, TIMER, "JVM_Sleep*"),
	IN(of_jvm, CONDITION, "Unsafe_Park"),
	IN(of_jvm, CONDITION, "Parker::park"),
	IN(of_jvm, CONDITION, "JVM_MonitorWait"),
	IS(RUNTIME_WORK, "java.util.concurrent.ThreadPoolExecutor.getTask"),
	IS(RUNTIME_WORK, "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask"),
	IS(RUNTIME_WORK, "java.util.concurrent.ForkJoinPool.awaitWork"),
	IS(RUNTIME_WORK, "java.util.TimerThread.mainLoop"),
	IS(RUNTIME_WORK, "java.lang.ref.ReferenceQueue.remove*"),
	IS(RUNTIME_WORK, "java.lang.ref.Reference.waitForReferencePendingList"),
	/* A thread asks for a collection, or meets one on its way. */
	IN(of_jvm, JAVA_PAUSE, "VMThread::execute"),
	IN(of_jvm, JAVA_PAUSE, "VMThread::wait_until_executed"),
	IN(of_jvm, JAVA_PAUSE, "SafepointSynchronize::block"),
	IN(of_jvm, JAVA_PAUSE, "SafepointMechanism::*"),
	IN(of_jvm, JAVA_PAUSE, "VM_GC_Operation::doit_prologue"),
	IN(of_jvm, JAVA_PAUSE, "GenCollectedHeap::mem_allocate*"),
	IN(of_jvm, JAVA_PAUSE, "SerialHeap::mem_allocate*"),
	IN(of_jvm, JAVA_PAUSE, "ParallelScavengeHeap::mem_allocate*"),
	IN(of_jvm, JAVA_PAUSE, "ZPageAllocator::alloc_page_stall*"),
	IN(of_jvm, JAVA_PAUSE, "ShenandoahControlThread::handle_alloc_failure*"),
	IN(of_jvm, JAVA_PAUSE, "G1CollectedHeap::attempt_allocation*"),
	/* Threads of the Java VM itself: they look at the clock all the time. */
	IN(of_jvm, RUNTIME_WORK, "Monitor::wait*"),
	IN(of_jvm, RUNTIME_WORK, "WatcherThread::*"),
	IN(of_jvm, RUNTIME_WORK, "VMThread::loop"),
	IN(of_jvm, RUNTIME_WORK, "VMThread::run"),
	IN(of_jvm, RUNTIME_WORK, "VMThread::wait_for_vm_thread_exit"),
	IN(of_jvm, RUNTIME_WORK, "GangWorker::loop"),
	IN(of_jvm, RUNTIME_WORK, "WorkerThread::run"),
	IN(of_jvm, RUNTIME_WORK, "G1ConcurrentRefineThread::run_service"),
	IN(of_jvm, RUNTIME_WORK, "signal_thread_entry"),
	/* MySQL and MariaDB. */
	IN(of_mysql, INNODB_LATCH, "sync_array_wait_event"),
	IN(of_mysql, INNODB_LATCH, "rw_lock_*_lock_spin"),
	IN(of_mysql, INNODB_LATCH, "ssux_lock_impl*"),
	IN(of_mysql, INNODB_LATCH, "srw_mutex_impl*"),
	IN(of_mysql, INNODB_LOCK, "lock_wait_suspend_thread"),
	IN(of_mysql, INNODB_LOCK, "lock_wait"),
	IN(of_mysql, TABLE_LOCK, "MDL_context::acquire_lock"),
	IN(of_mysql, FSYNC, "group_commit_lock::acquire"),
	/* Ruby. */
	IS(TIMER, "Kernel#sleep*"),
	IS(MUTEX, "Thread::Mutex#lock*"),
	IS(RUNTIME_WORK, "Thread::Queue#pop*"),
	IS(RUNTIME_WORK, "Thread::SizedQueue#pop*"),
	IS(RUNTIME_WORK, "Thread#join*"),
	/* Go. */
	IS(RUNTIME_WORK, "runtime.stopm"),
	IS(RUNTIME_WORK, "runtime.sysmon"),
	/* PostgreSQL. */
	IN(of_postgres, PG_WORK, "secure_read"),
	IN(of_postgres, PG_WORK, "pq_getbyte"),
	IN(of_postgres, PG_WORK, "pq_recvbuf"),
	IN(of_postgres, PG_WORK, "ServerLoop"),
	IN(of_postgres, PG_WORK, "WalWriterMain"),
	IN(of_postgres, PG_WORK, "BackgroundWriterMain"),
	IN(of_postgres, PG_WORK, "CheckpointerMain"),
	IN(of_postgres, PG_WORK, "AutoVacLauncherMain"),
	IN(of_postgres, PG_WORK, "ApplyLauncherMain"),
	IN(of_postgres, PG_WORK, "PgArchiverMain"),
	IN(of_postgres, PG_LWLOCK, "LWLockAcquire"),
	IN(of_postgres, PG_LWLOCK, "LWLockWaitForVar"),
	IN(of_postgres, PG_LOCK, "ProcSleep"),
	IN(of_postgres, PG_LOCK, "LockAcquireExtended"),
	IN(of_postgres, PG_ROW, "XactLockTableWait"),
	IN(of_postgres, PG_ROW, "LockTuple"),
	IN(of_postgres, PG_ROW, "heap_lock_tuple"),
	IN(of_postgres, PG_PIN, "LockBufferForCleanup"),
	IN(of_postgres, PG_WAL, "LWLockAcquireOrWait"),
	IN(of_postgres, PG_REPLICA, "SyncRepWaitForLSN"),
	IN(of_postgres, PG_SLEEP, "pg_sleep"),
};

static const struct wait_class_row rows_of_classes[] = {
#define ROW(name, rule_name, cause_text, next_text)                                                \
	{.rule = (rule_name), .cause = (cause_text), .next = (next_text)},
	WAIT_CLASSES(ROW)
#undef ROW
};

const struct wait_class_row *wait_class_row(enum wait_class class)
{
	return &rows_of_classes[class];
}

/* Matches up to one "*" in the middle, or at the end. */
static bool name_is(const char *name, const char *pattern)
{
	size_t head, tail, length;

	/* Tells most apart, of hundreds of patterns for each function of each stack. */
	if (*pattern != *name && *pattern != '*')
		return false;
	head = strcspn(pattern, "*");
	if (strncmp(name, pattern, head) != 0)
		return false;
	if (pattern[head] == '*') {
		tail = strlen(pattern + head + 1);
		length = strlen(name);
		return length >= head + tail && !strcmp(name + length - tail, pattern + head + 1);
	}
	/* "do_wait.part.0", "ObjectMonitor::enter(JavaThread*)", "f[abi:cxx11]", "f@plt" */
	return !name[head] || (strchr(".([<@", name[head]) && head);
}

static bool is_in(const struct function *function, const char *const *modules)
{
	for (; modules && *modules; modules++)
		if (!strncmp(function->module, *modules, strlen(*modules)))
			return true;
	return !modules;
}

static enum wait_class of_function(const struct function *function)
{
	const struct told *told = in_program;
	size_t count = ARRAY_SIZE(in_program);
	enum wait_class class = WAIT_CLASS_OTHER;

	/* Below it there are locks of the driver's library, which others do not hold. */
	if (function->mark == FUNCTION_PLAIN && gpu_call_waits(function))
		return WAIT_CLASS_GPU;
	if (function->mark == FUNCTION_KERNEL) {
		told = in_kernel;
		count = ARRAY_SIZE(in_kernel);
	}
	for (size_t i = 0; i < count; i++)
		if (told[i].class > class && name_is(function->name, told[i].name) &&
		    is_in(function, told[i].modules))
			class = told[i].class;
	return class;
}

static bool is_one_of(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (name_is(name, patterns[i]))
			return true;
	return false;
}

static const char *const of_conditions[] = {
	"pthread_cond_timedwait", "__pthread_cond_*",	    "___pthread_cond_*",
	"pthread_cond_wait",	  "pthread_cond_clockwait",
};

static bool is_of_python(const struct function *function)
{
	return (function->mark == FUNCTION_PYTHON && !function->is_ruby) ||
	       !strncmp(function->module, "python3", 7) ||
	       !strncmp(function->module, "libpython3", 10);
}

/* CPython itself waits for one condition, the GIL's: its other locks are semaphores. So the names
 * of a stripped interpreter are not needed. */
static bool is_gil(const struct resource_rows *rows, const uint32_t *functions, size_t count)
{
	bool in_condition = false;

	for (size_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(rows->functions, functions[i]);

		if (function->mark == FUNCTION_PLAIN &&
		    is_one_of(function->name, of_conditions, ARRAY_SIZE(of_conditions)))
			in_condition = true;
		else if (in_condition)
			return is_of_python(function);
	}
	return false;
}

enum wait_class wait_class_of_functions(const struct resource_rows *rows, const uint32_t *functions,
					size_t count)
{
	bool in_address_space = false, in_inode = false;
	enum wait_class class = WAIT_CLASS_OTHER, other;

	for (size_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(rows->functions, functions[i]);

		if (function->mark == FUNCTION_TRUNCATED)
			continue;
		other = of_function(function);
		class = other > class ? other : class;
		if (function->mark != FUNCTION_KERNEL)
			continue;
		in_address_space |=
			is_one_of(function->name, of_address_space, ARRAY_SIZE(of_address_space));
		in_inode |= is_one_of(function->name, of_inode, ARRAY_SIZE(of_inode));
	}
	if (class == WAIT_CLASS_CONDITION && is_gil(rows, functions, count))
		return WAIT_CLASS_GIL;
	if (class != WAIT_CLASS_KERNEL_LOCK)
		return class;
	return in_address_space ? WAIT_CLASS_MMAP_LOCK : in_inode ? WAIT_CLASS_INODE_LOCK : class;
}

enum wait_class wait_class_in_state(enum wait_class of_stack, enum pkbpf_wait_state state)
{
	/* Who waits uninterruptibly waits for the kernel, whatever the program means to do. */
	bool by_kernel = (of_stack >= WAIT_CLASS_KERNEL_LOCK && of_stack <= WAIT_CLASS_MIGRATION) ||
			 of_stack == WAIT_CLASS_CHILD || of_stack == WAIT_CLASS_PG_WAL;

	if (state == PKBPF_WAIT_DISK && !by_kernel)
		return WAIT_CLASS_DISK;
	if (state == PKBPF_WAIT_UNINTERRUPTIBLE && !by_kernel)
		return WAIT_CLASS_KERNEL;
	return of_stack;
}
