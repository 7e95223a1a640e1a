/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines whose record bytes and documents are kept in tests/golden. */
#ifndef PKBPF_TEST_GOLDEN_SCENARIO_H
#define PKBPF_TEST_GOLDEN_SCENARIO_H

#include "fake_machine.h"
#include "fake_symbols.h"
#include "profile/profile.h"

struct golden_scenario {
	const char *name; /* tests/golden/<name>.events, .cpu.folded, .txt */
	void (*play)(struct fake_machine *machine);
	/* What cli/ and capture/ would have known. */
	void (*describe)(struct profile_info *info);
	const struct fake_symbol *symbols;
	size_t symbol_count;
};

/* index from 0; NULL at the end. */
const struct golden_scenario *golden_scenario_at(size_t index);

#endif
