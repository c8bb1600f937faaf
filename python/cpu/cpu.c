// tfgrapnel._cpu: asked before the module is loaded whose code needs these instructions. /proc/cpuinfo would not do: an emulator
// shows its host's.
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
    {"lacks", Lacks, METH_NOARGS, "{instructions: whether this processor does not have them}"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef kModule = {PyModuleDef_HEAD_INIT, "_cpu", NULL, -1, kMethods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__cpu(void) { return PyModule_Create(&kModule); }
