// SPDX-License-Identifier: BSD-2-Clause
/* Decodes the length and the operands of x86-64 instructions. */
#include "instruction/x86_instruction.h"

#include <string.h>

/* Bytes that follow an opcode. */
enum {
	M = 1,	    /* ModRM */
	B1 = 2,	    /* 1 byte */
	B2 = 4,	    /* 2 bytes */
	Z = 8,	    /* 4 bytes, 2 with prefix 66 */
	D = 16,	    /* 4 bytes */
	BAD = 32,   /* invalid */
	OTHER = 64, /* prefix, escape, or handled elsewhere */
};

#define ROW_ARITHMETIC M, M, M, M, B1, Z
#define FOUR(x)	       x, x, x, x
#define EIGHT(x)       FOUR(x), FOUR(x)
#define SIXTEEN(x)     EIGHT(x), EIGHT(x)

static const uint8_t one_byte[256] = {
	/* 00 */ ROW_ARITHMETIC,
	BAD,
	BAD,
	ROW_ARITHMETIC,
	BAD,
	OTHER,
	/* 10 */ ROW_ARITHMETIC,
	BAD,
	BAD,
	ROW_ARITHMETIC,
	BAD,
	BAD,
	/* 20 */ ROW_ARITHMETIC,
	OTHER,
	BAD,
	ROW_ARITHMETIC,
	OTHER,
	BAD,
	/* 30 */ ROW_ARITHMETIC,
	OTHER,
	BAD,
	ROW_ARITHMETIC,
	OTHER,
	BAD,
	/* 40 */ SIXTEEN(OTHER),
	/* 50 */ SIXTEEN(0),
	/* 60 */ BAD,
	BAD,
	OTHER,
	M,
	FOUR(OTHER),
	Z,
	M | Z,
	B1,
	M | B1,
	FOUR(0),
	/* 70 */ SIXTEEN(B1),
	/* 80 */ M | B1,
	M | Z,
	BAD,
	M | B1,
	FOUR(M),
	EIGHT(M),
	/* 90 */ EIGHT(0),
	0,
	0,
	BAD,
	0,
	FOUR(0),
	/* a0 */ FOUR(OTHER),
	FOUR(0),
	B1,
	Z,
	0,
	0,
	FOUR(0),
	/* b0 */ EIGHT(B1),
	EIGHT(OTHER),
	/* c0 */ M | B1,
	M | B1,
	B2,
	0,
	OTHER,
	OTHER,
	M | B1,
	M | Z,
	B2 | B1,
	0,
	B2,
	0,
	0,
	B1,
	BAD,
	0,
	/* d0 */ FOUR(M),
	BAD,
	BAD,
	BAD,
	0,
	EIGHT(M),
	/* e0 */ EIGHT(B1),
	D,
	D,
	BAD,
	B1,
	FOUR(0),
	/* f0 */ OTHER,
	0,
	OTHER,
	OTHER,
	0,
	0,
	M,
	M,
	0,
	0,
	0,
	0,
	0,
	0,
	M,
	M,
};

static const uint8_t two_bytes[256] = {
	/* 00 */ FOUR(M),
	BAD,
	0,
	0,
	0,
	0,
	0,
	BAD,
	0,
	BAD,
	M,
	0,
	M | B1,
	/* 10 */ SIXTEEN(M),
	/* 20 */ FOUR(M),
	FOUR(BAD),
	EIGHT(M),
	/* 30 */ FOUR(0),
	0,
	0,
	BAD,
	0,
	OTHER,
	BAD,
	OTHER,
	FOUR(BAD),
	BAD,
	/* 40 */ SIXTEEN(M),
	/* 50 */ SIXTEEN(M),
	/* 60 */ SIXTEEN(M),
	/* 70 */ FOUR(M | B1),
	M,
	M,
	M,
	0,
	M,
	M,
	BAD,
	BAD,
	FOUR(M),
	/* 80 */ SIXTEEN(D),
	/* 90 */ SIXTEEN(M),
	/* a0 */ 0,
	0,
	0,
	M,
	M | B1,
	M,
	BAD,
	BAD,
	0,
	0,
	0,
	M,
	M | B1,
	M,
	M,
	M,
	/* b0 */ EIGHT(M),
	M,
	M,
	M | B1,
	M,
	FOUR(M),
	/* c0 */ M,
	M,
	M | B1,
	M,
	M | B1,
	M | B1,
	M | B1,
	M,
	EIGHT(0),
	/* d0 */ SIXTEEN(M),
	/* e0 */ SIXTEEN(M),
	/* f0 */ SIXTEEN(M),
};

/* Bytes of the longest sequence of prefixes and fields; longer than any valid instruction. */
#define MAX_READ_BYTES 40

struct decoder {
	const uint8_t *code; /* at least MAX_READ_BYTES are readable */
	size_t at;
	struct x86_instruction *to;
	uint8_t extend_reg, extend_index, extend_base; /* 8 or 0 */
	bool short_address;
	bool failed;
};

static uint8_t next(struct decoder *decoder)
{
	return decoder->code[decoder->at++];
}

static int64_t next_signed(struct decoder *decoder, unsigned int bytes)
{
	const uint8_t *from = decoder->code + decoder->at;
	int16_t two;
	int32_t four;
	int64_t eight;

	decoder->at += bytes;
	switch (bytes) {
	case 1:
		return (int8_t)*from;
	case 2:
		memcpy(&two, from, sizeof(two));
		return two;
	case 4:
		memcpy(&four, from, sizeof(four));
		return four;
	}
	memcpy(&eight, from, sizeof(eight));
	return eight;
}

static void read_modrm(struct decoder *decoder)
{
	struct x86_instruction *to = decoder->to;
	uint8_t modrm = next(decoder);
	uint8_t low = modrm & 7;

	to->has_modrm = true;
	to->mod = modrm >> 6;
	to->reg = (modrm >> 3 & 7) | decoder->extend_reg;
	to->rm = low | decoder->extend_base;
	to->index = X86_RSP;
	if (to->mod == 3)
		return;
	to->has_base = true;
	if (low == X86_RSP) {
		uint8_t sib = next(decoder);

		low = sib & 7;
		to->rm = low | decoder->extend_base;
		to->index = (sib >> 3 & 7) | decoder->extend_index;
	}
	if (to->mod == 0 && low == X86_RBP) {
		to->has_base = false; /* an absolute or RIP-relative address */
		to->displacement = (int32_t)next_signed(decoder, 4);
	} else if (to->mod == 1) {
		to->displacement = (int32_t)next_signed(decoder, 1);
	} else if (to->mod == 2) {
		to->displacement = (int32_t)next_signed(decoder, 4);
	}
}

static void read_rest(struct decoder *decoder, uint8_t follows)
{
	struct x86_instruction *to = decoder->to;

	if (follows & (BAD | OTHER)) {
		decoder->failed = true;
		return;
	}
	if (follows & M)
		read_modrm(decoder);
	else
		to->rm = (to->opcode & 7) | decoder->extend_base;
	/* ENTER has both; B2 comes first. */
	if (follows & B2)
		to->immediate = next_signed(decoder, 2);
	if (follows & B1)
		to->immediate = next_signed(decoder, 1);
	if (follows & D)
		to->immediate = next_signed(decoder, 4);
	if (follows & Z)
		to->immediate = next_signed(decoder, to->is_short && !to->is_wide ? 2 : 4);
}

static void read_two_bytes(struct decoder *decoder)
{
	struct x86_instruction *to = decoder->to;
	uint8_t opcode = next(decoder);

	if (opcode == 0x38 || opcode == 0x3a) {
		to->map = opcode == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
		to->opcode = next(decoder);
		read_rest(decoder, opcode == 0x38 ? M : M | B1);
		return;
	}
	to->map = X86_MAP_0F;
	to->opcode = opcode;
	read_rest(decoder, two_bytes[opcode]);
	/* AMD's EXTRQ and INSERTQ. */
	if (opcode == 0x78 && (to->is_short || to->has_repeat)) {
		next(decoder);
		to->immediate = next_signed(decoder, 1);
	}
}

/* Reads an opcode of a map that vector encodings use. */
static void read_vector_opcode(struct decoder *decoder, unsigned int map)
{
	struct x86_instruction *to = decoder->to;

	to->is_vector = true;
	to->opcode = next(decoder);
	switch (map) {
	case 1:
		to->map = X86_MAP_0F;
		/* All but VZEROUPPER have operands, even where the legacy map has none. */
		read_rest(decoder, to->opcode == 0x77 ? 0 : M | (two_bytes[to->opcode] & B1));
		return;
	case 2:
		to->map = X86_MAP_0F38;
		read_rest(decoder, M);
		return;
	case 3:
		to->map = X86_MAP_0F3A;
		read_rest(decoder, M | B1);
		return;
	}
	decoder->failed = true;
}

static void read_vex(struct decoder *decoder, uint8_t first)
{
	unsigned int map = 1;
	uint8_t byte = next(decoder);

	decoder->extend_reg = byte & 0x80 ? 0 : 8;
	if (first == 0xc4) {
		decoder->extend_index = byte & 0x40 ? 0 : 8;
		decoder->extend_base = byte & 0x20 ? 0 : 8;
		map = byte & 0x1f;
		decoder->to->is_wide = next(decoder) & 0x80;
	}
	read_vector_opcode(decoder, map);
}

static void read_evex(struct decoder *decoder)
{
	struct x86_instruction *to = decoder->to;
	uint8_t byte = next(decoder);

	decoder->extend_reg = byte & 0x80 ? 0 : 8;
	decoder->extend_index = byte & 0x40 ? 0 : 8;
	decoder->extend_base = byte & 0x20 ? 0 : 8;
	to->is_wide = next(decoder) & 0x80;
	next(decoder);
	if ((byte & 7) == 5 || (byte & 7) == 6) { /* half-precision arithmetic */
		to->is_vector = true;
		to->opcode = next(decoder);
		to->map = X86_MAP_OTHER;
		read_rest(decoder, M);
		return;
	}
	read_vector_opcode(decoder, byte & 7);
}

static void read_xop(struct decoder *decoder, uint8_t byte)
{
	struct x86_instruction *to = decoder->to;
	unsigned int map = byte & 0x1f;

	decoder->extend_reg = byte & 0x80 ? 0 : 8;
	decoder->extend_index = byte & 0x40 ? 0 : 8;
	decoder->extend_base = byte & 0x20 ? 0 : 8;
	to->is_wide = next(decoder) & 0x80;
	to->is_vector = true;
	to->opcode = next(decoder);
	to->map = X86_MAP_OTHER;
	read_rest(decoder, map == 8 ? M | B1 : map == 9 ? M : map == 10 ? M | D : BAD);
}

static void read_one_byte(struct decoder *decoder, uint8_t opcode)
{
	struct x86_instruction *to = decoder->to;

	to->opcode = opcode;
	switch (opcode) {
	case 0x0f:
		read_two_bytes(decoder);
		return;
	case 0x62:
		read_evex(decoder);
		return;
	case 0xc4:
	case 0xc5:
		read_vex(decoder, opcode);
		return;
	case 0xa0 ... 0xa3: /* MOV with a full-size address */
		to->immediate = next_signed(decoder, decoder->short_address ? 4 : 8);
		return;
	case 0xb8 ... 0xbf:
		to->rm = (opcode & 7) | decoder->extend_base;
		to->immediate = next_signed(decoder, to->is_wide ? 8 : to->is_short ? 2 : 4);
		return;
	case 0x8f: /* POP, or AMD's XOP, whose map numbers are invalid in the ModRM of POP */
		if ((decoder->code[decoder->at] & 0x1f) >= 8) {
			read_xop(decoder, next(decoder));
			return;
		}
		break;
	}
	read_rest(decoder, one_byte[opcode]);
	/* TEST with an immediate shares its opcode with instructions without one. */
	if (opcode == 0xf6 && (to->reg & 7) < 2)
		to->immediate = next_signed(decoder, 1);
	if (opcode == 0xf7 && (to->reg & 7) < 2)
		to->immediate = next_signed(decoder, to->is_short && !to->is_wide ? 2 : 4);
}

/* Reads the legacy prefixes. A REX prefix is not one of them: it counts only as the last prefix. */
static uint8_t read_prefixes(struct decoder *decoder)
{
	while (decoder->at < X86_MAX_INSTRUCTION_BYTES) {
		uint8_t byte = next(decoder);

		switch (byte) {
		case 0x66:
			decoder->to->is_short = true;
			break;
		case 0xf2:
		case 0xf3:
			decoder->to->has_repeat = true;
			break;
		case 0x67:
			decoder->short_address = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			break;
		default:
			return byte;
		}
	}
	decoder->failed = true;
	return 0;
}

/* Instructions that may have a byte register operand. */
static bool has_byte_operand(const struct x86_instruction *to)
{
	switch (to->map == X86_MAP_0F ? 0x0f00 | to->opcode : to->opcode) {
	case 0x00 ... 0x3f:
		return (to->opcode & 5) == 0;
	case 0x80:
	case 0x84:
	case 0x86:
	case 0x88:
	case 0x8a:
	case 0xb0 ... 0xb7:
	case 0xc0:
	case 0xc6:
	case 0xd0:
	case 0xd2:
	case 0xf6:
	case 0xfe:
	case 0x0f90 ... 0x0f9f:
	case 0x0fb0:
	case 0x0fb6:
	case 0x0fbe:
	case 0x0fc0:
		return true;
	}
	return false;
}

/* Without a REX prefix, byte registers 4 to 7 are AH, CH, DH and BH. */
static void name_high_bytes(struct x86_instruction *to)
{
	bool is_move = to->map == X86_MAP_ONE_BYTE && to->opcode >= 0xb0 && to->opcode <= 0xb7;
	bool names_registers =
		to->map == X86_MAP_ONE_BYTE
			? to->opcode < 0x40 || (to->opcode >= 0x84 && to->opcode <= 0x8a)
			: to->opcode == 0xb0 || to->opcode == 0xc0;

	if (to->is_vector || to->map > X86_MAP_0F || !has_byte_operand(to))
		return;
	if ((is_move || to->mod == 3) && to->rm >= 4)
		to->rm -= 4;
	if (names_registers && to->reg >= 4)
		to->reg -= 4;
}

bool x86_decode(const uint8_t *code, size_t size, struct x86_instruction *ret_instruction)
{
	struct decoder decoder = {.code = code, .to = ret_instruction};
	uint8_t copy[MAX_READ_BYTES];
	bool has_rex;
	uint8_t byte;

	memset(ret_instruction, 0, sizeof(*ret_instruction));
	if (size < sizeof(copy)) {
		memset(copy, 0, sizeof(copy));
		memcpy(copy, code, size);
		decoder.code = copy;
	}
	byte = read_prefixes(&decoder);
	has_rex = (byte & 0xf0) == 0x40;
	if (has_rex) {
		ret_instruction->is_wide = byte & 8;
		decoder.extend_reg = byte & 4 ? 8 : 0;
		decoder.extend_index = byte & 2 ? 8 : 0;
		decoder.extend_base = byte & 1 ? 8 : 0;
		byte = next(&decoder);
	}
	read_one_byte(&decoder, byte);
	if (!has_rex)
		name_high_bytes(ret_instruction);
	if (decoder.failed || decoder.at > size || decoder.at > X86_MAX_INSTRUCTION_BYTES)
		return false;
	ret_instruction->size = (uint8_t)decoder.at;
	return true;
}
