// Symbols that Debian's libicuuc.a accesses in a way that works only in an executable, or only
// while a process starts. With these definitions the accesses stay inside the ICU module.

// The C library's time zone. The module calls none of the functions that read it.
long __timezone __attribute__((visibility("hidden")));
char* tzname[2] __attribute__((visibility("hidden")));

// What std::call_once() passes to pthread_once(): libstdc++'s own thread-local variables cannot be
// accessed in this way after the process has used them otherwise.
_Thread_local void* callable __asm__("_ZSt15__once_callable") __attribute__((visibility("hidden")));
_Thread_local void (*call)(void) __asm__("_ZSt11__once_call") __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void __once_proxy(void) { call(); }
