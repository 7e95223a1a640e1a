// SPDX-License-Identifier: BSD-2-Clause
/* The rules about CPU time that goes to the kernel for little: spinning, small system calls, page
 * faults of memory that comes and goes. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

/* Of a CPU, for one group: less need not be saved. */
#define CPU_PERCENT 20
/* Of the CPU time, in one system call. */
#define CALL_PERCENT 50
/* Of the time in it, in copying: then it does what it is for. */
#define COPY_PERCENT 25
/* Of the time in a call that looks, in taking what has come: more, and it does not look in vain. */
#define TAKING_PERCENT 5
/* Per call, on average: copying more costs as much as the call. */
#define SMALL_BYTES 512
/* Of the CPU time, in page faults and in giving memory back. */
#define FAULT_PERCENT 20
/* Of the pages that faults bring, that stay. */
#define STAY_PERCENT 25
/* Per second; fewer take less than a hundredth of a CPU. */
#define FAULTS_PER_SECOND 5000
/* Frames, from the leaf: what a spin lock calls is short. */
#define SPIN_DEPTH 2
/* The same of what copies. */
#define COPY_DEPTH 3
/* Per second: who looks and never waits has fewer. */
#define SPIN_SLEEPS_PER_SECOND 100

enum { CALLS = 64 };

struct call {
	char name[32];
	uint64_t weight, copying;
	uint64_t waiting; /* in what waits until a futex changes */
	uint64_t taking;  /* in what takes messages that have come */
	uint64_t sockets; /* in sockets */
};

struct kernel_work {
	const struct analysis *analysis;
	struct call calls[CALLS];
	size_t call_count;
	uint64_t all, faults;
	uint64_t handled,
		copies;	     /* of faults: beyond the entry; copies of pages that are written */
	uint64_t spinning;   /* in functions that wait for a spin lock */
	const char *spinner; /* one of them */
	uint64_t entries;    /* between the program and the call */
};

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* "read" of "__x64_sys_read"; NULL: is no system call's entry. */
static const char *call_name(const struct function *function)
{
	static const char *const prefixes[] = {"ksys_", "__x64_sys_", "__arm64_sys_", "__do_sys_",
					       "__se_sys_"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins_with(function->name, prefixes[i]))
			return function->name + strlen(prefixes[i]);
	return NULL;
}

static bool copies(const char *name)
{
	static const char *const names[] = {
		"copy_user",	"_copy_to_iter", "_copy_from_iter", "copy_page_to_iter",
		"rep_movs",	"clear_page",	 "copy_folio",	    "__arch_copy_",
		"copy_to_user", "_copy_to_user", "copy_page",	    "__memcpy",
		"memcpy",	"clear_user",	 "rep_stos_",	    "__get_random",
		"chacha_",	"get_random",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (begins_with(name, names[i]))
			return true;
	return false;
}

static bool is_fault(const char *name)
{
	return !strcmp(name, "asm_exc_page_fault") || !strcmp(name, "exc_page_fault") ||
	       !strcmp(name, "do_user_addr_fault") || !strcmp(name, "handle_mm_fault") ||
	       !strcmp(name, "do_page_fault");
}

static bool is_copy_on_write(const char *name)
{
	return begins_with(name, "do_wp_page") || begins_with(name, "wp_page_copy") ||
	       begins_with(name, "do_cow_fault");
}

/* Takes data from a socket: it did not look in vain. */
static bool takes_message(const char *name)
{
	return begins_with(name, "skb_copy_datagram") || begins_with(name, "__skb_datagram_iter") ||
	       begins_with(name, "skb_consume_udp") || begins_with(name, "consume_skb") ||
	       begins_with(name, "unix_stream_read_actor") || begins_with(name, "tcp_eat_recv_skb");
}

static bool is_socket(const char *name)
{
	return begins_with(name, "sock_") || begins_with(name, "__sock_") ||
	       begins_with(name, "tcp_") || begins_with(name, "unix_stream_") ||
	       begins_with(name, "__sys_send") || begins_with(name, "__sys_recv") ||
	       takes_message(name);
}

/* Waits for a lock without giving up the CPU. */
static bool is_spin_lock(const struct function *function)
{
	/* Others have functions of these names, too: module "" is any. */
	static const struct {
		const char *name, *module;
	} names[] = {
		{"pthread_spin_lock", ""},
		{"__pthread_spin_lock", ""},
		{"native_queued_spin_lock_slowpath", ""},
		{"__pv_queued_spin_lock_slowpath", ""},
		{"osq_lock", ""},
		{"mutex_spin_on_owner", ""},
		{"rwsem_spin_on_owner", ""},
		{"perform_spin_delay", "postgres"},
		{"s_lock", "postgres"},
		{"ut_delay", "mysqld"},
		{"ut_delay", "mariadbd"},
		{"SpinPause", "libjvm"},
		{"runtime.procyield", ""}, /* Go */
		{"sync.(*Mutex).lockSlow", ""},
		{"absl::synchronization_internal::MutexDelay", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (begins_with(function->name, names[i].name) &&
		    begins_with(function->module, names[i].module))
			return true;
	return false;
}

static struct call *call_get(struct kernel_work *work, const char *name)
{
	size_t i = 0;

	while (i < work->call_count && strcmp(work->calls[i].name, name) != 0)
		i++;
	if (i == CALLS)
		return NULL;
	if (i == work->call_count) {
		snprintf(work->calls[i].name, sizeof(work->calls[i].name), "%s", name);
		work->call_count++;
	}
	return &work->calls[i];
}

static bool call_of_library(const char *name)
{
	static const char *const names[] = {"read",  "write",  "poll",	    "sched_yield",
					    "pread", "pwrite", "recv",	    "send",
					    "lseek", "select", "epoll_wait"};

	name += strspn(name, "_");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* What one stack has. */
struct stack_marks {
	const char *call, *spinner; /* NULL: none */
	bool fault, handled, copy, entry, wait, take, write, socket;
};

static void mark_kernel(struct stack_marks *marks, const struct function *function, bool is_near)
{
	const char *name = function->name, *call = call_name(function);

	marks->fault |= is_fault(name);
	marks->handled |= !strcmp(name, "handle_mm_fault");
	marks->entry |= begins_with(name, "entry_SYSCALL") || begins_with(name, "do_syscall_64") ||
			begins_with(name, "syscall_") || begins_with(name, "el0_svc");
	marks->copy |= is_near && copies(name);
	marks->wait |= begins_with(name, "futex_wait") || begins_with(name, "__futex_wait");
	marks->take |= takes_message(name);
	marks->write |= is_copy_on_write(name);
	marks->socket |= is_socket(name);
	if (call)
		marks->call = call;
}

static struct stack_marks marks_of(const struct analysis *analysis, uint32_t stack)
{
	struct stack_marks marks = {0};
	size_t count;
	const uint32_t *functions = resource_rows_stack(analysis->rows, stack, &count);

	for (size_t i = 0; i < count; i++) {
		const struct function *function =
			function_table_get(analysis->rows->functions, functions[i]);

		if (i < SPIN_DEPTH && is_spin_lock(function))
			marks.spinner = function->name;
		/* The C library's function for a call: on its way in or out. */
		if (i == 0 && begins_with(function->module, "libc.") &&
		    call_of_library(function->name))
			marks.entry = true;
		if (function->mark == FUNCTION_KERNEL)
			mark_kernel(&marks, function, i < COPY_DEPTH);
	}
	return marks;
}

static void add_stack(void *context, const struct row_weight *weight)
{
	struct kernel_work *work = context;
	struct stack_marks marks = marks_of(work->analysis, weight->stack.stack);
	struct call *call = marks.call ? call_get(work, marks.call) : NULL;
	uint64_t value = weight->stack.weight;

	work->all += value;
	if (marks.spinner) {
		work->spinning += value;
		work->spinner = marks.spinner;
	}
	work->faults += marks.fault ? value : 0;
	work->handled += marks.handled ? value : 0;
	work->copies += marks.fault && marks.write ? value : 0;
	work->entries += marks.entry && !marks.call ? value : 0;
	if (!call)
		return;
	call->weight += value;
	call->copying += marks.copy ? value : 0;
	call->waiting += marks.wait ? value : 0;
	call->taking += marks.take ? value : 0;
	call->sockets += marks.socket ? value : 0;
}

static const char *const freeing_calls[] = {"munmap", "madvise", "brk", "mremap",
					    "process_madvise"};
static const char *const looking_calls[] = {
	"sched_yield", "poll",	      "ppoll",	   "select",	      "pselect6",
	"epoll_wait",  "epoll_pwait", "nanosleep", "clock_nanosleep", "recvfrom",
	"recvmsg",     "futex",	      "wait4",	   "waitid",	      "epoll_pwait2",
};

/* Calls that transfer or tell little at a time; others wait for a disk, or do much. */
static const char *const small_calls[] = {
	"read",	      "pread64",    "readv",	     "write",	       "pwrite64", "writev",
	"recvfrom",   "recvmsg",    "sendto",	     "sendmsg",	       "lseek",	   "newfstat",
	"newfstatat", "newstat",    "newlstat",	     "openat",	       "open",	   "close",
	"access",     "faccessat",  "faccessat2",    "getpid",	       "gettid",   "getuid",
	"ioctl",      "fcntl",	    "gettimeofday",  "statx",	       "time",	   "getrusage",
	"readlink",   "readlinkat", "times",	     "rt_sigprocmask", "kill",	   "tgkill",
	"dup2",	      "getdents64", "clock_gettime", "getppid",	       "futex",
};

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

struct call_choice {
	const struct analysis *analysis;
	const char *name; /* NULL: page faults */
};

static bool takes_call(void *context, const struct row_weight *weight)
{
	const struct call_choice *choice = context;
	const uint32_t *functions;
	size_t count;

	functions = resource_rows_stack(choice->analysis->rows, weight->stack.stack, &count);
	for (size_t i = 0; i < count; i++) {
		const struct function *function =
			function_table_get(choice->analysis->rows->functions, functions[i]);
		const char *name = call_name(function);

		if (function->mark == FUNCTION_KERNEL &&
		    (choice->name ? name && !strcmp(name, choice->name) : is_fault(function->name)))
			return true;
	}
	return false;
}

/* Functions of the program that make a system call, or fault. */
static void say_callers(struct finding *finding, const struct analysis *analysis,
			const struct activity *activity, const char *call)
{
	struct call_choice taken = {analysis, call};
	const struct wait_choice choice = {
		.takes = takes_call, .context = &taken, .programs_only = true};
	struct finding_stacks stacks = {.kind = PKBPF_PROFILE_CPU, .choice = &choice};

	finding_set_place(finding, "of it", analysis, activity, &stacks);
}

/* A share of the samples, with its error. */
static const char *share_of(const struct kernel_work *work, double percent,
			    char buffer[FINDING_SHARE_SIZE])
{
	return finding_share(buffer, percent, finding_share_error(percent, work->all));
}

static uint64_t part_of_cpu(const struct activity *activity, uint64_t weight, uint64_t all)
{
	/* Samples of spinning for a GPU are among all. */
	return (uint64_t)((double)activity->cpu_ns * (double)weight / (double)all);
}

/* Bytes per call as the kernel counts them; 0 unknown. */
static double bytes_per_call(const struct analysis *analysis, const struct activity *activity,
			     const char *what, uint64_t *ret_calls)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	uint64_t calls = 0, bytes = 0;

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind != PKBPF_RELATION_CALLS || strcmp(relation->text, what) != 0 ||
		    !activity_has_pid(activity, relation->pid))
			continue;
		calls += relation->count;
		bytes += relation->value;
	}
	*ret_calls = calls;
	return calls ? (double)bytes / (double)calls : 0;
}

static const char *direction_of(const char *call)
{
	if (strstr(call, "read") || strstr(call, "recv"))
		return "read";
	return strstr(call, "write") || strstr(call, "send") ? "write" : NULL;
}

/* Calls are known to be small by the kernel's count of bytes. */
static bool is_small(const struct analysis *analysis, const struct activity *activity,
		     const struct call *call)
{
	const char *what = direction_of(call->name);
	uint64_t calls = 0;
	double bytes = what ? bytes_per_call(analysis, activity, what, &calls) : 0;

	return calls && bytes < SMALL_BYTES;
}

/* By the kernel's count of bytes; where that is not known, by how much of the time is copying. */
static bool moves_much(const struct analysis *analysis, const struct activity *activity,
		       const struct call *call)
{
	const char *what = direction_of(call->name);
	uint64_t calls = 0;
	double bytes = what ? bytes_per_call(analysis, activity, what, &calls) : 0;

	if (calls)
		return bytes >= SMALL_BYTES;
	return finding_percent((double)call->copying, (double)call->weight) >= COPY_PERCENT;
}

static void say_call_sizes(struct finding *finding, const struct analysis *analysis,
			   const struct activity *activity, const char *call)
{
	const char *what = direction_of(call);
	uint64_t calls = 0;
	double bytes = what ? bytes_per_call(analysis, activity, what, &calls) : 0;

	if (calls)
		finding_say(finding->evidence, "; %s calls to %s, %.1f bytes each",
			    human_count((char[HUMAN_SIZE]){0}, calls), what, bytes);
}

/* Whether it looks for something that does not come. A futex is waited for or woken, and a socket
 * has messages or none: the call alone does not tell. */
static bool looks_in_vain(const struct call *call)
{
	if (!is_among(call->name, looking_calls, ARRAY_SIZE(looking_calls)))
		return false;
	if (!strcmp(call->name, "futex"))
		return finding_percent((double)call->waiting, (double)call->weight) >= CALL_PERCENT;
	return finding_percent((double)call->taking, (double)call->weight) < TAKING_PERCENT;
}

/* Cause, and what to do. */
static void say_call(struct finding *finding, const struct call *call, bool spins, bool is_small)
{
	if (spins) {
		finding_say(finding->cause, "spins: it calls %s in a loop instead of waiting",
			    call->name);
		finding_say(finding->next, "sleep until there is something to do: a condition, a "
					   "futex, poll with a time-out");
		return;
	}
	finding_say(finding->cause, "%s: %s",
		    is_small ? "makes many small system calls"
			     : "spends its CPU time in one system call",
		    call->name);
	finding_say(finding->next, "%s",
		    !is_small ? "call it less often: do more in each call, or keep its result"
		    : finding_percent((double)call->sockets, (double)call->weight) >= CALL_PERCENT
			    ? "several messages in each call: pipelining or batches at the peer, "
			      "sendmmsg, recvmmsg"
			    : "read or write larger blocks: a buffer of some KiB");
}

static void find_call(const struct analysis *analysis, const struct activity *activity,
		      const struct kernel_work *work, struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	const struct call *most = NULL;
	bool spins, never_sleeps = (double)sum->cpu.voluntary <
				   SPIN_SLEEPS_PER_SECOND * finding_seconds(analysis->rows);
	struct finding finding;
	double share;

	for (size_t i = 0; i < work->call_count; i++)
		if (!most || work->calls[i].weight > most->weight)
			most = &work->calls[i];
	/* Entries are those of the most frequent call. */
	share = most ? finding_percent((double)most->weight + (double)work->entries,
				       (double)work->all)
		     : 0;
	if (share - finding_share_error(share, work->all) < CALL_PERCENT ||
	    is_among(most->name, freeing_calls, ARRAY_SIZE(freeing_calls)))
		return;
	spins = looks_in_vain(most);
	/* Who has to wait in between does not look without end. */
	if (spins && !never_sleeps && strcmp(most->name, "sched_yield") != 0)
		return;
	if (!spins && (!is_among(most->name, small_calls, ARRAY_SIZE(small_calls)) ||
		       moves_much(analysis, activity, most)))
		return;
	finding = finding_new(spins ? FINDING_RULE_spin : FINDING_RULE_syscall_bound);
	finding.severity = computing_severity(analysis, activity);
	if (finding.severity < CPU_PERCENT)
		return;
	finding.cost = finding_cost(analysis->rows, activity->on_cpu_ns);
	finding_say_who(&finding, analysis, activity);
	say_call(&finding, most, spins, is_small(analysis, activity, most));
	say_callers(&finding, analysis, activity, most->name);
	finding_say(finding.evidence, "%s of its CPU time in %s",
		    share_of(work, share, (char[FINDING_SHARE_SIZE]){0}), most->name);
	say_call_sizes(&finding, analysis, activity, most->name);
	/* It explains the CPU time better than that it is used. */
	finding.severity += 0.1;
	findings_offer(findings, &finding);
}

/* Whether there is such a finding. */
static bool find_spin_lock(const struct analysis *analysis, const struct activity *activity,
			   const struct kernel_work *work, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_spin);
	const struct wait_choice programs = {.programs_only = true};
	struct finding_stacks stacks = {.kind = PKBPF_PROFILE_CPU, .choice = &programs};
	double share = finding_percent((double)work->spinning, (double)work->all);

	finding.severity = computing_severity(analysis, activity);
	if (share - finding_share_error(share, work->all) < CALL_PERCENT ||
	    finding.severity < CPU_PERCENT)
		return false;
	finding.cost = finding_cost(analysis->rows, activity->on_cpu_ns);
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "spins for a lock that others hold: %s", work->spinner);
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	finding_say(finding.evidence, "%s of its CPU time in it",
		    share_of(work, share, (char[FINDING_SHARE_SIZE]){0}));
	finding_say(finding.next,
		    "do less while the lock is held, or use one that sleeps (a mutex)");
	finding.severity += 0.1;
	findings_offer(findings, &finding);
	return true;
}

/* Why pages come again, as far as it was seen. */
static void say_storm(struct finding *finding, const struct kernel_work *work,
		      const struct call *freeing)
{
	/* Of virtual machines, the entry may take most of a fault. */
	uint64_t handled = work->handled ? work->handled : work->faults;

	if (finding_percent((double)work->copies, (double)handled) >= CALL_PERCENT) {
		finding_say(finding->cause, "page-fault storm: pages are copied when they are "
					    "written (shared since a fork)");
		finding_say(finding->next, "write to less memory while a child shares it");
	} else if (freeing) {
		finding_say(finding->cause,
			    "page-fault storm: memory is given back (%s) and touched again",
			    freeing->name);
		finding_say(finding->next,
			    "keep the memory and use it again (M_TRIM_THRESHOLD, a pool)");
	} else {
		finding_say(finding->cause, "page-fault storm: pages come that do not stay");
	}
}

static void find_faults(const struct analysis *analysis, const struct activity *activity,
			const struct kernel_work *work, struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	struct finding finding = finding_new(FINDING_RULE_fault_storm);
	double rate = finding_seconds(analysis->rows) > 0
			      ? (double)sum->memory.minor_faults / finding_seconds(analysis->rows)
			      : 0,
	       grown = (double)sum->memory.rss_growth_bytes / 4096;
	const struct call *freeing = NULL;
	uint64_t weight = work->faults;

	for (size_t i = 0; i < work->call_count; i++) {
		const struct call *call = &work->calls[i];

		if (!is_among(call->name, freeing_calls, ARRAY_SIZE(freeing_calls)))
			continue;
		weight += call->weight;
		if (!freeing || call->weight > freeing->weight)
			freeing = call;
	}
	if (rate < FAULTS_PER_SECOND || !work->all || activity->group->worst->started_inside ||
	    finding_percent(grown, (double)sum->memory.minor_faults) >= STAY_PERCENT ||
	    finding_percent((double)weight, (double)work->all) < FAULT_PERCENT)
		return;
	finding.severity =
		activity_severity(analysis, activity, part_of_cpu(activity, weight, work->all));
	if (finding.severity < ACTIVE_PERCENT)
		return;
	finding.cost = finding_cost(analysis->rows, part_of_cpu(activity, weight, work->all));
	/* It explains CPU time better than that it is used. */
	if (finding_percent((double)weight, (double)work->all) >= CALL_PERCENT) {
		finding.severity = computing_severity(analysis, activity) + 0.1;
		finding.cost = finding_cost(analysis->rows, activity->on_cpu_ns);
	}
	finding_say_who(&finding, analysis, activity);
	say_storm(&finding, work, freeing);
	say_callers(&finding, analysis, activity, NULL);
	finding_say(finding.evidence, "%.0f minor faults/s, %s of its CPU time in faults%s", rate,
		    share_of(work, finding_percent((double)weight, (double)work->all),
			     (char[FINDING_SHARE_SIZE]){0}),
		    freeing ? " and in giving memory back" : "");
	findings_offer(findings, &finding);
}

void find_calls(const struct analysis *analysis, struct findings *findings)
{
	for (size_t i = 0; i < analysis->count; i++) {
		const struct activity *activity = &analysis->activities[i];
		struct kernel_work work = {.analysis = analysis};

		/* Calls that hand over are small, but need not be. */
		bool hands_over = find_handover(analysis, activity, findings);

		if (computing_severity(analysis, activity) < CPU_PERCENT)
			continue;
		activity_each_stack(analysis, activity, PKBPF_PROFILE_CPU, add_stack, &work);
		/* Half of fewer is no figure. */
		if (work.all < 2 * (uint64_t)LEAST_COUNTED)
			continue;
		if (!hands_over && !find_spin_lock(analysis, activity, &work, findings))
			find_call(analysis, activity, &work, findings);
		find_faults(analysis, activity, &work, findings);
	}
}
