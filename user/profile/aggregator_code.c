// SPDX-License-Identifier: BSD-2-Clause
/* Hands functions of runtimes to where their code gets its names. */
#include <errno.h>

#include <pkbpf/v8.h>

#include "profile/aggregator_private.h"
#include "python/python_functions.h"
#include "ruby/ruby_code.h"
#include "symbol/jit/code_history.h"

int aggregator_take_python_code(struct aggregator *aggregator,
				const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_python_code *code = (const void *)record;
	struct process *process;
	int err;

	if (record->size < sizeof(*code))
		return -EBADMSG;
	process = process_table_get(aggregator->processes, code->pid, "");
	if (!process || !aggregator->options.python)
		return process ? 0 : -ENOMEM;
	err = python_functions_note(aggregator->options.python, process->id, code, record->size);
	stack_builder_forget_mappings(aggregator->builder, process->id);
	return err == -ENOSPC ? 0 : err;
}

int aggregator_take_ruby_code(struct aggregator *aggregator,
			      const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_ruby_code *ruby = (const void *)record;
	struct process *process;
	struct python_code code;
	int err;

	if (record->size < sizeof(*ruby))
		return -EBADMSG;
	process = process_table_get(aggregator->processes, ruby->pid, "");
	if (!process || !aggregator->options.python)
		return process ? 0 : -ENOMEM;
	err = ruby_code_decode(ruby, record->size, &code);
	if (!err)
		err = python_functions_put(aggregator->options.python, process->id, ruby->code,
					   &code);
	stack_builder_forget_mappings(aggregator->builder, process->id);
	return err == -ENOSPC ? 0 : err;
}

int aggregator_take_v8_function(struct aggregator *aggregator,
				const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_v8_function *function = (const void *)record;
	struct process *process;

	if (record->size < sizeof(*function))
		return -EBADMSG;
	process = process_table_get(aggregator->processes, function->pid, "");
	if (!process)
		return -ENOMEM;
	if (aggregator->options.code_history)
		code_history_note_javascript(aggregator->options.code_history, process->id,
					     function);
	return 0;
}
