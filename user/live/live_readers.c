// SPDX-License-Identifier: BSD-2-Clause
#include "live/live_readers.h"

#include <stddef.h>

#include "reader/readers.h"
#include "source/context/context_service.h"
#include "symbol/elf/data_service.h"
#include "symbol/elf/names_service.h"
#include "symbol/jit/code_service.h"
#include "unwind/table/table_reader.h"

struct readers *live_readers_start(const struct log *log)
{
	static const reader_serve_fn services[READER_SERVICES] = {
		[READER_BUILDS_TABLE] = table_reader_serve,
		[READER_NAMES_ADDRESSES] = names_service_answer,
		[READER_FORGETS_FILES] = names_service_forget,
		[READER_CUTS_CODE] = code_service_cut,
		[READER_FINDS_CONTEXT] = context_service_find,
		[READER_NAMES_DATA] = data_service_answer,
		[READER_READS_CONTEXT] = context_service_read,
	};
	struct readers *readers = NULL;
	struct error error;

	if (readers_start(services, &readers, &error) < 0) {
		log_warning(log,
			    "%s: functions of programs have no names, and stacks are truncated; "
			    "PKBPF_READERS=0 has files read with the rights of pkbpf",
			    error.text);
		readers = readers_none();
	}
	readers_set_log(readers, log);
	return readers;
}
