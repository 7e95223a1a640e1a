/* SPDX-License-Identifier: BSD-2-Clause */
/* 100,000 functions that share one list of 500,000 empty ranges: eight megabytes that take an hour to read. */
	.text
	.globl	costly
costly:
	nop
.Lend:
	.section .debug_abbrev,"",%progbits
	/* a unit with children: low_pc, high_pc (addresses) */
	.byte	1, 0x11, 1, 0x11, 1, 0x12, 1, 0, 0
	/* a function without: ranges (section offset) */
	.byte	2, 0x2e, 0, 0x55, 0x17, 0, 0
	.byte	0
	.section .debug_info,"",%progbits
	.long	.Lunit_end - .Lunit
.Lunit:	.short	4
	.long	0
	.byte	8
	.byte	1
	.quad	costly, .Lend
	.rept	100000
	.byte	2
	.long	0
	.endr
	.byte	0
.Lunit_end:
	.section .debug_ranges,"",%progbits
	.rept	500000
	.quad	1, 1
	.endr
	.quad	0, 0
	.section .note.GNU-stack,"",%progbits
