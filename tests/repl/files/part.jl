part(x) = x + 1
part(41)
