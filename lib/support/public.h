// Marks the public API, which programs and plugins may link to. Other symbols are compiled with
// hidden visibility.
#ifndef GRAPNEL_LIB_SUPPORT_PUBLIC_H_
#define GRAPNEL_LIB_SUPPORT_PUBLIC_H_

// Goes on the classes, structs and functions of a public header that are neither inline nor
// templates; tests/check_public.py finds declarations without it. cmake/public_headers.txt lists
// the public headers, and the headers that these include are public too.
#define GRAPNEL_PUBLIC __attribute__((visibility("default")))

#endif  // GRAPNEL_LIB_SUPPORT_PUBLIC_H_
