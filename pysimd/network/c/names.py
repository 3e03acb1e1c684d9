"""Names in a program in C: of a model, which may be any text, and of the program, which must suit C."""

from __future__ import annotations

import errno
import re
import string
from collections.abc import Iterable

from pysimd.errors import shown

_PLAIN = frozenset((string.ascii_letters + string.digits + " _-+.,:;/()[]=<>#").encode())


def quoted(text: str) -> str:
    """Text in a string or a comment of C. Every byte that might mean something there becomes an octal number: quotes,
    backslashes, ends of lines, the star that ends a comment, the question marks of trigraphs, and all that is not ASCII.
    """
    return "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in text.encode("utf-8", "surrogatepass"))


def title(model: str, file: str) -> str:
    """Where a program comes from, for a comment: the file of a model, if there is one, and the name that it has there."""
    of = f" from {quoted(file)}" if file else ""
    return f"{of}, where it is called {quoted(model)}" if of and model else of or (f" from {quoted(model)}" if model else "")


def identifiers(names: Iterable[str]) -> list[str]:
    """A word in C for each name, unique with and without _SIZE: the name if it is a word, else one with its number."""
    found: list[str] = []
    taken: set[str] = set()
    for number, name in enumerate(names):
        is_word = re.fullmatch(r"[A-Za-z_]\w{,99}", name, re.ASCII)
        word = name if is_word else re.sub(r"\W", "_", name[:60], flags=re.ASCII) + f"_{number}"
        while not taken.isdisjoint((word, f"{word}_SIZE")):
            word += f"_{number}"
        taken |= {word, f"{word}_SIZE"}
        found.append(word)
    return found


def checked(name: str) -> str:
    """The name of a program, of its files, functions and type. Raises ValueError for one that C, or the program, has."""
    if not re.fullmatch(r"[A-Za-z]\w{,62}", name, re.ASCII):
        raise ValueError(f"name is {shown(name)}, expected up to 63 letters, digits and underscores, with a letter first")
    of_plan = re.fullmatch(rf"({'|'.join(_OF_PLANS.split())})_\d+", name, re.ASCII)
    has_prefix = name.startswith(("Simd", "SIMD", "pthread_", "FP_", "M_", "MATH_", "SEEK_"))
    if name in _TAKEN or of_plan or name.endswith("_t") or has_prefix:
        other = ("my_" if has_prefix else "") + name[:50] + "_model"
        raise ValueError(f"name is {name!r}, which C or the program uses itself, expected another one: use {other!r}")
    return name


_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
    double dynamic_cast else enum explicit export extern false float for fortran friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
    wchar_t while xor xor_eq
"""

#: A program NAME has a file NAME.h, which must not hide one of these, and a guard NAME_H.
_HEADERS = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math pthread setjmp signal simdnet stdalign
    stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar
    unistd wchar wctype
"""

#: Of <math.h>, each also with the endings f and l.
_MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim
    finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma lgamma_r llrint llround
    log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round
    roundeven scalb scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""

#: Of other headers that the program includes or a program around it is likely to, in C and POSIX.
_OTHERS = """
    BUFSIZ DIR EOF FILE FILENAME_MAX FOPEN_MAX HUGE_VAL HUGE_VALF HUGE_VALL INFINITY L_ctermid L_tmpnam NAN NULL
    P_tmpdir RAND_MAX TMP_MAX fpclassify isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal
    isunordered offsetof signbit signgam clearerr ctermid cuserid dprintf fclose fdopen feof ferror fflush fgetc fgetpos
    fgets fileno fopen fprintf fputc fputs fread freopen fscanf fseek fseeko fsetpos ftell ftello fwrite getc getchar
    getdelim getline gets getw open_memstream pclose perror popen printf putc putchar puts putw remove rename renameat
    rewind scanf setbuf setbuffer setlinebuf setvbuf snprintf sprintf sscanf stderr stdin stdout tempnam tmpfile tmpnam
    ungetc vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf bcmp bcopy bzero explicit_bzero ffs ffsl
    ffsll index memccpy memchr memcmp memcpy memmove mempcpy memrchr memset rindex stpcpy stpncpy strcasecmp strcat
    strchr strcmp strcoll strcpy strcspn strdup strerror strlen strncasecmp strncat strncmp strncpy strndup strnlen
    strpbrk strrchr strsep strsignal strspn strstr strtok strxfrm swab abort abs atexit atof atoi atol atoll bsearch
    calloc div exit free getenv labs ldiv llabs lldiv malloc qsort rand random realloc srand srandom strtod strtof
    strtol strtold strtoll strtoul strtoull system access alarm chdir close connect dup dup2 fork getpid kill link pause
    pipe poll read select send sleep socket unlink usleep wait write cnd epoll linux mtx sem thrd timer tss unix
"""

#: Of the program itself, see templates.py, where all else is local to a function.
_OWN = """
    BLOCK_BYTES CHECK CONTEXTS CREATE DATA DATA_BYTES FIRST_INPUT FIRST_SUM PARAMS PER_THREAD RUN_BYTES SECOND_SUM
    SHARE TENSOR WORK WORK_BYTES allocated computes copy_parts create_contexts created created_from_memory
    created_from_program error_text fail file input_places inputs is_intact main output_places outputs place read_data
    read_input show show_number spread_parts tensor words
"""

#: Of programs with open sizes, see open_templates.py and array_templates.py; functions of plans end with _NUMBER.
_OWN_OPEN = """
    integer_quotient integer_remainder place_roots placed plan plans quotient real_quotient release_arrays release_contexts
    values values_broadcast values_count values_drop values_expand values_flush values_join values_known values_make
    values_move values_nonzero values_place values_progress values_reshape values_seen values_shape values_slice values_take
    values_transpose
"""
_OF_PLANS = "born compute course create_contexts died measured unmet"

_TAKEN = frozenset(
    [*_KEYWORDS.split(), *_HEADERS.split(), *_OTHERS.split(), *_OWN.split(), *_OWN_OPEN.split(), *errno.errorcode.values()]
    + [word + ending for word in _MATH.split() for ending in ("", "f", "l")]
)
