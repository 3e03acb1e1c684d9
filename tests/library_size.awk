# Prints the bytes of code and constants of each family and instruction set, in KB, as a table in Markdown, and what functions of
# bytes, of 16-bit numbers and of few bits have: families of theirs alone, and their files in other families. The input is what
# `size` prints for the objects of a build; `levels` are the instruction sets, `folder` is that of the objects, `total` are the
# bytes of the stripped library.
function kilobytes(bytes) { return bytes ? sprintf("%.1f", bytes / 1000) : "" }

function row(name, values, i, line) {
    line = "| " name " |"
    for (i = 1; i <= columns; ++i)
        line = line " " kilobytes(values[name, column[i]]) " |"
    print line " " kilobytes(values[name, "all"]) " |"
}

function add(name, set, bytes) {
    sum[name, set] += bytes
    sum[name, "all"] += bytes
}

BEGIN {
    columns = split("base " levels, column)
}

NR > 1 {
    count = split(substr($6, length(folder) + 2), part, "/")
    set = part[1] == "reference" ? "base" : part[1]
    # Of a family with a folder the folder, of others the name without types.
    family = count > 3 ? part[3] : part[count]
    sub(/\.o$/, "", family)
    few = part[count] ~ /(^|_)(8u|8i|16b)\.o$/ ? "their files in other families" : ""
    if (family ~ /^(gemm_nbits(_8i)?|affine|quantized_.*|quantize_linear|add_quantized|add_8i|narrow|table8)$/)
        few = "families of 8 and 16 bits alone"
    gsub(/_(8u|8i|16b|32f)$/, "", family)
    if (set ~ /^(api|ops|dispatch|runtime)$/) {
        drivers += $1
        next
    }
    if (!((family, "all") in sum))
        families[++n] = family
    add(family, set, $1)
    add("all", set, $1)
    if (few)
        add(few, set, $1)
}

END {
    header = "| family |"
    line = "|---|"
    for (i = 1; i <= columns; ++i) {
        header = header " " column[i] " |"
        line = line "---:|"
    }
    print header " all |"
    print line "---:|"
    for (i = 2; i <= n; ++i) # by size
        for (j = i; j > 1 && sum[families[j], "all"] > sum[families[j - 1], "all"]; --j) {
            swap = families[j]
            families[j] = families[j - 1]
            families[j - 1] = swap
        }
    for (i = 1; i <= n; ++i)
        row(families[i], sum)
    row("all", sum)
    row("families of 8 and 16 bits alone", sum)
    row("their files in other families", sum)
    printf "\nBesides these, `api`, `ops`, `dispatch` and `runtime` have %s KB. The stripped library has %s KB.\n",
        kilobytes(drivers), kilobytes(total)
}
