/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the source table, one per file of this folder. */
#ifndef PKBPF_SOURCE_SOURCE_TABLE_H
#define PKBPF_SOURCE_SOURCE_TABLE_H

#include "source/source.h"

extern const struct source_ops source_cpu;
extern const struct source_ops source_offcpu;
extern const struct source_ops source_blockio;
extern const struct source_ops source_faults;

#endif
