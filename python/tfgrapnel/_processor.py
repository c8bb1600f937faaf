"""What the processor must have, asked before the module is loaded, whose code needs it."""

_NEEDED = ("avx2", "fma", "bmi2")


def demand_processor() -> None:
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), None)
    except OSError:
        return
    if missing := [name for name in _NEEDED if flags and name not in flags]:
        raise ImportError(
            f"tfgrapnel needs a processor with AVX2, FMA and BMI2 (x86-64-v3); this one lacks {', '.join(missing)}"
        )
