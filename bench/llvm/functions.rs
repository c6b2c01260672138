//! The functions of `functions.jl` in Rust, of which `count.py` counts what LLVM makes of them.
//!
//! Arrays are pointers without checks, counted from 1; those that the optimizer is to know as distinct
//! are references. Integers wrap.

#![crate_type = "lib"]
#![allow(clippy::all)]

type Floats = *mut f64;
type Ints = *mut i64;

/// Room for the arrays that are passed as references.
pub struct Room([f64; 1024]);

#[inline(always)]
unsafe fn at<'a, T>(a: *mut T, i: i64) -> &'a mut T {
    unsafe { &mut *a.offset(i as isize - 1) }
}

impl Room {
    #[inline(always)]
    unsafe fn get(&self, i: i64) -> f64 {
        unsafe { *self.0.get_unchecked(i as usize - 1) }
    }

    #[inline(always)]
    unsafe fn set(&mut self, i: i64, x: f64) {
        unsafe { *self.0.get_unchecked_mut(i as usize - 1) = x }
    }
}

/// A stack of the few floats that are on it at a time.
struct Stack {
    kept: [f64; 16],
    top: usize,
}

impl Stack {
    #[inline(always)]
    fn new() -> Self {
        Self { kept: [0.0; 16], top: 0 }
    }

    #[inline(always)]
    unsafe fn push(&mut self, x: f64) {
        unsafe { *self.kept.get_unchecked_mut(self.top) = x };
        self.top += 1;
    }

    #[inline(always)]
    unsafe fn pop(&mut self) -> f64 {
        self.top -= 1;
        unsafe { *self.kept.get_unchecked(self.top) }
    }
}

macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
}

/// `for i in from:to`. As in C, the counter does not wrap.
macro_rules! count {
    ($i:ident in $from:expr, $to:expr; $($body:tt)*) => {
        let mut $i: i64 = $from;
        let last: i64 = $to;
        while $i <= last {
            $($body)*
            $i = $i.unchecked_add(1);
        }
    };
}

// 1. Stores that are overwritten before anyone reads
functions! {
    fn store_twice(a: Floats, n: i64) {
        count! { i in 1, n;
            *at(a, i) = 1.0;
            *at(a, i) = 2.0;
        }
    }

    fn store_on_both_arms(a: Floats, x: i64, n: i64) {
        count! { i in 1, n;
            *at(a, i) = 0.0;
            if i < x { *at(a, i) = 1.0; } else { *at(a, i) = 2.0; }
        }
    }

    fn store_back(a: Floats, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            let t = *at(a, i);
            s += t;
            *at(a, i) = t;
        }
        s
    }

    fn store_after_read(a: Floats, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            s += *at(a, i);
            *at(a, i) = 1.0;
            *at(a, i) = s;
        }
        s
    }

    fn store_on_one_arm(a: Floats, x: i64, n: i64) {
        count! { i in 1, n;
            if i < x { *at(a, i) = 5.0; }
            *at(a, i) = 3.0;
        }
    }
}

// 2. Elements that are kept in a value around a loop
functions! {
    fn sum_in_element(a: Floats, x: f64, n: i64) {
        count! { i in 1, n; *at(a, 1) += x; }
    }

    fn product_in_element(a: Floats, x: f64, n: i64) {
        count! { i in 1, n;
            *at(a, 1) *= x;
            *at(a, 2) -= x;
        }
    }

    fn sum_of_counters(a: Ints, n: i64) {
        count! { i in 1, n; *at(a, 1) += i; }
    }

    fn sum_in_row(a: Floats, x: f64, n: i64) {
        count! { i in 1, n;
            count! { j in 1, n; *at(a, i) += x * j as f64; }
        }
    }

    fn sum_on_condition(a: Ints, n: i64) {
        count! { i in 1, n;
            let t = *at(a, 1);
            *at(a, 1) = if i & 3 == 1 { t + 2 } else { t };
        }
    }
}

// 3. Loads that an iteration hands to the next
functions! {
    fn prefix_sum(a: Floats, n: i64) {
        count! { i in 2, n; *at(a, i) = *at(a, i - 1) + *at(a, i); }
    }

    fn differences(a: Floats, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 2, n;
            let d = *at(a, i) - *at(a, i - 1);
            s += d * d;
        }
        s
    }

    fn fibonacci(a: Floats, n: i64) {
        count! { i in 3, n; *at(a, i) = *at(a, i - 1) + *at(a, i - 2); }
    }

    fn recurrence(a: Floats, x: f64, n: i64) {
        count! { i in 1, n - 1; *at(a, i + 1) = *at(a, i) * x + 1.0; }
    }

    fn stencil(a: Floats, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 2, n - 1; s += *at(a, i - 1) - 2.0 * *at(a, i) + *at(a, i + 1); }
        s
    }
}

// 4. What one way or both ways have computed already
functions! {
    fn product_on_both_arms(a: Floats, x: f64, y: f64, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            if *at(a, i) > 0.0 { s += *at(a, i) * x * y; } else { s -= *at(a, i) * x * y; }
        }
        s
    }

    fn store_sunk(a: Floats, n: i64) {
        count! { i in 1, n;
            if i & 3 == 0 { *at(a, i) = 1.0; } else { *at(a, i) = i as f64; }
        }
    }

    fn load_on_one_way(a: Floats, x: i64, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            if i < x { *at(a, i) = s; }
            s += *at(a, i);
        }
        s
    }

    fn load_on_both_arms(a: Floats, x: i64, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            if i < x { s += *at(a, i); } else { s = s * 0.5 + *at(a, i); }
        }
        s
    }

    fn quotient_on_one_way(x: f64, y: f64, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            let mut t = 0.0;
            if i & 1 == 0 { t = (x + i as f64).sin() / y; }
            s += t + (x + i as f64).sin();
        }
        s
    }
}

// 5. Loops that fill or copy
functions! {
    fn zero_fill(a: Floats, n: i64) {
        count! { i in 1, n; *at(a, i) = 0.0; }
    }

    fn ones_fill(a: Ints, n: i64) {
        count! { i in 1, n; *at(a, i) = -1; }
    }

    fn copy_loop(a: &Room, b: &mut Room, n: i64) {
        count! { i in 1, n; b.set(i, a.get(i)); }
    }

    fn zero_and_sum(a: &Room, b: &mut Room, n: i64) -> f64 {
        count! { i in 1, n; b.set(i, 0.0); }
        let mut s = 0.0;
        count! { i in 1, n;
            b.set(i, b.get(i) + a.get(i));
            s += b.get(i);
        }
        s
    }

    fn zero_then_count(a: Ints, n: i64) {
        count! { i in 1, n; *at(a, i) = 0; }
        count! { i in 1, n; *at(a, 1 + (i & 3)) += 1; }
    }
}

// 6. What is pushed and popped again
functions! {
    fn push_pop(x: f64, n: i64) -> f64 {
        let (mut s, mut stack) = (x, Stack::new());
        count! { i in 1, n;
            stack.push(s * 2.0);
            s = stack.pop() + 1.0;
        }
        s
    }

    fn push_two(x: f64, n: i64) -> f64 {
        let (mut s, mut stack) = (x, Stack::new());
        count! { i in 1, n;
            stack.push(s);
            stack.push(2.0);
            let b = stack.pop();
            s = stack.pop() * b;
        }
        s
    }

    fn push_pop_push(x: f64, n: i64) -> f64 {
        let (mut s, mut stack) = (x, Stack::new());
        count! { i in 1, n;
            stack.push(s);
            let t = stack.pop();
            stack.push(t + 1.0);
            s = stack.pop();
        }
        s
    }

    fn push_on_condition(x: f64, n: i64) -> f64 {
        let (mut s, mut stack) = (x, Stack::new());
        count! { i in 1, n;
            if i & 1 == 0 {
                stack.push(s);
                s = stack.pop() + 1.0;
            }
        }
        s
    }

    fn push_across(x: f64, n: i64) -> f64 {
        let (mut s, mut stack) = (x, Stack::new());
        count! { i in 1, n;
            stack.push(s);
            s = s * 0.5 + i as f64;
            s += stack.pop();
        }
        s
    }
}

// 7. Conditions that stay the same in a loop, or after its first iteration
functions! {
    fn unswitched(a: Floats, c: i64, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            if c > 0 { s += *at(a, i); } else { s -= *at(a, i) * *at(a, i); }
        }
        s
    }

    fn unswitched_store(a: Floats, c: i64, n: i64) {
        count! { i in 1, n;
            if c > 0 { *at(a, i) = *at(a, i) * 2.0; }
        }
    }

    fn unswitched_twice(a: Floats, c: i64, d: i64, n: i64) -> f64 {
        let mut s = 0.0;
        count! { i in 1, n;
            if c > 0 { s += *at(a, i); }
            if d > 0 { s = s * 0.5 / *at(a, i); }
        }
        s
    }

    fn peeled_flag(a: Floats, n: i64) -> f64 {
        let (mut first, mut s) = (true, 0.0);
        count! { i in 1, n;
            if first {
                s = *at(a, i) * 10.0;
                first = false;
            } else {
                s = s * 0.5 + *at(a, i);
            }
        }
        s
    }

    fn peeled_value(a: Floats, x: f64, n: i64) -> f64 {
        let (mut last, mut s) = (x, 0.0);
        count! { i in 1, n;
            if last == 0.0 { s -= *at(a, i) / 3.0; } else { s += *at(a, i) * last; }
            last = 2.0;
        }
        s
    }
}

// 8. Sums in closed form
functions! {
    fn sum_to(n: i64) -> i64 {
        let mut s = 0;
        count! { i in 1, n; s += i; }
        s
    }

    fn sum_of_squares(n: i64) -> i64 {
        let mut s = 0;
        count! { i in 1, n; s += i * i; }
        s
    }

    fn sum_of_polynomial(n: i64, x: i64) -> i64 {
        let mut s = 5;
        count! { i in 1, n; s += 3 * i * i + x * i + 2; }
        s
    }

    fn sum_of_triangle(n: i64) -> i64 {
        let mut s = 0;
        count! { i in 1, n;
            count! { j in 1, i; s += j; }
        }
        s
    }

    fn sum_of_the_same(n: i64, x: i64) -> i64 {
        let (mut s, mut t) = (0, 0);
        count! { i in 1, n;
            s += x;
            t += s;
        }
        t
    }
}

// 9. Operations that cancel out
functions! {
    fn folds_of_sums(x: i64, y: i64) -> i64 {
        let a = (x + y) - x;
        let b = (x | y) & x;
        let c = (x & 7) & 3;
        let d = (x * 3) * 5;
        let e = x - (x - y);
        (a ^ b) + (c ^ d) * e
    }

    fn folds_of_divisions(x: i64) -> i64 {
        let y = x & 1023;
        let a = x - (x / 10) * 10;
        let b = x * 8;
        let c = y / 4;
        let d = y % 8;
        a + b + c + d
    }

    fn folds_of_comparisons(x: i64, y: i64) -> i64 {
        let mut s = 0;
        if x - y == 0 { s += 1; }
        if !(x < y) { s += 2; }
        if x % 2 == 0 { s += 4; }
        if x == 1 || x == 2 || x == 3 { s += 8; }
        s
    }

    fn folds_of_choices(x: i64, y: i64) -> i64 {
        let a = if x < 0 { -x } else { x };
        let b = if x < y { x } else { y };
        let c = if x > y { x } else { y };
        if a < y { b + c } else { a + c }
    }

    fn folds_of_floats(x: f64, y: f64) -> f64 {
        let a = -(-x);
        let b = (-x).abs();
        let c = (-x) * (-y);
        let d = x - (-y);
        let e = (-x).cos() + x / 2.0;
        a + b + c + d + e
    }
}

// 10. Recursion that is a loop
functions! {
    fn gcd_of(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd_of(b, a % b) }
    }

    fn factorial_of(n: i64) -> i64 {
        if n <= 1 { 1 } else { n * factorial_of(n - 1) }
    }

    fn sum_down(n: i64) -> i64 {
        if n == 0 { 0 } else { n + sum_down(n - 1) }
    }

    fn power_of(x: i64, n: i64, acc: i64) -> i64 {
        if n == 0 {
            acc
        } else if n & 1 == 0 {
            power_of(x * x, n >> 1, acc)
        } else {
            power_of(x, n - 1, acc * x)
        }
    }

    fn collatz(n: i64, steps: i64) -> i64 {
        if n == 1 {
            return steps;
        }
        if n & 1 == 0 { collatz(n >> 1, steps + 1) } else { collatz(3 * n + 1, steps + 1) }
    }
}

// 11. Two exit tests, and narrow counters
functions! {
    fn two_limits(a: Floats, n: i64, m: i64) -> f64 {
        let (mut s, mut i) = (0.0, 1i64);
        while i <= n && i <= m {
            s += *at(a, i);
            i = i.unchecked_add(1);
        }
        s
    }

    fn limit_and_constant(a: Floats, n: i64) -> f64 {
        let (mut s, mut i) = (0.0, 1i64);
        while i <= n && i <= 100 {
            s += *at(a, i);
            i = i.unchecked_add(1);
        }
        s
    }

    fn limits_up_and_down(a: Floats, n: i64, m: i64) -> f64 {
        let (mut s, mut i, mut j) = (0.0, 1i64, m);
        while i <= n && j > 0 {
            s += *at(a, i);
            i = i.unchecked_add(1);
            j -= 1;
        }
        s
    }

    fn narrow_counter(a: Floats, n: i64) -> f64 {
        let (mut s, mut i, m) = (0.0, 0i32, n as i32);
        while i < m {
            s += *at(a, i as i64 + 1);
            i = i.unchecked_add(1);
        }
        s
    }

    fn narrow_product(a: Floats, n: i64) -> f64 {
        let (mut s, mut i, m) = (0.0, 0i32, n as i32);
        while i < m {
            s += *at(a, i as i64 + 1) * (i as i64 + 1) as f64;
            i = i.unchecked_add(1);
        }
        s
    }
}

// 12. Chains of comparisons, and arrays that nobody reads
functions! {
    fn chain_of_results(a: Ints, n: i64) -> i64 {
        let mut s = 0;
        count! { i in 1, n;
            let x = *at(a, i);
            if x == 1 {
                s += 10;
            } else if x == 2 {
                s -= 7;
            } else if x == 3 {
                s = s * 3;
            } else if x == 4 {
                s = s ^ 21;
            } else {
                s += 1;
            }
        }
        s
    }

    fn chain_of_constants(x: i64) -> i64 {
        if x == 1 {
            17
        } else if x == 2 {
            4
        } else if x == 3 {
            91
        } else if x == 4 {
            8
        } else if x == 5 {
            33
        } else {
            0
        }
    }

    fn chain_of_calls(x: i64, y: f64) -> f64 {
        if x == 5 {
            y.sin()
        } else if x == 7 {
            y.cos()
        } else if x == 9 {
            y.exp()
        } else if x == 12 {
            y.sqrt()
        } else {
            y
        }
    }

    fn unread_array(x: f64, n: i64) -> f64 {
        let mut a = [0.0; 4];
        *at(a.as_mut_ptr(), 1) = x;
        *at(a.as_mut_ptr(), 2) = x * 2.0;
        let mut s = x;
        count! { i in 1, n; s = s * 0.5 + 1.0; }
        s
    }

    fn unread_loop(x: f64, n: i64) -> f64 {
        let mut a = [0.0; 100];
        count! { i in 1, 100; *at(a.as_mut_ptr(), i) = x * i as f64; }
        x + n as f64
    }
}
