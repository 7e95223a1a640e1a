// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/table/table_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "unwind/table/table_packet.h"

/* CPU time of a table: a browser of 250 MiB takes a second. */
#define LEAST_NS	 (2 * NS_PER_SECOND)
#define BYTES_PER_SECOND (16U << 20)

struct table_request {
	uint32_t postpone;
};

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
	const struct table_request *asked = request->bytes;
	struct built *built;
	int err;

	if (request->fd < 0 || request->size != sizeof(*asked))
		return -EINVAL;
	built = calloc(1, sizeof(*built));
	if (!built)
		return -ENOMEM;
	err = build(built, request->fd, asked->postpone != 0);
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

static int build_here(const struct table_order *order, struct rule_set *rules,
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

int table_reader_build(const struct table_order *order, struct rule_set *rules,
		       struct unwind_table **ret_table, bool *ret_lacks_rules)
{
	const struct table_request request = {order->postpone};
	struct reader_question question = {
		.lane = READER_TABLES,
		.service = READER_BUILDS_TABLE,
		.fd = order->image->fd,
		.bytes = &request,
		.size = sizeof(request),
		.name = order->path,
		.cpu_limit_ns = LEAST_NS + order->image->size / BYTES_PER_SECOND * NS_PER_SECOND,
	};
	_cleanup_close_ int memory_fd = -1;
	struct reader_answer answer;
	int err;

	if (!order->readers)
		return build_here(order, rules, ret_table, ret_lacks_rules);
	*ret_lacks_rules = false;
	if (question.fd < 0) {
		memory_fd = reader_memory_file(order->image->memory, order->image->size);
		if (memory_fd < 0)
			return memory_fd;
		question.fd = memory_fd;
	}
	err = readers_ask(order->readers, &question, &answer);
	if (err == -ENOTCONN)
		return build_here(order, rules, ret_table, ret_lacks_rules);
	if (err)
		return err;
	err = take(&answer, rules, ret_table, ret_lacks_rules);
	if (err == -EBADMSG)
		readers_reject(order->readers, &question);
	reader_answer_done(&answer);
	return err;
}
