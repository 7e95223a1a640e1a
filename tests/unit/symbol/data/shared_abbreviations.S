/* SPDX-License-Identifier: BSD-2-Clause */
/* UNITS units that share one table of abbreviations (OVERLAP: that each begin one entry further inside it), and name its last
 * entry: libdw keeps the table once for each. */
	.text
	.globl	costly
costly:
	nop
.Lend:
	.section .debug_abbrev,"",%progbits
	.set	code, 128
	.rept	UNITS
	.uleb128 code
	.byte	0x34, 0, 0, 0
	.set	code, code + 1
	.endr
	/* a unit without children: low_pc, high_pc (addresses) */
	.byte	2, 0x11, 0, 0x11, 1, 0x12, 1, 0, 0
	.byte	0
	.section .debug_info,"",%progbits
	.set	table, 0
	.rept	UNITS
	.long	24
	.short	4
	.long	table
	.byte	8
	.byte	2
	.quad	costly, .Lend
	.set	table, table + OVERLAP * 6
	.endr
	.section .note.GNU-stack,"",%progbits
