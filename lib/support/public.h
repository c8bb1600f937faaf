// What a program or a plugin of somebody else may link: all else is compiled with hidden
// visibility.
#ifndef GRAPNEL_LIB_SUPPORT_PUBLIC_H_
#define GRAPNEL_LIB_SUPPORT_PUBLIC_H_

// On each class, struct and function of a public header (cmake/public_headers.txt and what those
// include); tests/check_public.py finds those without.
#define GRAPNEL_PUBLIC __attribute__((visibility("default")))

#endif  // GRAPNEL_LIB_SUPPORT_PUBLIC_H_
