/* SPDX-License-Identifier: BSD-2-Clause */
/* What probes cost on this machine. */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_PRICE_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_PRICE_H

#include <stdint.h>

#include "source/regions/region_sites.h"

struct region_probes;

/* Times in ns that a hit takes from a program. */
struct function_price {
	uint32_t emulated_ns; /* of an instruction that the kernel emulates */
	uint32_t stepped_ns;  /* of one that it steps over */
	uint32_t program_ns;  /* the BPF program, beside either */
};

/* Measures them on a function of this process, within some 50 ms. site: one that is free. What
 * cannot be measured is what it costs in a virtual machine. model: with the programs. */
struct function_price function_price_measure(const struct region_probes *model,
					     struct pkbpf_span_site *site, uint32_t number);

#endif
