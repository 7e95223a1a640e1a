/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads records of Ruby code: name, file, line of each instruction. */
#ifndef PKBPF_RUBY_RUBY_CODE_H
#define PKBPF_RUBY_RUBY_CODE_H

#include <stddef.h>

#include <pkbpf/ruby.h>

#include "python/python_code.h"

/*
 * Decodes a record whose header has been checked; its contents are the target's: hostile. The name
 * is what Ruby 3.4 writes into backtraces: "Shop::Cart#add", "block in Shop::Cart#add",
 * "Shop.open", "<main>". Methods in C have the file "<cfunc>". Lines are those of
 * PYTHON_LINES_RUNS. -EBADMSG, -ENOMEM.
 */
int ruby_code_decode(const struct pkbpf_event_ruby_code *record, size_t size,
		     struct python_code *ret_code);

#endif
