# The dynamic symbols of binary and library: names that match one of these patterns and have default
# visibility, which only GRAPNEL_PUBLIC declarations have. tests/library/exports.py checks the
# symbols of binary and library.
set(GRAPNEL_EXPORTS
    # namespace grapnel: functions, members, const members; vtables, their tables and thunks, type information.
    _ZN7grapnel* _ZNK7grapnel* _ZT[VTSI]N7grapnel* _ZT[hv]*N7grapnel* _ZT[hv]*NK7grapnel*
    # LLVM's Support, which is linked statically: inline code of StringRef, Error, formatv and the like calls it.
    _ZN4llvm* _ZNK4llvm* _ZT[VTSI]N4llvm* _ZT[hv]*N4llvm*
    # protobuf itself, in the binary; its templates instantiated for our messages, in the library too.
    _ZN6google8protobuf* _ZNK6google8protobuf* _ZT[VTSI]N6google8protobuf*
    # protobuf's tables for our messages.
    descriptor_table_lib_2f*)
list(JOIN GRAPNEL_EXPORTS ";\n  " names)
set(GRAPNEL_DYNAMIC_LIST ${PROJECT_BINARY_DIR}/exports.list)
set(GRAPNEL_VERSION_SCRIPT ${PROJECT_BINARY_DIR}/exports.map)
file(CONFIGURE OUTPUT ${GRAPNEL_DYNAMIC_LIST} CONTENT "{\n  ${names};\n};\n")
file(CONFIGURE OUTPUT ${GRAPNEL_VERSION_SCRIPT} CONTENT "{\n global:\n  ${names};\n local: *;\n};\n")
