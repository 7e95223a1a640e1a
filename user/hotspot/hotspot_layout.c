// SPDX-License-Identifier: BSD-2-Clause
/* Reads vmStructs: fields, static variables, sizes of types and integer constants. */
#include "hotspot/hotspot_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "hotspot/hotspot_wanted.h"

#define MAX_STRIDE 256U

struct reading {
	const struct hotspot_memory *memory;
	uint64_t words[HOTSPOT_WORDS];
	uint64_t bias;
	struct hotspot_layout *layout;
};

static uint64_t word_at(const uint8_t *entry, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static int32_t int_at(const uint8_t *entry, uint64_t offset)
{
	int32_t value;

	memcpy(&value, entry + offset, sizeof(value));
	return value;
}

uint64_t hotspot_field_get(const void *bytes, size_t size, struct hotspot_field field)
{
	uint64_t value = 0;

	if (!field.width || field.width > sizeof(value) || size < field.width ||
	    field.offset > size - field.width)
		return 0;
	memcpy(&value, (const uint8_t *)bytes + field.offset, field.width);
	if (field.is_signed && field.width < 8 && value >> (field.width * 8 - 1))
		value |= UINT64_MAX << (field.width * 8);
	return value;
}

/* Calls take with each entry of a table until the one without a name. */
static int read_table(struct reading *reading, enum hotspot_word table, enum hotspot_word stride,
		      uint64_t name_offset,
		      void (*take)(struct reading *reading, const uint8_t *entry, const char *name))
{
	uint64_t address = reading->words[table], size = reading->words[stride];
	uint8_t entry[MAX_STRIDE];
	char name[HOTSPOT_MAX_STRING];

	if (!address || size < 8 || size > sizeof(entry) || name_offset > size - 8)
		return -EBADMSG;
	for (int i = 0; i < HOTSPOT_MAX_ENTRIES; i++) {
		int err = hotspot_read(reading->memory, address + (uint64_t)i * size, entry, size);

		if (err)
			return err;
		if (!word_at(entry, name_offset))
			return i ? 0 : -EBADMSG;
		err = hotspot_read_string(reading->memory, word_at(entry, name_offset), name,
					  sizeof(name));
		if (err)
			return err;
		take(reading, entry, name);
	}
	return -EBADMSG;
}

static const struct width_of_type {
	const char *name;
	uint8_t width;
	bool is_signed;
} widths[] = {
	{"u1", 1, false},
	{"bool", 1, false},
	{"unsigned char", 1, false},
	{"volatile signed char", 1, true},
	{"signed char", 1, true},
	{"volatile unsigned char", 1, false},
	{"u2", 2, false},
	{"unsigned short", 2, false},
	{"uint16_t", 2, false},
	{"jushort", 2, false},
	{"int16_t", 2, true},
	{"short", 2, true},
	{"u4", 4, false},
	{"unsigned int", 4, false},
	{"uint32_t", 4, false},
	{"juint", 4, false},
	{"int", 4, true},
	{"jint", 4, true},
	{"int32_t", 4, true},
	{"CompLevel", 1, false},
	{"Bytecodes::Code", 4, true},
};

static void set_width(const char *declaration, struct hotspot_field *field)
{
	field->width = 8;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		if (strcmp(declaration, widths[i].name) != 0)
			continue;
		field->width = widths[i].width;
		field->is_signed = widths[i].is_signed;
	}
}

static void take_static(struct reading *reading, const uint8_t *entry, const char *type,
			const char *name)
{
	struct hotspot_layout *layout = reading->layout;
	uint64_t address = word_at(entry, reading->words[HOTSPOT_STRUCT_ADDRESS]) - reading->bias;

	if (!strcmp(type, "StubRoutines") && !strstr(name, "_return_address") &&
	    layout->stub_count < HOTSPOT_MAX_STUBS)
		layout->stubs[layout->stub_count++] = address;
	for (size_t i = 0; i < hotspot_wanted_static_count; i++) {
		const struct hotspot_wanted *wanted = &hotspot_wanted_statics[i];

		if (!strcmp(type, wanted->type) && !strcmp(name, wanted->name))
			memcpy((char *)layout + wanted->place, &address, sizeof(address));
	}
}

static void take_field(struct reading *reading, const uint8_t *entry, const char *type,
		       const char *name, const char *declaration)
{
	uint64_t offset = word_at(entry, reading->words[HOTSPOT_STRUCT_OFFSET]);

	for (size_t i = 0; i < hotspot_wanted_field_count; i++) {
		const struct hotspot_wanted *wanted = &hotspot_wanted_fields[i];
		struct hotspot_field field = {.offset = (uint16_t)offset};

		if (strcmp(type, wanted->type) != 0 || strcmp(name, wanted->name) != 0 ||
		    offset > HOTSPOT_MAX_OFFSET)
			continue;
		set_width(declaration, &field);
		memcpy((char *)&reading->layout->at + wanted->place, &field, sizeof(field));
	}
}

static void take_struct(struct reading *reading, const uint8_t *entry, const char *type)
{
	char name[HOTSPOT_MAX_STRING], declaration[HOTSPOT_MAX_STRING] = "";
	uint64_t text = word_at(entry, reading->words[HOTSPOT_STRUCT_DECLARATION]);
	bool is_static = int_at(entry, reading->words[HOTSPOT_STRUCT_IS_STATIC]) != 0;

	if (!hotspot_wants_type(type) ||
	    hotspot_read_string(reading->memory,
				word_at(entry, reading->words[HOTSPOT_STRUCT_FIELD]), name,
				sizeof(name)))
		return;
	if (text && hotspot_read_string(reading->memory, text, declaration, sizeof(declaration)))
		return;
	if (!is_static)
		take_field(reading, entry, type, name, declaration);
	else if (strcmp(type, "StubRoutines") != 0 || !strcmp(declaration, "address"))
		take_static(reading, entry, type, name);
}

static void take_type(struct reading *reading, const uint8_t *entry, const char *name)
{
	uint64_t size = word_at(entry, reading->words[HOTSPOT_TYPE_SIZE]);

	for (size_t i = 0; i < hotspot_wanted_size_count; i++) {
		uint16_t value = (uint16_t)size;

		if (!strcmp(name, hotspot_wanted_sizes[i].type) && size <= HOTSPOT_MAX_OFFSET)
			memcpy((char *)reading->layout + hotspot_wanted_sizes[i].place, &value,
			       sizeof(value));
	}
}

static void take_constant(struct reading *reading, const uint8_t *entry, const char *name)
{
	if (!strcmp(name, "ConstMethod::_has_linenumber_table") ||
	    !strcmp(name, "ConstMethodFlags::_misc_has_linenumber_table"))
		reading->layout->const_has_lines =
			(uint32_t)int_at(entry, reading->words[HOTSPOT_INT_VALUE]);
}

/* Offsets in entries are read as 8 bytes, and so is the stride: both bound them. */
static int read_words(struct reading *reading, const struct hotspot_image *image)
{
	for (int i = 0; i < HOTSPOT_WORDS; i++) {
		int err = hotspot_read(reading->memory, image->words[i] + reading->bias,
				       &reading->words[i], sizeof(reading->words[i]));

		if (err)
			return err;
	}
	for (int i = HOTSPOT_STRUCT_TYPE; i <= HOTSPOT_STRUCT_ADDRESS; i++)
		if (reading->words[i] > MAX_STRIDE - 8 ||
		    reading->words[i] + 8 > reading->words[HOTSPOT_STRUCTS_STRIDE])
			return -EBADMSG;
	if (reading->words[HOTSPOT_TYPE_SIZE] > MAX_STRIDE - 8 ||
	    reading->words[HOTSPOT_TYPE_SIZE] + 8 > reading->words[HOTSPOT_TYPES_STRIDE] ||
	    reading->words[HOTSPOT_INT_VALUE] > MAX_STRIDE - 8 ||
	    reading->words[HOTSPOT_INT_VALUE] + 4 > reading->words[HOTSPOT_INTS_STRIDE])
		return -EBADMSG;
	return 0;
}

static int read_tables(struct reading *reading)
{
	const uint64_t *words = reading->words;
	int err = read_table(reading, HOTSPOT_STRUCTS, HOTSPOT_STRUCTS_STRIDE,
			     words[HOTSPOT_STRUCT_TYPE], take_struct);

	if (!err)
		err = read_table(reading, HOTSPOT_TYPES, HOTSPOT_TYPES_STRIDE,
				 words[HOTSPOT_TYPE_NAME], take_type);
	return err ? err
		   : read_table(reading, HOTSPOT_INTS, HOTSPOT_INTS_STRIDE, words[HOTSPOT_INT_NAME],
				take_constant);
}

/* "17.0.15+6-Debian-1deb12u1" is 17.0.15; 8 says the version of HotSpot there ("25.442-b06"). */
static void read_version(struct reading *reading)
{
	struct hotspot_layout *layout = reading->layout;
	struct hotspot_field major = layout->at.version_major;
	uint64_t text = 0;
	uint8_t number = 0;

	if (layout->vm_release &&
	    !hotspot_read(reading->memory, layout->vm_release + reading->bias, &text, 8) && text)
		hotspot_read_string(reading->memory, text, layout->version,
				    sizeof(layout->version));
	layout->version[strcspn(layout->version, "+-")] = '\0';
	layout->java = (uint8_t)strtoul(layout->version, NULL, 10);
	if (!layout->jdk_version || major.width != 1 ||
	    hotspot_read(reading->memory, layout->jdk_version + reading->bias + major.offset,
			 &number, 1) ||
	    number == layout->java)
		return;
	layout->java = number;
	snprintf(layout->version, sizeof(layout->version), "%u", number);
}

/* src/hotspot/cpu/x86/frame_x86.hpp; src/hotspot/share/utilities/unsigned5.hpp */
static void set_what_no_table_has(struct hotspot_layout *layout)
{
	layout->frame_sender_sp = -8;
	layout->frame_method = -24;
	layout->frame_bytecode = layout->java == 8 ? -56 : -64;
	layout->unsigned5_minimum = layout->java >= 20;
}

int hotspot_layout_read(const struct hotspot_memory *memory, const struct hotspot_image *image,
			uint64_t bias, struct hotspot_layout *ret_layout)
{
	struct reading reading = {.memory = memory, .bias = bias, .layout = ret_layout};
	int err;

	*ret_layout = (struct hotspot_layout){0};
	err = read_words(&reading, image);
	if (!err)
		err = read_tables(&reading);
	if (err)
		return err;
	read_version(&reading);
	set_what_no_table_has(ret_layout);
	hotspot_wanted_missing(ret_layout);
	return ret_layout->missing[0] ? -ENOTSUP : 0;
}
