export count_calls, CallCounter, trace_calls, Tracer, memoize_calls, Memoizer, log_calls, CallLogger,
    run_sandboxed, Sandbox, ForbiddenCall, cover_lines, LineCounter, find_nonfinite, NonFiniteFinder,
    count_operations, OperationCounter, find_precision, PrecisionChanger, inject_faults, FaultInjector,
    bound_values, IntervalContext, Interval, midpoint, radius, track_taint, TaintTracker
