// tfgrapnel._cpu: tells which instruction sets the processor lacks, before the module whose code
// needs them is loaded. It does not read /proc/cpuinfo, since an emulator shows its host's.
#include <Python.h>

static PyObject* Lacks(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  __builtin_cpu_init();
  return Py_BuildValue("{s:N,s:N,s:N}", "avx2", PyBool_FromLong(!__builtin_cpu_supports("avx2")), "fma",
                       PyBool_FromLong(!__builtin_cpu_supports("fma")), "bmi2",
                       PyBool_FromLong(!__builtin_cpu_supports("bmi2")));
}

static PyMethodDef kMethods[] = {
    {"lacks", Lacks, METH_NOARGS, "{instruction set: whether this processor lacks it}"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef kModule = {PyModuleDef_HEAD_INIT, "_cpu", NULL, -1, kMethods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__cpu(void) { return PyModule_Create(&kModule); }
