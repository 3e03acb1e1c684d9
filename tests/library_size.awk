# Prints the bytes of code and constants of each family and instruction set, in KB, as a table in Markdown. The input is what
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
    gsub(/_(8u|8i|16b|32f)$/, "", family)
    if (set ~ /^(api|ops|dispatch|runtime)$/) {
        drivers += $1
        next
    }
    if (!((family, "all") in sum))
        families[++n] = family
    add(family, set, $1)
    add("all", set, $1)
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
    printf "\nBesides these, `api`, `ops`, `dispatch` and `runtime` have %s KB. The stripped library has %s KB.\n",
        kilobytes(drivers), kilobytes(total)
}
