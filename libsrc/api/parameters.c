#include "api/parameters.h"

#include <string.h>

#include "api/check.h"

/* Bytes of a struct of any later version: more is a size that was not set. */
#define MOST 4096

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

static bool is_struct(const char * function, const void * parameters, size_t least, size_t known)
{
    const char * more = parameters;
    size_t size;
    CHECK(parameters, "parameters is NULL, expected a struct");
    memcpy(&size, parameters, sizeof(size));
    CHECK(size >= least && size <= MOST, "parameters->size is %zu, expected at least %zu and at most %d", size, least, MOST);
    for (size_t i = known; i < size; ++i)
        CHECK(more[i] == 0, "byte %zu of parameters is not 0, expected zeros after the %zu bytes that this version uses", i,
              known);
    return true;
}

bool sn_is_known(const char * function, const void * parameters, size_t known)
{
    return is_struct(function, parameters, known, known);
}

bool sn_take_known(const char * function, const void * parameters, size_t least, void * own, size_t known)
{
    size_t size;
    if (!is_struct(function, parameters, least, known))
        return false;
    memcpy(&size, parameters, sizeof(size));
    memset(own, 0, known);
    memcpy(own, parameters, sn_min(size, known));
    return true;
}

bool sn_take_pixel(const char * function, struct sn_pixel_array array, size_t * pixel, size_t * image)
{
    size_t all;
    CHECK(*pixel == 0 || *pixel == array.channels || array.format == SN_NHWC,
          "%s is %zu, expected 0 or %zu, the number of channels, if the format is not SimdTensorFormatNhwc", array.name,
          *pixel, array.channels);
    CHECK(*pixel == 0 || *pixel >= array.channels, "%s is %zu, expected 0 or at least %zu, the number of channels",
          array.name, *pixel, array.channels);
    *pixel = *pixel ? *pixel : array.channels;
    CHECK(sn_product(&all, array.batch, array.pixels, *pixel, array.element), "%s is %zu, too large for %zu pixels",
          array.name, *pixel, array.batch * array.pixels);
    *image = array.pixels * *pixel * array.element;
    return true;
}
