/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of statically defined probes, as their notes have them: "-4@%eax 8@-24(%rbp) 8@$5".
 *
 * Source: SystemTap, UserSpaceProbeImplementation; operands as the GNU assembler writes them.
 */
#ifndef PKBPF_ELF_USDT_OPERAND_H
#define PKBPF_ELF_USDT_OPERAND_H

#include <pkbpf/span.h>

/* The argument with a number, from 0. PKBPF_OPERAND_NONE: it is not there, or it is in a form that
 * is not known, as an address that has yet to be computed: never a wrong one. x86-64 only. */
struct pkbpf_span_operand usdt_operand_parse(const char *arguments, unsigned int number);

#endif
