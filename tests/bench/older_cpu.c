/*
 * A library to preload: the processor as if it had an older instruction set, for all libraries of a process. Not every peer can
 * be limited by a setting of its own; without this library a table of the level avx2 compares it with others' AVX-512.
 *
 *     BENCH_CPU=avx2 LD_PRELOAD=build/x86_64-cc/bench/libolder_cpu.so python ...
 *
 * On processors with CPUID faulting, Linux sends a process that asks for it a signal at each CPUID instruction (arch_prctl(2),
 * ARCH_SET_CPUID). The handler executes the instruction and clears the bits of newer sets. Threads and children inherit this, and
 * a new program loads the library again. What was decided before, such as the C library's choice of memcpy(), stays. Where
 * there is no such processor the program ends with a message, so that nothing is measured by mistake.
 *
 * The bits are those of leaf 7 of CPUID: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define BIT(n) (1u << (n))

enum level { AVX2, AVXVNNI, AVX512, AVX512VNNI, AVX512BF16, LEVELS };
static const char * const NAME[LEVELS] = {"avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16"};
static enum level newest;

struct registers {
    uint32_t eax, ebx, ecx, edx;
};

/* The letter is the register; 1: of subleaf 1. AVX512_B: F, DQ, IFMA, CD, BW, VL. */
static const uint32_t AVX512_B = BIT(16) | BIT(17) | BIT(21) | BIT(28) | BIT(30) | BIT(31);
static const uint32_t VBMI_C = BIT(1) | BIT(6) | BIT(12) | BIT(14), VNNI_C = BIT(11);
static const uint32_t AMX_D = BIT(22) | BIT(24) | BIT(25), FP16_D = BIT(23), VP2INTERSECT_D = BIT(8);
static const uint32_t AVX_VNNI_A1 = BIT(4), BF16_A1 = BIT(5), AMX_FP16_A1 = BIT(21), AVX_IFMA_A1 = BIT(23);

static void hide(uint32_t leaf, uint32_t subleaf, struct registers * r)
{
    if (leaf == 7 && subleaf == 0) {
        r->edx &= ~(AMX_D | FP16_D | VP2INTERSECT_D);
        if (newest < AVX512)
            r->ebx &= ~AVX512_B;
        if (newest < AVX512VNNI)
            r->ecx &= ~(VBMI_C | VNNI_C);
    } else if (leaf == 7 && subleaf == 1) {
        r->eax &= ~(AMX_FP16_A1 | AVX_IFMA_A1);
        r->edx = 0; /* AVX-VNNI-INT8 and -INT16, AVX-NE-CONVERT, AMX-COMPLEX, AVX10 */
        if (newest != AVXVNNI)
            r->eax &= ~AVX_VNNI_A1;
        if (newest < AVX512BF16)
            r->eax &= ~BF16_A1;
    } else if (leaf == 0x24 || leaf == 0x1D || leaf == 0x1E) { /* AVX10, AMX */
        memset(r, 0, sizeof(*r));
    }
}

static void set_faulting(int faulting) { syscall(SYS_arch_prctl, ARCH_SET_CPUID, !faulting); }

static struct registers cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct registers r = {leaf, 0, subleaf, 0};
    __asm__ volatile("cpuid" : "+a"(r.eax), "=b"(r.ebx), "+c"(r.ecx), "=d"(r.edx));
    return r;
}

static void on_fault(int number, siginfo_t * info, void * context)
{
    (void)info;
    greg_t * at = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t * code = (const uint8_t *)at[REG_RIP];
    if (code[0] != 0x0F || code[1] != 0xA2) { /* a fault of the program: the instruction is tried again, and ends it */
        signal(number, SIG_DFL);
        return;
    }
    const uint32_t leaf = (uint32_t)at[REG_RAX], subleaf = (uint32_t)at[REG_RCX];
    set_faulting(0);
    struct registers r = cpuid(leaf, subleaf);
    set_faulting(1);
    hide(leaf, subleaf, &r);
    at[REG_RAX] = r.eax, at[REG_RBX] = r.ebx, at[REG_RCX] = r.ecx, at[REG_RDX] = r.edx;
    at[REG_RIP] += 2;
}

static void fail(const char * why)
{
    fprintf(stderr, "libolder_cpu.so: %s\n", why);
    _exit(1);
}

static __attribute__((constructor)) void start(void)
{
    const char * name = getenv("BENCH_CPU");
    while (name && newest < LEVELS && strcmp(name, NAME[newest]) != 0)
        ++newest;
    if (!name || newest == LEVELS)
        fail("BENCH_CPU must be avx2, avxvnni, avx512, avx512vnni or avx512bf16");
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0)
        fail("this processor, or this kernel, has no CPUID faulting");
}
