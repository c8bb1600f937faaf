// Marks the public API, which programs and plugins may link. All other symbols are compiled with
// hidden visibility.
#ifndef GRAPNEL_LIB_SUPPORT_PUBLIC_H_
#define GRAPNEL_LIB_SUPPORT_PUBLIC_H_

// Goes on each class, struct and function of a public header (cmake/public_headers.txt lists these
// headers; their includes are public too); tests/check_public.py finds declarations without it.
#define GRAPNEL_PUBLIC __attribute__((visibility("default")))

#endif  // GRAPNEL_LIB_SUPPORT_PUBLIC_H_
