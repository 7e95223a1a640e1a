/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts perf maps and jitdumps in a process without rights (reader/readers.h). */
#ifndef PKBPF_SYMBOL_JIT_CODE_SERVICE_H
#define PKBPF_SYMBOL_JIT_CODE_SERVICE_H

#include "reader/reader_service.h"

/* READER_CUTS_CODE: the question is a struct code_question, of a file that is handed in. */
int code_service_cut(const struct reader_request *request, struct reader_reply *reply);

#endif
