/* SPDX-License-Identifier: BSD-2-Clause */
/* Two inlined functions beside each other that both have the same instruction; in the second another one is inlined. */
	.text
	.globl	outer
outer:
	nop
	.globl	mixed
mixed:
	nop
	nop
.Lend:
	.section .debug_abbrev,"",%progbits
	/* a unit with children: low_pc, high_pc (addresses) */
	.byte	1, 0x11, 1, 0x11, 1, 0x12, 1, 0, 0
	/* a function that is inlined somewhere: name (string), inline (data1) */
	.byte	2, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b, 0, 0
	/* a function with children: name, low_pc, high_pc */
	.byte	3, 0x2e, 1, 0x03, 0x08, 0x11, 1, 0x12, 1, 0, 0
	/* an inlined one: abstract_origin (ref4), low_pc, high_pc; with and without children */
	.byte	4, 0x1d, 1, 0x31, 0x13, 0x11, 1, 0x12, 1, 0, 0
	.byte	5, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 1, 0, 0
	.byte	0
	.section .debug_info,"",%progbits
.Lstart:
	.long	.Lunit_end - .Lunit
.Lunit:	.short	4
	.long	0
	.byte	8
	.byte	1
	.quad	outer, .Lend
.Lfirst:
	.byte	2
	.asciz	"first"
	.byte	1
.Lsecond:
	.byte	2
	.asciz	"second"
	.byte	1
.Linner:
	.byte	2
	.asciz	"inner"
	.byte	1
	.byte	3
	.asciz	"outer"
	.quad	outer, .Lend
	.byte	5
	.long	.Lfirst - .Lstart
	.quad	outer, .Lend
	.byte	4
	.long	.Lsecond - .Lstart
	.quad	mixed, .Lend
	.byte	5
	.long	.Linner - .Lstart
	.quad	mixed, .Lend
	.byte	0
	.byte	5
	.long	.Lfirst - .Lstart
	.quad	mixed, .Lend
	.byte	0
	.byte	0
.Lunit_end:
	.section .note.GNU-stack,"",%progbits
