#include "isa/avxvnni/depthwise_any_8i.h"
