/* SPDX-License-Identifier: BSD-2-Clause */
/* Names addresses in a process without rights (reader/readers.h): symbol tables, debug files, DWARF
 * and tables of Go are read there. */
#ifndef PKBPF_SYMBOL_ELF_NAMES_SERVICE_H
#define PKBPF_SYMBOL_ELF_NAMES_SERVICE_H

#include "reader/reader_service.h"

/* READER_NAMES_ADDRESSES: the question is a struct names_question. Files stay open, and what was
 * read of them is kept, until they are forgotten. */
int names_service_answer(const struct reader_request *request, struct reader_reply *reply);
/* READER_FORGETS_FILES: the question is a list of ids (u32). */
int names_service_forget(const struct reader_request *request, struct reader_reply *reply);
/* Distinct strings that are kept; beyond a limit they are given up when files are forgotten. */
size_t names_service_strings(void);
void names_service_limit_strings(size_t count);

#endif
