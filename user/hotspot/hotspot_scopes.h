/* SPDX-License-Identifier: BSD-2-Clause */
/* Which methods an address of compiled code stands for: inlined ones come with their callers. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_SCOPES_H
#define PKBPF_HOTSPOT_HOTSPOT_SCOPES_H

#include "hotspot/hotspot_blob.h"

#define HOTSPOT_MAX_INLINED 64

struct hotspot_scope {
	uint64_t method; /* Method* */
	int32_t bci;	 /* index of the bytecode; -1: before the first */
};

/*
 * The methods at an instruction of a compiled method, innermost first, at most
 * HOTSPOT_MAX_INLINED. For a caller, `address` lies in the instruction that calls, as return
 * address - 1. The debug information that counts is the one at its end or behind it. Returns at
 * least 1: without debug information the method itself, with a bci of -1.
 */
size_t hotspot_scopes_at(const struct hotspot_blob *blob, uint8_t unsigned5_minimum,
			 uint64_t address, struct hotspot_scope *scopes);

#endif
