// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/gpu_calls/gpu_reports, on this program, which has probes of that provider. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/array.h"
#include "source/gpu_calls/gpu_functions.h"
#include "source/gpu_calls/gpu_reports.h"

#if defined(__x86_64__)

/* A note of a probe at a label of the assembly before it. */
#define NOTE(label, provider, name, arguments)                                                     \
	".pushsection .note.stapsdt,\"\",%note\n"                                                  \
	".balign 4\n"                                                                              \
	".4byte 992f-991f, 994f-993f, 3\n"                                                         \
	"991: .asciz \"stapsdt\"\n"                                                                \
	"992: .balign 4\n"                                                                         \
	"993: .8byte " label "\n"                                                                  \
	".8byte 0\n"                                                                               \
	".8byte 0\n"                                                                               \
	".asciz \"" provider "\"\n"                                                                \
	".asciz \"" name "\"\n"                                                                    \
	".asciz \"" arguments "\"\n"                                                               \
	"994: .balign 4\n"                                                                         \
	".popsection\n"

#define FUNCTION(name, code)                                                                       \
	".pushsection .text\n"                                                                     \
	".type " name ", @function\n" name ":\n" code "ret\n"                                      \
	".size " name ", . - " name "\n"                                                           \
	".popsection\n"

/* The last ones: of an instruction of two bytes, and of another provider. */
__asm__(FUNCTION("report_numbered", ".byte 0x90\n")
		NOTE("report_numbered", "parcagpu", "cuda_correlation",
		     "4@-44(%rbp) -4@%esi 8@%rdx"));
__asm__(FUNCTION("report_executed", ".byte 0x90\n")
		NOTE("report_executed", "parcagpu", "kernel_executed",
		     "8@%rdi 8@%rsi 4@%edx 4@$0 4@%r8d 4@%r9d 8@8(%rsp) 8@16(%rsp)"));
__asm__(FUNCTION("report_broken", "mov %eax, %ecx\n")
		NOTE("report_broken", "parcagpu", "kernel_executed", "8@%rdi"));
__asm__(FUNCTION("report_other", ".byte 0x90\n")
		NOTE("report_other", "parca", "kernel_executed", "8@%rdi"));

static const struct pkbpf_gpu_report *find(const struct gpu_report_sites *sites, uint32_t what)
{
	const struct pkbpf_gpu_report *found = NULL;

	array_foreach(&sites->items, site) {
		if (site->report.what != what)
			continue;
		assert_null(found);
		found = &site->report;
	}
	assert_non_null(found);
	return found;
}

static void probes_are_found_with_their_arguments(void **state)
{
	struct gpu_report_sites sites = {0};
	const struct pkbpf_gpu_report *report;
	struct elf_file file;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_int_equal(gpu_report_sites_find(&file, "/unit", &sites), 0);
	elf_file_done(&file);
	close(fd);
	assert_int_equal(sites.items.count, 2);
	report = find(&sites, PKBPF_GPU_NUMBERED);
	assert_int_equal(report->correlation.kind, PKBPF_OPERAND_MEMORY);
	assert_int_equal(report->correlation.size, 4);
	assert_int_equal(report->correlation.offset, -44);
	report = find(&sites, PKBPF_GPU_EXECUTED);
	assert_int_equal(report->start.kind, PKBPF_OPERAND_REGISTER);
	assert_int_equal(report->end.kind, PKBPF_OPERAND_REGISTER);
	assert_int_not_equal(report->start.word, report->end.word);
	assert_int_equal(report->correlation.size, 4);
	assert_int_equal(report->graph.kind, PKBPF_OPERAND_REGISTER);
	assert_int_equal(report->name.kind, PKBPF_OPERAND_MEMORY);
	assert_int_equal(report->name.offset, 16);
	/* Rows of their own, for what is not among the launches. */
	assert_string_equal(gpu_function_at(PKBPF_GPU_CALL_OF(report->graph_pair))->name,
			    GPU_IN_GRAPH);
	assert_string_equal(gpu_function_at(PKBPF_GPU_CALL_OF(report->unseen_pair))->name,
			    GPU_UNSEEN);
	assert_int_equal(PKBPF_GPU_GROUP_OF(report->unseen_pair), PKBPF_GPU_LAUNCH);
	assert_int_equal(PKBPF_GPU_WAY_OF(report->unseen_pair), PKBPF_GPU_OF_DRIVER);
	gpu_report_sites_done(&sites);
	(void)state;
}

#else

static void probes_are_found_with_their_arguments(void **state)
{
	(void)state;
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_are_found_with_their_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
