/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two independent ways to compute a caller's registers from made-up registers and memory: from the
 * DWARF operations that libdw gives, and from an unwind rule as the frame step reads it.
 */
#ifndef PKBPF_TESTS_CFI_EVALUATOR_H
#define PKBPF_TESTS_CFI_EVALUATOR_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "pkbpf/unwind.h"

/* DWARF numbers. The program counter has none on arm64: it is kept behind the others. */
#if defined(__aarch64__)
enum { TEST_FP = 29, TEST_RA = 30, TEST_SP = 31, TEST_PC = 32, TEST_REGISTERS };
#else
enum { TEST_FP = 6, TEST_SP = 7, TEST_RA = 16, TEST_PC = 16, TEST_REGISTERS };
#endif

struct test_registers {
	uint64_t values[TEST_REGISTERS];
};

enum outcome {
	OUTCOME_VALUE,
	OUTCOME_UNDEFINED,
	OUTCOME_UNKNOWN, /* operations this evaluator does not know, or an error of libdw */
};

struct caller {
	enum outcome cfa_outcome, sp_outcome, fp_outcome, ra_outcome;
	uint64_t cfa, sp, fp, ra;
	/* Of those that rules follow: a rule may not know, but must not be wrong. */
	enum outcome kept_outcome[PKBPF_KEPT_REGISTERS];
	uint64_t kept[PKBPF_KEPT_REGISTERS];
	bool is_simple; /* register + offset, and everything saved at a constant distance from the
			   CFA */
};

/* Memory with a different word at each address. */
uint64_t test_memory_read(uint64_t address);
void caller_from_libdw(Dwarf_Frame *frame, const struct test_registers *registers,
		       struct caller *ret_caller);
/* rule is neither NONE, END nor UNSUPPORTED. */
void caller_from_rule(const struct pkbpf_unwind_rule *rule, const struct test_registers *registers,
		      struct caller *ret_caller);

#endif
