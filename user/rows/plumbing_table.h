/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of plumbing: X(sort, name), "*" at the end stands for anything. Endings that compilers give
 * to copies (".isra.0") are not part of names. Functions in which a thread waits for one thing and
 * not another (jbd2_log_wait_commit, rq_qos_wait, __mutex_lock) are not plumbing.
 */
#ifndef PKBPF_ROWS_PLUMBING_TABLE_H
#define PKBPF_ROWS_PLUMBING_TABLE_H

#define KERNEL_PLUMBING(X)                                                                         \
	/* scheduling */                                                                           \
	X(FRAME_INSIDE, "schedule")                                                                \
	X(FRAME_INSIDE, "__schedule")                                                              \
	X(FRAME_INSIDE, "schedule_*")                                                              \
	X(FRAME_INSIDE, "__schedule_*")                                                            \
	X(FRAME_INSIDE, "io_schedule*")                                                            \
	X(FRAME_INSIDE, "preempt_schedule*")                                                       \
	X(FRAME_INSIDE, "__preempt_schedule*")                                                     \
	X(FRAME_INSIDE, "dynamic_preempt_schedule*")                                               \
	X(FRAME_INSIDE, "__cond_resched*")                                                         \
	X(FRAME_INSIDE, "dynamic_cond_resched*")                                                   \
	X(FRAME_INSIDE, "_cond_resched")                                                           \
	X(FRAME_INSIDE, "finish_task_switch")                                                      \
	X(FRAME_INSIDE, "__switch_to*")                                                            \
	X(FRAME_INSIDE, "pick_next_task*")                                                         \
	X(FRAME_INSIDE, "wait_woken")                                                              \
	X(FRAME_INSIDE, "wait_for_completion*")                                                    \
	X(FRAME_INSIDE, "__wait_for_common")                                                       \
	X(FRAME_INSIDE, "do_wait_for_common")                                                      \
	X(FRAME_INSIDE, "bit_wait*")                                                               \
	X(FRAME_INSIDE, "__wait_on_bit*")                                                          \
	X(FRAME_INSIDE, "out_of_line_wait_on_bit*")                                                \
	/* system-call entry and exit */                                                           \
	X(FRAME_INSIDE, "entry_*")                                                                 \
	X(FRAME_INSIDE, "do_syscall_*")                                                            \
	X(FRAME_INSIDE, "do_int80_*")                                                              \
	X(FRAME_INSIDE, "do_fast_syscall_32")                                                      \
	X(FRAME_INSIDE, "__do_fast_syscall_32")                                                    \
	X(FRAME_INSIDE, "x64_sys_call")                                                            \
	X(FRAME_INSIDE, "syscall_enter_*")                                                         \
	X(FRAME_INSIDE, "syscall_exit_*")                                                          \
	X(FRAME_INSIDE, "syscall_trace_*")                                                         \
	X(FRAME_INSIDE, "exit_to_user_mode_*")                                                     \
	X(FRAME_INSIDE, "__se_sys_*")                                                              \
	X(FRAME_INSIDE, "__do_sys_*")                                                              \
	X(FRAME_INSIDE, "invoke_syscall*")                                                         \
	X(FRAME_INSIDE, "el0_*")                                                                   \
	X(FRAME_INSIDE, "el0t_*")                                                                  \
	X(FRAME_INSIDE, "do_el0_svc*")                                                             \
	X(FRAME_IS_CALL, "__x64_sys_*")                                                            \
	X(FRAME_IS_CALL, "__ia32_sys_*")                                                           \
	X(FRAME_IS_CALL, "__ia32_compat_sys_*")                                                    \
	X(FRAME_IS_CALL, "__arm64_sys_*")                                                          \
	/* our own BPF programs, and what runs those of anybody */                                 \
	X(FRAME_INSIDE, "[pkbpf]")                                                                 \
	X(FRAME_INSIDE, "bpf_trampoline_*")                                                        \
	X(FRAME_INSIDE, "bpf_trace_run*")                                                          \
	X(FRAME_INSIDE, "__bpf_trace_*")                                                           \
	X(FRAME_INSIDE, "__traceiter_*")                                                           \
	X(FRAME_INSIDE, "__bpf_prog_enter*")                                                       \
	X(FRAME_INSIDE, "__bpf_prog_exit*")                                                        \
	X(FRAME_INSIDE, "trace_call_bpf")                                                          \
	X(FRAME_INSIDE, "uprobe_notify_resume")                                                    \
	X(FRAME_INSIDE, "uprobe_dispatcher")                                                       \
	X(FRAME_INSIDE, "uretprobe_dispatcher")                                                    \
	X(FRAME_INSIDE, "handle_swbp")                                                             \
	X(FRAME_INSIDE, "handler_chain")                                                           \
	/* faults */                                                                               \
	X(FRAME_INSIDE, "asm_exc_*")                                                               \
	X(FRAME_INSIDE, "exc_page_fault")                                                          \
	X(FRAME_INSIDE, "do_user_addr_fault")                                                      \
	X(FRAME_INSIDE, "handle_mm_fault")                                                         \
	X(FRAME_INSIDE, "__handle_mm_fault")                                                       \
	X(FRAME_INSIDE, "handle_pte_fault")                                                        \
	X(FRAME_INSIDE, "do_pte_missing")                                                          \
	X(FRAME_INSIDE, "do_fault")                                                                \
	X(FRAME_INSIDE, "do_page_fault")                                                           \
	X(FRAME_INSIDE, "do_translation_fault")                                                    \
	X(FRAME_INSIDE, "do_mem_abort")                                                            \
	/* interrupts */                                                                           \
	X(FRAME_INSIDE, "asm_sysvec_*")                                                            \
	X(FRAME_INSIDE, "sysvec_*")                                                                \
	X(FRAME_INSIDE, "__sysvec_*")                                                              \
	X(FRAME_INSIDE, "asm_common_interrupt")                                                    \
	X(FRAME_INSIDE, "common_interrupt")                                                        \
	X(FRAME_INSIDE, "__common_interrupt")                                                      \
	X(FRAME_INSIDE, "ret_from_intr*")                                                          \
	X(FRAME_INSIDE, "irq_exit*")                                                               \
	X(FRAME_INSIDE, "__irq_exit*")                                                             \
	X(FRAME_INSIDE, "irqentry_*")                                                              \
	X(FRAME_INSIDE, "raw_irqentry_*")                                                          \
	X(FRAME_INSIDE, "handle_softirqs")                                                         \
	X(FRAME_INSIDE, "__do_softirq")                                                            \
	X(FRAME_INSIDE, "do_softirq*")                                                             \
	X(FRAME_INSIDE, "__local_bh_enable_ip")                                                    \
	/* block layer, from the file system's request to the driver */                            \
	X(FRAME_INSIDE, "submit_bio*")                                                             \
	X(FRAME_INSIDE, "__submit_bio*")                                                           \
	X(FRAME_INSIDE, "blk_mq_submit_bio")                                                       \
	X(FRAME_INSIDE, "blk_mq_dispatch_*")                                                       \
	X(FRAME_INSIDE, "blk_mq_do_dispatch_*")                                                    \
	X(FRAME_INSIDE, "__blk_mq_do_dispatch_*")                                                  \
	X(FRAME_INSIDE, "blk_mq_sched_dispatch_*")                                                 \
	X(FRAME_INSIDE, "__blk_mq_sched_dispatch_*")                                               \
	X(FRAME_INSIDE, "blk_mq_sched_insert_*")                                                   \
	X(FRAME_INSIDE, "blk_mq_insert_*")                                                         \
	X(FRAME_INSIDE, "blk_mq_run_hw_queue*")                                                    \
	X(FRAME_INSIDE, "__blk_mq_run_hw_queue*")                                                  \
	X(FRAME_INSIDE, "__blk_mq_delay_run_hw_queue*")                                            \
	X(FRAME_INSIDE, "blk_mq_flush_plug_list")                                                  \
	X(FRAME_INSIDE, "blk_mq_plug_issue_*")                                                     \
	X(FRAME_INSIDE, "blk_mq_issue_*")                                                          \
	X(FRAME_INSIDE, "__blk_mq_issue_*")                                                        \
	X(FRAME_INSIDE, "blk_mq_try_issue_*")                                                      \
	X(FRAME_INSIDE, "__blk_mq_try_issue_*")                                                    \
	X(FRAME_INSIDE, "blk_mq_request_issue_*")                                                  \
	X(FRAME_INSIDE, "blk_finish_plug")                                                         \
	X(FRAME_INSIDE, "blk_flush_plug*")                                                         \
	X(FRAME_INSIDE, "__blk_flush_plug")                                                        \
	X(FRAME_INSIDE, "blk_io_schedule")                                                         \
	/* What system calls call for all files, sockets and clocks. */                            \
	X(FRAME_OF_CALL, "do_epoll_wait")                                                          \
	X(FRAME_OF_CALL, "do_compat_epoll_pwait")                                                  \
	X(FRAME_OF_CALL, "do_epoll_pwait")                                                         \
	X(FRAME_OF_CALL, "ep_poll")                                                                \
	X(FRAME_OF_CALL, "do_select")                                                              \
	X(FRAME_OF_CALL, "kern_select")                                                            \
	X(FRAME_OF_CALL, "core_sys_select")                                                        \
	X(FRAME_OF_CALL, "do_pselect")                                                             \
	X(FRAME_OF_CALL, "do_sys_poll")                                                            \
	X(FRAME_OF_CALL, "do_poll")                                                                \
	X(FRAME_OF_CALL, "poll_schedule_timeout")                                                  \
	X(FRAME_OF_CALL, "do_futex")                                                               \
	X(FRAME_OF_CALL, "futex_wait")                                                             \
	X(FRAME_OF_CALL, "__futex_wait")                                                           \
	X(FRAME_OF_CALL, "futex_wait_queue*")                                                      \
	X(FRAME_OF_CALL, "futex_do_wait")                                                          \
	X(FRAME_OF_CALL, "hrtimer_nanosleep")                                                      \
	X(FRAME_OF_CALL, "do_nanosleep")                                                           \
	X(FRAME_OF_CALL, "common_nsleep*")                                                         \
	X(FRAME_OF_CALL, "ksys_*")                                                                 \
	X(FRAME_OF_CALL, "vfs_read")                                                               \
	X(FRAME_OF_CALL, "vfs_readv")                                                              \
	X(FRAME_OF_CALL, "vfs_write")                                                              \
	X(FRAME_OF_CALL, "vfs_writev")                                                             \
	X(FRAME_OF_CALL, "vfs_iter_*")                                                             \
	X(FRAME_OF_CALL, "vfs_iocb_*")                                                             \
	X(FRAME_OF_CALL, "vfs_fsync*")                                                             \
	X(FRAME_OF_CALL, "do_fsync")                                                               \
	X(FRAME_OF_CALL, "do_readv")                                                               \
	X(FRAME_OF_CALL, "do_preadv")                                                              \
	X(FRAME_OF_CALL, "do_writev")                                                              \
	X(FRAME_OF_CALL, "do_pwritev")                                                             \
	X(FRAME_OF_CALL, "do_iter_*")                                                              \
	X(FRAME_OF_CALL, "new_sync_*")                                                             \
	X(FRAME_OF_CALL, "call_read_iter")                                                         \
	X(FRAME_OF_CALL, "call_write_iter")                                                        \
	X(FRAME_OF_CALL, "__sys_*")                                                                \
	X(FRAME_OF_CALL, "___sys_*")                                                               \
	X(FRAME_OF_CALL, "____sys_*")                                                              \
	X(FRAME_OF_CALL, "sock_recvmsg*")                                                          \
	X(FRAME_OF_CALL, "sock_sendmsg*")                                                          \
	X(FRAME_OF_CALL, "__sock_sendmsg")                                                         \
	X(FRAME_OF_CALL, "sock_read_iter")                                                         \
	X(FRAME_OF_CALL, "sock_write_iter")                                                        \
	X(FRAME_OF_CALL, "inet_recvmsg")                                                           \
	X(FRAME_OF_CALL, "inet6_recvmsg")                                                          \
	X(FRAME_OF_CALL, "inet_sendmsg")                                                           \
	X(FRAME_OF_CALL, "inet6_sendmsg")                                                          \
	X(FRAME_OF_CALL, "tcp_recvmsg_locked")                                                     \
	X(FRAME_OF_CALL, "tcp_sendmsg_locked")                                                     \
	X(FRAME_OF_CALL, "sk_wait_data")                                                           \
	X(FRAME_OF_CALL, "unix_stream_data_wait")                                                  \
	X(FRAME_OF_CALL, "unix_stream_read_generic")                                               \
	X(FRAME_OF_CALL, "inet_accept")                                                            \
	X(FRAME_OF_CALL, "do_accept")                                                              \
	X(FRAME_OF_CALL, "do_wait")                                                                \
	X(FRAME_OF_CALL, "kernel_wait4")                                                           \
	X(FRAME_OF_CALL, "kernel_waitid")                                                          \
	X(FRAME_OF_CALL, "do_sys_openat2")                                                         \
	X(FRAME_OF_CALL, "do_sys_open*")                                                           \
	X(FRAME_OF_CALL, "do_filp_open")                                                           \
	/* kernel threads */                                                                       \
	X(FRAME_BEGINS, "ret_from_fork*")                                                          \
	X(FRAME_BEGINS, "kthread")                                                                 \
	X(FRAME_BEGINS, "worker_thread")                                                           \
	X(FRAME_BEGINS, "process_one_work")                                                        \
	X(FRAME_BEGINS, "process_scheduled_works")                                                 \
	X(FRAME_BEGINS, "smpboot_thread_fn")

#define PROGRAM_PLUMBING(X)                                                                        \
	/* C and C++ */                                                                            \
	X(FRAME_BEGINS, "_start")                                                                  \
	X(FRAME_BEGINS, "main")                                                                    \
	X(FRAME_BEGINS, "__libc_start_*")                                                          \
	X(FRAME_BEGINS, "__libc_init*")                                                            \
	X(FRAME_BEGINS, "libc_start_main_stage2")                                                  \
	X(FRAME_BEGINS, "start_thread")                                                            \
	X(FRAME_BEGINS, "clone")                                                                   \
	X(FRAME_BEGINS, "__clone")                                                                 \
	X(FRAME_BEGINS, "clone3")                                                                  \
	X(FRAME_BEGINS, "__clone3")                                                                \
	X(FRAME_BEGINS, "thread_start")                                                            \
	X(FRAME_BEGINS, "execute_native_thread_routine")                                           \
	X(FRAME_BEGINS, "std::thread::_State_impl*")                                               \
	X(FRAME_BEGINS, "std::thread::_Invoker*")                                                  \
	X(FRAME_BEGINS, "std::__invoke*")                                                          \
	X(FRAME_BEGINS, "__restore_rt")                                                            \
	/* waiting as such, which the call below and the callers above say better */               \
	X(FRAME_INSIDE, "__futex_abstimed_wait_common*")                                           \
	X(FRAME_INSIDE, "__internal_syscall_cancel")                                               \
	X(FRAME_INSIDE, "__syscall_cancel*")                                                       \
	X(FRAME_INSIDE, "WaitEventSetWait*")                                                       \
	X(FRAME_INSIDE, "WaitLatch*")                                                              \
	X(FRAME_INSIDE, "jdk.internal.misc.Unsafe.park*")                                          \
	X(FRAME_INSIDE, "Monitor::wait*")                                                          \
	X(FRAME_INSIDE,                                                                            \
	  "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await*")          \
	X(FRAME_INSIDE, "Unsafe_Park*")                                                            \
	X(FRAME_INSIDE, "Parker::park*")                                                           \
	X(FRAME_INSIDE, "os::Platform*")                                                           \
	X(FRAME_INSIDE, "java.util.concurrent.locks.LockSupport.park*")                            \
	X(FRAME_INSIDE, "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire*")          \
	X(FRAME_INSIDE,                                                                            \
	  "java.util.concurrent.locks.AbstractQueuedSynchronizer.parkAndCheckInterrupt")           \
	X(FRAME_INSIDE,                                                                            \
	  "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block")             \
	X(FRAME_INSIDE, "java.util.concurrent.ForkJoinPool.managedBlock*")                         \
	X(FRAME_INSIDE, "java.util.concurrent.ForkJoinPool.unmanagedBlock*")                       \
	X(FRAME_INSIDE, "runtime.futexsleep")                                                      \
	X(FRAME_INSIDE, "runtime.futex.abi0")                                                      \
	X(FRAME_INSIDE, "runtime.notesleep")                                                       \
	X(FRAME_INSIDE, "runtime.notetsleep_internal")                                             \
	X(FRAME_INSIDE, "runtime.park_m")                                                          \
	/* Go */                                                                                   \
	X(FRAME_BEGINS, "runtime.main")                                                            \
	X(FRAME_BEGINS, "runtime.goexit*")                                                         \
	X(FRAME_BEGINS, "runtime.rt0_go*")                                                         \
	X(FRAME_BEGINS, "runtime.mstart*")                                                         \
	X(FRAME_BEGINS, "runtime.mcall")                                                           \
	X(FRAME_BEGINS, "runtime.systemstack*")                                                    \
	/* Rust */                                                                                 \
	X(FRAME_BEGINS, "std::rt::lang_start*")                                                    \
	X(FRAME_BEGINS, "std::sys::unix::thread::Thread::new*")                                    \
	X(FRAME_BEGINS, "std::sys::pal::unix::thread::Thread::new*")                               \
	X(FRAME_BEGINS, "std::sys_common::backtrace::__rust_begin_short_backtrace*")               \
	X(FRAME_BEGINS, "std::sys::backtrace::__rust_begin_short_backtrace*")                      \
	X(FRAME_BEGINS, "std::panicking::try*")                                                    \
	X(FRAME_BEGINS, "std::panic::catch_unwind*")                                               \
	X(FRAME_BEGINS, "core::ops::function::FnOnce::call_once*")                                 \
	X(FRAME_BEGINS, "core::ops::function::impls*")                                             \
	/* Java */                                                                                 \
	X(FRAME_BEGINS, "thread_native_entry*")                                                    \
	X(FRAME_BEGINS, "thread_entry*")                                                           \
	X(FRAME_BEGINS, "Thread::call_run*")                                                       \
	X(FRAME_BEGINS, "JavaThread::run*")                                                        \
	X(FRAME_BEGINS, "JavaThread::thread_main_inner*")                                          \
	X(FRAME_BEGINS, "JavaCalls::*")                                                            \
	X(FRAME_BEGINS, "JavaMain")                                                                \
	X(FRAME_BEGINS, "ThreadJavaMain")                                                          \
	X(FRAME_BEGINS, "jni_invoke_static*")                                                      \
	X(FRAME_BEGINS, "jni_CallStaticVoidMethod*")                                               \
	X(FRAME_BEGINS, "call_stub")                                                               \
	/* node */                                                                                 \
	X(FRAME_BEGINS, "node::Start*")                                                            \
	X(FRAME_BEGINS, "node::NodeMainInstance::Run*")                                            \
	X(FRAME_BEGINS, "node::SpinEventLoop*")                                                    \
	X(FRAME_BEGINS, "uv_run*")                                                                 \
	X(FRAME_BEGINS, "uv__io_poll*")                                                            \
	X(FRAME_BEGINS, "uv__run_timers*")                                                         \
	X(FRAME_BEGINS, "uv__async_io*")                                                           \
	X(FRAME_BEGINS, "uv__work_done*")                                                          \
	X(FRAME_BEGINS, "node::Environment::RunTimers*")                                           \
	X(FRAME_BEGINS, "node::MakeLibuvRequestCallback*")                                         \
	X(FRAME_BEGINS, "node::LoadEnvironment*")                                                  \
	X(FRAME_BEGINS, "node::StartExecution*")                                                   \
	X(FRAME_BEGINS, "node::ExecuteBootstrapper*")                                              \
	X(FRAME_BEGINS, "node::builtins::BuiltinLoader::CompileAndCall*")                          \
	X(FRAME_BEGINS, "node::InternalMakeCallback*")                                             \
	X(FRAME_BEGINS, "node::InternalCallbackScope*")                                            \
	X(FRAME_BEGINS, "node::MakeCallback*")                                                     \
	X(FRAME_BEGINS, "node::AsyncWrap::MakeCallback*")                                          \
	X(FRAME_BEGINS, "v8::Function::Call*")                                                     \
	X(FRAME_BEGINS, "v8::internal::Execution::*")                                              \
	X(FRAME_BEGINS, "v8::internal::(anonymous namespace)::Invoke*")                            \
	X(FRAME_BEGINS, "Builtins_JSEntry*")                                                       \
	X(FRAME_BEGINS, "v8::MicrotasksScope::*")                                                  \
	X(FRAME_BEGINS, "v8::internal::MicrotaskQueue::*")                                         \
	X(FRAME_BEGINS, "Builtins_JSRunMicrotasksEntry*")                                          \
	X(FRAME_BEGINS, "Builtins_RunMicrotasks*")                                                 \
	X(FRAME_BEGINS, "Builtins_PromiseFulfillReactionJob*")                                     \
	X(FRAME_BEGINS, "Builtins_PromiseRejectReactionJob*")                                      \
	X(FRAME_BEGINS, "Builtins_AsyncFunctionAwaitResolveClosure*")                              \
	X(FRAME_BEGINS, "Builtins_AsyncFunctionAwaitRejectClosure*")                               \
	X(FRAME_BEGINS, "Builtins_InterpreterEntryTrampoline*")                                    \
	X(FRAME_BEGINS, "Builtins_BaselineOrInterpreterEntry*")                                    \
	/* Perl */                                                                                 \
	X(FRAME_BEGINS, "perl_run")                                                                \
	X(FRAME_BEGINS, "Perl_runops_*")                                                           \
	/* Python */                                                                               \
	X(FRAME_BEGINS, "Py_BytesMain")                                                            \
	X(FRAME_BEGINS, "Py_RunMain")                                                              \
	X(FRAME_BEGINS, "Py_Main")                                                                 \
	X(FRAME_BEGINS, "pymain_*")                                                                \
	X(FRAME_BEGINS, "_PyRun_*")                                                                \
	X(FRAME_BEGINS, "PyRun_*")                                                                 \
	X(FRAME_BEGINS, "pyrun_*")                                                                 \
	X(FRAME_BEGINS, "run_mod")                                                                 \
	X(FRAME_BEGINS, "run_eval_code_obj")                                                       \
	X(FRAME_BEGINS, "PyEval_EvalCode*")                                                        \
	X(FRAME_BEGINS, "pythread_wrapper")                                                        \
	X(FRAME_BEGINS, "_PyEval_EvalFrame*")                                                      \
	X(FRAME_BEGINS, "_PyEval_Vector")                                                          \
	X(FRAME_BEGINS, "_PyFunction_Vectorcall")                                                  \
	X(FRAME_BEGINS, "function_code_fastcall")                                                  \
	X(FRAME_BEGINS, "PyObject_Vectorcall*")                                                    \
	X(FRAME_BEGINS, "_PyObject_Vectorcall*")                                                   \
	X(FRAME_BEGINS, "_PyObject_MakeTpCall")                                                    \
	X(FRAME_BEGINS, "_PyObject_Call*")                                                         \
	X(FRAME_BEGINS, "_PyObject_FastCall*")                                                     \
	X(FRAME_BEGINS, "PyObject_Call*")                                                          \
	X(FRAME_BEGINS, "PyVectorcall_Call")                                                       \
	X(FRAME_BEGINS, "_PyVectorcall_Call")                                                      \
	X(FRAME_BEGINS, "method_vectorcall*")                                                      \
	X(FRAME_BEGINS, "cfunction_vectorcall_*")                                                  \
	/* others */                                                                               \
	X(FRAME_BEGINS, "vm_exec")                                                                 \
	X(FRAME_BEGINS, "vm_exec_core")                                                            \
	X(FRAME_BEGINS, "rb_vm_exec")                                                              \
	X(FRAME_BEGINS, "Perl_runops_standard")                                                    \
	X(FRAME_BEGINS, "perl_run")                                                                \
	X(FRAME_BEGINS, "execute_ex")                                                              \
	X(FRAME_BEGINS, "zend_execute*")

#endif
