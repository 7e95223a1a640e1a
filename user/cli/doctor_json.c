// SPDX-License-Identifier: BSD-2-Clause
#include "cli/doctor_json.h"

#include <string.h>
#include <sys/utsname.h>

#include "export/json/json_writer.h"

#define SCHEMA_VERSION 1

const char *doctor_split_remedy(char *error_text)
{
	char *remedy = NULL;

	for (char *at = error_text; (at = strstr(at, "; ")); at += 2)
		remedy = at;
	if (!remedy)
		return "";
	*remedy = '\0';
	return remedy + 2;
}

static void write_check(struct json_writer *writer, struct doctor_check *check)
{
	const struct capability_ops *capability = check->capability;
	const char *remedy;

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "name", capability->name);
	json_writer_bool(writer, "required", capability->required);
	json_writer_bool(writer, "present", check->is_present);
	if (!check->is_present) {
		remedy = doctor_split_remedy(check->error.text);
		json_writer_string(writer, "reason", check->error.text);
		json_writer_string(writer, "remedy", remedy);
		json_writer_string(writer, "works_without", capability->without);
	}
	json_writer_object_end(writer);
}

void doctor_json_write(FILE *out, struct doctor_check *checks, size_t count)
{
	struct json_writer writer = {.out = out};
	struct utsname machine = {0};
	bool usable = true;

	for (size_t i = 0; i < count; i++)
		usable = usable && (checks[i].is_present || !checks[i].capability->required);
	uname(&machine);
	json_writer_object_begin(&writer, NULL);
	json_writer_u64(&writer, "schema_version", SCHEMA_VERSION);
	json_writer_object_begin(&writer, "tool");
	json_writer_string(&writer, "name", "pkbpf");
	json_writer_string(&writer, "version", PKBPF_VERSION);
	json_writer_object_end(&writer);
	json_writer_object_begin(&writer, "host");
	json_writer_string(&writer, "system", machine.sysname);
	json_writer_string(&writer, "release", machine.release);
	json_writer_string(&writer, "machine", machine.machine);
	json_writer_object_end(&writer);
	json_writer_bool(&writer, "can_profile", usable);
	json_writer_array_begin(&writer, "checks");
	for (size_t i = 0; i < count; i++)
		write_check(&writer, &checks[i]);
	json_writer_array_end(&writer);
	json_writer_object_end(&writer);
}
