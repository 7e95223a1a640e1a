/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory bound of the abbreviation tables of a DWARF file. */
#ifndef PKBPF_SYMBOL_DWARF_DWARF_ABBREVIATIONS_H
#define PKBPF_SYMBOL_DWARF_DWARF_ABBREVIATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <elfutils/libdw.h>

/* Tables of all units; libdw takes about nine bytes for each of them. Chromium's 30,000 units have
 * 60 MB. */
#define DWARF_ABBREVIATIONS_MAX_BYTES (64ULL << 20)

/* section: .debug_abbrev in memory. libdw keeps each unit's table for itself, as far as it has read
 * it, also where units share one, so a small file may want all memory there is. false: more than
 * the limit, or tables that reach into each other. */
bool dwarf_abbreviations_fit(Dwarf *dwarf, const void *section, size_t size);

#endif
