#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tools/check_layers must complain about each rule broken, and about nothing else.
set -u
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{user/{base,symbol,capture,unwind,export,report},include/pkbpf,bpf,tests/unit}
failed=0

bsd='// SPDX-License-Identifier: BSD-2-Clause'
both='/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */'

# verdict EXPECTED-COMPLAINT FILE LINES…: the tree plus this file; an empty complaint means "is fine".
verdict() {
	local expected=$1 file=$2 said status
	shift 2
	mkdir -p "$tree/$(dirname "$file")"
	printf '%s\n' "$@" >"$tree/$file"
	said=$("$root/tools/check_layers" "$tree")
	status=$?
	if [[ -z $expected ]]; then
		[[ $status == 0 ]] || failure "$file should be fine: $said"
	elif [[ $status != 1 || $said != *"$file:"*"$expected"*"1 violations"* ]]; then
		failure "$file should be told '$expected', exit 1; got exit $status: $said"
	fi
	rm "$tree/$file"
}

failure() {
	printf '%s\n' "$*"
	failed=1
}

verdict '' user/base/array.c "$bsd" '#include <stdlib.h>' '#include "base/array.h"'
verdict '' user/symbol/elf/elf.c "$bsd" '#include "process/mapping.h"' '#include <pkbpf/event.h>'
verdict '' user/unwind/cfi/eh_frame.c "$bsd" '#include "elf/elf_file.h"'
verdict '' user/capture/session/session.c "$bsd" '#include <bpf/libbpf.h>' '#include "pkbpf.skel.h"'
verdict '' user/unwind/table/loader.c "$bsd" '#include <bpf/bpf.h>'
verdict '' user/main.c "$bsd" '#include "cli/command_table.h"'
verdict '' user/cli/console.c "$bsd" 'fprintf(stderr, "x");'
verdict '' user/export/folded.c "$bsd" 'fprintf(out, "exit(1)"); /* never to stderr */' ' * exit() is for main'
verdict '' bpf/cpu.bpf.c "$both" '#include <bpf/bpf_helpers.h>'
verdict '' tests/unit/base/test_a.c "$bsd" 'char *maps = "/proc/42/root/usr/lib/x.so";'
verdict '' tests/lint/run.sh '#!/bin/sh' '# SPDX-License-Identifier: BSD-2-Clause'
verdict '' tests/golden/x.folded 'no licence line in data;main 1'

verdict 'base may include nothing else' user/base/array.c "$bsd" '#include "event/decoder.h"'
verdict 'elf may include base' user/elf/elf_file.c "$bsd" '#include "process/mapping.h"'
verdict 'symbol may include base, event, process' user/symbol/elf/elf.c "$bsd" '#include "unwind/row.h"'
verdict 'report may include' user/report/text.c "$bsd" '#include "export/format.h"'
verdict 'main.c may include base, cli' user/main.c "$bsd" '#include "capture/session/session.h"'
verdict 'know BPF' user/symbol/elf/elf.c "$bsd" '#include <bpf/libbpf.h>'
verdict 'know BPF' user/unwind/table/table_builder.c "$bsd" '#  include <linux/bpf.h>'
verdict 'know BPF' user/report/text.c "$bsd" '#include "pkbpf.skel.h"'
verdict 'cli/ talks' user/report/text.c "$bsd" 'printf("x");'
verdict 'cli/ talks' user/base/log.c "$bsd" 'fprintf(stderr, "x");'
verdict 'cli/ talks' user/capture/session/session.c "$bsd" '	exit(1);'
verdict 'depends on neither' include/pkbpf/event.h "$both" '#include "base/array.h"'
verdict 'climbing' user/base/array.c "$bsd" '#include "../event/decoder.h"'
verdict 'SPDX line is missing' user/base/array.c '#include <stdlib.h>'
verdict 'expected GPL-2.0-only OR BSD-2-Clause' bpf/cpu.bpf.c "$bsd"
verdict 'expected BSD-2-Clause' user/base/array.c "$both"
verdict '"utils"' user/base/utils.c "$bsd"
verdict '"common"' user/common/array.c "$bsd"
verdict 'a path of one machine' tests/unit/base/test_a.c "$bsd" "char *p = \"/ro""ot/x\";"
verdict 'the path of this clone' tests/unit/base/test_a.c "$bsd" "char *p = \"$tree/x\";"
exit $failed
