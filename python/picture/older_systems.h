// Binds hypot (Math.hypot of scripts) to the symbol version that all systems have: glibc 2.35 has a
// newer one (src/older_systems.cpp).
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
