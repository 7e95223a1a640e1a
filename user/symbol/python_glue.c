// SPDX-License-Identifier: BSD-2-Clause
/* The table of names. */
#include "symbol/python_glue.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/* "*" at the end stands for anything. Functions of libraries that call back, such as list_sort or
 * _functools_reduce, are not among them: they are what the program called. These only pass calls
 * on, to Python and to C. */
static const char *const passing[] = {
	/* the loop, in 3.8 to 3.15 */
	"_PyEval_*",
	"PyEval_*",
	"_TAIL_CALL_*",
	"py_trampoline_evaluator",
	"_PyJIT*",
	/* calls */
	"_PyFunction_Vectorcall*",
	"function_code_fastcall",
	"_PyObject_Call*",
	"PyObject_Call*",
	"_PyObject_FastCall*",
	"_PyObject_MakeTpCall*",
	"_PyObject_Vectorcall*",
	"PyObject_Vectorcall*",
	"PyVectorcall_*",
	"_PyVectorcall_*",
	"_PyStack_*",
	"object_vacall",
	"callmethod",
	"call_function",
	"do_call_core",
	"trace_call_function",
	"method_vectorcall*",
	"method_call",
	"vectorcall_*",
	"cfunction_*",
	"_PyCFunction*",
	"_PyMethodDef_*",
	"method_descriptor_*",
	"type_call",
	/* Ruby: the loop, calls of methods and blocks, exceptions */
	"vm_*",
	"rb_vm_*",
	"rb_ec_*",
	"rb_yield*",
	"rb_funcall*",
	"rb_check_funcall*",
	"rb_call*",
	"rb_block_call*",
	"rb_iterate*",
	"rb_proc_call*",
	"rb_method_call*",
	"rb_protect",
	"rb_ensure",
	"rb_rescue*",
	"rb_catch*",
	"rb_obj_call_init*",
	"rb_class_new_instance*",
	"call_cfunc_*",
	"ractor_safe_call_cfunc_*",
	"invoke_block_from_c*",
	"invoke_iseq_block_from_c",
};

/* And these are what a program does, unless they call Python. */
static const char *const calling[] = {
	"slot_tp_*",
	"slot_mp_*",
	"slot_sq_*",
	"slot_nb_*",
	"call_unbound*",
	"call_attribute",
	"lookup_maybe_method",
	"wrap_*",
	"wrapperdescr_*",
	"property_descr_get",
	"PyObject_GetAttr*",
	"_PyObject_GenericGetAttr*",
	"PyObject_GenericGetAttr",
	"_PyObject_GetMethod",
	/* generators */
	"gen_send_ex*",
	"gen_send",
	"gen_iternext",
	"_PyGen_*",
	"PyIter_Send",
	/* start of programs and threads */
	"Py_BytesMain",
	"Py_Main",
	"Py_RunMain",
	"pymain_*",
	"_PyRun_*",
	"PyRun_*",
	"pyrun_*",
	"run_mod",
	"run_eval_code_obj",
	"thread_run",
	"pythread_wrapper",
	/* the same of Ruby */
	"rb_iseq_eval*",
	"ruby_run_node",
	"ruby_exec_node",
	"ruby_main",
	"rb_main",
	"thread_start_func_*",
	"thread_do_start*",
	"thread_create_core",
	"rb_fiber_start",
	"fiber_entry",
};

static bool matches(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);

	return pattern[length - 1] == '*' ? !strncmp(pattern, name, length - 1)
					  : !strcmp(pattern, name);
}

/* "python3.11", "libpython3.11.so.1.0", "ruby3.1", "libruby-3.1.so.3.1.2" */
static bool is_interpreter(const char *module)
{
	if (!strncmp(module, "lib", 3))
		module += 3;
	return !strncmp(module, "python3", 7) || !strcmp(module, "ruby") ||
	       !strncmp(module, "ruby3", 5) || !strncmp(module, "ruby-3", 6);
}

static bool is_among(const char *const *patterns, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (matches(patterns[i], name))
			return true;
	return false;
}

static bool is_glue_name(const char *function, enum frame_neighbours neighbours)
{
	/* Copies by the compiler end in ".cold", ".lto_priv.0". */
	char name[64];

	if (!function)
		return false;
	strncpy(name, function, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	name[strcspn(name, ".")] = '\0';
	return is_among(passing, ARRAY_SIZE(passing), name) ||
	       (neighbours == FRAME_CALLS_PYTHON && is_among(calling, ARRAY_SIZE(calling), name));
}

static bool is_glue(const struct symbol *symbol, enum frame_neighbours neighbours)
{
	const char *function;

	if (!symbol->line_count)
		return symbol->module && is_interpreter(symbol->module);
	function = symbol->lines[symbol->line_count - 1].function;
	/* python -X perf */
	if (symbol->flags & SYMBOL_IS_JIT)
		return function && !strncmp(function, "py::", 4);
	return is_glue_name(function, neighbours);
}

void python_glue_mark(struct symbol *symbol, enum frame_neighbours neighbours)
{
	if (neighbours == FRAME_ALONE || neighbours == FRAME_AMONG_JAVASCRIPT ||
	    symbol->flags & (SYMBOL_IS_KERNEL | SYMBOL_IS_PYTHON))
		return;
	if (is_glue(symbol, neighbours)) {
		symbol->flags |= SYMBOL_IS_GLUE;
		return;
	}
	/* Glue that the compiler inlined into what the program called. */
	while (symbol->line_count > 1 && symbol->lines[0].inlined &&
	       is_glue_name(symbol->lines[0].function, neighbours)) {
		symbol->lines++;
		symbol->line_count--;
	}
}
