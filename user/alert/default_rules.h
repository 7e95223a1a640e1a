/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules that are on unless the configuration ends them: what hurts any machine, and pkbpf itself.
 */
#ifndef PKBPF_ALERT_DEFAULT_RULES_H
#define PKBPF_ALERT_DEFAULT_RULES_H

#define ALERT_DEFAULT_RULES                                                                        \
	"[alert cpu-busy]\n"                                                                       \
	"when = machine.busy > 90%\n"                                                              \
	"over = 5m\n"                                                                              \
	"clear = 80%\n"                                                                            \
	"[alert memory-short]\n"                                                                   \
	"when = machine.memory_used > 85% and machine.memory_full_pressure > 5%\n"                 \
	"over = 1m\n"                                                                              \
	"[alert io-pressure]\n"                                                                    \
	"when = machine.io_pressure > 40%\n"                                                       \
	"over = 5m\n"                                                                              \
	"[alert run-queue]\n"                                                                      \
	"when = offcpu.runqueue_p95 > 20ms\n"                                                      \
	"over = 10m\n"                                                                             \
	"[alert oom-kill]\n"                                                                       \
	"when = memory.oom_killed > 0\n"                                                           \
	"[alert pkbpf-losses]\n"                                                                   \
	"when = lost.share > 1%\n"                                                                 \
	"over = 1m\n"                                                                              \
	"[alert pkbpf-store]\n"                                                                    \
	"when = store.failing > 0%\n"                                                              \
	"for = 30s\n"                                                                              \
	"[alert pkbpf-late]\n"                                                                     \
	"when = store.late > 200%\n"                                                               \
	"for = 30s\n"

#endif
