// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Regions that pkbpf.py marks: sys.audit(event, bytes). */
#include "span_site.bpf.h"
#include "span_slow.bpf.h"

/* Where CPython keeps the text of a compact ASCII string: since 3.12, before, and in builds
 * without a global lock. bytes objects: likewise. */
#define PYTHON_TEXT_FIRST 40
#define PYTHON_TEXT_LAST  64
#define PYTHON_BYTES	  32
#define PYTHON_FREE_MORE  16
/* "pkbpf." and the first letter of an operation. */
#define PYTHON_PREFIX 6

/* Offset of the text in the event's string, which begins with "pkbpf."; 0: another event. The byte
 * after the prefix goes to *operation. */
static __always_inline __u32 python_text(__u64 string, char *operation)
{
	char text[8] = {};

	for (__u32 at = PYTHON_TEXT_FIRST; at <= PYTHON_TEXT_LAST; at += 8) {
		if (bpf_probe_read_user(text, sizeof(text), (void *)(string + at)))
			return 0;
		if (text[0] == 'p' && text[1] == 'k' && text[2] == 'b' && text[3] == 'p' &&
		    text[4] == 'f' && text[5] == '.') {
			*operation = text[PYTHON_PREFIX];
			return at;
		}
	}
	return 0;
}

/* The number behind the name: "name\0" "12". The name is in the thread's stack when the region is
 * entered; here it is read again, because names are short and most have no number. */
static __always_inline __u64 python_items(__u64 text)
{
	char name[PKBPF_SPAN_NAME], digits[24] = {};
	long length = bpf_probe_read_user_str(name, sizeof(name), (void *)text);
	__u64 items = 0;

	if (length <= 0 ||
	    bpf_probe_read_user_str(digits, sizeof(digits), (void *)(text + length)) <= 0)
		return 0;
	for (int i = 0; i < (int)sizeof(digits); i++) {
		if (digits[i] < '0' || digits[i] > '9')
			break;
		items = items * 10 + (digits[i] - '0');
	}
	return items;
}

SEC("?uprobe")
int span_python(struct pt_regs *ctx)
{
	__u64 arguments = PT_REGS_PARM2(ctx), count = PT_REGS_PARM3(ctx), strings[2], text;
	char operation = 0;
	__u32 at;

	count_hit(ctx);
	if (!is_target() || count < 2 ||
	    bpf_probe_read_user(strings, sizeof(strings), (void *)arguments))
		return 0;
	at = python_text(strings[0], &operation);
	if (!at)
		return 0;
	/* Objects of builds without a global lock have a longer head. */
	text = strings[1] + PYTHON_BYTES +
	       (at >= PYTHON_TEXT_FIRST + PYTHON_FREE_MORE ? PYTHON_FREE_MORE : 0);
	switch (operation) {
	case 'e':
		span_push(text, python_items(text), strings[1], PT_REGS_SP(ctx),
			  PKBPF_SPAN_UNSCOPED);
		break;
	case 'l':
		span_pop(strings[1], PT_REGS_SP(ctx), SPAN_LEAVE_TASK);
		break;
	case 'i':
		span_add_items(python_items(text));
		break;
	case 'b':
		span_begin_id(text, strings[1], python_items(text));
		break;
	case 'd':
		span_end_id(strings[1]);
		break;
	}
	slow_send(ctx);
	return 0;
}
