/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where each version of CRuby keeps its structures.
 *
 * Source: offsetof() of the version's own headers (vm_core.h, iseq.h, method.h, internal/class.h,
 * symbol.c).
 */
#ifndef PKBPF_RUBY_RUBY_LAYOUT_H
#define PKBPF_RUBY_RUBY_LAYOUT_H

#include <stdbool.h>

#include <pkbpf/ruby.h>

/* Layout of 3.minor on 64-bit machines; false: not known. */
bool ruby_layout_of(unsigned int major, unsigned int minor, struct pkbpf_ruby_layout *ret_layout);

#endif
