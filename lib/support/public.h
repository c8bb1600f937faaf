// Marks the public API, which programs and plugins may link. All else is compiled with hidden
// visibility.
#ifndef GRAPNEL_LIB_SUPPORT_PUBLIC_H_
#define GRAPNEL_LIB_SUPPORT_PUBLIC_H_

// Goes on each class, struct and function of a public header (cmake/public_headers.txt and their
// includes); tests/check_public.py finds those without it.
#define GRAPNEL_PUBLIC __attribute__((visibility("default")))

#endif  // GRAPNEL_LIB_SUPPORT_PUBLIC_H_
