// SPDX-License-Identifier: BSD-2-Clause
/* Tests what waits are told to be for, by the functions on their stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "base/array.h"
#include "finding/wait_class.h"
#include "finding_fixture.h"
#include "profile/slice/slice.h"

#define SECOND 1000000000ULL

/* The class of the only wait of a profile. */
static enum wait_class class_of(struct fake_profile *fake)
{
	struct resource_rows rows;
	enum wait_class class = WAIT_CLASS_OTHER;

	account_end(fake);
	assert_int_equal(resource_rows_init(&rows, fake->profile, ROWS_BY_PROCESS), 0);
	for (size_t i = 0; i < rows.weight_count; i++) {
		size_t count;
		const uint32_t *functions =
			resource_rows_stack(&rows, rows.weights[i].stack.stack, &count);

		class = wait_class_of_functions(&rows, functions, count);
	}
	resource_rows_done(&rows);
	fake_profile_done(fake);
	return class;
}

static void begin(struct fake_profile *fake)
{
	account_begin(fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(fake, &(struct account_process){.pid = 5, .comm = "app"});
}

static void what_a_program_takes_says_more_than_that_it_is_a_futex(void **state)
{
	struct fake_profile fake;

	begin(&fake);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 2, SECOND, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_APPEND, ACCOUNT_MAIN));
	assert_int_equal(class_of(&fake), WAIT_CLASS_MUTEX);
	begin(&fake);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 2, SECOND, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	assert_int_equal(class_of(&fake), WAIT_CLASS_FUTEX);
}

/* The class of a wait in the kernel's futex below these functions, leaf first; those with " (" are
 * Python's or Ruby's. */
static enum wait_class class_below(const char *const (*functions)[2], size_t count)
{
	struct fake_profile fake = {.profile = slice_new()};
	struct process wanted = {.pid = 5, .comm = "python3"};
	struct profile_row row = {.kind = PKBPF_PROFILE_OFFCPU, .count = 1, .weight = 1};
	struct resource_rows rows;
	enum wait_class class = WAIT_CLASS_OTHER;
	uint32_t frames[8];

	profile_info(fake.profile)->kinds_mask = 1U << PKBPF_PROFILE_OFFCPU;
	for (size_t i = 0; i < count; i++) {
		struct symbol_line line = {.function = functions[i][0], .file = ""};
		struct frame frame = {.location = {.space = FRAME_FILE},
				      .symbol = {.result = SYMBOL_FOUND,
						 .module = functions[i][1],
						 .lines = &line,
						 .line_count = 1},
				      .named = true};

		if (strstr(functions[i][0], " ("))
			frame.symbol.flags =
				strstr(functions[i][0], "rb)") || strstr(functions[i][0], "cfunc")
					? SYMBOL_IS_PYTHON | SYMBOL_IS_RUBY
					: SYMBOL_IS_PYTHON;
		frames[i] = profile_put_frame(fake.profile, &frame);
	}
	row.process = process_table_put(profile_processes(fake.profile), &wanted)->id;
	row.stack = profile_intern_stack(fake.profile, frames, count);
	assert_int_equal(profile_add(fake.profile, &row), 0);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	for (size_t i = 0; i < rows.weight_count; i++) {
		const uint32_t *stack =
			resource_rows_stack(&rows, rows.weights[i].stack.stack, &count);

		class = wait_class_of_functions(&rows, stack, count);
	}
	resource_rows_done(&rows);
	profile_free(fake.profile);
	return class;
}

static void a_condition_that_the_python_interpreter_waits_for_is_its_lock(void **state)
{
	static const char *const below_python[][2] = {{"__futex_abstimed_wait_common", "libc.so.6"},
						      {"pthread_cond_timedwait", "libc.so.6"},
						      {"crunch (gil.py)", ""}};
	static const char *const stripped[][2] = {{"___pthread_cond_timedwait64", "libc.so.6"},
						  {"[python3.11+0x4f92c0]", "python3.11"},
						  {"PyEval_AcquireThread", "python3.11"}};
	static const char *const shared[][2] = {{"pthread_cond_timedwait", "ld-musl-x86_64.so.1"},
						{"PyEval_RestoreThread", "libpython3.12.so.1.0"}};
	static const char *const of_an_extension[][2] = {
		{"pthread_cond_timedwait", "libc.so.6"},
		{"std::condition_variable::wait_for", "pool.cpython-311-x86_64-linux-gnu.so"},
		{"work (pool.py)", ""}};
	static const char *const of_a_program[][2] = {{"pthread_cond_timedwait", "libc.so.6"},
						      {"pool_take", "server"}};

	assert_int_equal(class_below(below_python, 3), WAIT_CLASS_GIL);
	assert_int_equal(class_below(stripped, 3), WAIT_CLASS_GIL);
	assert_int_equal(class_below(shared, 2), WAIT_CLASS_GIL);
	assert_int_equal(class_below(of_an_extension, 3), WAIT_CLASS_CONDITION);
	assert_int_equal(class_below(of_a_program, 2), WAIT_CLASS_CONDITION);
}

static void ruby_has_no_lock_of_python(void **state)
{
	static const char *const sleeps[][2] = {{"pthread_cond_timedwait", "libc.so.6"},
						{"Kernel#sleep (<cfunc>)", ""},
						{"<main> (w.rb)", ""}};
	static const char *const waits[][2] = {{"pthread_cond_wait", "libc.so.6"},
					       {"block in <main> (w.rb)", ""}};
	static const char *const locks[][2] = {{"pthread_cond_wait", "libc.so.6"},
					       {"Thread::Mutex#lock (<cfunc>)", ""}};

	assert_int_equal(class_below(sleeps, 3), WAIT_CLASS_TIMER);
	assert_int_equal(class_below(waits, 2), WAIT_CLASS_CONDITION);
	assert_int_equal(class_below(locks, 2), WAIT_CLASS_MUTEX);
}

static void threads_of_java_wait_for_locks_for_work_or_for_the_vm(void **state)
{
	static const struct {
		const char *functions[3][2];
		enum wait_class class;
	} stacks[] = {
		{{{"pthread_cond_wait", "libc.so.6"},
		  {"Parker::park(bool, long)", "libjvm.so"},
		  {"java.util.concurrent.locks.ReentrantLock$Sync.lock", ""}},
		 WAIT_CLASS_JAVA_LOCK},
		{{{"pthread_cond_wait", "libc.so.6"},
		  {"Unsafe_Park", "libjvm.so"},
		  {"java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock", ""}},
		 WAIT_CLASS_JAVA_LOCK},
		{{{"pthread_cond_wait", "libc.so.6"},
		  {"Unsafe_Park", "libjvm.so"},
		  {"java.util.concurrent.ThreadPoolExecutor.getTask", ""}},
		 WAIT_CLASS_RUNTIME_WORK},
		{{{"pthread_cond_wait", "libc.so.6"},
		  {"Unsafe_Park", "libjvm.so"},
		  {"java.util.concurrent.CountDownLatch.await", ""}},
		 WAIT_CLASS_CONDITION},
		{{{"pthread_cond_timedwait", "libc.so.6"},
		  {"JVM_Sleep", "libjvm.so"},
		  {"java.lang.Thread.sleep", ""}},
		 WAIT_CLASS_TIMER},
		{{{"pthread_cond_wait", "libc.so.6"},
		  {"Monitor::wait(long)", "libjvm.so"},
		  {"VMThread::execute(VM_Operation*)", "libjvm.so"}},
		 WAIT_CLASS_JAVA_PAUSE},
		{{{"pthread_mutex_lock", "libc.so.6"},
		  {"Mutex::lock_contended(Thread*)", "libjvm.so"},
		  {"ParallelScavengeHeap::mem_allocate(unsigned long, bool*)", "libjvm.so"}},
		 WAIT_CLASS_JAVA_PAUSE},
		/* Another's functions of these names. */
		{{{"pthread_mutex_lock", "libc.so.6"},
		  {"Mutex::lock_contended(Thread*)", "server"},
		  {"VMThread::execute(VM_Operation*)", "server"}},
		 WAIT_CLASS_MUTEX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		assert_int_equal(class_below(stacks[i].functions, 3), stacks[i].class);
}

static void the_state_counts_where_a_stack_does_not_say_what_the_kernel_does(void **state)
{
	assert_int_equal(wait_class_in_state(WAIT_CLASS_MUTEX, PKBPF_WAIT_SLEEP), WAIT_CLASS_MUTEX);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_MUTEX, PKBPF_WAIT_DISK), WAIT_CLASS_DISK);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_OTHER, PKBPF_WAIT_UNINTERRUPTIBLE),
			 WAIT_CLASS_KERNEL);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_FSYNC, PKBPF_WAIT_DISK), WAIT_CLASS_FSYNC);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_MMAP_LOCK, PKBPF_WAIT_UNINTERRUPTIBLE),
			 WAIT_CLASS_MMAP_LOCK);
}

static void each_class_that_limits_has_a_rule_that_exists(void **state)
{
	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++) {
		const struct wait_class_row *row = wait_class_row(class);
		bool exists = !row->rule;

		assert_non_null(row->cause);
		for (size_t i = 0; finding_rule_name_at(i)[0]; i++)
			exists |= row->rule && !strcmp(finding_rule_name_at(i), row->rule);
		assert_true(exists);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_program_takes_says_more_than_that_it_is_a_futex),
		cmocka_unit_test(a_condition_that_the_python_interpreter_waits_for_is_its_lock),
		cmocka_unit_test(ruby_has_no_lock_of_python),
		cmocka_unit_test(threads_of_java_wait_for_locks_for_work_or_for_the_vm),
		cmocka_unit_test(the_state_counts_where_a_stack_does_not_say_what_the_kernel_does),
		cmocka_unit_test(each_class_that_limits_has_a_rule_that_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
