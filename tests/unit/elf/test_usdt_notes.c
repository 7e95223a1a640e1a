// SPDX-License-Identifier: BSD-2-Clause
/* Tests the reader of statically defined probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "elf/usdt_notes.h"

struct notes {
	uint8_t bytes[1024];
	size_t size;
	char text[1024]; /* of those that were read */
};

static void put(struct notes *notes, const void *bytes, size_t size)
{
	memcpy(notes->bytes + notes->size, bytes, size);
	notes->size += size;
	while (notes->size % 4)
		notes->bytes[notes->size++] = 0;
}

static void put_note(struct notes *notes, const char *owner, uint32_t type,
		     const uint64_t addresses[3], const char *strings, size_t strings_size)
{
	uint8_t description[256];
	uint32_t header[3] = {(uint32_t)strlen(owner) + 1, (uint32_t)(24 + strings_size), type};

	memcpy(description, addresses, 24);
	memcpy(description + 24, strings, strings_size);
	put(notes, header, sizeof(header));
	put(notes, owner, strlen(owner) + 1);
	put(notes, description, 24 + strings_size);
}

static bool take(void *context, const struct usdt_note *note)
{
	struct notes *notes = context;
	size_t length = strlen(notes->text);

	snprintf(notes->text + length, sizeof(notes->text) - length, "%s:%s(%s)@%llx~%llx ",
		 note->provider, note->name, note->arguments, (unsigned long long)note->address,
		 (unsigned long long)note->semaphore);
	return true;
}

static const uint64_t here[3] = {0x1000, 0x2000, 0x3000};

static void reads_provider_name_and_addresses(void **state)
{
	struct notes notes = {0};

	put_note(&notes, "stapsdt", 3, here, "pkbpf\0enter\0008@%rdi", 19);
	put_note(&notes, "GNU", 1, here, "", 0);
	put_note(&notes, "stapsdt", 3, (uint64_t[]){5, 0, 0}, "a\0b\0", 4);
	usdt_notes_parse(notes.bytes, notes.size, 0, take, &notes);
	assert_string_equal(notes.text, "pkbpf:enter(8@%rdi)@1000~3000 a:b()@5~0 ");
}

static void moves_addresses_of_a_file_that_was_moved(void **state)
{
	struct notes notes = {0};

	put_note(&notes, "stapsdt", 3, here, "p\0n\0", 5);
	usdt_notes_parse(notes.bytes, notes.size, 0x2100, take, &notes);
	assert_string_equal(notes.text, "p:n()@1100~3100 ");
}

static void leaves_out_what_makes_no_sense(void **state)
{
	struct notes notes = {0};

	put_note(&notes, "stapsdt", 3, here, "unending", 8);
	put_note(&notes, "stapsdt", 3, (uint64_t[]){0, 0, 0}, "p\0n\0", 5);
	put_note(&notes, "stapsdt", 3, here, "p\0n\0", 5);
	usdt_notes_parse(notes.bytes, notes.size - 8, 0, take, &notes);
	assert_string_equal(notes.text, "");
	for (size_t i = 0; i < notes.size; i++)
		usdt_notes_parse(notes.bytes + i, notes.size - i, 0, take, &notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_provider_name_and_addresses),
		cmocka_unit_test(moves_addresses_of_a_file_that_was_moved),
		cmocka_unit_test(leaves_out_what_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
