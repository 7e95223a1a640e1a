/* SPDX-License-Identifier: BSD-2-Clause */
/* Names variables of processes by their addresses: which lock it is. Files are read by processes
 * without rights; what was asked once is remembered. One owner thread. */
#ifndef PKBPF_SYMBOL_ELF_DATA_NAMER_H
#define PKBPF_SYMBOL_ELF_DATA_NAMER_H

#include "process/address_space.h"
#include "process/file/mapped_file.h"

/* Addresses that are remembered; beyond, all are asked for again. */
#define DATA_NAMES_KEPT 16384
/* CPU time of its reader for one file with its symbols. */
#define DATA_NAMER_LIMIT_NS 15000000000ULL

struct readers;
struct data_namer;

/* readers: NULL: files are read here. All borrowed. NULL: out of memory. */
struct data_namer *data_namer_new(struct mapped_file_table *files, struct readers *readers);
void data_namer_free(struct data_namer *namer);
/*
 * The name of the variable of a process at an address, with its place inside: "config+0x18". space:
 * its mappings of code; NULL: none known, then only what is remembered. process: distinct for
 * processes, as long as the namer lives. "": it has no name. Valid until the next call. A file that
 * cannot be read gives no names. namer NULL: "".
 */
const char *data_namer_name(struct data_namer *namer, uint64_t process,
			    const struct address_space *space, uint64_t address);

#endif
