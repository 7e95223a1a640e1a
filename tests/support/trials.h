// SPDX-License-Identifier: BSD-2-Clause
// How often a test with made-up input tries: a part of it in the quick mode of tools/test, all of
// it where PKBPF_THOROUGH is set, as --extended does. The part is the beginning of the same
// sequence, so that what fails there fails here.
#ifndef PKBPF_TESTS_TRIALS_H
#define PKBPF_TESTS_TRIALS_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t trials(uint64_t all)
{
	return getenv("PKBPF_THOROUGH") ? all : (all + 4) / 5;
}

#endif
