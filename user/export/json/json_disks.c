// SPDX-License-Identifier: BSD-2-Clause
/* Writes what the disks of the machine did. */
#include "export/json/json_sections.h"

void json_disks(struct json_writer *writer, const struct profile *profile)
{
	const struct disk_list *list = profile_disks(profile);

	if (!list->items.count)
		return;
	json_writer_array_begin(writer, "disks");
	array_foreach(&list->items, disk) {
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "name", disk->name);
		json_writer_decimal(writer, "busy_percent", disk_busy_percent(disk));
		json_writer_decimal(writer, "queue_mean", disk_queue(disk));
		json_writer_u64(writer, "reads", disk->reads);
		json_writer_u64(writer, "writes", disk->writes);
		json_writer_u64(writer, "read_bytes", disk->read_bytes);
		json_writer_u64(writer, "written_bytes", disk->written_bytes);
		json_writer_u64(writer, "measured_ns", disk->of_ns);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}
