/* SPDX-License-Identifier: BSD-2-Clause */
/* Lets a reader misbehave at the file of a name, to see what that costs: for tests, and only in
 * builds that have them. Private to this folder. */
#ifndef PKBPF_READER_READER_FAULT_H
#define PKBPF_READER_READER_FAULT_H

#include "reader/reader_message.h"

/* What PKBPF_READER_FAULT ("crash:NAME", "loop:NAME", "rubbish:NAME") says about the file with this
 * path; NULL: a file without one. */
enum reader_fault reader_fault_of(const char *path);
/* CPU time that it has for its answer: no test waits for that of a large program. */
uint64_t reader_fault_limit_ns(enum reader_fault fault, uint64_t limit_ns);
/* In a reader, before the reply is sent. */
void reader_fault_commit(enum reader_fault fault, struct reader_reply *reply);

#endif
