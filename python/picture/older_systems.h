// Math.hypot of scripts is that of all systems: glibc 2.35 has another (src/older_systems.cpp).
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
