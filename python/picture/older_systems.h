// Binds hypot (for JavaScript's Math.hypot) to the symbol version that all systems have: glibc 2.35
// has a newer version (src/older_systems.cpp).
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
