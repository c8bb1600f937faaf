// The entry of the binary; tests that run commands link everything but this file.
#include "tools/program.h"

int main(int argc, char** argv) { return grapnel::RunProgram(argc, argv); }
