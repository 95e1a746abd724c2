#include "base/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool
dynlib_load(const char *library, const struct dynlib_function *functions, size_t n, char *why,
            size_t size)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    bool ok = handle != NULL;

    for (size_t i = 0; ok && i < n; i++) {
        void *f = dlsym(handle, functions[i].name);
        if (!f && functions[i].old)
            f = dlsym(handle, functions[i].old);
        memcpy(functions[i].to, &f, sizeof f);
        ok = f != NULL;
    }
    if (!ok)
        snprintf(why, size, "%s", dlerror());
    return ok;
}
