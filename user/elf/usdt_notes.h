/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statically defined probes of a file: its notes of type "stapsdt", as <sys/sdt.h> and pkbpf.h make
 * them.
 *
 * Source: SystemTap, UserSpaceProbeImplementation.
 */
#ifndef PKBPF_ELF_USDT_NOTES_H
#define PKBPF_ELF_USDT_NOTES_H

#include <stdbool.h>

#include "elf/elf_file.h"

/* The most that are read of a file; a JVM has 700. */
#define USDT_NOTES_MAX 65536

struct usdt_note {
	const char *provider, *name, *arguments; /* borrowed until the callback returns */
	uint64_t address;			 /* as linked */
	uint64_t semaphore;			 /* address as linked; 0: none */
};

/* false: no more notes are wanted. */
typedef bool usdt_note_fn(void *context, const struct usdt_note *note);

/* Calls take for each note of a 64-bit file. Notes that make no sense are left out. 0 also without
 * notes. -EIO, -ENOMEM, -EBADMSG. */
int usdt_notes_read(const struct elf_file *file, usdt_note_fn *take, void *context);
/* The same for the bytes of the section. base: address of .stapsdt.base, which tells how far the
 * file was moved after it was linked; 0: none. */
void usdt_notes_parse(const uint8_t *bytes, size_t size, uint64_t base, usdt_note_fn *take,
		      void *context);

#endif
