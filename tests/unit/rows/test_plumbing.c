// SPDX-License-Identifier: BSD-2-Clause
/* Tests which frames of a stack are left for a reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_profile.h"
#include "profile/function_table.h"
#include "rows/plumbing.h"

#define APP    "/usr/bin/app"
#define KERNEL UINT64_C(0xffffffff81000000)
#define FRAMES 16
#define SIZE   0x100

/* Functions from the leaf on; "k " before those of the kernel, "?" is one without a name. */
struct example {
	const char *stack[FRAMES], *left[FRAMES];
};

static const struct example examples[] = {
	/* A wait that was seen to its end, and one that is still open where the interval ends. */
	{{"k __schedule", "k schedule", "k schedule_hrtimeout_range_clock", "k ep_poll",
	  "k do_epoll_wait", "k __x64_sys_epoll_wait", "k do_syscall_64",
	  "k entry_SYSCALL_64_after_hwframe", "epoll_wait", "WaitEventSetWait", "WaitLatch",
	  "ProcSleep", "XactLockTableWait", "main"},
	 {"epoll_wait", "ProcSleep", "XactLockTableWait"}},
	{{"k do_epoll_wait", "k __x64_sys_epoll_wait", "k do_syscall_64",
	  "k entry_SYSCALL_64_after_hwframe", "epoll_wait", "WaitEventSetWait", "WaitLatch",
	  "ProcSleep", "XactLockTableWait", "main"},
	 {"epoll_wait", "ProcSleep", "XactLockTableWait"}},
	/* Where in the kernel a thread waits for a disk stays. */
	{{"k schedule", "k io_schedule", "k folio_wait_bit_common", "k ext4_sync_file",
	  "k do_fsync", "k __x64_sys_fdatasync", "k do_syscall_64", "fdatasync", "XLogFlush"},
	 {"k folio_wait_bit_common", "k ext4_sync_file", "fdatasync", "XLogFlush"}},
	{{"k schedule", "k jbd2_log_wait_commit", "k ext4_sync_file", "k do_syscall_64",
	  "fdatasync", "XLogFlush"},
	 {"k jbd2_log_wait_commit", "k ext4_sync_file", "fdatasync", "XLogFlush"}},
	{{"k schedule", "k rq_qos_wait", "k blk_mq_submit_bio", "k submit_bio_noacct",
	  "k ext4_mpage_readpages", "pread"},
	 {"k rq_qos_wait", "k ext4_mpage_readpages", "pread"}},
	/* The caller does not say which call it is. */
	{{"k schedule", "k pipe_read", "k vfs_read", "k __x64_sys_read", "k do_syscall_64",
	  "internal/runtime/syscall.Syscall6", "main.copyAll", "runtime.main", "runtime.goexit"},
	 {"k pipe_read", "k __x64_sys_read", "internal/runtime/syscall.Syscall6", "main.copyAll"}},
	/* Nothing outside of the kernel: the call and what is below it. */
	{{"k schedule", "k futex_wait_queue", "k futex_wait", "k do_futex", "k __x64_sys_futex",
	  "k do_syscall_64"},
	 {"k __x64_sys_futex"}},
	{{"k schedule", "k futex_wait_queue", "k futex_wait", "k do_futex", "k __x64_sys_futex",
	  "__lll_lock_wait", "pthread_mutex_lock", "take_order", "start_thread", "clone3"},
	 {"__lll_lock_wait", "pthread_mutex_lock", "take_order"}},
	/* Kernel threads. */
	{{"k schedule", "k worker_thread", "k kthread", "k ret_from_fork_asm"},
	 {"k worker_thread"}},
	{{"k schedule", "k jbd2_journal_commit_transaction", "k kjournald2", "k kthread",
	  "k ret_from_fork_asm"},
	 {"k jbd2_journal_commit_transaction", "k kjournald2"}},
	/* A program that does everything in main, and one without a name for anything. */
	{{"main", "__libc_start_call_main", "__libc_start_main", "_start"}, {"main"}},
	{{"k clear_page_erms", "k handle_mm_fault", "k asm_exc_page_fault", "main", "_start"},
	 {"k clear_page_erms", "main"}},
	{{"k schedule"}, {"k schedule"}},
	{{"?"}, {"?"}},
	{{"read", "?", "?", "main"}, {"read", "?"}},
	{{"read", "?", "handle", "?", "serve"}, {"read", "handle", "serve"}},
	/* Recursion. */
	{{"leaf", "visit", "visit", "visit", "start"}, {"leaf", "visit", "start"}},
	{{"PyLong_Add", "_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall", "Py_RunMain", "main"},
	 {"PyLong_Add"}},
	{{"_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall", "Py_RunMain", "main"},
	 {"_PyEval_EvalFrameDefault"}},
	/* The event loop of Node, and a wait in it. */
	{{"render", "Builtins_RunMicrotasks", "Builtins_JSRunMicrotasksEntry",
	  "v8::internal::MicrotaskQueue::RunMicrotasks", "node::MakeLibuvRequestCallback::Wrapper",
	  "uv__work_done", "uv__io_poll", "uv_run", "node::SpinEventLoop", "node::Start", "main"},
	 {"render"}},
	{{"epoll_pwait", "uv__io_poll", "uv_run", "node::SpinEventLoop", "main"}, {"epoll_pwait"}},
	{{NULL}, {NULL}},
};

static size_t make_symbols(const struct example *example, struct fake_symbol *symbols,
			   uint64_t *ips, size_t *ret_kernel)
{
	size_t count = 0;

	*ret_kernel = 0;
	for (; count < FRAMES && example->stack[count]; count++) {
		const char *name = example->stack[count];
		bool of_kernel = strncmp(name, "k ", 2) == 0;
		uint64_t start = (of_kernel ? KERNEL : 0x1000) + count * SIZE;

		symbols[count] = (struct fake_symbol){
			.space = of_kernel ? FRAME_KERNEL : FRAME_FILE,
			.path = APP,
			.start = start,
			.end = start + SIZE,
			.result = *name == '?' ? SYMBOL_STRIPPED : SYMBOL_FOUND,
			.lines = {{.function = *name == '?' ? NULL : name + 2 * of_kernel}},
		};
		ips[count] = (of_kernel ? start : 0x400000 + start) + 0x10;
		*ret_kernel += of_kernel;
	}
	/* Two that are equal are one function, wherever it is called. */
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(example->stack[i], example->stack[j]) &&
			    *example->stack[i] != '?')
				ips[i] = ips[j];
	return count;
}

static void check(const struct example *example)
{
	struct fake_symbol symbols[FRAMES];
	struct fake_machine *machine = fake_machine_new();
	const struct function_table_options options = {.merge = true};
	struct function_table *functions;
	struct fake_profile fake;
	struct plumbing plumbing;
	uint64_t ips[FRAMES];
	uint32_t ids[FRAMES];
	size_t kernel, count = make_symbols(example, symbols, ips, &kernel), total, left;

	fake_profile_init(&fake, NULL);
	fake_process(machine, 100, 1, "app");
	fake_map(machine, 100, 0x400000, 0x500000, 0, APP);
	fake_sample(machine, 100, 100, (struct fake_ips){ips, kernel},
		    (struct fake_ips){ips + kernel, count - kernel});
	fake_profile_run(&fake, machine, symbols, count);
	functions = function_table_new(fake.profile, &options);
	assert_non_null(functions);
	assert_int_equal(plumbing_init(&plumbing, functions), 0);
	total = count ? function_table_stack(functions, fake.profile,
					     profile_rows(fake.profile, &left)->stack, ids, FRAMES)
		      : 0;
	left = plumbing_remove(&plumbing, ids, total);
	for (size_t i = 0; i < FRAMES && (i < left || example->left[i]); i++) {
		const char *expected = example->left[i] ? example->left[i] : "nothing";
		const struct function *function =
			i < left ? function_table_get(functions, ids[i]) : NULL;
		const char *name = function ? function->name : "nothing";

		if (*expected == '?' ? !function || function->named
				     : strcmp(expected + 2 * !strncmp(expected, "k ", 2), name))
			fail_msg("%s ...: frame %zu is %s instead of %s", example->stack[0], i,
				 name, expected);
	}
	plumbing_done(&plumbing);
	function_table_free(functions);
	fake_profile_done(&fake);
	fake_machine_free(machine);
}

static void what_tells_one_place_from_another_is_left(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++)
		check(&examples[i]);
}

static void functions_of_programs_are_not_taken_for_the_kernels(void **state)
{
	const struct function own = {.name = "schedule", .mark = FUNCTION_PLAIN, .named = true};
	const struct function copy = {
		.name = "do_pselect.constprop.0", .mark = FUNCTION_KERNEL, .named = true};

	assert_int_equal(plumbing_sort(&own), FRAME_OF_PLACE);
	assert_int_equal(plumbing_sort(&copy), FRAME_OF_CALL);
}

static void the_interpreter_is_told_from_modules_that_work_for_programs(void **state)
{
	static const struct {
		struct function function;
		bool is_interpreter;
	} rows[] = {
		{{.module = "python3.11", .mark = FUNCTION_PLAIN}, true},
		{{.module = "libpython3.13.so.1.0", .mark = FUNCTION_INLINED}, true},
		{{.module = "_socket.cpython-310-x86_64-linux-gnu.so"}, true},
		{{.module = "_multiarray_umath.cpython-311-x86_64-linux-gnu.so"}, false},
		{{.module = "libc.so.6"}, false},
		{{.module = "python3.11", .mark = FUNCTION_PYTHON}, false},
		{{.module = ""}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(plumbing_is_of_interpreter(&rows[i].function),
				 rows[i].is_interpreter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tells_one_place_from_another_is_left),
		cmocka_unit_test(functions_of_programs_are_not_taken_for_the_kernels),
		cmocka_unit_test(the_interpreter_is_told_from_modules_that_work_for_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
