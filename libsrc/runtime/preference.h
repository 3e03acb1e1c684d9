/* What the contexts that the calling thread makes are to spare: time, memory, or rounding errors; or how they multiply. */
#ifndef SN_RUNTIME_PREFERENCE_H
#define SN_RUNTIME_PREFERENCE_H

enum sn_preference { SN_PREFER_SPEED, SN_PREFER_MEMORY, SN_PREFER_EXACT, SN_PREFER_BFLOAT16 };

/* SN_PREFER_SPEED, unless the thread has set another one. */
enum sn_preference sn_preference(void);
void sn_preference_set(enum sn_preference preference);

#endif
