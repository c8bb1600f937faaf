"""Checks that the processor has the instructions that the main module needs, before that module is loaded."""

from ._cpu import lacks


def demand_processor() -> None:
    if missing := [name for name, is_missing in lacks().items() if is_missing]:
        raise ImportError(
            f"tfgrapnel needs a processor with AVX2, FMA and BMI2 (x86-64-v3); this one lacks {', '.join(missing)}"
        )
