// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/table/table_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "unwind/table/table_packet.h"

/* CPU time of a table: a browser of 250 MiB takes a second. */
#define LEAST_NS	 (2 * NS_PER_SECOND)
#define BYTES_PER_SECOND (16U << 20)

/* ---- in the reader ---- */

struct built {
	struct elf_file *image;
	struct rule_set *rules;
	struct unwind_table *table;
	struct table_packet packet;
};

static void free_built(void *context)
{
	struct built *built = context;

	table_packet_done(&built->packet);
	unwind_table_free(built->table);
	rule_set_free(built->rules);
	elf_program_free(built->image);
	free(built);
}

static int build(struct built *built, int fd, bool postpone)
{
	int err = elf_program_open(fd, &built->image);

	if (err)
		return err;
	built->rules = rule_set_new();
	if (!built->rules)
		return -ENOMEM;
	err = unwind_table_build(built->image, postpone, built->rules, &built->table, NULL);
	return err ? err : table_packet_make(&built->packet, built->table, built->rules);
}

int table_reader_serve(const struct reader_request *request, struct reader_reply *reply)
{
	const uint32_t *postpone = request->bytes;
	struct built *built;
	int err;

	if (request->fd < 0 || request->size != sizeof(*postpone))
		return -EINVAL;
	built = calloc(1, sizeof(*built));
	if (!built)
		return -ENOMEM;
	err = build(built, request->fd, *postpone != 0);
	if (err) {
		free_built(built);
		return err;
	}
	for (size_t i = 0; i < TABLE_PACKET_PIECES; i++)
		reply->pieces[i] = built->packet.pieces[i];
	reply->count = TABLE_PACKET_PIECES;
	reply->release = free_built;
	reply->context = built;
	return 0;
}

/* ---- in the program ---- */

int table_reader_build_here(const struct table_order *order, struct rule_set *rules,
			    struct unwind_table **ret_table, bool *ret_lacks_rules)
{
	uint64_t refused = rule_set_refused(rules);
	int err = unwind_table_build(order->image, order->postpone, rules, ret_table, NULL);

	*ret_lacks_rules = rule_set_refused(rules) != refused;
	return err;
}

static int take(const struct reader_answer *answer, struct rule_set *rules,
		struct unwind_table **ret_table, bool *ret_lacks_rules)
{
	uint64_t refused = rule_set_refused(rules);
	const struct table_packet_head *head = answer->bytes;
	int err = table_packet_read(answer->bytes, answer->size, rules, ret_table);

	*ret_lacks_rules = rule_set_refused(rules) != refused || (!err && head->lacks_rules);
	return err;
}

int table_reader_begin(struct table_job *job, enum reader_lane lane)
{
	const struct elf_file *image = job->order.image;
	int memory_fd = -1, err;

	if (!job->order.readers)
		return -ENOTCONN;
	job->request = job->order.postpone;
	job->question = (struct reader_question){
		.lane = lane,
		.service = READER_BUILDS_TABLE,
		.fd = image->fd,
		.bytes = &job->request,
		.size = sizeof(job->request),
		.name = job->order.path,
		.cpu_limit_ns = LEAST_NS + image->size / BYTES_PER_SECOND * NS_PER_SECOND,
	};
	if (image->fd < 0) {
		memory_fd = reader_memory_file(image->memory, image->size);
		if (memory_fd < 0)
			return memory_fd;
		job->question.fd = memory_fd;
	}
	err = readers_begin(job->order.readers, &job->question, &job->asked);
	if (memory_fd >= 0)
		close(memory_fd);
	return err;
}

int table_reader_take(struct table_job *job, struct rule_set *rules,
		      struct unwind_table **ret_table, bool *ret_lacks_rules)
{
	struct reader_answer answer;
	int err = readers_look(job->order.readers, &job->asked, &answer);

	if (err)
		return err;
	err = take(&answer, rules, ret_table, ret_lacks_rules);
	if (err == -EBADMSG)
		readers_reject(job->order.readers, &job->question);
	reader_answer_done(&answer);
	return err;
}

void table_reader_drop(struct table_job *job)
{
	readers_drop(job->order.readers, &job->asked);
}
