# A log of when calls start and end, for programs that record themselves: what passes insert as
# `prof.record_start` and `prof.record_end`. There is one log, of a fixed number of starts and ends.

export record_start, record_end, reset!, report

struct Calls end

# The log.
const to = Calls()

record_start(event::Symbol) = __record_start(event)
record_end(event::Symbol) = __record_end(event)

# Forgets what was recorded.
reset!() = __reset_log()

# Makes room for so many starts and ends; what was recorded is forgotten.
Base.resize!(calls::Calls, n::Integer) = (__resize_log(Int64(n)); calls)

# Prints the log: names indented by nesting, with the nanoseconds since the first.
report() = __report_log()
