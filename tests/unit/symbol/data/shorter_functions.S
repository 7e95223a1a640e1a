/* SPDX-License-Identifier: BSD-2-Clause */
/* 300 functions inside of a longer one, and behind them a call without a file that was inlined. */
	.file	1 "shorter.c"
	.text
	.globl	outer
outer:
	.loc	1 5
	.rept	300
	nop
	.endr
	.globl	behind
behind:
	.loc	1 7
	nop
.Lend:
	.section .debug_line,"",%progbits
.Lline:
	.section .debug_abbrev,"",%progbits
	/* a unit with children: low_pc, high_pc (addresses), stmt_list (section offset) */
	.byte	1, 0x11, 1, 0x11, 1, 0x12, 1, 0x10, 0x17, 0, 0
	/* a function that is inlined somewhere: name (string), inline (data1) */
	.byte	2, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b, 0, 0
	/* a function with children: name, low_pc, high_pc; one without: low_pc, high_pc */
	.byte	3, 0x2e, 1, 0x03, 0x08, 0x11, 1, 0x12, 1, 0, 0
	.byte	4, 0x2e, 0, 0x11, 1, 0x12, 1, 0, 0
	/* an inlined one: abstract_origin (ref4), low_pc, high_pc, call_file, call_line (data1) */
	.byte	5, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 1, 0x58, 0x0b, 0x59, 0x0b, 0, 0
	.byte	0
	.section .debug_info,"",%progbits
.Lstart:
	.long	.Lunit_end - .Lunit
.Lunit:	.short	4
	.long	0
	.byte	8
	.byte	1
	.quad	outer, .Lend
	.long	.Lline
.Linner:
	.byte	2
	.asciz	"inner"
	.byte	1
	.byte	3
	.asciz	"outer"
	.quad	outer, .Lend
	.byte	5
	.long	.Linner - .Lstart
	.quad	behind, .Lend
	.byte	0, 9
	.byte	0
	.set	at, 0
	.rept	300
	.byte	4
	.quad	outer + at, outer + at + 1
	.set	at, at + 1
	.endr
	.byte	0
.Lunit_end:
	.section .note.GNU-stack,"",%progbits
