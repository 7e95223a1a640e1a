/* SPDX-License-Identifier: BSD-2-Clause */
/* Lets a reader misbehave at the file of a name, to see what that costs: for tests, and only in
 * builds that have them. Private to this folder. */
#ifndef PKBPF_READER_READER_FAULT_H
#define PKBPF_READER_READER_FAULT_H

#include "reader/reader_message.h"

/* What PKBPF_READER_FAULT ("crash:NAME", "loop:NAME", "rubbish:NAME") says about the file with this
 * path; NULL: a file without one. */
enum reader_fault reader_fault_of(const char *path);
/* In a reader, before the reply is sent. */
void reader_fault_commit(enum reader_fault fault, struct reader_reply *reply);

#endif
