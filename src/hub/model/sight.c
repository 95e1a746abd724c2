#include "hub/model/sight.h"

#include <string.h>

bool
sight_allows(const char *identity, const char *sender, const char *addr, bool is_member)
{
    if (!addr || (sender && strcmp(sender, identity) == 0))
        return true;
    switch (*addr) {
    case '@':
        return strcmp(addr + 1, identity) == 0;
    case '+':
        return is_member;
    default:
        return true;
    }
}

bool
sight_asks_ring(const char *addr)
{
    return addr && *addr == '+';
}
