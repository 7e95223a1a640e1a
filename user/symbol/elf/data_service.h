/* SPDX-License-Identifier: BSD-2-Clause */
/* Names variables in a process without rights (reader/readers.h). */
#ifndef PKBPF_SYMBOL_ELF_DATA_SERVICE_H
#define PKBPF_SYMBOL_ELF_DATA_SERVICE_H

#include "reader/reader_service.h"

/* READER_NAMES_DATA: the question is a struct data_place, the answer a text with its NUL. The
 * symbols of the last files are kept. -ENOENT: it is in no variable with a name. */
int data_service_answer(const struct reader_request *request, struct reader_reply *reply);

#endif
