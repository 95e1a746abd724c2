#include "base/digest.h"

#include "base/sys.h"

#include <sodium.h>

_Static_assert(DIGEST_BYTES == crypto_hash_sha256_BYTES, "of SHA-256");
_Static_assert(DIGEST_BYTES == crypto_auth_hmacsha256_BYTES, "of HMAC-SHA256");

void
digest_sha256(unsigned char to[DIGEST_BYTES], const void *p, size_t len)
{
    crypto_hash_sha256(to, p, len);
}

char *
digest_hex(char to[DIGEST_HEX_SIZE], const unsigned char digest[DIGEST_BYTES])
{
    return sodium_bin2hex(to, DIGEST_HEX_SIZE, digest, DIGEST_BYTES);
}

char *
digest_sha256_hex(char to[DIGEST_HEX_SIZE], const void *p, size_t len)
{
    unsigned char digest[DIGEST_BYTES];

    digest_sha256(digest, p, len);
    return digest_hex(to, digest);
}

enum status
digest_sha256_file(char to[DIGEST_HEX_SIZE], int fd, uint64_t at, uint64_t len, struct err *e)
{
    unsigned char piece[64 * 1024], digest[DIGEST_BYTES];
    crypto_hash_sha256_state state;

    crypto_hash_sha256_init(&state);
    for (uint64_t done = 0; done < len;) {
        size_t want = len - done < sizeof piece ? (size_t)(len - done) : sizeof piece;
        ssize_t n = SYS_RETRY(sys->pread(fd, piece, want, (off_t)(at + done)));
        if (n < 0)
            return err_sys(e, "read the file");
        if (n == 0)
            return err_set(e, ST_FAILED, "the file became shorter while it was read");
        crypto_hash_sha256_update(&state, piece, (size_t)n);
        done += (uint64_t)n;
    }
    crypto_hash_sha256_final(&state, digest);
    digest_hex(to, digest);
    return ST_OK;
}

void
digest_hmac_sha256(unsigned char to[DIGEST_BYTES], const void *key, size_t key_len, const void *p,
                   size_t len)
{
    crypto_auth_hmacsha256_state state;

    crypto_auth_hmacsha256_init(&state, key, key_len);
    crypto_auth_hmacsha256_update(&state, p, len);
    crypto_auth_hmacsha256_final(&state, to);
    sodium_memzero(&state, sizeof state);
}

static void
add_base64(struct buf *to, const void *p, size_t len, int variant)
{
    size_t size = sodium_base64_encoded_len(len, variant);
    char *room = buf_room(to, size);

    if (!room)
        return;
    sodium_bin2base64(room, size, p, len, variant);
    buf_grew(to, size - 1); /* its NUL is not part of the text */
}

void
digest_base64(struct buf *to, const void *p, size_t len)
{
    add_base64(to, p, len, sodium_base64_VARIANT_ORIGINAL);
}

void
digest_base64url(struct buf *to, const void *p, size_t len)
{
    add_base64(to, p, len, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

bool
digest_from_base64(struct buf *to, const char *text, size_t len)
{
    size_t n = 0, most = len / 4 * 3 + 3;
    unsigned char *room = (unsigned char *)buf_room(to, most);

    while (len && text[len - 1] == '=')
        len--;
    if (!room || sodium_base642bin(room, most, text, len, NULL, &n, NULL,
                                   sodium_base64_VARIANT_ORIGINAL_NO_PADDING) != 0)
        return false;
    buf_grew(to, n);
    return true;
}
