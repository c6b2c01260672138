# Walks over code, under the names of Julia's MacroTools.

using IRTools: prewalk, postwalk, walk, isexpr
export prewalk, postwalk, isexpr
