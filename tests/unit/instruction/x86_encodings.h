/* SPDX-License-Identifier: BSD-2-Clause */
/* Encodings of every kind with what they say, and the decoder called for bytes of a given size. */
#ifndef PKBPF_TEST_X86_ENCODINGS_H
#define PKBPF_TEST_X86_ENCODINGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "instruction/x86_instruction.h"

struct encoding {
	const char *text;
	const char *bytes;
	size_t size;
	struct x86_instruction expected; /* without the size */
};

#define CODE(text_, bytes_, ...)                                                                   \
	{                                                                                          \
		.text = (text_), .bytes = (bytes_), .size = sizeof(bytes_) - 1, .expected = {      \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define OP(opcode_)	  .map = X86_MAP_ONE_BYTE, .opcode = (opcode_)
#define OP_0F(opcode_)	  .map = X86_MAP_0F, .opcode = (opcode_)
#define OP_0F38(opcode_)  .map = X86_MAP_0F38, .opcode = (opcode_)
#define OP_0F3A(opcode_)  .map = X86_MAP_0F3A, .opcode = (opcode_)
#define OP_OTHER(opcode_) .map = X86_MAP_OTHER, .opcode = (opcode_)
/* ModRM: two registers, or memory at a base, base and index, index, or address. */
#define REGISTERS(reg_, rm_)                                                                       \
	.has_modrm = true, .mod = 3, .reg = (reg_), .rm = (rm_), .index = X86_RSP
#define BASE(mod_, reg_, base_) BASE_INDEX(mod_, reg_, base_, X86_RSP)
#define BASE_INDEX(mod_, reg_, base_, index_)                                                      \
	.has_modrm = true, .mod = (mod_), .reg = (reg_), .has_base = true, .rm = (base_),          \
	.index = (index_)
#define INDEX(reg_, index_) .has_modrm = true, .reg = (reg_), .index = (index_)
#define ADDRESS(reg_)	    INDEX(reg_, X86_RSP)
#define DISPLACEMENT(value) .displacement = (value)
#define IMMEDIATE(value)    .immediate = (value)
#define WIDE		    .is_wide = true
#define SHORT		    .is_short = true
#define REPEAT		    .has_repeat = true
#define VECTOR		    .is_vector = true

static const struct encoding one_byte[] = {
	CODE("nop", "\x90", OP(0x90)),
	CODE("ret", "\xc3", OP(0xc3)),
	CODE("leave", "\xc9", OP(0xc9)),
	CODE("cltq", "\x48\x98", OP(0x98), WIDE),
	CODE("push %rbp", "\x55", OP(0x55), .rm = X86_RBP),
	/* AH to BH are parts of the first four registers, unless there is a REX prefix. */
	CODE("and $0x1f,%ah", "\x80\xe4\x1f", OP(0x80), REGISTERS(4, X86_RAX), IMMEDIATE(0x1f)),
	CODE("and $0x1f,%spl", "\x40\x80\xe4\x1f", OP(0x80), REGISTERS(4, X86_RSP),
	     IMMEDIATE(0x1f)),
	CODE("and $0x1f,%esp", "\x83\xe4\x1f", OP(0x83), REGISTERS(4, X86_RSP), IMMEDIATE(0x1f)),
	CODE("mov %ch,%dh", "\x88\xee", OP(0x88), REGISTERS(X86_RCX, X86_RDX)),
	CODE("mov %ch,(%rsi)", "\x88\x2e", OP(0x88), BASE(0, X86_RCX, X86_RSI)),
	CODE("mov %bpl,(%rsi)", "\x40\x88\x2e", OP(0x88), BASE(0, X86_RBP, X86_RSI)),
	CODE("xor %bh,%bh", "\x30\xff", OP(0x30), REGISTERS(X86_RBX, X86_RBX)),
	CODE("mov $1,%ch", "\xb5\x01", OP(0xb5), .rm = X86_RCX, IMMEDIATE(1)),
	CODE("testb $1,(%rsp)", "\xf6\x04\x24\x01", OP(0xf6), BASE(0, 0, X86_RSP), IMMEDIATE(1)),
	CODE("test $1,%ah", "\xf6\xc4\x01", OP(0xf6), REGISTERS(0, X86_RAX), IMMEDIATE(1)),
	CODE("mov %esp,%ebp", "\x89\xe5", OP(0x89), REGISTERS(X86_RSP, X86_RBP)),
	CODE("mov %rsp,%rbp", "\x48\x89\xe5", OP(0x89), REGISTERS(X86_RSP, X86_RBP), WIDE),
	CODE("mov %r9,%rax", "\x4c\x89\xc8", OP(0x89), REGISTERS(9, X86_RAX), WIDE),
	CODE("mov %rcx,%r8", "\x49\x89\xc8", OP(0x89), REGISTERS(X86_RCX, 8), WIDE),
	CODE("mov %r12,%r15", "\x4d\x89\xe7", OP(0x89), REGISTERS(12, 15), WIDE),
	CODE("xor %r13d,%r13d", "\x45\x31\xed", OP(0x31), REGISTERS(13, 13)),
	CODE("movslq %edi,%rax", "\x48\x63\xc7", OP(0x63), REGISTERS(X86_RAX, X86_RDI), WIDE),
	CODE("shl %eax", "\xd1\xe0", OP(0xd1), REGISTERS(4, X86_RAX)),
	CODE("fstp %st(1)", "\xdd\xd9", OP(0xdd), REGISTERS(3, 1)),
	CODE("xchg %rax,%r15", "\x49\x97", OP(0x97), .rm = 15, WIDE),
};

static const struct encoding memory[] = {
	CODE("mov (%rdi),%rax", "\x48\x8b\x07", OP(0x8b), BASE(0, X86_RAX, X86_RDI), WIDE),
	CODE("mov (%r15),%rax", "\x49\x8b\x07", OP(0x8b), BASE(0, X86_RAX, 15), WIDE),
	CODE("mov -8(%rbp),%rax", "\x48\x8b\x45\xf8", OP(0x8b), BASE(1, X86_RAX, X86_RBP),
	     DISPLACEMENT(-8), WIDE),
	CODE("mov 0(%r13),%rax", "\x49\x8b\x45\x00", OP(0x8b), BASE(1, X86_RAX, 13), WIDE),
	CODE("mov -256(%rbp),%eax", "\x8b\x85\x00\xff\xff\xff", OP(0x8b), BASE(2, X86_RAX, X86_RBP),
	     DISPLACEMENT(-256)),
	CODE("mov %rbx,(%rsp)", "\x48\x89\x1c\x24", OP(0x89), BASE(0, X86_RBX, X86_RSP), WIDE),
	CODE("mov 8(%rsp),%rax", "\x48\x8b\x44\x24\x08", OP(0x8b), BASE(1, X86_RAX, X86_RSP),
	     DISPLACEMENT(8), WIDE),
	CODE("lea 0x12345678(%rsp),%r9", "\x4c\x8d\x8c\x24\x78\x56\x34\x12", OP(0x8d),
	     BASE(2, 9, X86_RSP), DISPLACEMENT(0x12345678), WIDE),
	CODE("mov (%r12),%rax", "\x49\x8b\x04\x24", OP(0x8b), BASE(0, X86_RAX, 12), WIDE),
	CODE("mov (%rax,%rcx),%edx", "\x8b\x14\x08", OP(0x8b),
	     BASE_INDEX(0, X86_RDX, X86_RAX, X86_RCX)),
	CODE("mov 16(%rbp,%r12,8),%rax", "\x4a\x8b\x44\xe5\x10", OP(0x8b),
	     BASE_INDEX(1, X86_RAX, X86_RBP, 12), DISPLACEMENT(16), WIDE),
	CODE("lea -2(%r14,%r15,4),%r9", "\x4f\x8d\x8c\xbe\xfe\xff\xff\xff", OP(0x8d),
	     BASE_INDEX(2, 9, 14, 15), DISPLACEMENT(-2), WIDE),
	CODE("lea 256(,%rcx,8),%rax", "\x48\x8d\x04\xcd\x00\x01\x00\x00", OP(0x8d),
	     INDEX(X86_RAX, X86_RCX), DISPLACEMENT(256), WIDE),
	CODE("mov 4(,%r12),%eax", "\x42\x8b\x04\x25\x04\x00\x00\x00", OP(0x8b), INDEX(X86_RAX, 12),
	     DISPLACEMENT(4)),
	CODE("mov 0x28,%rax", "\x48\x8b\x04\x25\x28\x00\x00\x00", OP(0x8b), ADDRESS(X86_RAX),
	     DISPLACEMENT(0x28), WIDE),
	CODE("mov 0x302010(%rip),%rax", "\x48\x8b\x05\x10\x20\x30\x00", OP(0x8b), ADDRESS(X86_RAX),
	     DISPLACEMENT(0x302010), WIDE),
	CODE("lea -16(%rip),%r15", "\x4c\x8d\x3d\xf0\xff\xff\xff", OP(0x8d), ADDRESS(15),
	     DISPLACEMENT(-16), WIDE),
	/* The extension of the base makes no base of it. */
	CODE("rex.WB mov 1(%rip),%rax", "\x49\x8b\x05\x01\x00\x00\x00", OP(0x8b), ADDRESS(X86_RAX),
	     DISPLACEMENT(1), WIDE),
	CODE("mov -4(%ebp),%eax", "\x67\x8b\x45\xfc", OP(0x8b), BASE(1, X86_RAX, X86_RBP),
	     DISPLACEMENT(-4)),
	CODE("mov 0x10(%eip),%eax", "\x67\x8b\x05\x10\x00\x00\x00", OP(0x8b), ADDRESS(X86_RAX),
	     DISPLACEMENT(0x10)),
};

static const struct encoding immediates[] = {
	CODE("sub $24,%rsp", "\x48\x83\xec\x18", OP(0x83), REGISTERS(5, X86_RSP), IMMEDIATE(24),
	     WIDE),
	CODE("sub $-128,%rsp", "\x48\x83\xec\x80", OP(0x83), REGISTERS(5, X86_RSP), IMMEDIATE(-128),
	     WIDE),
	CODE("sub $4096,%rsp", "\x48\x81\xec\x00\x10\x00\x00", OP(0x81), REGISTERS(5, X86_RSP),
	     IMMEDIATE(4096), WIDE),
	CODE("add $-4096,%rsp", "\x48\x81\xc4\x00\xf0\xff\xff", OP(0x81), REGISTERS(0, X86_RSP),
	     IMMEDIATE(-4096), WIDE),
	CODE("add $0x1234,%cx", "\x66\x81\xc1\x34\x12", OP(0x81), REGISTERS(0, X86_RCX),
	     IMMEDIATE(0x1234), SHORT),
	/* REX.W wins over 66. */
	CODE("data16 add $0x1020304,%rcx", "\x66\x48\x81\xc1\x04\x03\x02\x01", OP(0x81),
	     REGISTERS(0, X86_RCX), IMMEDIATE(0x1020304), SHORT, WIDE),
	CODE("cmp $1,%spl", "\x40\x80\xfc\x01", OP(0x80), REGISTERS(7, X86_RSP), IMMEDIATE(1)),
	CODE("sub $127,%al", "\x2c\x7f", OP(0x2c), IMMEDIATE(127)),
	CODE("sub $-0x80000000,%rax", "\x48\x2d\x00\x00\x00\x80", OP(0x2d), IMMEDIATE(INT32_MIN),
	     WIDE),
	CODE("add $-0x8000,%ax", "\x66\x05\x00\x80", OP(0x05), IMMEDIATE(INT16_MIN), SHORT),
	CODE("push $-1", "\x6a\xff", OP(0x6a), IMMEDIATE(-1)),
	CODE("push $-0x80000000", "\x68\x00\x00\x00\x80", OP(0x68), IMMEDIATE(INT32_MIN)),
	CODE("pushw $0x1234", "\x66\x68\x34\x12", OP(0x68), IMMEDIATE(0x1234), SHORT),
	CODE("imul $12,%edi,%eax", "\x6b\xc7\x0c", OP(0x6b), REGISTERS(X86_RAX, X86_RDI),
	     IMMEDIATE(12)),
	CODE("imul $256,%edi,%eax", "\x69\xc7\x00\x01\x00\x00", OP(0x69),
	     REGISTERS(X86_RAX, X86_RDI), IMMEDIATE(256)),
	CODE("mov $-1,%r15b", "\x41\xb7\xff", OP(0xb7), .rm = 15, IMMEDIATE(-1)),
	CODE("mov $0x12345678,%esi", "\xbe\x78\x56\x34\x12", OP(0xbe), .rm = X86_RSI,
	     IMMEDIATE(0x12345678)),
	CODE("mov $0x1234,%cx", "\x66\xb9\x34\x12", OP(0xb9), .rm = X86_RCX, IMMEDIATE(0x1234),
	     SHORT),
	CODE("movabs $0x1122334455667788,%r10", "\x49\xba\x88\x77\x66\x55\x44\x33\x22\x11",
	     OP(0xba), .rm = 10, IMMEDIATE(0x1122334455667788), WIDE),
	CODE("movabs $-2,%rbx", "\x48\xbb\xfe\xff\xff\xff\xff\xff\xff\xff", OP(0xbb), .rm = X86_RBX,
	     IMMEDIATE(-2), WIDE),
	CODE("movl $1,4(%rsp)", "\xc7\x44\x24\x04\x01\x00\x00\x00", OP(0xc7), BASE(1, 0, X86_RSP),
	     DISPLACEMENT(4), IMMEDIATE(1)),
	CODE("movw $0x1234,(%rax)", "\x66\xc7\x00\x34\x12", OP(0xc7), BASE(0, 0, X86_RAX),
	     IMMEDIATE(0x1234), SHORT),
	CODE("movb $1,16(%rip)", "\xc6\x05\x10\x00\x00\x00\x01", OP(0xc6), ADDRESS(0),
	     DISPLACEMENT(16), IMMEDIATE(1)),
	CODE("movq $-1,0x11223344(%r13,%r14,8)", "\x4b\xc7\x84\xf5\x44\x33\x22\x11\xff\xff\xff\xff",
	     OP(0xc7), BASE_INDEX(2, 0, 13, 14), DISPLACEMENT(0x11223344), IMMEDIATE(-1), WIDE),
	CODE("shl $4,%eax", "\xc1\xe0\x04", OP(0xc1), REGISTERS(4, X86_RAX), IMMEDIATE(4)),
	CODE("test $1,%al", "\xa8\x01", OP(0xa8), IMMEDIATE(1)),
	CODE("test $256,%eax", "\xa9\x00\x01\x00\x00", OP(0xa9), IMMEDIATE(256)),
	CODE("int $0x10", "\xcd\x10", OP(0xcd), IMMEDIATE(0x10)),
	CODE("ret $8", "\xc2\x08\x00", OP(0xc2), IMMEDIATE(8)),
	CODE("enter $32,$1", "\xc8\x20\x00\x01", OP(0xc8), IMMEDIATE(1)),
	CODE("xbegin .+16", "\xc7\xf8\x0a\x00\x00\x00", OP(0xc7), REGISTERS(7, 0), IMMEDIATE(10)),
	CODE("movabs 0x1122334455667788,%eax", "\xa1\x88\x77\x66\x55\x44\x33\x22\x11", OP(0xa1),
	     IMMEDIATE(0x1122334455667788)),
	CODE("movabs %rax,0x0877665544332211", "\x48\xa3\x11\x22\x33\x44\x55\x66\x77\x08", OP(0xa3),
	     IMMEDIATE(0x0877665544332211), WIDE),
	CODE("addr32 mov 0x11223344,%al", "\x67\xa0\x44\x33\x22\x11", OP(0xa0),
	     IMMEDIATE(0x11223344)),
};

/* One opcode each for TEST with an immediate, and for others without. */
static const struct encoding tests_and_others[] = {
	CODE("test $1,%cl", "\xf6\xc1\x01", OP(0xf6), REGISTERS(0, X86_RCX), IMMEDIATE(1)),
	CODE("test $1,%cl again", "\xf6\xc9\x01", OP(0xf6), REGISTERS(1, X86_RCX), IMMEDIATE(1)),
	CODE("not %cl", "\xf6\xd1", OP(0xf6), REGISTERS(2, X86_RCX)),
	CODE("neg %cl", "\xf6\xd9", OP(0xf6), REGISTERS(3, X86_RCX)),
	CODE("test $32,8(%r12)", "\x41\xf6\x44\x24\x08\x20", OP(0xf6), BASE(1, 0, 12),
	     DISPLACEMENT(8), IMMEDIATE(32)),
	/* The extension of a field that is part of the opcode changes nothing. */
	CODE("rex.R test $1,%cl", "\x44\xf6\xc1\x01", OP(0xf6), REGISTERS(8, X86_RCX),
	     IMMEDIATE(1)),
	CODE("test $256,%ecx", "\xf7\xc1\x00\x01\x00\x00", OP(0xf7), REGISTERS(0, X86_RCX),
	     IMMEDIATE(256)),
	CODE("test $0x1234,%cx", "\x66\xf7\xc1\x34\x12", OP(0xf7), REGISTERS(0, X86_RCX),
	     IMMEDIATE(0x1234), SHORT),
	CODE("test $-16,%r9", "\x49\xf7\xc1\xf0\xff\xff\xff", OP(0xf7), REGISTERS(0, 9),
	     IMMEDIATE(-16), WIDE),
	CODE("test $2,1(%rip)", "\xf7\x05\x01\x00\x00\x00\x02\x00\x00\x00", OP(0xf7), ADDRESS(0),
	     DISPLACEMENT(1), IMMEDIATE(2)),
	CODE("neg %rcx", "\x48\xf7\xd9", OP(0xf7), REGISTERS(3, X86_RCX), WIDE),
	CODE("idiv %r15", "\x49\xf7\xff", OP(0xf7), REGISTERS(7, 15), WIDE),
};

static const struct encoding maps[] = {
	CODE("syscall", "\x0f\x05", OP_0F(0x05)),
	CODE("ud2", "\x0f\x0b", OP_0F(0x0b)),
	CODE("cpuid", "\x0f\xa2", OP_0F(0xa2)),
	CODE("emms", "\x0f\x77", OP_0F(0x77)),
	CODE("bswap %r9d", "\x41\x0f\xc9", OP_0F(0xc9), .rm = 9),
	CODE("movzbl %cl,%eax", "\x0f\xb6\xc1", OP_0F(0xb6), REGISTERS(X86_RAX, X86_RCX)),
	CODE("movzbl (%rsi,%rcx),%r13d", "\x44\x0f\xb6\x2c\x0e", OP_0F(0xb6),
	     BASE_INDEX(0, 13, X86_RSI, X86_RCX)),
	CODE("cmovne %r8,%rdx", "\x49\x0f\x45\xd0", OP_0F(0x45), REGISTERS(X86_RDX, 8), WIDE),
	CODE("nopl 0(%rax,%rax)", "\x0f\x1f\x84\x00\x00\x00\x00\x00", OP_0F(0x1f),
	     BASE_INDEX(2, 0, X86_RAX, X86_RAX)),
	CODE("bt $5,%eax", "\x0f\xba\xe0\x05", OP_0F(0xba), REGISTERS(4, X86_RAX), IMMEDIATE(5)),
	CODE("shld $8,%eax,%edx", "\x0f\xa4\xc2\x08", OP_0F(0xa4), REGISTERS(X86_RAX, X86_RDX),
	     IMMEDIATE(8)),
	CODE("shrd %cl,%eax,%edx", "\x0f\xad\xc2", OP_0F(0xad), REGISTERS(X86_RAX, X86_RDX)),
	CODE("mfence", "\x0f\xae\xf0", OP_0F(0xae), REGISTERS(6, 0)),
	CODE("cmpps $1,%xmm1,%xmm0", "\x0f\xc2\xc1\x01", OP_0F(0xc2), REGISTERS(0, 1),
	     IMMEDIATE(1)),
	CODE("pshufd $0x4e,%xmm0,%xmm0", "\x66\x0f\x70\xc0\x4e", OP_0F(0x70), REGISTERS(0, 0),
	     IMMEDIATE(0x4e), SHORT),
	CODE("pfadd %mm1,%mm0", "\x0f\x0f\xc1\x9e", OP_0F(0x0f), REGISTERS(0, 1),
	     IMMEDIATE((int8_t)0x9e)),
	CODE("endbr64", "\xf3\x0f\x1e\xfa", OP_0F(0x1e), REGISTERS(7, 2), REPEAT),
	CODE("movsd 8(%rsp),%xmm0", "\xf2\x0f\x10\x44\x24\x08", OP_0F(0x10), BASE(1, 0, X86_RSP),
	     DISPLACEMENT(8), REPEAT),
	CODE("popcnt %rdi,%rax", "\xf3\x48\x0f\xb8\xc7", OP_0F(0xb8), REGISTERS(X86_RAX, X86_RDI),
	     REPEAT, WIDE),
	CODE("movbe (%rsi),%eax", "\x0f\x38\xf0\x06", OP_0F38(0xf0), BASE(0, X86_RAX, X86_RSI)),
	CODE("pshufb %xmm1,%xmm0", "\x66\x0f\x38\x00\xc1", OP_0F38(0x00), REGISTERS(0, 1), SHORT),
	CODE("crc32q %rdi,%rax", "\xf2\x48\x0f\x38\xf1\xc7", OP_0F38(0xf1),
	     REGISTERS(X86_RAX, X86_RDI), REPEAT, WIDE),
	CODE("palignr $8,%xmm1,%xmm0", "\x66\x0f\x3a\x0f\xc1\x08", OP_0F3A(0x0f), REGISTERS(0, 1),
	     IMMEDIATE(8), SHORT),
	CODE("pextrd $1,%xmm8,8(%rsp)", "\x66\x44\x0f\x3a\x16\x44\x24\x08\x01", OP_0F3A(0x16),
	     BASE(1, 8, X86_RSP), DISPLACEMENT(8), IMMEDIATE(1), SHORT),
};

/* The displacement is that of the encoding: with EVEX a byte counts in units of the operand. */
static const struct encoding vectors[] = {
	CODE("vzeroupper", "\xc5\xf8\x77", OP_0F(0x77), VECTOR),
	CODE("vmovdqa (%rsi),%ymm0", "\xc5\xfd\x6f\x06", OP_0F(0x6f), BASE(0, 0, X86_RSI), VECTOR),
	CODE("vmovdqa %ymm8,32(%rsp)", "\xc5\x7d\x7f\x44\x24\x20", OP_0F(0x7f), BASE(1, 8, X86_RSP),
	     DISPLACEMENT(32), VECTOR),
	CODE("vmovss 1(%rip),%xmm0", "\xc5\xfa\x10\x05\x01\x00\x00\x00", OP_0F(0x10), ADDRESS(0),
	     DISPLACEMENT(1), VECTOR),
	CODE("vpshufd $0x4e,%xmm1,%xmm0", "\xc5\xf9\x70\xc1\x4e", OP_0F(0x70), REGISTERS(0, 1),
	     IMMEDIATE(0x4e), VECTOR),
	CODE("vcmpleps %ymm1,%ymm0,%ymm0", "\xc5\xfc\xc2\xc1\x02", OP_0F(0xc2), REGISTERS(0, 1),
	     IMMEDIATE(2), VECTOR),
	CODE("vpmaxub %xmm1,%xmm0,%xmm0", "\xc5\xf9\xde\xc1", OP_0F(0xde), REGISTERS(0, 1), VECTOR),
	/* Their legacy opcodes are SETNO and CMOVNO. */
	CODE("kmovw %k0,(%rdi)", "\xc5\xf8\x91\x07", OP_0F(0x91), BASE(0, 0, X86_RDI), VECTOR),
	CODE("kandw %k1,%k2,%k3", "\xc5\xec\x41\xd9", OP_0F(0x41), REGISTERS(3, 1), VECTOR),
	CODE("vmovdqu 16(%rsi,%r12,8),%xmm8", "\xc4\x21\x7a\x6f\x44\xe6\x10", OP_0F(0x6f),
	     BASE_INDEX(1, 8, X86_RSI, 12), DISPLACEMENT(16), VECTOR),
	CODE("vbroadcastss 1(%rip),%ymm0", "\xc4\xe2\x7d\x18\x05\x01\x00\x00\x00", OP_0F38(0x18),
	     ADDRESS(0), DISPLACEMENT(1), VECTOR),
	CODE("andn %r8,%rcx,%r8", "\xc4\x42\xf0\xf2\xc0", OP_0F38(0xf2), REGISTERS(8, 8), VECTOR,
	     WIDE),
	CODE("rorx $5,%rdi,%rax", "\xc4\xe3\xfb\xf0\xc7\x05", OP_0F3A(0xf0),
	     REGISTERS(X86_RAX, X86_RDI), IMMEDIATE(5), VECTOR, WIDE),
	CODE("vextracti128 $1,%ymm0,%xmm1", "\xc4\xe3\x7d\x39\xc1\x01", OP_0F3A(0x39),
	     REGISTERS(0, 1), IMMEDIATE(1), VECTOR),
	CODE("vblendvps %xmm3,%xmm2,%xmm1,%xmm0", "\xc4\xe3\x71\x4a\xc2\x30", OP_0F3A(0x4a),
	     REGISTERS(0, 2), IMMEDIATE(0x30), VECTOR),
	CODE("vmovdqa32 (%rsi),%zmm0", "\x62\xf1\x7d\x48\x6f\x06", OP_0F(0x6f), BASE(0, 0, X86_RSI),
	     VECTOR),
	CODE("vmovdqa64 %zmm0,64(%rsp)", "\x62\xf1\xfd\x48\x7f\x44\x24\x01", OP_0F(0x7f),
	     BASE(1, 0, X86_RSP), DISPLACEMENT(1), VECTOR, WIDE),
	CODE("vmovups %zmm9,%zmm8", "\x62\x51\x7c\x48\x10\xc1", OP_0F(0x10), REGISTERS(8, 9),
	     VECTOR),
	CODE("vmovups 64(%r13,%r14,2),%zmm0", "\x62\x91\x7c\x48\x10\x44\x75\x01", OP_0F(0x10),
	     BASE_INDEX(1, 0, 13, 14), DISPLACEMENT(1), VECTOR),
	CODE("vpshufd $1,%zmm1,%zmm0", "\x62\xf1\x7d\x48\x70\xc1\x01", OP_0F(0x70), REGISTERS(0, 1),
	     IMMEDIATE(1), VECTOR),
	CODE("vpbroadcastd 1(%rip),%zmm0", "\x62\xf2\x7d\x48\x58\x05\x01\x00\x00\x00",
	     OP_0F38(0x58), ADDRESS(0), DISPLACEMENT(1), VECTOR),
	CODE("vpternlogd $-1,%zmm2,%zmm1,%zmm0", "\x62\xf3\x75\x48\x25\xc2\xff", OP_0F3A(0x25),
	     REGISTERS(0, 2), IMMEDIATE(-1), VECTOR),
	CODE("vaddph %zmm2,%zmm1,%zmm0", "\x62\xf5\x74\x48\x58\xc2", OP_OTHER(0x58),
	     REGISTERS(0, 2), VECTOR),
	CODE("vfmadd132ph %zmm2,%zmm1,%zmm0", "\x62\xf6\x75\x48\x98\xc2", OP_OTHER(0x98),
	     REGISTERS(0, 2), VECTOR),
};

static const struct encoding pops_and_xop[] = {
	CODE("pop %rax", "\x8f\xc0", OP(0x8f), REGISTERS(0, X86_RAX)),
	CODE("pop %r12", "\x41\x8f\xc4", OP(0x8f), REGISTERS(0, 12)),
	CODE("pop (%rdi)", "\x8f\x07", OP(0x8f), BASE(0, 0, X86_RDI)),
	CODE("pop 8(%rsp)", "\x8f\x44\x24\x08", OP(0x8f), BASE(1, 0, X86_RSP), DISPLACEMENT(8)),
	CODE("pop 1(%rip)", "\x8f\x05\x01\x00\x00\x00", OP(0x8f), ADDRESS(0), DISPLACEMENT(1)),
	CODE("vprotb $4,%xmm1,%xmm0", "\x8f\xe8\x78\xc0\xc1\x04", OP_OTHER(0xc0), REGISTERS(0, 1),
	     IMMEDIATE(4), VECTOR),
	CODE("vfrczps 8(%rsp),%xmm0", "\x8f\xe9\x78\x80\x44\x24\x08", OP_OTHER(0x80),
	     BASE(1, 0, X86_RSP), DISPLACEMENT(8), VECTOR),
	CODE("blcfill %r9,%rax", "\x8f\xc9\xf8\x01\xc9", OP_OTHER(0x01), REGISTERS(1, 9), VECTOR,
	     WIDE),
	CODE("bextr $0x1234,%ecx,%eax", "\x8f\xea\x78\x10\xc1\x34\x12\x00\x00", OP_OTHER(0x10),
	     REGISTERS(X86_RAX, X86_RCX), IMMEDIATE(0x1234), VECTOR),
};

static const struct encoding prefixed[] = {
	CODE("xchg %ax,%ax", "\x66\x90", OP(0x90), SHORT),
	CODE("pause", "\xf3\x90", OP(0x90), REPEAT),
	CODE("repz ret", "\xf3\xc3", OP(0xc3), REPEAT),
	CODE("rep stosq", "\xf3\x48\xab", OP(0xab), REPEAT, WIDE),
	CODE("push %r15w", "\x66\x41\x57", OP(0x57), .rm = 15, SHORT),
	CODE("mov %r8w,%ax", "\x66\x44\x89\xc0", OP(0x89), REGISTERS(8, X86_RAX), SHORT),
	CODE("movq %xmm0,%rax", "\x66\x48\x0f\x7e\xc0", OP_0F(0x7e), REGISTERS(0, X86_RAX), SHORT,
	     WIDE),
	CODE("cvtsi2sd %rax,%xmm0", "\xf2\x48\x0f\x2a\xc0", OP_0F(0x2a), REGISTERS(0, X86_RAX),
	     REPEAT, WIDE),
	CODE("mov %fs:0x28,%rax", "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", OP(0x8b),
	     ADDRESS(X86_RAX), DISPLACEMENT(0x28), WIDE),
	CODE("mov %gs:(%r11),%eax", "\x65\x41\x8b\x03", OP(0x8b), BASE(0, X86_RAX, 11)),
	CODE("mov %es:(%rax),%eax", "\x26\x8b\x00", OP(0x8b), BASE(0, X86_RAX, X86_RAX)),
	CODE("mov %ss:(%rax),%eax", "\x36\x8b\x00", OP(0x8b), BASE(0, X86_RAX, X86_RAX)),
	CODE("notrack jmp *%rax", "\x3e\xff\xe0", OP(0xff), REGISTERS(4, X86_RAX)),
	CODE("lock cmpxchg %rcx,(%rdi)", "\xf0\x48\x0f\xb1\x0f", OP_0F(0xb1),
	     BASE(0, X86_RCX, X86_RDI), WIDE),
	CODE("data16 data16 rex.W call .+12", "\x66\x66\x48\xe8\x04\x00\x00\x00", OP(0xe8),
	     IMMEDIATE(4), SHORT, WIDE),
	CODE("the longest nop", "\x66\x66\x66\x66\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
	     OP_0F(0x1f), BASE_INDEX(2, 0, X86_RAX, X86_RAX), SHORT),
};

static const struct encoding jumps[] = {
	CODE("jmp .", "\xeb\xfe", OP(0xeb), IMMEDIATE(-2)),
	CODE("je .+18", "\x74\x10", OP(0x74), IMMEDIATE(16)),
	CODE("jg .-126", "\x7f\x80", OP(0x7f), IMMEDIATE(-128)),
	CODE("loop .-3", "\xe2\xfb", OP(0xe2), IMMEDIATE(-5)),
	CODE("jrcxz .+7", "\xe3\x05", OP(0xe3), IMMEDIATE(5)),
	CODE("jmp .+0x12345", "\xe9\x40\x23\x01\x00", OP(0xe9), IMMEDIATE(0x12340)),
	CODE("bnd jmp .-10", "\xf2\xe9\xf0\xff\xff\xff", OP(0xe9), IMMEDIATE(-16), REPEAT),
	CODE("call .-251", "\xe8\x00\xff\xff\xff", OP(0xe8), IMMEDIATE(-256)),
	CODE("je .+262", "\x0f\x84\x00\x01\x00\x00", OP_0F(0x84), IMMEDIATE(256)),
	CODE("jg .+5", "\x0f\x8f\xff\xff\xff\xff", OP_0F(0x8f), IMMEDIATE(-1)),
	CODE("call *%rax", "\xff\xd0", OP(0xff), REGISTERS(2, X86_RAX)),
	CODE("call *%r12", "\x41\xff\xd4", OP(0xff), REGISTERS(2, 12)),
	CODE("jmp *1(%rip)", "\xff\x25\x01\x00\x00\x00", OP(0xff), ADDRESS(4), DISPLACEMENT(1)),
	CODE("jmp *256(,%rax,8)", "\xff\x24\xc5\x00\x01\x00\x00", OP(0xff), INDEX(4, X86_RAX),
	     DISPLACEMENT(256)),
};

/* In a block of exactly that size, so that the address sanitizer sees each byte read past the
 * end. */
static inline size_t decode(const void *bytes, size_t size, struct x86_instruction *instruction)
{
	uint8_t *block = malloc(size);
	bool decoded;

	assert_true(block || size == 0);
	if (size)
		memcpy(block, bytes, size);
	memset(instruction, 0xff, sizeof(*instruction));
	decoded = x86_decode(block ? block : (const uint8_t *)"", size, instruction);
	free(block);
	assert_int_equal(decoded, instruction->size != 0);
	return instruction->size;
}

static inline void assert_refused(const void *bytes, size_t size)
{
	struct x86_instruction instruction;

	assert_int_equal(decode(bytes, size, &instruction), 0);
}

#endif
