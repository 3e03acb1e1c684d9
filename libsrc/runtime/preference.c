#include "runtime/preference.h"

#include <stdint.h>

#include "runtime/common.h"

static SN_PER_THREAD uint8_t preferred;

enum sn_preference sn_preference(void) { return (enum sn_preference)preferred; }
void sn_preference_set(enum sn_preference preference) { preferred = (uint8_t)preference; }
