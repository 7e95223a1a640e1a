/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast the CPUs' clocks run. */
#ifndef PKBPF_MACHINE_FREQUENCY_H
#define PKBPF_MACHINE_FREQUENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct frequency {
	double mean_hz, min_hz, max_hz; /* of the CPUs now, as the driver says */
	double base_hz;			/* without turbo; 0: not known */
	uint32_t cpus;
};

/* false: no driver changes or reports it; error says so. */
bool frequency_read(const char *root, struct frequency *ret_frequency, struct error *error);

#endif
